package pattern

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"precision/dump/dtype"
)

var types = []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32}

// Nothing is told of right data: rounded expectations, with a bound and without.
func TestRightDataIsLeftAlone(t *testing.T) {
	for seed := range drawn(1, 3) {
		for _, shape := range testShapes {
			for _, typ := range types {
				for _, data := range []string{"normal", "relu", "exp", "heavy", "small"} {
					for _, noise := range []string{"oracle", "none"} {
						s := newSample(shape, typ, data, noise, seed)
						if found, err := Find(s.Case); err != nil || len(found) > 0 {
							t.Fatalf("%v %s %s %s seed %d: %s %v", shape, typ, data, noise, seed, list(found), err)
						}
					}
				}
			}
		}
	}
}

// drawn is how many seeds a test draws: few, and all where SEEDS is set.
func drawn(few, all uint64) uint64 {
	if os.Getenv("SEEDS") != "" {
		return all
	}
	return few
}

// No hypothesis is read into noise, whatever its size: only what describes it is told.
func TestNoiseIsOnlyNoise(t *testing.T) {
	told := map[Kind]int{}
	for seed := range drawn(1, 2) {
		for i, shape := range testShapes {
			for j, data := range []string{"normal", "relu", "exp", "heavy", "small"} {
				for _, noise := range []string{"1e-4", "1e-3", "1e-2", "5e-2", "0.3"} {
					s := newSample(shape, types[(i+j+int(seed))%3], data, noise, seed)
					found, err := Find(s.Case)
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range found {
						told[f.Kind]++
						if f.Kind != Noise && f.Kind != Unexplained && f.Kind != RandomElements {
							t.Errorf("%v %s noise %s seed %d: %s", shape, data, noise, seed, list(found))
						}
					}
				}
			}
		}
	}
	t.Log(told)
	if told[RandomElements]*20 > told[Noise] {
		t.Errorf("noise is often taken for random elements: %v", told)
	}
}

// Random numbers that have nothing to do with each other resemble nothing.
func TestUnrelatedNumbers(t *testing.T) {
	for seed := range drawn(2, 4) {
		for _, shape := range testShapes {
			for _, data := range [][2]string{{"normal", "normal"}, {"relu", "relu"}, {"exp", "normal"}, {"normal", "exp"}, {"heavy", "heavy"}, {"exp", "exp"}} {
				s := newSample(shape, types[seed%3], data[0], "none", seed)
				s.Got = newSample(shape, types[seed%3], data[1], "none", seed+1000).Got
				if seed%2 == 1 {
					s.Bound = newSample(shape, types[seed%3], data[0], "oracle", seed).Bound
				}
				found, err := Find(s.Case)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range found {
					if f.Kind != Unexplained {
						t.Errorf("%v %v seed %d: %s", shape, data, seed, list(found))
					}
				}
			}
		}
	}
}

// The same case gives the same findings, and leaves its numbers alone.
func TestDeterministic(t *testing.T) {
	for _, f := range faults {
		s := newSample([]int64{2, 32, 14, 14}, dtype.Float16, "normal", "1e-3", 3)
		if f.skip != nil && f.skip(s) {
			continue
		}
		f.do(s)
		got, want := append([]float64(nil), s.Got...), append([]float64(nil), s.Want...)
		first, _ := Find(s.Case)
		second, _ := Find(s.Case)
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s: %s, then %s", f.name, list(first), list(second))
		}
		if !sameNumbers(got, s.Got) || !sameNumbers(want, s.Want) {
			t.Errorf("%s: the case was changed", f.name)
		}
	}
}

func sameNumbers(a, b []float64) bool {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// Findings survive JSON.
func TestJSON(t *testing.T) {
	for _, f := range faults {
		s := newSample([]int64{2, 32, 14, 14}, dtype.Float16, "normal", "oracle", 3)
		if f.skip != nil && f.skip(s) {
			continue
		}
		f.do(s)
		found, _ := Find(s.Case)
		text, err := json.Marshal(found)
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		var back []Finding
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		for i := range back {
			a, b := found[i], back[i]
			if a.Kind != b.Kind || !reflect.DeepEqual(a.Args, b.Args) || a.Explained != b.Explained || a.Elements != b.Elements {
				t.Errorf("%s:\n%+v\n%+v", f.name, a, b)
			}
		}
	}
}

func TestCaseErrors(t *testing.T) {
	v := make([]float64, 6)
	for name, c := range map[string]Case{
		"Want":         {Got: v, Want: v[:5]},
		"Got":          {Got: v[:5], Want: v, Shape: []int64{2, 3}},
		"Bound":        {Got: v, Want: v, Bound: v[:2]},
		"Shape":        {Got: v, Want: v, Shape: []int64{-2, -3}},
		"At":           {Got: v, Want: v[:2], At: []int64{4, 6}},
		"Alternatives": {Got: v, Want: v, Alternatives: []Alternative{{Want: v[:1]}}},
	} {
		_, err := Find(c)
		var e *CaseError
		if !errors.As(err, &e) || e.Part != name || err.Error() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Find(Case{Got: v, Want: v, Shape: []int64{1 << 62, 1 << 62}}); err == nil {
		t.Error("a shape of 2^124 elements was taken")
	}
	for _, c := range []Case{{}, {Got: v[:0], Want: v[:0], Shape: []int64{0, 3}}, {Got: v[:1], Want: v[:1]}, {Got: v[:1], Want: v[:1], Shape: []int64{1, 1, 1}}} {
		if found, err := Find(c); err != nil || len(found) > 0 {
			t.Errorf("%+v: %v %v", c, found, err)
		}
	}
}

// A sample of the expectations is enough for most faults when all of the recording is known.
func TestSampled(t *testing.T) {
	want := map[string]Kind{"scale 2": Scale, "last axes swapped": AxesPermuted, "NHWC read as NCHW": AxesPermuted, "rolled rows": Shifted,
		"channel tail zero": Unwritten, "stale third": Stale, "sign bit": BitFlip, "bias dropped": SliceOffset, "one NaN": NaN,
		"relu missing": ActivationMissing, "NC1HWC0 read as NCHW": LayoutMisread, "sums in a narrower type": LowPrecision, "border": Border}
	for _, f := range faults {
		kind, ok := want[f.name]
		if !ok {
			continue
		}
		s := newSample([]int64{2, 64, 20, 20}, dtype.Float16, "normal", "oracle", 8)
		f.do(s)
		c := s.Case
		c.Want, c.Bound, c.Half = nil, nil, nil
		for i := range s.Want {
			keep := mix(uint64(i))%4 == 0 || math.Abs(s.Got[i]-s.Want[i]) > s.Bound[i] && f.name == "sign bit" || s.Got[i] != s.Got[i]
			if keep {
				c.At = append(c.At, int64(i))
				c.Want = append(c.Want, s.Want[i])
				c.Bound = append(c.Bound, s.Bound[i])
				c.Half = append(c.Half, s.Half[i])
			}
		}
		found, err := Find(c)
		if err != nil || len(found) == 0 || found[0].Kind != kind {
			t.Errorf("%s: %s %v", f.name, list(found), err)
		}
		c.Got = nil
		for _, at := range c.At {
			c.Got = append(c.Got, s.Got[at])
		}
		if _, err := Find(c); err != nil {
			t.Errorf("%s, recording sampled: %v", f.name, err)
		}
	}
}

// What the operator's oracle offers is told under its own name.
func TestAlternatives(t *testing.T) {
	for _, n := range []int64{5, 20, 5000} {
		s := newSample([]int64{n}, dtype.Float16, "normal", "oracle", uint64(n))
		without, other := make([]float64, n), make([]float64, n)
		for i, w := range s.Want {
			without[i], other[i] = w-bias(int64(i)), w+bias(int64(i*i))
		}
		s.write(without)
		bound := make([]float64, n)
		for i, w := range without {
			bound[i] = s.num.unit()*math.Abs(w) + s.num.tiny()
		}
		s.Alternatives = []Alternative{{Kind: WrongEpsilon, Want: other}, {Kind: MissingBias, Args: "b", Want: without, Bound: bound}}
		found, err := Find(s.Case)
		if err != nil || len(found) != 1 || found[0].Kind != MissingBias || found[0].Args != "b" || found[0].Left > 1 {
			t.Errorf("%d elements: %s %v", n, list(found), err)
		}
	}
}

// NaN and Inf are traced to the operands that make them.
func TestCauses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 640
	for _, c := range []struct {
		name string
		make func(x, y []float64, i int) (got, want float64)
		want Cause
		kind Kind
	}{
		{"division", func(x, y []float64, i int) (float64, float64) {
			if i%40 == 0 {
				x[i], y[i] = 0, 0
				return nan, 0
			}
			return x[i], x[i]
		}, ZeroByZero, NaN},
		{"by zero", func(x, y []float64, i int) (float64, float64) {
			if i%40 == 0 {
				y[i] = 0
				return inf, 1
			}
			return x[i], x[i]
		}, DividedByZero, Inf},
		{"difference", func(x, y []float64, i int) (float64, float64) {
			if i%40 == 0 {
				x[i], y[i] = inf, inf
				return nan, 0
			}
			return x[i], x[i]
		}, InfMinusInf, NaN},
		{"product", func(x, y []float64, i int) (float64, float64) {
			if i%40 == 0 {
				x[i], y[i] = 0, inf
				return nan, 0
			}
			return x[i], x[i]
		}, ZeroTimesInf, NaN},
		{"inherited", func(x, y []float64, i int) (float64, float64) {
			if i%40 == 0 {
				y[i] = nan
				return nan, 0
			}
			return x[i], x[i]
		}, FromOperand, NaN},
		{"unknown", func(x, y []float64, i int) (float64, float64) {
			if i%40 == 0 {
				return nan, 0
			}
			return x[i], x[i]
		}, "", NaN},
		{"exp", func(x, y []float64, i int) (float64, float64) {
			x[i], y[i] = 4*x[i], 1
			if x[i] = min(x[i], 10.5); i%40 == 0 {
				x[i] = 12
				return inf, 0.5
			}
			return 0.1, 0.1
		}, ExpOverflow, Inf},
		{"square", func(x, y []float64, i int) (float64, float64) {
			x[i], y[i] = 80*min(x[i], 3), 1
			if i%40 == 0 {
				x[i] = 300
				return inf, 0.5
			}
			return 0.1, 0.1
		}, SquareOverflow, Inf},
		{"largest", func(x, y []float64, i int) (float64, float64) {
			x[i], y[i] = min(x[i], 1.9), 1
			if i%40 == 0 {
				x[i] = 3
				return inf, 0.5
			}
			return 0.1, 0.1
		}, Overflow, Inf},
	} {
		x, y := values("normal", n, rng), values("normal", n, rng)
		k := Case{Got: make([]float64, n), Want: make([]float64, n), DType: dtype.Float16}
		for i := range n {
			k.Got[i], k.Want[i] = c.make(x, y, i)
		}
		k.Operands = []Tensor{{Name: "x", Values: x}, {Name: "y", Values: y}}
		found, err := Find(k)
		if err != nil || len(found) == 0 || found[0].Kind != c.kind {
			t.Errorf("%s: %s %v", c.name, list(found), err)
			continue
		}
		if a := found[0].Args.(NonFinite); a.Cause != c.want {
			t.Errorf("%s: cause %q, want %q", c.name, a.Cause, c.want)
		}
	}
}

// A softmax that does not subtract the maximum loses whole rows.
func TestRowOverflow(t *testing.T) {
	c := Case{Shape: []int64{20, 32}, DType: dtype.Float16}
	x := values("normal", 640, rand.New(rand.NewPCG(3, 4)))
	for i := range x {
		w, g := 1.0/32, 1.0/32
		if r := i / 32; r%5 == 0 {
			if g = math.NaN(); i%32 == 7 {
				x[i] = 13
			}
		}
		c.Got, c.Want = append(c.Got, g), append(c.Want, w)
	}
	c.Operands = []Tensor{{Name: "x", Values: x}}
	found, err := Find(c)
	if err != nil || len(found) != 1 {
		t.Fatal(list(found), err)
	}
	if a := found[0].Args.(NonFinite); a.Cause != ExpOverflow || a.Operand != "x" || a.Threshold != 13 {
		t.Errorf("%+v", a)
	}
}

// encode and decode are inverse, and agree with the decoder of dumps.
func TestBits(t *testing.T) {
	for _, typ := range types[:2] {
		f := numbers[typ]
		for b := range uint64(1 << 16) {
			var v [1]float64
			dtype.Widen64(typ, v[:], []byte{byte(b), byte(b >> 8)})
			if d := f.decode(b); d != v[0] && (d == d || v[0] == v[0]) {
				t.Fatalf("%s %#x: %g, want %g", typ, b, d, v[0])
			}
			if back, ok := f.encode(v[0]); v[0]-v[0] == 0 && v[0] != 0 && (!ok || back != b) {
				t.Fatalf("%s %#x: encoded as %#x %v", typ, b, back, ok)
			}
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 10000 {
		b := rng.Uint64()
		x := math.Float32frombits(uint32(b))
		if f := numbers[dtype.Float32]; x-x == 0 {
			if e, ok := f.encode(float64(x)); x != 0 && (!ok || e != uint64(uint32(b)) || f.decode(e) != float64(x)) {
				t.Fatalf("%g: %#x", x, e)
			}
			if f := numbers[dtype.Float16]; math.Abs(float64(x)) < 65520 && f.has(float64(x)) != (f.round(float64(x)) == float64(x)) {
				t.Fatal(x)
			}
		}
		for _, typ := range []dtype.Type{dtype.Int8, dtype.Int16, dtype.Int32, dtype.Uint8} {
			f := numbers[typ]
			v := f.decode(b & (1<<f.bits - 1))
			if e, ok := f.encode(v); !ok || e != b&(1<<f.bits-1) {
				t.Fatalf("%s %g: %#x %v", typ, v, e, ok)
			}
		}
	}
}

// What is found does not depend on the unit: both sides times a power of two give the same kinds.
func TestUnits(t *testing.T) {
	for _, f := range faults {
		for _, noise := range []string{"oracle", "1e-3"} {
			s := newSample([]int64{2, 32, 14, 14}, dtype.Float32, "normal", noise, 5)
			switch {
			case f.skip != nil && f.skip(s):
				continue
			case f.name == "saturated", f.name == "exponent bits", f.name == "tanh missing", f.name == "bytes in the other order", f.name == "a bit above the tail of noise", f.name == "halves read as float32":
				continue // they have a unit: the end of a type, the bits of an exponent, a function
			}
			f.do(s)
			first, _ := Find(s.Case)
			c := s.Case
			c.Got, c.Want, c.Bound, c.Half, c.Other = times(s.Got, 8), times(s.Want, 8), times(s.Bound, 8), times(s.Half, 8), nil
			if s.Other != nil {
				c.Other = func(yield func(Tensor) bool) {
					for o := range s.Other {
						if !yield(Tensor{o.Name, times(o.Values, 8), o.Input, o.Earlier}) {
							return
						}
					}
				}
			}
			second, _ := Find(c)
			if a, b := kinds(first), kinds(second); !reflect.DeepEqual(a, b) {
				t.Errorf("%s noise %s: %v, in other units %v", f.name, noise, a, b)
			}
		}
	}
}

func times(v []float64, factor float64) []float64 {
	if v == nil {
		return nil
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = factor * x
	}
	return out
}

func kinds(found []Finding) (out []Kind) {
	for _, f := range found {
		out = append(out, f.Kind)
	}
	return out
}

// Inf is right where the expectation, with its bound, leaves the type; 65504 is saturation
// beyond that. Against a golden run either is worth telling.
func TestOverflow(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		got, want, bound float64
		kind             Kind
	}{
		{inf, 70000, 35, ""}, {-inf, -70000, 35, ""}, {inf, 65500, 32, ""}, {inf, 60000, 32, Inf}, {65504, 70000, 35, Saturated},
		{65504, 65530, 32, ""}, {65504, inf, 0, Saturated}, {inf, inf, 0, ""}, {-inf, 70000, 35, Inf}, {inf, 70000, -1, Saturated},
		{65504, 70000, -1, Saturated}, {inf, 60000, -1, Inf},
	} {
		s := newSample([]int64{50}, dtype.Float16, "normal", "oracle", 1)
		s.Got[7], s.Want[7], s.Bound[7] = c.got, c.want, c.bound
		if c.bound < 0 {
			s.Bound = nil
		}
		found, err := Find(s.Case)
		if got := kinds(found); err != nil || len(got) > 1 || len(got) == 1 && got[0] != c.kind || len(got) == 0 && c.kind != "" {
			t.Errorf("%g for %g ± %g: %v %v, want %q", c.got, c.want, c.bound, got, err, c.kind)
		}
	}
}

// A handful of elements is enough for a rule that meets them exactly.
func TestFewElements(t *testing.T) {
	s := newSample([]int64{1000}, dtype.Float16, "normal", "oracle", 2)
	for i := range s.Want {
		if i%100 != 0 {
			s.Want[i], s.exact[i], s.Bound[i] = 0, 0, s.num.tiny()
		}
	}
	s.change(func(_ int, x float64) float64 { return 2 * x })
	if found, err := Find(s.Case); err != nil || len(found) != 1 || found[0].Kind != Scale {
		t.Errorf("%s %v", list(found), err)
	}
}

// Numbers whose squares overflow give findings that JSON can hold, or none.
func TestHugeNumbers(t *testing.T) {
	for _, f := range faults {
		s := newSample([]int64{2, 32, 14, 14}, dtype.Float64, "normal", "none", 5)
		if f.skip != nil && f.skip(s) || f.name == "through bfloat16" {
			continue
		}
		f.do(s)
		s.Got, s.Want, s.Other = times(s.Got, 1e200), times(s.Want, 1e200), nil
		found, err := Find(s.Case)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if !(f.Explained >= 0 && f.Explained <= 1) {
				t.Errorf("%s: %+v", f.Kind, f)
			}
		}
		if _, err := json.Marshal(found); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}

// Faults that resemble what other hypotheses look for are not named after them: smooth numbers, which are near their
// neighbours, a relu on one side, numbers that many bits say alike, and small integers.
func TestLookalikes(t *testing.T) {
	never := func(name string, c Case, kinds ...Kind) {
		t.Helper()
		found, err := Find(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			for _, k := range kinds {
				if f.Kind == k {
					t.Errorf("%s: %s", name, list(found))
				}
			}
		}
	}
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := 64 * 96
		smooth, rough, noise := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range smooth {
			smooth[i] = math.Sin(float64(i%96)/(20+float64(seed))) + 0.3*math.Cos(float64(i/96)/17)
			rough[i] = r.NormFloat64()
			noise[i] = smooth[i] + 0.2*r.NormFloat64()
		}
		shape := []int64{64, 96}
		strides := []Kind{StrideIgnored, StrideDoubled, BitsMisread, InvertedMask, Shifted}
		never("smooth numbers, noise on them", Case{Got: noise, Want: smooth, Shape: shape, DType: dtype.Float32}, strides...)
		never("smooth numbers, scaled", Case{Got: times(smooth, 1.07), Want: smooth, Shape: shape, DType: dtype.Float32}, strides...)
		never("unrelated", Case{Got: rough, Want: smooth, Shape: shape, DType: dtype.Float16}, strides...)
		// Two masks of their own, neither the other one's complement; a dropout with other draws.
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			if r.IntN(2) == 0 {
				a[i] = rough[i]
			}
			if r.IntN(2) == 0 {
				b[i] = rough[i]
			}
		}
		never("dropout with other draws", Case{Got: a, Want: b, Shape: shape, DType: dtype.Float32}, InvertedMask, BitsMisread)
		// The sign of everything: behind a relu its zeros are complements but for exact zeros, and the sign says more.
		relu, other := make([]float64, n), make([]float64, n)
		for i := range relu {
			relu[i], other[i] = max(0, rough[i]), -max(0, rough[i])
		}
		never("sign behind a relu", Case{Got: other, Want: relu, Shape: shape, DType: dtype.Float32}, InvertedMask, BitsMisread)
		// Integers off by a multiple of 256 in no relation to their sign, and saturated ones.
		x, y, z := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(r.IntN(256) - 128)
			y[i] = float64(r.IntN(256) - 128)
			z[i] = min(max(2*x[i], -128), 127)
		}
		never("other integers", Case{Got: y, Want: x, Shape: shape, DType: dtype.Int8}, BitsMisread, InvertedMask)
		never("saturated integers", Case{Got: z, Want: x, Shape: shape, DType: dtype.Int8}, BitsMisread, InvertedMask)
	}
}

// Bytes read with and without a sign are told by the elements that this changes.
func TestBytesReread(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 6))
		for _, c := range []struct {
			as, of dtype.Type
			least  int
		}{{dtype.Uint8, dtype.Int8, -128}, {dtype.Int8, dtype.Uint8, 0}, {dtype.Uint16, dtype.Int16, -128}, {dtype.Int32, dtype.Float32, -128}, {dtype.Float32, dtype.Int32, -128}} {
			as, of := numbers[c.as], numbers[c.of]
			got, want := make([]float64, 500), make([]float64, 500)
			for i := range got {
				want[i] = float64(r.IntN(256) + c.least)
				b, _ := of.encode(want[i])
				got[i] = as.decode(b)
			}
			found, err := Find(Case{Got: got, Want: want, Shape: []int64{5, 100}, DType: c.as})
			if err != nil || len(found) == 0 || found[0].Kind != BitsMisread || found[0].Args.(Reading).Of != c.of.String() {
				t.Errorf("%v as %v: %s %v", c.of, c.as, list(found), err)
			}
		}
	}
}
