package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/dump"
	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// detailed writes the detail of a pair of dumps that hold the tensor as their
// only output, and returns the files.
func detailed(t *testing.T, mine, golden dumptest.Tensor, d DetailOptions) map[string]string {
	t.Helper()
	opt := dumpPair(t, mine, golden)
	d.Op = "op"
	if d.TopN == 0 {
		d.TopN = 20
	}
	if d.MaxLine == 0 {
		d.MaxLine = 10000
	}
	out := filepath.Join(t.TempDir(), "out")
	r, err := Detail(context.Background(), opt, d, out)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range r.Files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && filepath.Separator == '/' {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		files[strings.TrimPrefix(filepath.Base(path), "op_output_0")] = string(content)
	}
	files["absolute"], files["relative"] = r.Absolute, r.Relative
	return files
}

func dumpPair(t *testing.T, mine, golden dumptest.Tensor) Folders {
	t.Helper()
	opt := Folders{Options: Options{Numerics: metric.Reference}}
	for _, side := range []struct {
		name   string
		tensor dumptest.Tensor
		folder **dump.Folder
	}{{"npu", mine, &opt.Left}, {"golden", golden, &opt.Right}} {
		dir := filepath.Join(t.TempDir(), side.name)
		d := dumptest.Dump{OpName: "op", Outputs: []dumptest.Tensor{side.tensor}}
		if err := d.Write(filepath.Join(dir, "Op.op.1.2.1630000000000001")); err != nil {
			t.Fatal(err)
		}
		var err error
		if *side.folder, err = dump.Scan(dir, dump.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return opt
}

func floats(shape []int64, v ...float32) dumptest.Tensor {
	return dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: shape, Data: dumptest.Floats(v)}
}

const head = "Index,N C H W,NPUDump,GroundTruth,AbsoluteError,RelativeError\n"

func expect(t *testing.T, files map[string]string, name, want string) {
	t.Helper()
	if got, ok := files[name]; !ok || got != want {
		t.Errorf("%q:\n%swant\n%s", name, got, want)
	}
}

func TestDetailNotFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	files := detailed(t, floats([]int64{7}, 1, inf, -inf, nan, 2, 0, 3), floats([]int64{7}, 1.5, inf, 1, 1, 0, 0, 4), DetailOptions{TopN: 3})
	expect(t, files, "_0.csv", head+
		"0,0 0 0 0,1.000000\t,1.500000\t,0.500000\t,0.333333\t\n"+
		"1,1 0 0 0,inf\t,inf\t,nan\t,-\n"+
		"2,2 0 0 0,-inf\t,1.000000\t,inf\t,-\n"+
		"3,3 0 0 0,nan\t,1.000000\t,nan\t,-\n"+
		"4,4 0 0 0,2.000000\t,0.000000\t,2.000000\t,-\n"+
		"5,5 0 0 0,0.000000\t,0.000000\t,0.000000\t,-\n"+
		"6,6 0 0 0,3.000000\t,4.000000\t,1.000000\t,0.250000\t\n")
	expect(t, files, "_absolute_error_topn.csv", head+
		"3,3 0 0 0,-\t,1.000000\t,-\t,-\t\n"+
		"2,2 0 0 0,--\t,1.000000\t,-\t,-\t\n"+
		"4,4 0 0 0,2.000000\t,0.000000\t,2.000000\t,-\t\n")
	expect(t, files, "_relative_error_topn.csv", head+
		"3,3 0 0 0,-\t,1.000000\t,-\t,-\t\n"+
		"2,2 0 0 0,--\t,1.000000\t,-\t,-\t\n"+
		"0,0 0 0 0,1.000000\t,1.500000\t,0.500000\t,0.333333\t\n")
	expect(t, files, "_summary.txt", "TotalCount:7\nNPUDump:op\nGroundTruth:op\nFormat:N C H W\n"+
		"MinAbsoluteError:0.000000\nMaxAbsoluteError:2.000000\nMinRelativeError:0.000000\nMaxRelativeError:0.333333\n")
}

// Ties at the limit go to the first elements; what is kept is listed by error
// and then by index, both descending.
func TestDetailTies(t *testing.T) {
	files := detailed(t, floats([]int64{6}, 2, 2, 2, 3, 2, 2), floats([]int64{6}, 1, 1, 1, 1, 1, 1), DetailOptions{TopN: 3, SkipElements: true})
	want := head +
		"3,3 0 0 0,3.000000\t,1.000000\t,2.000000\t,2.000000\t\n" +
		"1,1 0 0 0,2.000000\t,1.000000\t,1.000000\t,1.000000\t\n" +
		"0,0 0 0 0,2.000000\t,1.000000\t,1.000000\t,1.000000\t\n"
	expect(t, files, "_absolute_error_topn.csv", want)
	expect(t, files, "_relative_error_topn.csv", want)
	if _, ok := files["_0.csv"]; ok {
		t.Error("element file in spite of the option")
	}
	expect(t, files, "absolute", "Index\tN C H W\tNPUDump \tGroundTruth\tAbsoluteError\tRelativeError\n"+
		"3    \t3 0 0 0\t3.000000\t1.000000   \t2.000000     \t2.000000     \n"+
		"1    \t1 0 0 0\t2.000000\t1.000000   \t1.000000     \t1.000000     \n"+
		"0    \t0 0 0 0\t2.000000\t1.000000   \t1.000000     \t1.000000     \n")
}

func TestDetailFewElements(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		none := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: []int64{0, 3}}
		files := detailed(t, none, none, DetailOptions{})
		for _, name := range []string{"_0.csv", "_absolute_error_topn.csv", "_relative_error_topn.csv"} {
			expect(t, files, name, head)
		}
		expect(t, files, "_summary.txt", "TotalCount:0\nNPUDump:op\nGroundTruth:op\nFormat:N C H W\n"+
			"MinAbsoluteError:nan\nMaxAbsoluteError:nan\nMinRelativeError:nan\nMaxRelativeError:nan\n")
		if !strings.Contains(files[".npy"], "(0, 3)") {
			t.Errorf("%q", files[".npy"])
		}
	})
	t.Run("one", func(t *testing.T) {
		files := detailed(t, floats([]int64{1}, 2), floats([]int64{1}, 4), DetailOptions{})
		line := "0,0 0 0 0,2.000000\t,4.000000\t,2.000000\t,0.500000\t\n"
		expect(t, files, "_0.csv", head+line)
		expect(t, files, "_absolute_error_topn.csv", head+line)
	})
	t.Run("scalar", func(t *testing.T) {
		files := detailed(t, floats(nil, 2), floats(nil, 4), DetailOptions{})
		expect(t, files, "_0.csv", strings.Replace(head, "N C H W", "ID", 1)+"0,0 0 0 0,2.000000\t,4.000000\t,2.000000\t,0.500000\t\n")
	})
}

func TestDetailBooleans(t *testing.T) {
	flags := func(v ...byte) dumptest.Tensor {
		return dumptest.Tensor{Type: int(dtype.Bool), Format: dumptest.ND, Shape: []int64{2, 2}, Data: v}
	}
	files := detailed(t, flags(1, 0, 1, 0), flags(1, 1, 0, 0), DetailOptions{TopN: 2})
	expect(t, files, "_0.csv", head+"0,0 0 0 0,True\t,True\t,-\t,-\n1,0 1 0 0,False\t,True\t,-\t,-\n"+
		"2,1 0 0 0,True\t,False\t,-\t,-\n3,1 1 0 0,False\t,False\t,-\t,-\n")
	expect(t, files, "_relative_error_topn.csv", head+"0,0 0 0 0,True\t,True\t,-\t,-\t\n1,0 1 0 0,False\t,True\t,-\t,-\t\n")
	expect(t, files, "_summary.txt", "TotalCount:4\nNPUDump:op\nGroundTruth:op\nFormat:N C H W\n"+
		"MinAbsoluteError:-\nMaxAbsoluteError:-\nMinRelativeError:-\nMaxRelativeError:-\n")
}

// Differences of 8-bit integers do not wrap around.
func TestDetailIntegers(t *testing.T) {
	small := func(v ...byte) dumptest.Tensor {
		return dumptest.Tensor{Type: dumptest.Int8, Format: dumptest.ND, Shape: []int64{2}, Data: v}
	}
	files := detailed(t, small(127, 0x80), small(0x80, 127), DetailOptions{})
	expect(t, files, "_0.csv", head+"0,0 0 0 0,127.000000\t,-128.000000\t,255.000000\t,1.992188\t\n"+
		"1,1 0 0 0,-128.000000\t,127.000000\t,255.000000\t,2.007874\t\n")
}

// Arrays are in a type that numpy has, whatever the dump's is.
func TestDetailArrayTypes(t *testing.T) {
	for _, c := range []struct {
		typ  dtype.Type
		data string
		want string // type in the header, then the elements
	}{
		{dtype.BFloat16, "\x80\x3f\x00\xc0", "<f4\x00\x00\x80\x3f\x00\x00\x00\xc0"},
		{dtype.Uint1, "\x40", "|u1\x00\x01"},
		{dtype.Int4, "\xf1", "|i1\x01\xff"},
		{dtype.Complex32, "\x00\x3c\x00\x00\x00\xc0\x00\x3c", "<c8\x00\x00\x80\x3f\x00\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x80\x3f"},
		{dtype.Int16, "\x07\x00\x08\x00", "<i2\x07\x00\x08\x00"},
		{dtype.QInt16, "\x07\x00\x08\x00", "<i2\x07\x00\x08\x00"},
	} {
		tensor := dumptest.Tensor{Type: int(c.typ), Format: dumptest.ND, Shape: []int64{2}, Data: []byte(c.data)}
		got := detailed(t, tensor, tensor, DetailOptions{})[".npy"]
		if !strings.Contains(got[:80], "'"+c.want[:3]+"'") || !strings.HasSuffix(got, c.want[3:]) || len(got) != 128+len(c.want)-3 {
			t.Errorf("%s: %q, want %q", c.typ, got, c.want)
		}
	}
}

// Elements are cut into files of equal length; every element is in one.
func TestDetailSplitsElements(t *testing.T) {
	const n = 25001
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i)
	}
	files := detailed(t, floats([]int64{n}, v...), floats([]int64{n}, v...), DetailOptions{MaxLine: 10000, TopN: 1})
	next := 0
	for _, name := range []string{"_0.csv", "_10000.csv", "_20000.csv"} {
		body, found := strings.CutPrefix(files[name], head)
		if !found {
			t.Fatalf("%s: no header", name)
		}
		for line := range strings.Lines(body) {
			if want := fmt.Sprintf("%d,%d 0 0 0,%d.000000\t", next, next, next); !strings.HasPrefix(line, want) {
				t.Fatalf("%s: %q, want %q", name, line, want)
			}
			next++
		}
	}
	if next != n {
		t.Errorf("%d elements, want %d", next, n)
	}
}

func TestDetailErrors(t *testing.T) {
	good := floats([]int64{2, 3}, 1, 2, 3, 4, 5, 6)
	other := good
	other.Format = dumptest.NCHW
	for _, c := range []struct {
		name   string
		golden dumptest.Tensor
		d      DetailOptions
		code   Fault
	}{
		{"no such operator", good, DetailOptions{Op: "other"}, FaultNoDump},
		{"no such output", good, DetailOptions{Op: "op", Slot: 1}, FaultRange},
		{"no inputs", good, DetailOptions{Op: "op", Input: true}, FaultRange},
		{"shapes", floats([]int64{3, 2}, 1, 2, 3, 4, 5, 6), DetailOptions{Op: "op"}, FaultBadDump},
		{"formats", other, DetailOptions{Op: "op"}, FaultLayout},
	} {
		out := t.TempDir()
		c.d.TopN, c.d.MaxLine = 20, 10000
		_, err := Detail(context.Background(), dumpPair(t, good, c.golden), c.d, out)
		var coded *Error
		if !errors.As(err, &coded) || coded.Fault != c.code || !strings.Contains(err.Error(), c.d.Op) {
			t.Errorf("%s: %v, want fault %d", c.name, err, c.code)
		}
		if left, _ := os.ReadDir(out); len(left) != 0 {
			t.Errorf("%s: left %v behind", c.name, left)
		}
	}
	for _, c := range []struct {
		d    DetailOptions
		code Fault
	}{
		{DetailOptions{Op: "a b", TopN: 1}, FaultOption},
		{DetailOptions{Op: "", TopN: 1}, FaultOption},
		{DetailOptions{Op: "a", TopN: 0}, FaultRange},
		{DetailOptions{Op: "a", TopN: 10001}, FaultRange},
	} {
		var coded *Error
		if err := c.d.Validate(); !errors.As(err, &coded) || coded.Fault != c.code {
			t.Errorf("%+v: %v, want fault %d", c.d, err, c.code)
		}
	}
}

func TestDetailNames(t *testing.T) {
	dir := t.TempDir()
	op := "scope/" + strings.Repeat("x", 250)
	write := func(n *detailNames, parts ...string) (names []string) {
		for _, part := range parts {
			path := n.path(part, ".csv")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.Base(path))
		}
		n.write()
		return names
	}
	list := func() string {
		text, err := os.ReadFile(filepath.Join(dir, detailMapping))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	intended := "scope_" + strings.Repeat("x", 250) + "_output_1"
	first := write(newDetailNames(dir, op, "in/Conv2D.short.1.2.3", false, 1), "_0", "_10000")
	if want := []string{"Conv2D_short_1_2_3_output_1_0.csv", "Conv2D_short_1_2_3_output_1_10000.csv"}; !slices.Equal(first, want) {
		t.Errorf("%q, want %q", first, want)
	}
	if want := first[0] + "," + intended + "_0.csv\n" + first[1] + "," + intended + "_10000.csv\n"; list() != want {
		t.Errorf("%q, want %q", list(), want)
	}
	// The dump's name can be as long: then it is a hash.
	second := write(newDetailNames(dir, op, "in/"+strings.Repeat("y", 250), true, 0), "_0")
	if len(second[0]) != 32+len(".csv") {
		t.Errorf("%q", second)
	}
	if got := strings.Count(list(), "\n"); got != 3 {
		t.Errorf("%d lines, want those of both tensors:\n%s", got, list())
	}
	// Another run removes the files of its tensor, whatever they are called.
	n := newDetailNames(dir, op, "in/Conv2D.short.1.2.3", false, 1)
	n.removeOld()
	third := write(n, "_0")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{detailMapping, second[0], third[0]}
	slices.Sort(want)
	slices.Sort(left)
	if !slices.Equal(left, want) {
		t.Errorf("%q, want %q", left, want)
	}
	if got := strings.Count(list(), "\n"); got != 2 {
		t.Errorf("%d lines:\n%s", got, list())
	}
}

// Hashed names are version 3 UUIDs of the intended names, as Python's
// uuid.uuid3(uuid.NAMESPACE_DNS, name).hex gives them; what is looked for by its
// ending keeps it.
func TestDetailHashedNames(t *testing.T) {
	n := newDetailNames("", "scope/"+strings.Repeat("x", 250), "in/"+strings.Repeat("y", 250), true, 0)
	for _, c := range []struct{ part, suffix, want string }{
		{partSummary, ".txt", "40b66f4680d63c49940478c9a332a90b_summary.txt"},
		{partAbsolute, ".csv", "05938037712f329a884bd907c1216859_absolute_error_topn.csv"},
		{partRelative, ".csv", "643ba11847923d43b850a898b8a948f4_relative_error_topn.csv"},
		{"", ".npy", "82d67543188a30bcb2c6bed01fbc2a84.npy"},
		{"_0", ".csv", "ade643e73e3f33e69b5bf6825d2028af.csv"},
	} {
		if got := n.path(c.part, c.suffix); got != c.want {
			t.Errorf("%s%s: %s, want %s", c.part, c.suffix, got, c.want)
		}
	}
}

// NaN of the left side where golden is a number is as bad as an infinite error;
// where golden is NaN, or nothing differs, there is no error to rank.
func TestDetailRanks(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct{ x, y, abs, rel float64 }{
		{nan, 1, inf, inf}, {nan, 0, inf, inf}, {nan, inf, inf, inf}, {inf, 1, inf, inf}, {-inf, inf, inf, 0},
		{nan, nan, 0, 0}, {1, nan, 0, 0}, {inf, inf, 0, 0}, {3, 2, 1, 0.5}, {3, 0, 3, 0},
	} {
		e := newElement(0, c.x, c.y)
		if e.absRank() != c.abs || e.relRank() != c.rel {
			t.Errorf("%v against %v: %v and %v, want %v and %v", c.x, c.y, e.absRank(), e.relRank(), c.abs, c.rel)
		}
	}
}

func TestDetailRemovesOldFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a_b_output_0_0.csv", "a_b_output_0_x.npy", "a_b_output_0_summary.txt", "a_b_output_0.npy", "a_b_output_01_0.csv",
		"a_b_output_0_summary.csv.txt", "b_output_0_0.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newDetailNames(dir, "a/b", "x", false, 0).removeOld()
	entries, _ := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"a_b_output_0.npy", "a_b_output_01_0.csv", "a_b_output_0_summary.csv.txt", "b_output_0_0.csv"}; !slices.Equal(left, want) {
		t.Errorf("%q, want %q", left, want)
	}
}

func TestDetailRecorded(t *testing.T) {
	for _, c := range []struct {
		name, run string
		rules     bool
		d         DetailOptions
	}{
		{"single_op_rule", "default", true, DetailOptions{Op: "scope/conv", TopN: 20}},
		{"single_op_rule", "out1", true, DetailOptions{Op: "scope/conv", Slot: 1, TopN: 5}},
		{"single_op_rule", "nz", true, DetailOptions{Op: "fc", TopN: 4}},
		{"single_op_rule", "range", true, DetailOptions{Op: "fc", Slot: 4, TopN: 20}},
		{"single_op_rule", "unknown", true, DetailOptions{Op: "nobody", TopN: 20}},
		{"single_op_rule", "lost", true, DetailOptions{Op: "lost", TopN: 20}},
		{"single_op_rule", "nogold", true, DetailOptions{Op: "nogold", TopN: 20}},
		{"single_op_direct", "split", false, DetailOptions{Op: "big_add", TopN: 8, MaxLine: 10000}},
		{"single_op_direct", "input", false, DetailOptions{Op: "big/add", Input: true, TopN: 20}},
		{"single_op_direct", "unknown", false, DetailOptions{Op: "big_mul", TopN: 20}},
	} {
		t.Run(c.name+"/"+c.run, func(t *testing.T) {
			recordedCase, opt := recordedSides(t, c.name, c.rules)
			if c.d.MaxLine == 0 {
				c.d.MaxLine = 1000000
			}
			before := tree(t)
			_, err := Detail(context.Background(), opt, c.d, "out")
			checkRun(t, recordedCase, c.run, exitOf(err), before)
		})
	}
}

func BenchmarkDetail(b *testing.B) {
	const n = 1 << 20
	e := newElement(0, 1.2345678, -0.8765432)
	p := &detailPair{shape: []int64{1, 64, 128, 128}}
	place := newPlace(p.shape)
	var line []byte
	b.SetBytes(int64(len(p.appendLine(nil, e, place, false))))
	for i := range b.N {
		e.index = int64(i) % n
		place.at(e.index)
		line = p.appendLine(line[:0], e, place, false)
	}
}
