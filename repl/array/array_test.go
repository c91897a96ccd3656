package array

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/h5"
	"precision/dump/npy"
	"precision/testdata/workshop/dumptest"
)

// array writes float32 numbers to a file and opens it.
func array(t testing.TB, shape []int64, v ...float32) *Array {
	t.Helper()
	data := make([]byte, 0, 4*len(v))
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	var b bytes.Buffer
	if err := npy.Write(&b, dtype.Float32, shape, data); err != nil {
		t.Fatal(err)
	}
	return file(t, b.Bytes())
}

func file(t testing.TB, content []byte) *Array {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.npy")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Tensor(path, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

var nan, inf = float32(math.NaN()), float32(math.Inf(1))

func TestMeasure(t *testing.T) {
	s, err := array(t, []int64{2, 3}, 1, nan, -3, inf, -inf, 5).Measure(context.Background(), 2)
	if err != nil || s.Count != 6 || s.NaN != 1 || s.Inf != 2 || s.Max != 5 || s.Min != -3 || s.Mean != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = array(t, []int64{0, 3}).Measure(context.Background(), 0)
	if err != nil || s.Count != 0 || !math.IsNaN(s.Mean) || !math.IsNaN(s.Max) {
		t.Errorf("empty: %+v, %v", s, err)
	}
}

// TestTiles checks that statistics and differences of several tiles depend
// neither on the tiles nor on the number of workers.
func TestTiles(t *testing.T) {
	n := 3*tile + 17
	v, w := make([]float32, n), make([]float32, n)
	var sum float64
	for i := range v {
		v[i] = float32(i%1000) / 7
		w[i] = v[i]
		sum += float64(v[i])
	}
	w[tile], w[n-1] = 9999, nan
	a, b := array(t, []int64{int64(n)}, v...), array(t, []int64{int64(n)}, w...)
	for _, workers := range []int{1, 3} {
		s, err := a.Measure(context.Background(), workers)
		if err != nil || math.Abs(s.Mean-sum/float64(n)) > 1e-9 || s.Max != float64(float32(999)/7) {
			t.Errorf("%d workers: %+v, %v", workers, s, err)
		}
		d, err := Compare(context.Background(), a, b, Options{Atol: 1e-3, Rtol: 1e-3, Rows: 5, Workers: workers})
		if err != nil || d.Bad != 2 || len(d.Errors) != 2 || d.Errors[0].Index != tile || d.Errors[1].Index != int64(n-1) || len(d.First) != 5 {
			t.Errorf("%d workers: %+v, %v", workers, d, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := a.Measure(ctx, 2); err == nil {
		t.Error("a cancelled run gives no error")
	}
}

func TestCompare(t *testing.T) {
	ctx := context.Background()
	o := Options{Atol: 0.001, Rtol: 0.001, Rows: 10}
	d, err := Compare(ctx, array(t, []int64{4}, 1, nan, inf, 0.0005), array(t, []int64{4}, 1, nan, inf, 0), o)
	if err != nil || !d.AllClose() || d.BothNaN != 1 || d.Count != 4 {
		t.Errorf("equal but for NaN: %+v, %v", d, err)
	}
	d, err = Compare(ctx, array(t, []int64{2}, 3, 4), array(t, []int64{3}, 3, 4, 5), o)
	if err != nil || d.Bad != 1 || d.Count != 3 || d.Errors[0] != (Pair{Index: 2, Right: 5}) || math.Abs(d.Cosine-25/(5*math.Sqrt(50))) > 1e-12 {
		t.Errorf("other lengths: %+v, %v", d, err)
	}
	d, err = Compare(ctx, array(t, []int64{2}, 0, 0), array(t, []int64{2}, 1, inf), o)
	if err != nil || d.Bad != 2 || !math.IsNaN(d.Cosine) {
		t.Errorf("against zeros: %+v, %v", d, err)
	}
	d, err = Compare(ctx, array(t, []int64{0}), array(t, []int64{0}), o)
	if err != nil || d.Count != 0 || !d.AllClose() || d.Share() != 0 {
		t.Errorf("empty: %+v, %v", d, err)
	}
}

// TestOrders reads arrays of big-endian elements and of Fortran order.
func TestOrders(t *testing.T) {
	head := "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }"
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	content := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), 0)
	content = append(content, head...)
	for _, x := range []uint16{1, 4, 2, 5, 3, 6} {
		content = binary.BigEndian.AppendUint16(content, x)
	}
	a := file(t, content)
	v, err := a.FirstText(100)
	if want := []string{"1", "2", "3", "4", "5", "6"}; err != nil || !slices.Equal(v, want) {
		t.Errorf("got %v, %v, want %v", v, err, want)
	}
	var b strings.Builder
	if err := a.WriteText(context.Background(), &b); err != nil || b.String() != "1 2 3\n4 5 6\n" {
		t.Errorf("text %q, %v", b.String(), err)
	}
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := array(t, nil, 0.1).WriteText(context.Background(), &b); err != nil || b.String() != "0.1\n" {
		t.Errorf("scalar %q, %v", b.String(), err)
	}
}

// TestInt64 renders integers that float64 does not hold.
func TestInt64(t *testing.T) {
	for _, c := range []struct {
		descr string
		bits  []uint64
		want  []string
	}{
		{"<i8", []uint64{1<<53 + 1, 1 << 63, 1<<64 - 1}, []string{"9007199254740993", "-9223372036854775808", "-1"}},
		{">i8", []uint64{1<<53 + 1, 1 << 63, 7}, []string{"9007199254740993", "-9223372036854775808", "7"}},
		{"<u8", []uint64{1<<53 + 1, 1 << 63, 1<<64 - 1}, []string{"9007199254740993", "9223372036854775808", "18446744073709551615"}},
	} {
		head := "{'descr': '" + c.descr + "', 'fortran_order': False, 'shape': (3,), }"
		head += strings.Repeat(" ", 117-len(head)) + "\n"
		content := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), 0)
		content = append(content, head...)
		for _, x := range c.bits {
			if c.descr[0] == '>' {
				content = binary.BigEndian.AppendUint64(content, x)
			} else {
				content = binary.LittleEndian.AppendUint64(content, x)
			}
		}
		a := file(t, content)
		if v, err := a.FirstText(2); err != nil || !slices.Equal(v, c.want[:2]) {
			t.Errorf("%s: got %v, %v, want %v", c.descr, v, err, c.want[:2])
		}
		var b strings.Builder
		if err := a.WriteText(context.Background(), &b); err != nil || b.String() != strings.Join(c.want, " ")+"\n" {
			t.Errorf("%s: text %q, %v", c.descr, b.String(), err)
		}
	}
}

func BenchmarkMeasure(b *testing.B) {
	a := array(b, []int64{1 << 22}, make([]float32, 1<<22)...)
	b.SetBytes(4 << 22)
	for b.Loop() {
		if _, err := a.Measure(context.Background(), 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	a := array(b, []int64{1 << 22}, make([]float32, 1<<22)...)
	b.SetBytes(8 << 22)
	for b.Loop() {
		if _, err := Compare(context.Background(), a, a, Options{Atol: 1e-3, Rows: 20}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDataset reads a dataset of a PyTorch dump and writes arrays that hold the
// same numbers.
func TestDataset(t *testing.T) {
	path := filepath.Join("..", "..", "compare", "torch", "testdata", "full_npu.h5")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	root, err := h5.Open(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = root.Walk(func(name string, obj h5.Object, err error) error {
		d, ok := obj.(*h5.Dataset)
		if !ok || err != nil {
			return err
		}
		want, err := d.ReadAll()
		if err != nil {
			return err
		}
		a, err := Dataset(path, name)
		if err != nil {
			return err
		}
		defer a.Close()
		var b bytes.Buffer
		if err := a.WriteNpy(context.Background(), &b); err != nil {
			return err
		}
		back := file(t, b.Bytes())
		if back.Type != a.Type || !slices.Equal(back.Shape, d.Shape) || !bytes.HasSuffix(b.Bytes(), want) {
			t.Errorf("%s: %v %v came back as %v %v", name, a.Type, d.Shape, back.Type, back.Shape)
		}
		n++
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("%d datasets, %v", n, err)
	}
	if _, err := Dataset(path, "/none/1"); err == nil || !strings.Contains(err.Error(), "/none/1") {
		t.Errorf("a dataset that is not there: %v", err)
	}
}

// TestWriteNpyWidened writes a type that numpy does not have.
func TestWriteNpyWidened(t *testing.T) {
	d := dumptest.Dump{OpName: "x", Outputs: []dumptest.Tensor{{Type: 27, Format: dumptest.ND, Shape: []int64{3}, Data: []byte{0x80, 0x3f, 0x00, 0xc0, 0x80, 0x7f}}}}
	path := filepath.Join(t.TempDir(), "Add.x.1.1.100")
	if err := d.Write(path); err != nil {
		t.Fatal(err)
	}
	a, err := Tensor(path, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var b bytes.Buffer
	if err := a.WriteNpy(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	back := file(t, b.Bytes())
	v, err := back.FirstText(3)
	if err != nil || back.Type != dtype.Float32 || !slices.Equal(v, []string{"1", "-2", "inf"}) {
		t.Errorf("%v %v came back as %v %v, %v", a.Type, a.Shape, back.Type, v, err)
	}
}

// TestCompareMeasures: comparing measures both sides as Measure does, whatever
// their lengths are.
func TestCompareMeasures(t *testing.T) {
	long := make([]float32, 2*tile+7)
	for i := range long {
		long[i] = float32(i%1000) - 300
	}
	long[5], long[tile+3], long[2*tile+6] = nan, inf, -12345
	for _, short := range [][]float32{{}, {1, 2, 3}, long[:tile], long[:tile+5], long} {
		a, b := array(t, []int64{int64(len(long))}, long...), array(t, []int64{int64(len(short))}, short...)
		d, err := Compare(context.Background(), a, b, Options{Rows: 3, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		left, _ := a.Measure(context.Background(), 1)
		right, _ := b.Measure(context.Background(), 1)
		same := func(x, y Stats) bool {
			return x.Count == y.Count && x.NaN == y.NaN && x.Inf == y.Inf && x.Limit == y.Limit && (x.Max == y.Max && x.Min == y.Min && x.Mean == y.Mean || math.IsNaN(x.Mean) && math.IsNaN(y.Mean))
		}
		if !same(d.LeftStats, left) || !same(d.RightStats, right) {
			t.Errorf("%d elements: %+v %+v, want %+v %+v", len(short), d.LeftStats, d.RightStats, left, right)
		}
		if len(short) == len(long) && (left.Min != -12345 || left.NaN != 1 || left.Inf != 1) {
			t.Errorf("%+v", left)
		}
	}
}

// TestLimit counts values at the largest float16, in every place of a tile.
func TestLimit(t *testing.T) {
	for n := range 9 {
		var p partial
		v := make([]float64, 9)
		v[n], v[(n+4)%9] = -largestHalf, largestHalf
		p.measure(v)
		if p.limit != 2 || p.max != largestHalf || p.min != -largestHalf || p.sum != 0 || p.finite != 9 {
			t.Errorf("at %d: %+v", n, p)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		typ  dtype.Type
		x    float64
		want string
	}{
		{dtype.Int32, 1234567, "1234567"}, {dtype.Int64, -1 << 40, "-1099511627776"}, {dtype.Uint8, 0, "0"}, {dtype.Uint64, 1 << 63, "9.223372036854776e+18"}, {dtype.Bool, 1, "1"},
		{dtype.Float32, float64(float32(0.1)), "0.1"}, {dtype.Float16, 65504, "65504"}, {dtype.Float64, 1e-7, "1e-07"},
		{dtype.Float32, math.Inf(-1), "-inf"}, {dtype.Float32, math.NaN(), "nan"},
	} {
		if got := (&Array{Type: c.typ}).Number(c.x); got != c.want {
			t.Errorf("%v %g: got %s, want %s", c.typ, c.x, got, c.want)
		}
	}
}

// Ids near 2^60 of which one is off by 7 are not equal, and shown in all their digits.
func TestCompareIds(t *testing.T) {
	ids := func(descr string, v ...uint64) *Array {
		data := make([]byte, 0, 8*len(v))
		for _, x := range v {
			data = binary.LittleEndian.AppendUint64(data, x)
		}
		path := filepath.Join(t.TempDir(), "ids.npy")
		if err := dumptest.WriteNpy(path, descr, []int64{int64(len(v))}, data); err != nil {
			t.Fatal(err)
		}
		a, err := Tensor(path, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a
	}
	for _, descr := range []string{"<i8", "<u8"} {
		left, right := ids("<i8", 5, 1<<60+7, 1<<60), ids(descr, 5, 1<<60, 1<<60, 3)
		d, err := Compare(context.Background(), left, right, Options{Rows: 4})
		if err != nil || d.Bad != 2 || len(d.Errors) != 2 {
			t.Fatalf("%s: %+v, %v", descr, d, err)
		}
		p := d.Errors[0]
		if p.Index != 1 || p.Diff() != 7 || left.Whole(p.Left, p.LeftRest) != "1152921504606846983" || right.Whole(p.Right, p.RightRest) != "1152921504606846976" {
			t.Errorf("%s: %+v", descr, p)
		}
		if d.Errors[1] != (Pair{Index: 3, Right: 3}) || d.First[1] != p {
			t.Errorf("%s: %+v", descr, d)
		}
		if d, err = Compare(context.Background(), left, left, Options{Rows: 4}); err != nil || !d.AllClose() {
			t.Errorf("%s: equal ids: %+v, %v", descr, d, err)
		}
	}
}

// Complex numbers are compared part by part.
func TestCompareComplex(t *testing.T) {
	of := func(v ...float32) *Array {
		a := array(t, []int64{int64(len(v))}, v...)
		raw := make([]byte, 4*len(v))
		if err := a.cursor().ReadTile(raw, 0, int64(len(v))); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := npy.Write(&b, dtype.Complex64, []int64{int64(len(v) / 2)}, raw); err != nil {
			t.Fatal(err)
		}
		return file(t, b.Bytes())
	}
	d, err := Compare(context.Background(), of(1, 2, 3, 4), of(1, 2, 3, 5), Options{Rows: 5, Atol: 1e-3, Rtol: 1e-3})
	if err != nil || d.Bad != 1 || len(d.Errors) != 1 || d.Errors[0].Index != 3 || d.Count != 4 {
		t.Errorf("%+v, %v", d, err)
	}
}
