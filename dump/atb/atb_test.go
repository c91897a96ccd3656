package atb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/dump/dtype"
)

const real = "../../../shared/real/msprobe/atb_synthetic_"

// object is a file of a tensor as the recorder writes it.
func object(dtype int, dims string, data []byte) []byte {
	return fmt.Appendf(nil, "$Version=1.0\n$Object.Count=1\n$Object.Length=%d\nformat=2\ndtype=%d\ndims=%s\n$Object.data=0,%d\n$End=1\n%s",
		len(data), dtype, dims, len(data), data)
}

// alias is a file that names another.
func alias(dtype int, dims, to string) []byte {
	return fmt.Appendf(nil, "$Version=1.0\n$Object.Count=0\n$Object.Length=0\nformat=2\ndtype=%d\ndims=%s\ndata=%s\n$End=1\n", dtype, dims, to)
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

const heading = "Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,Mean,Norm,Tensor Path\n"

// TestReal: the recordings that were made to the writer's grammar.
func TestReal(t *testing.T) {
	if _, err := os.Stat(real + "tensor"); err != nil {
		t.Skip("no recordings here")
	}
	for _, top := range []string{"", "/atb_dump_data", "/atb_dump_data/data", "/atb_dump_data/data/0_39943", "/atb_dump_data/data/0_39943/0"} {
		all, err := Find(real + "tensor/golden" + top)
		if err != nil || len(all) != 1 || all[0].Device != 0 || all[0].Process != 39943 || all[0].Round != 0 {
			t.Fatalf("%q: %+v, %v", top, all, err)
		}
	}
	all, err := Find(real + "tensor/golden")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Load(all[0])
	if err != nil || len(tree.Remarks) > 0 {
		t.Fatal(err, tree.Remarks)
	}
	var got []string
	for _, op := range tree.Ops {
		for i := range op.Tensors {
			x := &op.Tensors[i]
			o, err := tree.Open(op, x)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(x.label(op), o.Type, o.Dims, filepath.Base(o.Path), x.Line != ""))
			r, err := o.Reader()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.ReadTile(make([]byte, o.Length), 0, o.Length/int64(o.Type.Bits()/8)); err != nil {
				t.Error(err)
			}
			o.Close()
		}
	}
	want := []string{
		"0_WordEmbedding input 0int32 [6]intensor0.bintrue",
		"2_Prefill_layer/0_Attention/0_MatMulKernel input 0float32 [4 6]intensor0.binfalse",
		"2_Prefill_layer/0_Attention input 0float32 [4 6]intensor0.bintrue",
		"2_Prefill_layer/0_Attention input 1float16 [6 5]intensor1.bintrue",
		"2_Prefill_layer/0_Attention output 0bfloat16 [4 5]outtensor0.bintrue",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestAliases: chains are followed, by numbers and to the parent; circles, names
// that lead nowhere, and files out of the folder are errors.
func TestAliases(t *testing.T) {
	dir := t.TempDir()
	data := make([]byte, 8)
	binary.LittleEndian.PutUint32(data, 7)
	put(t, dir+"/2_L/before/intensor0.bin", object(3, "2", data))
	put(t, dir+"/2_L/0_A/before/intensor0_weight.bin", alias(3, "2", "2_intensor0.bin"))
	put(t, dir+"/2_L/0_A/0_K/before/intensor0.bin", alias(3, "1,2", "intensor0.bin")) // its parent's
	put(t, dir+"/2_L/1_B/before/intensor0.bin", alias(3, "2", "2_1_0_intensor0.bin"))
	put(t, dir+"/2_L/1_B/0_K/before/intensor0.bin", alias(3, "2", "2_1_intensor0.bin"))
	put(t, dir+"/2_L/2_C/before/intensor0.bin", alias(3, "2", "../../../../etc/passwd"))
	put(t, dir+"/2_L/2_C/before/intensor1.bin", alias(3, "2", "9_intensor0.bin"))
	put(t, dir+"/2_L/2_C/before/intensor2.bin", alias(3, "2", "2_outtensor0.bin"))
	put(t, dir+"/2_L/2_C/before/intensor3.bin", alias(3, "3", "2_intensor0.bin"))
	put(t, dir+"/2_L/2_C/before/intensor4.bin", alias(9, "2", "2_intensor0.bin"))
	put(t, dir+"/2_L/2_C/before/intensor5.bin", alias(3, "2", "intensor5.bin"))
	tree, err := Load(Recording{Dir: dir})
	if err != nil || len(tree.Remarks) > 0 {
		t.Fatal(err, tree.Remarks)
	}
	want := map[string]string{
		"2_L input 0": "", "2_L/0_A input 0": "", "2_L/0_A/0_K input 0": "",
		"2_L/1_B input 0": "lead back", "2_L/1_B/0_K input 0": "lead back",
		"2_L/2_C input 0": "a tensor of this recording", "2_L/2_C input 1": "no", "2_L/2_C input 2": "none of that name", "2_L/2_C input 3": "same tensor",
		"2_L/2_C input 4": "same tensor", "2_L/2_C input 5": "none of that name",
	}
	for _, op := range tree.Ops {
		for i := range op.Tensors {
			x := &op.Tensors[i]
			expected, ok := want[x.label(op)]
			delete(want, x.label(op))
			o, err := tree.Open(op, x)
			switch {
			case !ok:
				t.Errorf("%s is not expected", x.label(op))
			case err == nil:
				if o.Close(); expected != "" || o.Type != dtype.Int32 || filepath.Base(filepath.Dir(filepath.Dir(o.Path))) != "2_L" {
					t.Errorf("%s: %s of %s", x.label(op), o.Type, o.Path)
				}
			case expected == "" || !strings.Contains(err.Error(), expected):
				t.Errorf("%s: %v, expected %q", x.label(op), err, expected)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// TestLoad: table and files are one tree, whatever the order of lines; parameters are
// flat; damaged lines leave the others.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/statistic.csv", []byte(heading+
		"0_1,0,L/A,A,2_10,output,0,bf16,nd,2x3,1.000000,-1.000000,0.000000,1.000000,N/A\n"+
		"0_1,0,L/A,A,2_10,output,0,bf16,nd,2x3,1,-1,0,1,N/A\n"+ // twice
		"0_1,0,L,L,2,input,0,int32,nd,6,5,0,2.5,7.4,N/A\r\n"+
		"0_1,0,L/A,A,2,input,0,int32,nd,6,5,0,2.5,7.4,N/A\n"+ // two names, one number
		"0_1,0,L/B,B,2_9,input,0,int32,nd,6,5,0,2.5\n"+ // cut
		"0_1,0,L/B,B,2_9,input,0,undefined(99),nd,,N/A,N/A,N/A,N/A,N/A\n"))
	put(t, dir+"/2_L/9_B/op_param.json", []byte(`{"eps": 1e-5, "inner": {"axes": [1, 2], "on": true}, "name": "x"}`))
	put(t, dir+"/2_L/9_B/before/outtensor0.bin", nil) // in the wrong folder
	put(t, dir+"/2_L/9_B/after/outtensor0.bin", object(0, "1", make([]byte, 4)))
	put(t, dir+"/2_X/before/intensor0.bin", nil) // the number belongs to L
	tree, err := Load(Recording{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, op := range tree.Ops {
		fmt.Fprintln(&b, op.Path, op.Names, op.Type, op.Parent, op.Params)
		for i := range op.Tensors {
			x := &op.Tensors[i]
			fmt.Fprint(&b, "  ", x.label(op), " ", x.File != "")
			if row := tree.Row(x); row != nil {
				fmt.Fprint(&b, " ", row.Elem, row.Known, row.Shape, row.Max, row.Mean)
			}
			fmt.Fprintln(&b)
		}
	}
	const want = `2_L/9_B L/B B 2_L [{eps 1e-5} {inner.axes [1, 2]} {inner.on true} {name "x"}]
  2_L/9_B input 0 false int8 false [] None None
  2_L/9_B output 0 true
2_L/10_A L/A A 2_L []
  2_L/10_A output 0 false bfloat16 true [2 3] 1.0 0.0
2_L L L  []
  2_L input 0 false int32 true [6] 5 2.5
`
	if b.String() != want {
		t.Errorf("found\n%s\nexpected\n%s", b.String(), want)
	}
	for i, part := range []string{"a second line", "a number for each name", "13 fields", "another operation"} {
		if i >= len(tree.Remarks) || !strings.Contains(tree.Remarks[i].Error(), part) {
			t.Errorf("remarks %v, expected %q at %d", tree.Remarks, part, i)
		}
	}
}

// TestHeader: what is wrong with a file is an error that names it.
func TestHeader(t *testing.T) {
	good := object(0, "2", make([]byte, 8))
	replaced := func(old, new string) []byte { return bytes.Replace(good, []byte(old), []byte(new), 1) }
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "$Version="},
		{"no lines", bytes.Repeat([]byte("x"), 1<<17), "$Version="},
		{"another file", []byte("PK\x03\x04\nxx"), "key=value"},
		{"cut in the header", good[:60], "lines up to $End="},
		{"endless header", append([]byte("$Version=1.0\n"), bytes.Repeat([]byte("a=b\n"), 1<<15)...), "a second"},
		{"cut in the elements", good[:len(good)-1], "7 bytes to the end of the file"},
		{"no dtype", replaced("dtype=0\n", ""), "no dtype"},
		{"no dims", replaced("dims=2\n", ""), "no dims"},
		{"no elements", replaced("$Object.data=0,8\n", ""), "no elements and no alias"},
		{"a type that is none", replaced("dtype=0", "dtype=999"), "dtype=999"},
		{"dims beyond the elements", replaced("dims=2", "dims=3"), "8 bytes"},
		{"dims beyond all", replaced("dims=2", "dims=4611686018427387904,4611686018427387904"), "8 bytes"},
		{"negative dims", replaced("dims=2", "dims=-2"), "dims=\"-2\""},
		{"offset beyond all", replaced("=0,8", "=9223372036854775807,8"), "bytes to the end"},
		{"length beyond all", replaced("=0,8", "=0,9223372036854775807"), "8 bytes to the end"},
		{"negative length", replaced("=0,8", "=0,-8"), "an offset and a length"},
		{"two dtypes", replaced("dtype=0\n", "dtype=0\ndtype=1\n"), "a second \"dtype\""},
	} {
		path := filepath.Join(t.TempDir(), "x.bin")
		put(t, path, c.file)
		_, err := HeaderOf(path)
		var e *Error
		if !errors.As(err, &e) || e.Path != path || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
	}
	if h, err := ReadHeader(bytes.NewReader(good), int64(len(good)), "x"); err != nil || h.Offset != int64(len(good)-8) || h.Length != 8 {
		t.Errorf("%+v, %v", h, err)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(object(0, "2", make([]byte, 8)))
	f.Add(object(27, "", make([]byte, 2)))
	f.Add(alias(1, "4,6", "2_0_intensor0.bin"))
	f.Add([]byte("$Version=1.0\n$End=1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ReadHeader(bytes.NewReader(b), int64(len(b)), "x")
		if err != nil {
			return
		}
		if h.Alias == "" && (h.Offset < 0 || h.Length < 0 || h.Offset+h.Length > int64(len(b))) {
			t.Errorf("elements at %d, %d bytes, of a file of %d", h.Offset, h.Length, len(b))
		}
	})
}
