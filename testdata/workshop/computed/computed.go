// Package computed makes recordings of small networks that were really computed,
// by a device and by a framework, and says what is wrong with them: the data that
// the judge is measured with.
//
// From a shell
//
//	go run ./testdata/computed -arch lstm -seed 3 -migration weight -out DIR
//
// makes DIR/npu/debug_0/dump, DIR/golden, DIR/graph.txt and DIR/answer.json, in
// the form of recordings of Ascend devices. From a test
//
//	n, err := computed.New(computed.Options{Arch: "lstm", Seed: 3, Migration: "weight"})
//	answer, err := n.Write(t.TempDir())
//
// The device stores float16 (or what the graph says), accumulates in float32 in
// blocks and from the end, and follows graph and weights. The framework computes
// in float64 in plain order and stores float32. Neither uses code of the program.
//
// The tables at the end of docs/verdict.md are measured over these networks, with
// go run ./testdata/faults -computed.
//
// # What can be wrong
//
// One of these in [Options]; without any the network is clean.
//   - Fault: the kernel of an operator is wrong on the device ([Faults]).
//   - Migration: the device follows its graph and weights, the framework computed
//     something else ([Migrations]).
//   - Golden: the array of one operator is not what the framework computed
//     ([Goldens]).
//   - Premise: the two recordings are not of the same thing ([Premises]).
//
// Each is KIND, which picks an operator by the seed, or KIND:OPERATOR.
package computed

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Options say what is made.
type Options struct {
	Arch string
	Seed uint64
	// Size multiplies the width of the network; 0 is 1.
	Size int
	// Fault, Migration, Golden and Premise say what is wrong.
	Fault, Migration, Golden, Premise string
	// Fused16 rounds to float16 between the parts of fused kernels.
	Fused16 bool
	// DirtyPadding fills what blocked layouts leave over with random numbers.
	DirtyPadding bool
	// Mask is what masks add where they are zero: -Inf, -1e4; 0 is -1e4.
	Mask float64
	// WeightGolden writes golden arrays of constants and variables, too, which real
	// recordings have not.
	WeightGolden bool
	// Powers: the framework quantises with scales that are powers of two, of float8 with four times those of the device, so that the
	// same values have other numbers and other scales.
	Powers bool
	// Devices: the golden side was recorded on a device, too, and is of dumps.
	Devices bool
	// Other draws what the architecture leaves open by the seed: widths that fill no block, other
	// sizes, batches and activations, bfloat16, a mask of -Inf, golden arrays of weights, scores that
	// are equal or nearly, and NaN that is thrown away.
	Other bool
}

// Archs are the architectures.
func Archs() []string { return slices.Sorted(maps.Keys(archs)) }

var archs = map[string]func(b *builder){
	"detection":   detection,
	"lm":          lm,
	"lstm":        lstm,
	"mobilenet":   mobilenet,
	"quantised":   quantised,
	"recommender": recommender,
	"training":    training,
	"unet":        unet,
	"w8a8":        w8a8,
}

// Network is one that was computed.
type Network struct {
	options Options
	*builder
	device, golden map[string]array
	// mixed is the run whose outputs the dumps hold beside the inputs of the device's,
	// nil where both are of one.
	mixed  map[string]array
	answer Answer
}

// Answer says what is wrong with a recording.
type Answer struct {
	Arch string `json:"arch"`
	Seed uint64 `json:"seed"`
	// Class is clean, fault, migration, golden or premise; Expected is what a right
	// verdict is: good, bad or inconclusive.
	Class    string   `json:"class"`
	Expected string   `json:"expected"`
	Faults   []Effect `json:"faults"`
}

// Effect is a culprit and what it changed.
type Effect struct {
	Kind    string `json:"kind"`
	Op      string `json:"op"`
	Type    string `json:"type"`
	How     string `json:"how"`
	Changed int    `json:"changed"`
	// Relative is the largest change over the root mean square of what it should be.
	Relative float64 `json:"max_relative"`
	Exceeds  bool    `json:"exceeds_bound"`
	// Accept are the words of a check that are right.
	Accept []string `json:"accept"`
}

// New computes a network.
func New(o Options) (*Network, error) {
	make := archs[o.Arch]
	if make == nil {
		return nil, fmt.Errorf("no architecture %q: one of %s", o.Arch, strings.Join(Archs(), ", "))
	}
	wrong := 0
	for _, s := range []string{o.Fault, o.Migration, o.Golden, o.Premise} {
		if s != "" {
			wrong++
		}
	}
	if wrong > 1 {
		return nil, fmt.Errorf("fault, migration, golden and premise go one at a time")
	}
	o.Size = max(o.Size, 1)
	if rng := o.rng(8); o.Other {
		o.WeightGolden, o.DirtyPadding, o.Fused16 = rng.IntN(3) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0
		if rng.IntN(2) == 0 && o.Mask == 0 {
			o.Mask = math.Inf(-1)
		}
	}
	if o.Mask == 0 {
		o.Mask = -1e4
	}
	n := &Network{options: o, builder: newBuilder(o), device: map[string]array{}, golden: map[string]array{},
		answer: Answer{Arch: o.Arch, Seed: o.Seed, Class: "clean", Expected: "good", Faults: []Effect{}}}
	make(n.builder)
	n.sources(n.device, n.nodes, nil)
	if err := n.compute(); err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", o.Arch, o.Seed, err)
	}
	return n, nil
}

// Answer says what is wrong with the network.
func (n *Network) Answer() Answer { return n.answer }

// rng gives numbers of their own to every purpose.
func (o *Options) rng(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(o.Seed, purpose)) }

// sources fills in constants and data; change may replace the value of a node.
func (n *Network) sources(into map[string]array, nodes []*node, change func(*node, array) array) {
	for _, x := range nodes {
		if x.computed() {
			continue
		}
		v := x.value
		if change != nil {
			v = change(x, v.clone())
		}
		into[x.name+":0"] = v
	}
}

// inputs are the connected inputs of a node.
func (x *node) connected() []string {
	return slices.DeleteFunc(slices.Clone(x.inputs), func(s string) bool { return s == "" })
}

func (n *Network) in(side map[string]array, x *node) []array {
	var in []array
	for _, name := range x.connected() {
		in = append(in, side[name])
	}
	return in
}

// runDevice computes a node as the device does.
func (n *Network) runDevice(x *node, f *fault) []array {
	c := &context{device: true, fault: f, fused16: n.options.Fused16}
	return x.run(c, n.in(n.device, x))
}

// runGolden computes a node as the framework does, from arrays of a side.
func (n *Network) runGolden(side map[string]array, x *node) []array {
	return x.run(&context{}, n.in(side, x))
}

func keep(into map[string]array, x *node, out []array) {
	for i, v := range out {
		into[fmt.Sprintf("%s:%d", x.name, i)] = v
	}
}

// run computes a node from its inputs.
func (x *node) run(c *context, in []array) []array {
	parts := x.parts
	if parts == nil {
		parts = []part{{kind: x.kind, attrs: x.attrs}}
		for i := range in {
			parts[0].from = append(parts[0].from, i)
		}
	}
	var results []array
	var out []array
	for k, p := range parts {
		var args []array
		for _, at := range p.from {
			if at < 0 {
				args = append(args, results[-1-at])
			} else {
				args = append(args, in[at])
			}
		}
		known()
		f := kernels[p.kind]
		if f == nil {
			panic("no kernel of " + p.kind)
		}
		out = f(c, p.attrs, args, x.outputs)
		if k+1 < len(parts) {
			for i := range out {
				out[i] = out[i].rounded(c.between(x.outputs[0].dtype))
			}
		}
		results = append(results, out[0])
	}
	for i := range out {
		if c.fault != nil {
			c.fault.scale(out[i], x.outputs[i].dtype)
		}
		out[i] = out[i].rounded(c.stored(x.outputs[i].dtype))
		if want := x.outputs[i].shape; !slices.Equal(out[i].shape, want) {
			panic(fmt.Sprintf("%s computes %v, not %v", x.name, out[i].shape, want))
		}
	}
	return out
}

// differs measures b against a: how many elements differ, and the largest
// difference over the root mean square of a.
func differs(a, b array) (changed int, relative float64) {
	rms, most, count := 0.0, 0.0, 0.0
	for i, v := range a.v {
		w := b.v[i]
		if v == w || v != v && w != w {
			continue
		}
		changed++
		if d := math.Abs(v - w); d > most || d != d {
			most = d
		}
	}
	for _, v := range a.v {
		if !math.IsInf(v, 0) && v == v {
			rms += v * v
			count++
		}
	}
	if changed == 0 {
		return 0, 0
	}
	rms = math.Sqrt(rms / max(count, 1))
	if most != most || math.IsInf(most, 0) {
		return changed, 1e30
	}
	return changed, most / max(rms, 1e-30)
}
