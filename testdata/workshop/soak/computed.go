package soak

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// NewComputed makes a network of n operators whose outputs follow from their inputs, on the
// device as in the framework, but for rounding: the device has its input in float16, or, where
// both sides have float32, with its last bits changed. An operator that is wrong, if there is
// one, computes half of its output otherwise, and what is behind it inherits that. Scale tells
// networks of one shape apart: the ranks or steps of a job.
func NewComputed(n int, seed uint64, scale float64, wrong int, half bool) *Random {
	rng := rand.New(rand.NewPCG(seed, 4))
	shape := []int64{1, 1 + rng.Int64N(12), 2 + rng.Int64N(5), 3 + rng.Int64N(4)}
	count := int(shape[1] * shape[2] * shape[3])
	lost := uint32(1) // bits of the input that the device does not have
	if half {
		lost = 1<<13 - 1
	}
	r := &Random{}
	for i := range n {
		o := randomOp{name: fmt.Sprintf("layer%d/op%d", i/4, i), kind: "Data", half: half && i == 0, shape: shape}
		if i > 0 {
			// Of a few of those before, so that a large network is broad and its values stay small.
			o.inputs = []int{max(0, i-1-rng.IntN(3))}
			if o.kind = "Relu"; rng.IntN(3) == 0 {
				o.kind = "Sigmoid"
			}
			if rng.IntN(2) == 0 {
				o.inputs = append(o.inputs, rng.IntN(min(i, 8)))
				o.kind = []string{"Add", "Sub"}[rng.IntN(2)]
			}
		}
		for e := range count {
			if i == 0 {
				x := float32(rng.NormFloat64() * scale)
				o.golden, o.device = append(o.golden, x), append(o.device, math.Float32frombits(math.Float32bits(x)&^lost))
				continue
			}
			of := func(side func(*randomOp) []float32) float32 {
				a := side(&r.ops[o.inputs[0]])[e]
				switch o.kind {
				case "Relu":
					return max(a, 0)
				case "Sigmoid":
					return float32(1 / (1 + math.Exp(-float64(a))))
				case "Add":
					return a + side(&r.ops[o.inputs[1]])[e]
				}
				return a - side(&r.ops[o.inputs[1]])[e]
			}
			o.golden = append(o.golden, of(func(o *randomOp) []float32 { return o.golden }))
			o.device = append(o.device, of(func(o *randomOp) []float32 { return o.device }))
			if i == wrong && e < count/2 {
				o.device[e] = o.device[e]*1.5 + 0.25
			}
		}
		r.ops = append(r.ops, o)
	}
	return r
}

// outputs are the operators that no other one takes.
func (r *Random) outputs() (names []string) {
	taken := map[int]bool{}
	for _, o := range r.ops {
		for _, in := range o.inputs {
			taken[in] = true
		}
	}
	for i, o := range r.ops {
		if !taken[i] {
			names = append(names, o.name)
		}
	}
	return names
}
