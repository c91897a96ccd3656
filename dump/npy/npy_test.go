package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	oracle "github.com/sbinet/npyio/npy"

	"precision/dump/dtype"
)

func read(b []byte) (*Header, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// file puts a header text of any kind in front of n zero bytes.
func file(major byte, dict string, n int) []byte {
	b := append([]byte(Magic), major, 0)
	if major == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(dict)))
	}
	return append(append(b, dict...), make([]byte, n)...)
}

// Every file numpy wrote, header and values.
func TestNumpyFiles(t *testing.T) {
	index, err := os.ReadFile("testdata/index.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(index)) {
		field := strings.Fields(line)
		t.Run(field[0], func(t *testing.T) {
			f, err := Open(filepath.Join("testdata", field[0]+".npy"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			dims := make([]string, len(f.Shape))
			for i, d := range f.Shape {
				dims[i] = strconv.FormatInt(d, 10)
			}
			data := make([]byte, f.Size())
			if _, err := f.ReadAt(data, f.Offset); err != nil && len(data) > 0 {
				t.Fatal(err)
			}
			if f.BigEndian {
				size := f.Type.Bits() / 8 / f.Type.Parts()
				for b := data; len(b) > 0; b = b[size:] {
					slices.Reverse(b[:size])
				}
			}
			values := make([]float64, f.Elements()*int64(f.Type.Parts()))
			if n := dtype.Widen64(f.Type, values, data); n != len(values) {
				t.Fatalf("%d values, want %d", n, len(values))
			}
			text := make([]string, len(values))
			for i, v := range values {
				text[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
			got := fmt.Sprintf("%s %s big=%t fortran=%t shape=%s values=%s\n", field[0], f.Type, f.BigEndian, f.Fortran,
				strings.Join(dims, "x"), strings.Join(text, ","))
			if got != line {
				t.Errorf("got  %swant %s", got, line)
			}
		})
	}
}

func TestRefusedNumpyFiles(t *testing.T) {
	for name, want := range map[string]string{
		"bad_object": "Python objects", "bad_text": "text", "bad_bytes": "text", "bad_record": "records",
		"bad_date": "dates", "bad_longdouble": "width",
	} {
		f, err := Open(filepath.Join("testdata", name+".npy"))
		if err == nil {
			t.Errorf("%s: read as %+v", name, f.Header)
			f.Close()
		} else if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want the file's name and %q", name, err, want)
		}
	}
	if _, err := Open("testdata"); err == nil {
		t.Error("a folder opens as an array")
	}
}

func TestSpacingAndOrderOfKeys(t *testing.T) {
	for _, c := range []struct {
		major byte
		dict  string
		n     int
		want  Header
	}{
		{1, `{"shape":(2,),"fortran_order":False,"descr":"<c16"}`, 32, Header{Type: dtype.Complex128, Shape: []int64{2}}},
		{2, "{ 'fortran_order' : True ,\n 'descr' : '=i2',\t'shape' : ( 2 , 3 ) } ", 12,
			Header{Type: dtype.Int16, Fortran: true, Shape: []int64{2, 3}}},
		{1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2L, 1L), }", 8, Header{Type: dtype.Int32, Shape: []int64{2, 1}}},
		{3, "{'descr': '>u1', 'fortran_order': False, 'shape': (1,2,), }", 2, Header{Type: dtype.Uint8, Shape: []int64{1, 2}}},
		{1, "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 4, 0), }", 0,
			Header{Type: dtype.Float64, Shape: []int64{math.MaxInt64, 4, 0}}},
		{2, "{'descr': '|b1', 'fortran_order': False, 'shape': (), }" + strings.Repeat(" ", 2000), 1,
			Header{Type: dtype.Bool, Shape: []int64{}}},
	} {
		b := file(c.major, c.dict, c.n)
		c.want.Offset = int64(len(b) - c.n)
		got, err := read(b)
		if err != nil {
			t.Errorf("%s: %v", c.dict, err)
		} else if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.dict, *got, c.want)
		}
	}
}

func TestLyingHeaders(t *testing.T) {
	const good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
	shape := func(s string) []byte {
		return file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': "+s+"}", 8)
	}
	long := file(2, good, 8)
	binary.LittleEndian.PutUint32(long[8:], 1<<31)
	minor := file(1, good, 8)
	minor[7] = 1
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":       {nil, "0 bytes"},
		"ten bytes":   {[]byte(Magic + "\x02\x00\x00\x00"), "10 bytes"},
		"magic":       {[]byte("PK\x03\x04xxxxxxxxxx"), "expected a numpy file"},
		"version":     {append([]byte(Magic+"\x09\x00"), make([]byte, 20)...), "format 9.0"},
		"minor":       {minor, "format 1.1"},
		"long header": {long, "claims 2147483648 bytes"},
		"huge header": {file(2, strings.Repeat(" ", maxText+1), 8), "at most"},
		"short data":  {file(1, good, 7), "found 7 bytes of elements, expected 8"},
		"no data":     {file(1, good, 0), "found 0 bytes of elements, expected 8"},
		"no shape":    {file(1, "{'descr': '<f4', 'fortran_order': False, }", 8), `no key "shape"`},
		"other key":   {file(1, "{'descr': '<f4', 'colour': 1}", 8), `unknown key "colour"`},
		"key twice":   {file(1, "{'descr': '<f4', 'descr': '<f4'}", 8), "twice"},
		"list":        {file(1, "[1, 2]", 8), "dictionary"},
		"cut":         {file(1, good[:16], 8), "quoted text"},
		"tail":        {file(1, good+" x", 8), "after the header"},
		"order":       {file(1, "{'descr': '<f4', 'fortran_order': 7, 'shape': (2,), }", 8), "True or False"},
		"negative":    {shape("(-2,)"), "dim"},
		"float dim":   {shape("(2.0,)"), "comma"},
		"no commas":   {shape("(1 2)"), "comma"},
		"number":      {shape("(2)"), "tuple"},
		"open tuple":  {shape("(2,"), "dim"},
		"overflow":    {shape("(4611686018427387904, 16)"), "larger than any file"},
		"bytes over":  {shape("(4611686018427387904,)"), "larger than any file"},
		"huge dim":    {shape("(99999999999999999999,)"), "dim"},
		"many dims":   {shape("(" + strings.Repeat("1,", 65) + ")"), "64 dims"},
		"escape":      {file(1, `{'des\x63r': '<f4'}`, 8), "closing quote"},
		"open quote":  {file(1, "{'descr': '<f4", 8), "closing quote"},
		"no descr":    {file(1, "{'descr': '', 'fortran_order': False, 'shape': (2,), }", 8), "no number type"},
		"text":        {file(1, "{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }", 16), "array of text"},
		"short text":  {file(1, "{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }", 15), "found 15 bytes of elements, expected 16"},
		"short dates": {file(1, "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2,), }", 15), "found 15 bytes of elements, expected 16"},
	} {
		if h, err := read(c.b); err == nil || h != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want an error with %q", name, h, err, c.want)
		}
	}
}

// As with numpy.load, what follows the elements does not matter: whoever saves
// twice to one handle means the first array.
func TestMoreData(t *testing.T) {
	whole, err := os.ReadFile("testdata/le_f4.npy")
	if err != nil {
		t.Fatal(err)
	}
	want, err := read(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{"x", string(whole)} {
		if h, err := read(append(slices.Clip(whole), more...)); err != nil || !reflect.DeepEqual(h, want) {
			t.Errorf("%d bytes more: %+v, %v", len(more), h, err)
		}
	}
}

// A file cut anywhere is refused.
func TestTruncated(t *testing.T) {
	whole, err := os.ReadFile("testdata/le_f4.npy")
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if h, err := read(whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes read as %+v", n, len(whole), h)
		}
	}
	// The size given is larger than what there is to read.
	if _, err := Read(bytes.NewReader(whole[:40]), int64(len(whole))); err == nil {
		t.Error("a file that ends early is read")
	}
}

// Our header is byte for byte numpy's.
func TestWriteIsNumpys(t *testing.T) {
	for _, name := range []string{"le_f4", "le_i1", "le_b1", "le_c16", "scalar", "empty", "one", "five"} {
		want, err := os.ReadFile(filepath.Join("testdata", name+".npy"))
		if err != nil {
			t.Fatal(err)
		}
		h, err := read(want)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := Write(&got, h.Type, h.Shape, want[h.Offset:]); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got.Bytes(), want)
		}
	}
}

// Another reader understands what we write.
func TestWriteAndOracle(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, dtype.Int32, []int64{3}, []byte{1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255}); err != nil {
		t.Fatal(err)
	}
	var got []int32
	if err := oracle.Read(&b, &got); err != nil || !slices.Equal(got, []int32{1, 2, -1}) {
		t.Errorf("%v %v", got, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	var b bytes.Buffer
	for name, err := range map[string]error{
		"type":     Write(&b, dtype.BFloat16, []int64{2}, make([]byte, 4)),
		"length":   Write(&b, dtype.Float32, []int64{2}, make([]byte, 4)),
		"negative": Write(&b, dtype.Float32, []int64{-1}, nil),
		"dims":     Write(&b, dtype.Int8, slices.Repeat([]int64{1}, 65), make([]byte, 1)),
	} {
		if err == nil {
			t.Errorf("%s: written", name)
		}
	}
	if b.Len() != 0 {
		t.Errorf("%d bytes were written", b.Len())
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"le_f4", "fortran_be", "scalar", "empty", "v3", "bad_record", "bad_object"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".npy"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := read(b)
		if err != nil {
			return
		}
		if h.Offset+h.Size() > int64(len(b)) || len(h.Shape) > maxDims {
			t.Fatalf("%+v accepted for %d bytes", h, len(b))
		}
		// What is accepted can be written and read again.
		head, err := AppendHeader(nil, h.Type, h.Shape)
		if err != nil {
			t.Fatal(err)
		}
		again, err := read(append(head, b[h.Offset:]...))
		if err != nil || again.Type != h.Type || !slices.Equal(again.Shape, h.Shape) {
			t.Fatalf("%+v became %+v, %v", h, again, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	raw, err := os.ReadFile("testdata/le_f4.npy")
	if err != nil {
		b.Fatal(err)
	}
	r := bytes.NewReader(raw)
	for b.Loop() {
		if _, err := Read(r, int64(len(raw))); err != nil {
			b.Fatal(err)
		}
	}
}
