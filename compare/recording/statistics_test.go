package recording

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// TestMeasureReal: what is computed of the elements is what the recorder wrote beside
// them, for every tensor that was recorded, statistics and checksums.
func TestMeasureReal(t *testing.T) {
	tops, _ := filepath.Glob("../../../shared/real/msprobe/*/*")
	if len(tops) == 0 {
		t.Skip("no recordings here")
	}
	tensors, statistics, sums := 0, 0, 0
	for _, top := range tops {
		if info, err := os.Stat(top); err != nil || !info.IsDir() {
			continue
		}
		list, err := findMsprobe(top)
		if err != nil {
			continue
		}
		for _, f := range list {
			s, err := f.load()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range s.calls {
				for i := range c.leaves {
					l := &c.leaves[i]
					if !l.tensor() || l.DataName == "" || !l.Known {
						continue
					}
					own := l.sums()
					file, err := s.open(l)
					if err != nil {
						t.Fatal(err)
					}
					found, err := measure(context.Background(), file, l, &own)
					file.Close()
					if err != nil {
						t.Fatal(err)
					}
					tensors++
					for i, n := range own.stats {
						if !recorded(n) || found.n == 0 {
							continue
						}
						if statistics++; !found.agrees(i, n, l) {
							t.Errorf("%s %s %s %s: statistic %d is %v, recorded %v", top, c.Name, l.place, l.DType, i, found.stats[i], n)
						}
					}
					if own.sum.Kind == msprobe.Text && found.n > 0 {
						if sums++; found.sum.S != own.sum.S {
							t.Errorf("%s %s %s: checksum %s, recorded %s", top, c.Name, l.place, found.sum.S, own.sum.S)
						}
					}
				}
			}
		}
	}
	t.Logf("%d tensors, %d statistics, %d checksums", tensors, statistics, sums)
	if tensors < 1000 || statistics < 3000 || sums < 500 {
		t.Errorf("%d tensors, %d statistics, %d checksums: too few", tensors, statistics, sums)
	}
}

type bytesElements []byte

func (b bytesElements) ReadTile(dst []byte, first, n int64) error {
	size := int64(len(dst)) / n
	copy(dst, b[first*size:])
	return nil
}

// TestMeasure: NaN and infinities, tensors longer than a tile, sums that one element
// more or less would change, checksums of odd lengths.
func TestMeasure(t *testing.T) {
	const n = tileLen + 3
	raw := make([]byte, 0, 2*n)
	xor := uint64(0)
	for i := range n {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(i%7))
	}
	padded := append(append([]byte(nil), raw...), make([]byte, 8-len(raw)%8)...)
	for b := padded; len(b) > 0; b = b[8:] {
		xor ^= binary.LittleEndian.Uint64(b)
	}
	side := func(typ dtype.Type, b []byte, count int64) *engine.SideTensor {
		return &engine.SideTensor{Tensor: engine.Tensor{Type: typ, Shape: []int64{count}, Count: count, Open: func() engine.Elements { return bytesElements(b) }}}
	}
	l := &leaf{form: &form{Elem: dtype.Int16, Known: true, Shape: []int64{n}}, summary: &result.Summary{}}
	found, err := measure(context.Background(), side(dtype.Int16, raw, n), l, &sums{sum: msprobe.Number{Kind: msprobe.Text, S: "0x0000000000000000"}})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for i := range n {
		sum += i % 7
	}
	if found.stats[atMax].F != 6 || found.stats[atMin].F != 0 || found.stats[atMean].F != float64(sum)/n {
		t.Errorf("%v, expected a mean of %g", found.stats, float64(sum)/n)
	}
	if c := (&checksum{wanted: msprobe.Number{Kind: msprobe.Text, S: "0x0000000000000000"}, xor: xor}); found.sum != c.sum() {
		t.Errorf("xor %s, expected %s", found.sum.S, c.sum().S)
	}
	floats := func(v ...float32) []byte {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		v      []float32
		hi, lo float64
	}{{[]float32{1, nan, 2}, math.NaN(), math.NaN()}, {[]float32{nan, 1}, math.NaN(), math.NaN()}, {[]float32{inf, 1, -inf}, math.Inf(1), math.Inf(-1)}, {[]float32{-1, -2}, -1, -2}} {
		l := &leaf{form: &form{Elem: dtype.Float32, Known: true, Shape: []int64{int64(len(c.v))}}, summary: &result.Summary{}}
		found, err := measure(context.Background(), side(dtype.Float32, floats(c.v...), int64(len(c.v))), l, &sums{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{c.hi, c.lo} {
			if !found.agrees(i, msprobe.Number{Kind: msprobe.Float, F: want}, l) {
				t.Errorf("%v: %v, expected %v", c.v, found.stats[i], want)
			}
		}
	}
	// A recorder may sum integers in float32, which its digits show.
	l = &leaf{form: &form{Elem: dtype.Int32, Known: true, Shape: []int64{3}}, summary: &result.Summary{}}
	found, _ = measure(context.Background(), side(dtype.Int32, []byte{100, 0, 0, 0, 90, 0, 0, 0, 51, 0, 0, 0}, 3), l, &sums{})
	for v, want := range map[float64]bool{math.Sqrt(20701): true, float64(float32(math.Sqrt(20701))): true, math.Sqrt(20701) + 1e-5: false, 143.875: false} {
		if found.agrees(atNorm, msprobe.Number{Kind: msprobe.Float, F: v}, l) != want {
			t.Errorf("a norm of %.9g is taken for %v", v, found.stats[atNorm])
		}
	}
	// The squares of elements may be beyond their type where the norm is not.
	l = &leaf{form: &form{Elem: dtype.Float32, Known: true, Shape: []int64{2}}, summary: &result.Summary{}}
	for v, want := range map[float32]bool{3e25: true, 3e15: false} {
		found, _ = measure(context.Background(), side(dtype.Float32, floats(v, v), 2), l, &sums{})
		if found.agrees(atNorm, msprobe.Number{Kind: msprobe.Float, F: math.Inf(1)}, l) != want {
			t.Errorf("an infinite norm is taken for %v", found.stats[atNorm])
		}
	}
	// So may the sum of elements, before it is divided.
	for v, want := range map[float32]bool{-3e38: true, 3e38: false, -1e38: false} {
		found, _ = measure(context.Background(), side(dtype.Float32, floats(v, v), 2), l, &sums{})
		if found.agrees(atMean, msprobe.Number{Kind: msprobe.Float, F: math.Inf(-1)}, l) != want {
			t.Errorf("an infinite mean is taken for %v", found.stats[atMean])
		}
	}
	// A mean that is off by more than rounding is another one.
	l = &leaf{form: &form{Elem: dtype.Float32, Known: true, Shape: []int64{2}}, summary: &result.Summary{}}
	found, _ = measure(context.Background(), side(dtype.Float32, floats(3, 4), 2), l, &sums{})
	for v, want := range map[float64]bool{3.5: true, 3.5000002: true, 3.50001: false} {
		if found.agrees(atMean, msprobe.Number{Kind: msprobe.Float, F: v}, l) != want {
			t.Errorf("a mean of %g is taken for %v", v, found.stats[atMean])
		}
	}
}

// TestOff: extremes are told with the digits of their type, or by way of float32.
func TestOff(t *testing.T) {
	for _, c := range []struct {
		elem            dtype.Type
		recorded, found float64
		want            bool
	}{
		{dtype.Float32, -3.0853772, -3.0853772163391113, false},
		{dtype.Float32, -3.0853775, -3.0853772163391113, true},
		{dtype.Int32, 2147483648, 2147483647, false},
		{dtype.Int32, 2147483640, 2147483647, true},
		{dtype.Int64, 7, 8, true},
		{dtype.Float64, -1.534196138381958, -1.5341960812661068, false},
		{dtype.Float64, -1.5342, -1.5341960812661068, true},
	} {
		if got := (&leaf{form: &form{Elem: c.elem}, summary: &result.Summary{}}).off(c.recorded, c.found); got != c.want {
			t.Errorf("%v: %v is %v: %v, expected %v", c.elem, c.recorded, c.found, got, c.want)
		}
	}
}

// TestBeliedKeeps: statistics that are marked as damage are still what was written, to the last digit.
func TestBeliedKeeps(t *testing.T) {
	tensor := func(hi, norm, sum string) string {
		return `{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4], "Max": ` + hi + `, "Min": 1.5, "Mean": 2.5, "Norm": ` + norm + `, "md5": "` + sum + `"}`
	}
	dir := t.TempDir()
	text := `{"task": "statistics", "level": "L1", "framework": "pytorch", "data": {
"Functional.linear.0.forward": {"input_args": [` + tensor("2.5", "9.5", "00000001") + `], "input_kwargs": {}, "output": [` + tensor("3.5", "9.25", "00000003") + `]},
"Functional.relu.0.forward": {"input_args": [` + tensor("NaN", "123456789012345678901", "00000003") + `], "input_kwargs": {}, "output": [` + tensor("4.5", "9.75", "00000004") + `]}}}`
	if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := findMsprobe(dir)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	s, err := list[0].load()
	if err != nil {
		t.Fatal(err)
	}
	l := &s.calls[1].leaves[0]
	if l.arg == nil || l.arg.odd == nil || l.stat(atNorm).S != "123456789012345678901" {
		t.Errorf("%+v, Norm %+v", l.arg, l.stat(atNorm))
	}
}

// TestSmallSquares: the norm of numbers whose squares float32 does not hold says nothing against a file; that of others does.
func TestSmallSquares(t *testing.T) {
	for _, c := range []struct {
		typ         dtype.Type
		found, said float64
		agrees      bool
	}{
		{dtype.Float32, 8.0156e-22, 8.0112e-22, true}, {dtype.BFloat16, 4e-23, 0, true}, {dtype.Float32, 1e-15, 0, false}, {dtype.Float32, 1e-15, 1.1e-15, false},
		{dtype.Float64, 8.0156e-22, 8.0112e-22, false},
	} {
		number := func(v float64) msprobe.Number { return msprobe.Number{Kind: msprobe.Float, F: v} }
		s := sums{norm: c.found, n: 64}
		s.stats[atNorm] = number(c.found)
		l := &leaf{form: &form{}, summary: &result.Summary{}}
		l.Elem = c.typ
		if got := s.agrees(atNorm, number(c.said), l); got != c.agrees {
			t.Errorf("%v: found %g, recorded %g: %v, expected %v", c.typ, c.found, c.said, got, c.agrees)
		}
	}
}
