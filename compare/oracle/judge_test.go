package oracle

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// TestJudge holds single elements against what operators.md says of them.
func TestJudge(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	type want struct{ beyond, saturated, flushed, judged, lost int64 }
	for _, c := range []struct {
		name        string
		typ         dtype.Type
		exact       bool
		found, y, b float64
		want        want
	}{
		{"equal", dtype.Float16, false, 1, 1, 0, want{0, 0, 0, 1, 0}},
		{"half a unit", dtype.Float16, false, 1, 1 + 0x1p-11, 0, want{0, 0, 0, 1, 0}},
		{"three units", dtype.Float16, false, 1 + 3*0x1p-10, 1, 0, want{1, 0, 0, 1, 0}},
		{"three units in a bound", dtype.Float16, false, 1 + 3*0x1p-10, 1, 0.01, want{0, 0, 0, 1, 0}},
		{"subnormal", dtype.Float16, false, 0x1p-24, 0x1.8p-24, 0, want{0, 0, 0, 1, 0}},
		{"flushed", dtype.Float16, false, 0, 0x1p-15, 0, want{0, 0, 1, 1, 0}},
		{"zero for a normal number", dtype.Float16, false, 0, 0x1p-13, 0, want{1, 0, 0, 1, 0}},
		{"moved and changed", dtype.Float16, true, 1, 1 + 0x1p-10, 0, want{1, 0, 0, 1, 0}},
		{"signed zeros", dtype.Float16, true, math.Copysign(0, -1), 0, 0, want{0, 0, 0, 1, 0}},
		{"NaN for a number", dtype.Float16, false, nan, 1, 0.5, want{1, 0, 0, 1, 0}},
		{"NaN for NaN", dtype.Float16, false, nan, nan, 0, want{0, 0, 0, 1, 0}},
		{"a number for NaN", dtype.Float16, false, 3, nan, 0, want{0, 0, 0, 1, 1}},
		{"a number for NaN that was moved", dtype.Float16, true, 3, nan, 0, want{1, 0, 0, 1, 0}},
		{"0 for NaN that was moved", dtype.Float16, true, 0, nan, 0, want{1, 0, 0, 1, 0}},
		{"0 for NaN", dtype.Float16, false, 0, nan, 0, want{0, 1, 0, 1, 0}},
		{"anything for NaN or not", dtype.Float16, false, 3, nan, inf, want{0, 0, 0, 0, 0}},
		{"overflow", dtype.Float16, false, inf, 65520, 0, want{0, 0, 0, 1, 0}},
		{"overflow of the other sign", dtype.Float16, false, -inf, 65520, 0, want{1, 0, 0, 1, 0}},
		{"no overflow yet", dtype.Float16, false, 65504, 65515, 0, want{0, 0, 0, 1, 0}},
		{"Inf too early", dtype.Float16, false, inf, 65000, 1, want{1, 0, 0, 1, 0}},
		{"Inf within the bound", dtype.Float16, false, inf, 65500, 40, want{0, 0, 0, 1, 0}},
		{"saturated", dtype.Float16, false, 65504, 70000, 0, want{0, 1, 0, 1, 0}},
		{"neither", dtype.Float16, false, 60000, 70000, 0, want{1, 0, 0, 1, 0}},
		{"no bound", dtype.Float16, false, 5, 1, inf, want{0, 0, 0, 0, 0}},
		{"float32", dtype.Float32, false, 1 + 0x1p-22, 1, 0, want{1, 0, 0, 1, 0}},
		{"bfloat16", dtype.BFloat16, false, 1, 1 + 0x1p-9, 0, want{0, 0, 0, 1, 0}},
		{"integers", dtype.Int32, true, 5, 6, 0, want{1, 0, 0, 1, 0}},
	} {
		j := newJudge(c.typ, c.exact)
		j.element(0, c.found, c.y, c.b)
		if got := (want{j.beyond, j.saturated, j.flushed, j.judged, j.lost}); got != c.want {
			t.Errorf("%s: found %g for %g ± %g: %+v, want %+v", c.name, c.found, c.y, c.b, got, c.want)
		}
	}
}

// TestRound compares rounding to narrow types with the decoding of all of their
// codes: every number rounds to itself, and what lies between two to the nearer.
func TestRound(t *testing.T) {
	for _, typ := range []dtype.Type{dtype.Float16, dtype.BFloat16} {
		p := precisionFor(typ)
		last := 0.0
		for code := range 0x7c00 {
			if typ == dtype.BFloat16 && code >= 0x7f80 {
				break
			}
			x := make([]float64, 1)
			dtype.Widen64(typ, x, []byte{byte(code), byte(code >> 8)})
			if got := p.Round(x[0]); got != x[0] {
				t.Fatalf("%v: %g rounds to %g", typ, x[0], got)
			}
			if code > 0 {
				low, high := last+(x[0]-last)*0.49, last+(x[0]-last)*0.51
				if p.Round(low) != last || p.Round(high) != x[0] {
					t.Fatalf("%v: between %g and %g: %g, %g", typ, last, x[0], p.Round(low), p.Round(high))
				}
			}
			last = x[0]
		}
		if !math.IsInf(p.Round(p.limit), 1) || p.Round(p.limit*(1-0x1p-30)) != p.max {
			t.Errorf("%v: the limit is not at %g", typ, p.limit)
		}
	}
}

// TestOneSided finds a factor of 1.0001, and nothing in rounding.
func TestOneSided(t *testing.T) {
	p := precisionFor(dtype.Float16)
	for _, c := range []struct {
		factor float64
		want   bool
	}{{1, false}, {1.0001, true}, {0.9999, true}} {
		j := newJudge(dtype.Float16, false)
		for i := range int64(200000) {
			y := 1 + math.Mod(float64(i)*0.6180339887, 1)
			j.element(i, p.Round(y*c.factor), y, 1e-6)
		}
		if _, _, yes := j.oneSided(); yes != c.want {
			t.Errorf("factor %g: %v", c.factor, yes)
		}
	}
}

// TestOneSidedFewNumbers: few different numbers are rounded to one side, and that is no error; a factor is.
func TestOneSidedFewNumbers(t *testing.T) {
	p := precisionFor(dtype.BFloat16)
	for factor, want := range map[float64]bool{1: false, 1.0005: true, 0.9995: true} {
		j := newJudge(dtype.BFloat16, false)
		for i := range int64(1 << 20) {
			y := math.Sqrt(p.Round(1e-9 * float64(1+i%150)))
			j.element(i, p.Round(y*factor), y, 1e-7*y)
		}
		if mean, limit, yes := j.oneSided(); yes != want {
			t.Errorf("factor %g: mean %g of %g", factor, mean, limit)
		}
	}
}

// Integers beyond 2^53 that look right may be off by the digits that float64 lacks: nothing
// is said of them. Smaller ones are judged, and so is what looks wrong.
func TestLongIntegersAreNotTakenForRight(t *testing.T) {
	ids := func(from, off uint64) []byte {
		var b []byte
		for i := range uint64(24) {
			v := from + i*1024
			if i == 17 {
				v += off
			}
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	var identity *recordedCase
	for _, c := range recordedCases(t) {
		if c.Type == "Identity" {
			identity = c
		}
	}
	if identity == nil {
		t.Fatal("there is no case of Identity")
	}
	for _, c := range []struct {
		from, off uint64
		want      Verdict
	}{{1 << 60, 0, Unknown}, {1 << 60, 7, Unknown}, {1 << 60, 1 << 20, Wrong}, {0, 0, OK}, {0, 7, Wrong}} {
		out := CheckOp(identity.op(t), identity.dump(t, func(d *dumptest.Dump) {
			tensor := dumptest.Tensor{Type: int(dtype.Int64), Format: dumptest.ND, Shape: []int64{24}}
			in, got := tensor, tensor
			in.Data, got.Data = ids(c.from, 0), ids(c.from, c.off)
			d.Inputs, d.Outputs = []dumptest.Tensor{in}, []dumptest.Tensor{got}
		}), Settings{})
		if len(out) != 1 || out[0].Verdict != c.want || c.want == Unknown && out[0].Reasons[0].Kind != Coarse {
			t.Errorf("from %d, off by %d: %+v", c.from, c.off, out)
		}
	}
}

// Whether what was found is the nearest does not depend on how that is told.
func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for _, typ := range []dtype.Type{dtype.Float16, dtype.BFloat16} {
		j := newJudge(typ, false)
		seen := [2]int{}
		for range 200_000 {
			y := r.NormFloat64() * math.Ldexp(1, r.IntN(40)-30)
			found := j.p.Round(y)
			switch r.IntN(4) {
			case 0: // a neighbour
				found = j.p.Round(found * (1 + (2*r.Float64()-1)*4*j.p.v))
			case 1: // no number of the type
				found = y * (1 + j.p.v/8)
			case 2: // at a power of two
				y = math.Copysign(math.Ldexp(1, r.IntN(20)-10), y) * (1 + (2*r.Float64()-1)*2*j.p.v)
				found = j.p.Round(y * (1 + (2*r.Float64()-1)*2*j.p.v))
			}
			got := j.nearest(found, y, 0)
			want := found == j.p.Round(y)
			if got != want {
				t.Fatalf("%v: %g for %g is nearest: %v", typ, found, y, got)
			}
			if want {
				seen[1]++
			} else {
				seen[0]++
			}
		}
		if min(seen[0], seen[1]) < 10_000 {
			t.Errorf("%v: %v nearest or not", typ, seen)
		}
	}
}

// TestAtMinusInf: what x·σ(x) and its like are of -Inf is NaN as PyTorch computes it, and 0 where a kernel looks first; neither is wrong,
// and another element still is.
func TestAtMinusInf(t *testing.T) {
	for call, second := range map[string]string{"Functional.silu": "0.731058578", "Functional.gelu": "0.841344746", "Functional.hardswish": "0.666666687"} {
		for _, c := range []struct {
			low, y string
			want   Verdict
		}{{"nan", second, OK}, {"0", second, OK}, {"nan", "0.5", Wrong}} {
			of, err := textCase(call + "(float32[2]{-inf 1}) = float32[2]{" + c.low + " " + c.y + "}")
			if err != nil {
				t.Fatal(err)
			}
			r := newRecorder(t)
			r.add(&of)
			if f := r.check()[0]; f.Verdict != c.want {
				t.Errorf("%s of -Inf is %s, of 1 %s: %v, %v", call, c.low, c.y, f.Verdict, f.Reasons)
			}
		}
	}
}

// TestWindowOfNaN: the gradient of a window that holds NaN may go to any of it, also where it is NaN itself; that of another window may not.
func TestWindowOfNaN(t *testing.T) {
	for line, want := range map[string]Verdict{
		"float32[1,1,1,4]{nan nan 1 2}, float32[1,1,1,2]{nan 2}, float32[1,1,1,2]{5 7}, %s) = float32[1,1,1,4]{5 0 0 7}":     OK,
		"float32[1,1,1,4]{nan nan 1 2}, float32[1,1,1,2]{nan 2}, float32[1,1,1,2]{5 7}, %s) = float32[1,1,1,4]{0 0 0 7}":     OK,
		"float32[1,1,1,4]{nan nan 1 2}, float32[1,1,1,2]{nan 2}, float32[1,1,1,2]{5 7}, %s) = float32[1,1,1,4]{0 5 7 0}":     Wrong,
		"float32[1,1,1,4]{3 3 1 2}, float32[1,1,1,2]{3 2}, float32[1,1,1,2]{nan nan}, %s) = float32[1,1,1,4]{0 nan 0 nan}":   OK,
		"float32[1,1,1,4]{3 1 1 2}, float32[1,1,1,2]{3 2}, float32[1,1,1,2]{nan 7}, %s) = float32[1,1,1,4]{nan 0 nan 7}":     Wrong,
		"float32[1,1,1,4]{nan 1 1 2}, float32[1,1,1,2]{nan 2}, float32[1,1,1,2]{nan 7}, %s) = float32[1,1,1,4]{nan nan 0 7}": OK,
	} {
		c, err := textCase("MaxPoolGrad(" + strings.Replace(line, "%s", `ksize=[1,1,1,2], strides=[1,1,1,2], padding="VALID", format="NCHW"`, 1))
		if err != nil {
			t.Fatal(err)
		}
		if f := settle(t, c.operator(t), nil, line)[0]; f.Verdict != want {
			t.Errorf("%s: %v, %v; expected %v", line, f.Verdict, f.Reasons, want)
		}
	}
}
