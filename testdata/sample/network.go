package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"precision/testdata/workshop/dumptest"
)

// port is the output of an operator as the graph and the dump describe it.
type port struct {
	layout      string // device layout
	dtype       int
	golden      string // framework operator, "" when it has no golden array
	goldenIndex int
	value       value // what the framework computed
	device      value // what the device computed, in the golden axis order
	address     uint64
}

// op is an operator with its one output.
type op struct {
	name, kind string
	inputs     []string
	views      map[string]*port // inputs that are read under another shape than they were written
	originals  []string         // nil: no attribute; empty: nothing of the framework's
	attrs      map[string]string
	noDump     bool
	fault      func(v value) // what the device does wrong
	port
}

type network struct {
	rng *rand.Rand
	ops []*op
	at  map[string]*op
}

// input is an input of an operator as it reads it.
func (n *network) input(o *op, i int) *port {
	if p := o.views[o.inputs[i]]; p != nil {
		return p
	}
	return &n.at[o.inputs[i]].port
}

func (n *network) register(o *op) *op {
	o.address = 0x12c0_0000_0000 + 0x10000*uint64(len(n.ops))
	n.ops = append(n.ops, o)
	n.at[o.name] = o
	return o
}

// add computes an operator on both sides.
func (n *network) add(o *op, k kernel) *op {
	var golden, device []value
	for i := range o.inputs {
		p := n.input(o, i)
		golden, device = append(golden, p.value), append(device, p.device)
	}
	if o.dtype == 0 {
		o.dtype = dumptest.Float16
	}
	o.value, o.device = k(golden), k(device)
	if o.fault != nil {
		o.fault(o.device)
	}
	o.device = o.device.rounded(o.dtype)
	if o.originals == nil && o.golden != "" {
		o.originals = []string{o.golden}
	}
	return n.register(o)
}

// inserted adds a conversion that the compiler put in.
func (n *network) inserted(name, kind, from, layout string, element int) {
	n.add(&op{name: name, kind: kind, inputs: []string{from}, originals: []string{}, port: port{layout: layout, dtype: element}}, same)
}

// random is a tensor of normal numbers with a standard deviation.
func (n *network) random(deviation float64, axes string, shape ...int64) value {
	v := blank(axes, shape...)
	for i := range v.data {
		v.data[i] = float32(deviation * n.rng.NormFloat64())
	}
	return v
}

// filter is a tensor of weights for sums of that many products.
func (n *network) filter(products int64, axes string, shape ...int64) value {
	return n.random(math.Sqrt(2/float64(products)), axes, shape...)
}

// weight adds a constant. Constants run nowhere and leave no dump; what operators
// read of them is in the operators' dumps.
func (n *network) weight(name, layout string, v value) {
	n.register(&op{name: name, kind: "Const", noDump: true,
		port: port{layout: layout, dtype: dumptest.Float16, golden: name, value: v, device: v.rounded(dumptest.Float16)}})
}

func build() *network {
	n := &network{rng: rand.New(rand.NewPCG(2026, 11)), at: map[string]*op{}}
	conv2d := func(name, axes string, from string, in, out int64, attrs map[string]string, fault func(value)) {
		weight := strings.TrimSuffix(name, "/conv") + "/weight"
		n.weight(weight, "FRACTAL_Z", n.filter(9*in, "NCHW", out, in, 3, 3))
		all := map[string]string{"strides": intList(1, 1, 1, 1), "pads": intList(1, 1, 1, 1), "dilations": intList(1, 1, 1, 1)}
		for k, v := range attrs {
			all[k] = v
		}
		n.add(&op{name: name, kind: "Conv2D", inputs: []string{from, weight}, attrs: all, fault: fault,
			port: port{layout: "NC1HWC0", golden: name}}, conv(axes, [3]int64{0, 1, 1}))
	}

	image := n.random(1, "NCHW", 1, 3, 8, 8)
	n.register(&op{name: "x", kind: "Data", port: port{layout: "NCHW", dtype: dumptest.Float16, golden: "x", value: image, device: image.rounded(dumptest.Float16)}})
	n.inserted("trans_TransData_0", "TransData", "x", "NC1HWC0", dumptest.Float16)

	// Convolution, bias and activation in one kernel, which keeps no attributes.
	n.weight("conv1/weight", "FRACTAL_Z", n.filter(27, "NCHW", 20, 3, 3, 3))
	n.weight("conv1/bias", "ND", n.random(0.1, "ND", 20))
	n.add(&op{name: "conv1", kind: "Conv2D", inputs: []string{"trans_TransData_0", "conv1/weight", "conv1/bias"},
		originals: []string{"conv1", "bias1", "relu1"},
		attrs:     map[string]string{"conv1_kernelname": `s: "te_fused_op_conv2d_relu_5f0c8a31b7d2e694_0"`},
		port:      port{layout: "NC1HWC0", golden: "relu1"}}, relu(conv("NCHW", [3]int64{0, 1, 1})))
	n.add(&op{name: "pool1", kind: "MaxPool", inputs: []string{"conv1"},
		attrs: map[string]string{"ksize": intList(1, 1, 2, 2), "strides": intList(1, 1, 2, 2), "padding": `s: "VALID"`},
		port:  port{layout: "NC1HWC0", golden: "pool1"}}, maxPool)

	// One operator of the framework, two of the device, and the other way round.
	multi := func(attrs map[string]string) map[string]string {
		if attrs == nil {
			attrs = map[string]string{}
		}
		attrs["_datadump_is_multiop"] = "b: true"
		return attrs
	}
	for i := range 2 {
		n.add(&op{name: fmt.Sprintf("split_part_%d", i), kind: "SliceD", inputs: []string{"pool1"},
			attrs: multi(map[string]string{"offsets": intList(0, int64(10*i), 0, 0), "size": intList(1, 10, 4, 4)}),
			port:  port{layout: "NC1HWC0", golden: "split", goldenIndex: i}}, channels(int64(10*i), 10))
	}
	block1 := []string{"block1/mul", "block1/add"}
	n.weight("block1/gamma", "NC1HWC0", n.random(1, "NCHW", 1, 10, 1, 1))
	n.add(&op{name: "block1/scale", kind: "Mul", inputs: []string{"split_part_0", "block1/gamma"}, originals: block1, attrs: multi(nil),
		port: port{layout: "NC1HWC0", golden: "block1/mul"}}, perChannel(func(x, c float32) float32 { return x * c }))
	n.weight("block1/beta", "NC1HWC0", n.random(1, "NCHW", 1, 10, 1, 1))
	n.add(&op{name: "block1/shift", kind: "Add", inputs: []string{"block1/scale", "block1/beta"}, originals: block1, attrs: multi(nil),
		port: port{layout: "NC1HWC0", golden: "block1/add"}}, perChannel(func(x, c float32) float32 { return x + c }))
	n.add(&op{name: "join", kind: "ConcatD", inputs: []string{"block1/shift", "split_part_1"}, attrs: map[string]string{"concat_dim": "i: 1", "N": "i: 2"},
		port: port{layout: "NC1HWC0", golden: "join"}}, join)
	l1 := map[string]string{"_L1_fusion_sub_graph_no": `s: "l1_0"`}
	conv2d("l1_conv_0", "NHWC", "join", 20, 10, l1, nil)
	conv2d("l1_conv_1", "NHWC", "l1_conv_0", 10, 10, l1, nil)

	// The operator that is wrong: its second block of 16 channels stays empty.
	conv2d("block2/conv", "NCHW", "l1_conv_1", 10, 24, nil, func(v value) { clear(v.data[16*4*4:]) })

	deep := n.at["block2/conv"].port
	deep.layout, deep.value, deep.device = "NDC1HWC0", deep.value.as("NCDHW", 1, 24, 1, 4, 4), deep.device.as("NCDHW", 1, 24, 1, 4, 4)
	n.weight("volume/weight", "FRACTAL_Z_3D", n.filter(24, "NCDHW", 20, 24, 2, 1, 1))
	n.add(&op{name: "volume", kind: "Conv3D", inputs: []string{"block2/conv", "volume/weight"}, views: map[string]*port{"block2/conv": &deep},
		attrs: map[string]string{"strides": intList(1, 1, 1, 1, 1), "pads": intList(1, 1, 0, 0, 0, 0), "dilations": intList(1, 1, 1, 1, 1)},
		port:  port{layout: "NDC1HWC0", golden: "volume"}}, conv("NCDHW", [3]int64{1, 0, 0}))
	n.inserted("trans_TransData_2", "TransData", "volume", "NCDHW", dumptest.Float16)
	n.add(&op{name: "rows", kind: "Reshape", inputs: []string{"trans_TransData_2"}, port: port{layout: "ND", golden: "rows"}}, reshape(20, 32))
	n.inserted("trans_TransData_3", "TransData", "rows", "FRACTAL_NZ", dumptest.Float16)
	n.weight("fc/weight", "FRACTAL_NZ", n.filter(32, "ND", 32, 30))
	n.weight("fc/offset", "ND", n.random(0.1, "ND", 30))
	n.add(&op{name: "fc", kind: "MatMulV2", inputs: []string{"trans_TransData_3", "fc/weight", "fc/offset"}, originals: []string{"fc/matmul", "fc/bias"},
		attrs: map[string]string{"transpose_x1": "b: false", "transpose_x2": "b: false"},
		port:  port{layout: "FRACTAL_NZ", golden: "fc/bias"}}, matmul)
	n.inserted("trans_Cast_1", "Cast", "fc", "ND", dumptest.Float32)

	float := func(golden string) port { return port{layout: "ND", dtype: dumptest.Float32, golden: golden} }
	n.add(&op{name: "softmax", kind: "SoftmaxV2", inputs: []string{"trans_Cast_1"}, attrs: map[string]string{"axes": intList(1)}, port: float("softmax")}, softmax)
	n.add(&op{name: "top", kind: "ArgMaxD", inputs: []string{"softmax"}, attrs: map[string]string{"dimension": "i: 1"},
		port: port{layout: "ND", dtype: dumptest.Int32, golden: "top"}}, argMax)
	n.add(&op{name: "loss", kind: "ReduceMeanD", inputs: []string{"trans_Cast_1"},
		attrs: map[string]string{"axes": intList(0, 1), "keep_dims": "b: false"}, port: float("loss")}, mean)
	n.add(&op{name: "debug_only", kind: "Identity", inputs: []string{"loss"}, originals: []string{"debug_only"}, port: float("")}, same)
	constant := n.random(1, "NCHW", 6, 5, 3, 3)
	n.register(&op{name: "weight_hwcn", kind: "Const", originals: []string{"weight_hwcn"},
		port: port{layout: "HWCN", dtype: dumptest.Float32, golden: "weight_hwcn", value: constant, device: constant}})
	return n
}
