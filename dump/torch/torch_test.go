package torch

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"precision/dump/dtype"
)

// tensor is what a test writes, with the class and bytes it expects.
type tensor struct {
	typ   dtype.Type
	shape []int64
	data  []byte
	class string
	kept  []byte
}

func tensors() []tensor {
	le := binary.LittleEndian
	var all []tensor
	add := func(typ dtype.Type, class string, kept []byte, data []byte, shape ...int64) {
		if kept == nil {
			kept = data
		}
		all = append(all, tensor{typ, shape, data, class, kept})
	}
	bytesTo := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i*37 + 11)
		}
		return b
	}
	add(dtype.Float32, "FloatStorage", nil, bytesTo(24), 2, 3)
	add(dtype.Float64, "DoubleStorage", nil, bytesTo(8)) // a scalar
	add(dtype.Float16, "HalfStorage", nil, bytesTo(12), 1, 6, 1)
	add(dtype.BFloat16, "BFloat16Storage", nil, bytesTo(4), 2)
	add(dtype.Int8, "CharStorage", nil, bytesTo(300), 300)
	add(dtype.Undefined, "CharStorage", nil, bytesTo(3), 3)
	add(dtype.Int16, "ShortStorage", nil, bytesTo(140000), 7, 10000)
	add(dtype.Int32, "IntStorage", nil, bytesTo(8), 2)
	add(dtype.Int64, "LongStorage", nil, bytesTo(16), 2)
	add(dtype.Resource, "LongStorage", nil, bytesTo(8), 1)
	add(dtype.Uint8, "ByteStorage", nil, bytesTo(2), 2)
	add(dtype.Uint16, "IntStorage", []byte{1, 0, 0, 0, 255, 255, 0, 0}, []byte{1, 0, 255, 255}, 2)
	add(dtype.Uint32, "LongStorage", []byte{255, 255, 255, 255, 0, 0, 0, 0}, []byte{255, 255, 255, 255}, 1)
	add(dtype.Uint64, "LongStorage", nil, le.AppendUint64(nil, math.MaxInt64), 1)
	add(dtype.Bool, "BoolStorage", []byte{0, 1, 1}, []byte{0, 1, 200}, 3)
	add(dtype.Complex64, "ComplexFloatStorage", nil, bytesTo(16), 2)
	add(dtype.Complex128, "ComplexDoubleStorage", nil, bytesTo(16), 1, 1)
	add(dtype.Float32, "FloatStorage", []byte{}, nil, 4, 0, 3)
	// More than one piece of the copy, in the widening types too.
	var narrow, wide []byte
	for i := range 70000 {
		narrow = le.AppendUint16(narrow, uint16(i))
		wide = le.AppendUint32(wide, uint32(uint16(i)))
	}
	add(dtype.Uint16, "IntStorage", wide, narrow, 70000)
	return all
}

func write(t *testing.T, v tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	// What comes after the elements is left alone.
	r := io.MultiReader(bytes.NewReader(v.data), strings.NewReader("padding"))
	if err := Write(&b, v.typ, v.shape, iotest.OneByteReader(r)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWrite(t *testing.T) {
	for _, v := range tensors() {
		name := fmt.Sprintf("%s%v", v.typ, v.shape)
		file := write(t, v)
		z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		content := map[string][]byte{}
		for _, f := range z.File {
			if at, err := f.DataOffset(); err != nil || at%64 != 0 || f.Method != zip.Store {
				t.Errorf("%s, %s: method %d, content at %d, %v", name, f.Name, f.Method, at, err)
			}
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			if content[f.Name], err = io.ReadAll(r); err != nil { // checks the checksum
				t.Errorf("%s, %s: %v", name, f.Name, err)
			}
		}
		if len(z.File) != 4 || string(content["archive/version"]) != "3\n" || string(content["archive/byteorder"]) != "little" {
			t.Errorf("%s: entries %v", name, slices.Sorted(maps.Keys(content)))
		}
		if !bytes.Equal(content["archive/data/0"], v.kept) {
			t.Errorf("%s: the elements differ", name)
		}
		n, stride := int64(1), make([]any, len(v.shape))
		shape, step := make([]any, len(v.shape)), int64(1)
		for i := len(v.shape) - 1; i >= 0; i-- {
			shape[i], stride[i] = v.shape[i], step
			n *= v.shape[i]
			step *= max(v.shape[i], 1)
		}
		got, err := unpickle(content["archive/data.pkl"])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := call{"torch._utils _rebuild_tensor_v2", []any{
			stored{[]any{"storage", global("torch " + v.class), "0", "cpu", n}}, int64(0), shape, stride, false,
			call{"collections OrderedDict", []any{}},
		}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %#v\nwant %#v", name, got, want)
		}
	}
}

func TestKept(t *testing.T) {
	for typ, want := range map[dtype.Type]dtype.Type{dtype.Uint16: dtype.Int32, dtype.Float16: dtype.Float16, dtype.Undefined: dtype.Int8} {
		if _, got, ok := typ.TorchStorage(); !ok || got != want {
			t.Errorf("%s: %s", typ, got)
		}
	}
	if _, _, ok := dtype.Int4.TorchStorage(); ok {
		t.Error("int4")
	}
}

// endless reads as zeros for ever and counts.
type endless struct{ read int64 }

func (e *endless) Read(b []byte) (int, error) {
	clear(b)
	e.read += int64(len(b))
	return len(b), nil
}

var errFull = errors.New("full")

// full takes some bytes.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.left {
		return 0, errFull
	}
	f.left -= len(b)
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	discard := func(typ dtype.Type, shape []int64, data []byte) error {
		return Write(io.Discard, typ, shape, bytes.NewReader(data))
	}
	for _, c := range []struct {
		err  error
		text string
	}{
		{discard(dtype.Float8E5M2, []int64{1}, nil), "no storage for elements of type float8_e5m2"},
		{discard(dtype.Int8, []int64{3, -1}, nil), "negative dim"},
		{discard(dtype.Int8, []int64{math.MaxInt64, 2}, nil), "too many elements"},
		{discard(dtype.Float32, []int64{math.MaxInt64}, nil), "larger than any file"},
		{discard(dtype.Int32, []int64{3}, make([]byte, 11)), "found 11 bytes, expected 12 for 3 elements of int32: unexpected EOF"},
		{discard(dtype.Int32, []int64{3}, nil), "found 0 bytes"},
		{discard(dtype.Uint64, []int64{2}, append(make([]byte, 15), 0x80)), "element 1 is 9223372036854775808"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("%v, want %q", c.err, c.text)
		}
	}
	var out *RangeError
	if err := discard(dtype.Uint64, []int64{1}, bytes.Repeat([]byte{255}, 8)); !errors.As(err, &out) || out.Index != 0 || out.Value != math.MaxUint64 {
		t.Error(err)
	}
	for left := 0; left < 100000; left += 5003 {
		w := &full{left}
		if err := Write(w, dtype.Float32, []int64{40000}, &endless{}); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
	e := &endless{}
	if err := Write(io.Discard, dtype.Bool, []int64{1000003}, e); err != nil || e.read != 1000003 {
		t.Errorf("read %d bytes, %v", e.read, err)
	}
}

// The strides of an empty tensor may be beyond int64; they must not panic or
// be negative.
func TestStrides(t *testing.T) {
	got := strides([]int64{2, 0, math.MaxInt64, math.MaxInt64, 4})
	if want := []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64, 4, 1}; !slices.Equal(got, want) {
		t.Error(got)
	}
}

// Numbers of every size survive the pickle.
func TestNumbers(t *testing.T) {
	for _, v := range []int64{0, 255, 256, 65535, 65536, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64} {
		p := pickler{opProto, 2}
		p.number(v)
		p.op(opStop)
		if got, err := unpickle(p); err != nil || got != v {
			t.Errorf("%d: %v, %v", v, got, err)
		}
	}
}

// Python's own zipfile and pickle read the files as well.
func TestPythonReads(t *testing.T) {
	py, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	args := []string{"testdata/load.py"}
	all := tensors()
	for i, v := range all {
		path := filepath.Join(dir, fmt.Sprintf("%d.pt", i))
		if err := os.WriteFile(path, write(t, v), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	cmd := exec.Command(py, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Class  string
		Size   []int64
		Stride []int64
		Bytes  int
		Sum    int
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(all) {
		t.Fatalf("%v in %s", err, out)
	}
	for i, v := range all {
		sum := 0
		for _, b := range v.kept {
			sum += int(b)
		}
		g := got[i]
		if g.Class != v.class || !slices.Equal(g.Size, v.shape) || g.Bytes != len(v.kept) || g.Sum != sum || !slices.Equal(g.Stride, strides(v.shape)) {
			t.Errorf("%s%v: %+v", v.typ, v.shape, g)
		}
	}
}
