package soak

import (
	"fmt"
	"math/rand/v2"
)

// chainLayouts are the forms that operators of a chain take in turn, with shapes of about
// 2^18 elements for a size of 1, as NCHW.
var chainLayouts = []struct {
	layout string
	half   bool
	shape  [4]int64
}{
	{"NC1HWC0", true, [4]int64{1, 64, 64, 64}},
	{"FRACTAL_NZ", true, [4]int64{1, 4, 256, 256}},
	{"NC1HWC0", false, [4]int64{1, 256, 32, 32}},
	{"NHWC", true, [4]int64{1, 64, 64, 64}},
	{"FRACTAL_Z", true, [4]int64{256, 112, 3, 3}},
	{"NCHW", false, [4]int64{1, 64, 64, 64}},
	{"NC1HWC0", true, [4]int64{1, 96, 52, 52}},
	{"NCHW", true, [4]int64{1, 16, 128, 128}},
}

// NewChain makes a network of n operators, each with the one before as its input, of some
// size·2^18 elements an output. Layouts and element types vary from one to the next.
func NewChain(n int, size int64, seed uint64) *Random {
	rng := rand.New(rand.NewPCG(seed, 3))
	r := &Random{}
	for i := range n {
		l := chainLayouts[i%len(chainLayouts)]
		o := randomOp{name: fmt.Sprintf("stage%d/op%d", i/16, i), kind: "Relu", layout: l.layout, half: l.half, shape: l.shape[:]}
		o.shape = []int64{l.shape[0] * size, l.shape[1], l.shape[2], l.shape[3]}
		if i == 0 {
			o.kind = "Data"
		} else {
			o.inputs = []int{i - 1}
		}
		count := o.shape[0] * o.shape[1] * o.shape[2] * o.shape[3]
		o.golden, o.device = make([]float32, count), make([]float32, count)
		for j := range o.golden {
			g := float32(rng.NormFloat64())
			o.golden[j], o.device[j] = g, g*(1+float32(rng.NormFloat64())*1e-4)
		}
		r.ops = append(r.ops, o)
	}
	return r
}
