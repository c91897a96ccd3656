package pattern

import (
	"fmt"
	"math"
	"math/rand/v2"

	"precision/dump/dtype"
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

// newSample makes right data. noise is "oracle" (expectation in float64, with a bound) or what the
// two sides of a golden comparison differ by: "none", "1e-3", "1e-2" of the element and of the root
// mean square.
func newSample(shape []int64, t dtype.Type, data, noise string, seed uint64) *sample {
	s := &sample{rng: rand.New(rand.NewPCG(seed, 7)), num: numberOf(t), noise: noise}
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	s.Shape, s.DType = shape, t
	s.Want = values(data, int(n), s.rng)
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
