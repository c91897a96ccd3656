package pattern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// sample is right data to put faults on: what an operator should give, and a faultless
// recording of it.
type sample struct {
	Case
	rng   *rand.Rand
	num   number
	noise string
	exact []float64 // before rounding to the type, noise included
}

// values makes n expected numbers.
func values(kind string, n int, rng *rand.Rand) []float64 {
	v := make([]float64, n)
	for i := range v {
		x := rng.NormFloat64()
		switch kind {
		case "relu":
			x = max(0, x)
		case "exp":
			x = math.Exp(x)
		case "heavy":
			x *= math.Exp(2 * rng.NormFloat64())
		case "small":
			x *= 1e-3
		}
		v[i] = x
	}
	return v
}

// outline is a sample without numbers, for who asks of what form it is.
func outline(shape []int64, t dtype.Type, noise string) *sample {
	s := &sample{num: numberOf(t), noise: noise}
	s.Shape, s.DType, s.Got = shape, t, make([]float64, nd.Size(shape))
	return s
}

// newSample makes right data. noise is "oracle" (expectation in float64, with a bound) or what the
// two sides of a golden comparison differ by: "none", "1e-3", "1e-2" of the element and of the root
// mean square.
func newSample(shape []int64, t dtype.Type, data, noise string, seed uint64) *sample {
	s := outline(shape, t, noise)
	n := len(s.Got)
	s.rng = rand.New(rand.NewPCG(seed, 7))
	s.Want = values(data, n, s.rng)
	if len(shape) == 4 {
		s.Axes, s.Block = "NCHW", []int64{0, 16, 0, 0}
	}
	s.exact = make([]float64, n)
	size := 0.0
	for _, w := range s.Want {
		size += w * w
	}
	size = math.Sqrt(size / float64(n))
	level := 0.0
	fmt.Sscanf(noise, "%g", &level)
	for i, w := range s.Want {
		s.exact[i] = w + level*(s.rng.NormFloat64()*math.Abs(w)+0.3*s.rng.NormFloat64()*size)
		if data == "relu" {
			s.exact[i] = max(0, s.exact[i])
		}
		if data == "relu" && w == 0 {
			s.exact[i] = 0
		}
	}
	if noise == "oracle" {
		s.Bound = make([]float64, n)
		for i, w := range s.Want {
			s.Bound[i] = 1.1*s.num.unit()*math.Abs(w) + s.num.tiny()
			s.Half = append(s.Half, 100*s.num.unit()*max(1, math.Abs(w))) // as sums of many terms have
		}
	}
	s.write(s.exact)
	return s
}

// write records numbers: rounds them to the type.
func (s *sample) write(v []float64) {
	s.Got = make([]float64, len(v))
	for i, x := range v {
		s.Got[i] = s.num.round(x)
	}
}

// change records f of each exact number.
func (s *sample) change(f func(i int, x float64) float64) {
	v := make([]float64, len(s.exact))
	for i, x := range s.exact {
		v[i] = f(i, x)
	}
	s.write(v)
}

// move records at each place what belongs at from(i).
func (s *sample) move(from func(i int64) int64) {
	v := make([]float64, len(s.Got))
	for i := range v {
		if j := from(int64(i)); j >= 0 {
			v[i] = s.Got[j]
		}
	}
	s.Got = v
}

// at gives the coordinates of a flat index.
func (s *sample) at(i int) []int64 {
	c := make([]int64, len(s.Shape))
	for a := len(c) - 1; a >= 0; a-- {
		c[a] = int64(i) % s.Shape[a]
		i /= int(s.Shape[a])
	}
	return c
}

// Made is the case that a text describes, for tests of what is said of it: a fault by its name, and behind a
// semicolon what it is put on, as "scale 2; shape=64,96 type=float16 data=exp noise=1e-3". With right=0.3 so many
// of the elements are right again, with from=0.6 those from there on. "right" is no fault; "as missing-bias" is
// one that an alternative of that kind foretells.
func Made(t *testing.T, text string) Case {
	t.Helper()
	name, words, _ := strings.Cut(text, ";")
	with := map[string]string{"shape": "64,96", "type": "float16", "data": "normal", "noise": "none", "right": "0", "from": "1"}
	for _, word := range strings.Fields(words) {
		key, value, _ := strings.Cut(word, "=")
		if _, ok := with[key]; !ok {
			t.Fatalf("%s: there is no %s", text, key)
		}
		with[key] = value
	}
	var shape []int64
	for _, d := range strings.Split(with["shape"], ",") {
		n, _ := strconv.ParseInt(d, 10, 64)
		shape = append(shape, n)
	}
	typ, typed := dtype.Parse(with["type"])
	share, _ := strconv.ParseFloat(with["right"], 64)
	from, _ := strconv.ParseFloat(with["from"], 64)
	s := newSample(shape, typ, with["data"], with["noise"], 3)
	right := slices.Clone(s.Got)
	kind, foretold := strings.CutPrefix(name, "as ")
	at := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
	switch {
	case !typed || at < 0 && !foretold && others[name] == nil:
		t.Fatalf("there is no %s", text)
	case foretold:
		s.change(func(i int, x float64) float64 { return x + bias(int64(i)) })
		s.Alternatives = []Alternative{{Kind: Kind(kind), Args: known[Kind(kind)], Want: slices.Clone(s.Got)}}
	case at >= 0:
		faults[at].do(s)
	default:
		others[name](s)
	}
	for i := range right {
		if s.rng.Float64() < share || float64(i) >= from*float64(len(right)) {
			s.Got[i] = right[i]
		}
	}
	return s.Case
}

// others are faults, and what is none, beside those that are tried on many kinds of data.
var others = map[string]func(s *sample){
	"right":              func(*sample) {},
	"one element":        func(s *sample) { s.Got[100] += 5 },
	"two elements":       func(s *sample) { s.Got[100], s.Got[4000] = s.Got[100]+5, s.Got[4000]-3 },
	"two bits":           func(s *sample) { flip(s, 100, s.num.bits-1); flip(s, 4000, s.num.digits+1) },
	"a tile from behind": func(s *sample) { copy(s.Got[300:700], s.Got[1000:1400]) },
	"two tiles": func(s *sample) {
		copy(s.Got[300:700], s.Got[1000:1400])
		copy(s.Got[2000:2400], s.Got[3000:3400])
	},
	"the step before": func(s *sample) {
		old := newSample(s.Shape, s.DType, "normal", "none", 97).Got
		copy(s.Got[len(s.Got)/2:], old[len(s.Got)/2:])
		s.Other = func(yield func(Tensor) bool) { yield(Tensor{Values: old, Earlier: true, Name: "before"}) }
	},
	"the input in a part": func(s *sample) {
		in := newSample(s.Shape, s.DType, "normal", "none", 97).Got
		copy(s.Got[len(s.Got)/2:], in[len(s.Got)/2:])
		s.Other = func(yield func(Tensor) bool) { yield(Tensor{Name: "1", Values: in, Input: true}) }
	},
	"not below -1": func(s *sample) { s.change(func(_ int, x float64) float64 { return max(x, -1) }) },
	"not above 1":  func(s *sample) { s.change(func(_ int, x float64) float64 { return min(x, 1) }) },
	"large doubled": func(s *sample) {
		s.change(func(_ int, x float64) float64 {
			if math.Abs(x) > 2 {
				x *= 2
			}
			return x
		})
	},
	"moved in memory":    func(s *sample) { s.move(func(i int64) int64 { return (i + 7) % int64(len(s.Got)) }) },
	"mirrored in memory": func(s *sample) { s.move(func(i int64) int64 { return int64(len(s.Got)) - 1 - i }) },
	"numbers for NaN": func(s *sample) {
		for i := 0; i < len(s.Want); i += 50 {
			s.Want[i] = math.NaN()
		}
	},
	"zeros for NaN": func(s *sample) {
		for i := 0; i < len(s.Want); i += 50 {
			s.Want[i], s.Got[i] = math.NaN(), 0
		}
	},
	"Inf for large": func(s *sample) {
		for i := 0; i < len(s.Want); i += 50 {
			s.Want[i], s.Got[i] = s.num.largest()*2, math.Inf(1)
		}
	},
	"a stride twice": func(s *sample) {
		s.move(func(i int64) int64 { c := i % s.Shape[1]; return i + min(2*c, s.Shape[1]-1) - c })
	},
	"noise": func(s *sample) { s.change(func(_ int, x float64) float64 { return x + 0.01*s.rng.NormFloat64() }) },
	"a little too much": func(s *sample) {
		s.change(func(_ int, x float64) float64 { return x + math.Abs(0.01*s.rng.NormFloat64()) })
	},
}
