// Make writes the sample network: the dumps of a small invented model as an
// NPU leaves them, the golden arrays of the framework and the GE graph.
//
//	go run ./testdata/sample/make.go -out testdata/sample
//
// The numbers are random but fixed. Device results are the golden values plus
// the noise of half precision, except from block2/conv on: that operator is
// wrong, and what reads it drifts with it, so a correct comparison names it.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"precision/dump/dumptest"
)

// value is a tensor of the framework: float32 in its own axis order.
type value struct {
	data  []float32
	shape []int64
}

// port is an output of an operator as the graph and the dump describe it.
type port struct {
	layout      string // device layout
	dtype       int
	golden      string // framework operator, "" when inserted
	goldenIndex int
	originName  string // layout of the golden array
	value       value  // golden value
	device      value  // what the device computed, in the golden axis order
}

type op struct {
	name, kind string
	inputs     []string
	originals  []string // nil: no attribute; empty: inserted operator
	attrs      map[string]string
	outputs    []port
	noDump     bool
}

type network struct {
	rng *rand.Rand
	ops []*op
	at  map[string]*port
}

func (n *network) random(shape ...int64) value {
	count := int64(1)
	for _, d := range shape {
		count *= d
	}
	v := value{data: make([]float32, count), shape: shape}
	for i := range v.data {
		v.data[i] = float32(n.rng.NormFloat64())
	}
	return v
}

// noisy is v as a half precision device computes it.
func (n *network) noisy(v value) value {
	out := value{data: make([]float32, len(v.data)), shape: v.shape}
	for i, x := range v.data {
		out.data[i] = x * (1 + 2e-4*float32(n.rng.NormFloat64()))
	}
	return out
}

// wrong is v after an error: still alike, but visibly off.
func (n *network) wrong(v value) value {
	out := value{data: make([]float32, len(v.data)), shape: v.shape}
	for i, x := range v.data {
		out.data[i] = 0.7*x + 0.6*float32(n.rng.NormFloat64())
	}
	return out
}

func (n *network) add(o *op) {
	n.ops = append(n.ops, o)
	for i := range o.outputs {
		n.at[fmt.Sprintf("%s:%d", o.name, i)] = &o.outputs[i]
	}
}

func (n *network) out(kind, layout, golden string, index int, origin string, v value, broken bool) port {
	p := port{layout: layout, dtype: dumptest.Float16, golden: golden, goldenIndex: index, originName: origin, value: v}
	if kind == "f32" {
		p.dtype = dumptest.Float32
	}
	if p.device = n.noisy(v); broken {
		p.device = n.wrong(v)
	}
	return p
}

// same is a further appearance of a tensor in another layout: an inserted
// conversion.
func (n *network) same(ref, layout string) port {
	p := *n.at[ref]
	p.layout, p.golden, p.goldenIndex = layout, "", 0
	return p
}

func build() *network {
	n := &network{rng: rand.New(rand.NewPCG(2026, 11)), at: map[string]*port{}}
	image := n.random(1, 3, 8, 8)
	n.add(&op{name: "x", kind: "Data", outputs: []port{n.out("f32", "NCHW", "x", 0, "NCHW", image, false)}})
	n.add(&op{name: "trans_TransData_0", kind: "TransData", inputs: []string{"x:0"}, originals: []string{},
		outputs: []port{n.same("x:0", "NC1HWC0")}})
	n.add(&op{name: "conv1/weight", kind: "Const", outputs: []port{
		n.out("f16", "FRACTAL_Z", "conv1/weight", 0, "NCHW", n.random(20, 3, 3, 3), false)}, noDump: true})
	n.add(&op{name: "conv1", kind: "Conv2D", inputs: []string{"trans_TransData_0:0", "conv1/weight:0"},
		originals: []string{"conv1", "bn1", "relu1"},
		outputs:   []port{n.out("f16", "NC1HWC0", "relu1", 0, "NCHW", n.random(1, 20, 8, 8), false)}})
	n.add(&op{name: "pool1", kind: "MaxPool", inputs: []string{"conv1:0"}, originals: []string{"pool1"},
		outputs: []port{n.out("f16", "NC1HWC0", "pool1", 0, "NCHW", n.random(1, 20, 4, 4), false)}})
	split := []string{"split_part_0", "split_part_1"}
	for i, name := range split {
		n.add(&op{name: name, kind: "SplitPart", inputs: []string{"pool1:0"}, originals: []string{"split"},
			attrs:   map[string]string{"_datadump_is_multiop": "b: true"},
			outputs: []port{n.out("f16", "NC1HWC0", "split", i, "NCHW", n.random(1, 10, 4, 4), false)}})
	}
	n.add(&op{name: "block1/scale", kind: "Mul", inputs: []string{"split_part_0:0"},
		originals: []string{"block1/mul", "block1/add"}, attrs: map[string]string{"_datadump_is_multiop": "b: true"},
		outputs: []port{n.out("f16", "NC1HWC0", "block1/mul", 0, "NCHW", n.random(1, 10, 4, 4), false)}})
	n.add(&op{name: "block1/shift", kind: "Add", inputs: []string{"block1/scale:0"},
		originals: []string{"block1/mul", "block1/add"}, attrs: map[string]string{"_datadump_is_multiop": "b: true"},
		outputs: []port{n.out("f16", "NC1HWC0", "block1/add", 0, "NCHW", n.random(1, 10, 4, 4), false)}})
	for i := range 2 {
		name := fmt.Sprintf("l1_conv_%d", i)
		from := "block1/shift:0"
		if i == 1 {
			from = "l1_conv_0:0"
		}
		n.add(&op{name: name, kind: "Conv2D", inputs: []string{from}, originals: []string{name},
			attrs:   map[string]string{"_L1_fusion_sub_graph_no": `s: "l1_0"`},
			outputs: []port{n.out("f16", "NC1HWC0", name, 0, "NHWC", n.random(1, 4, 4, 10), false)}})
	}
	// The operator that is wrong.
	n.add(&op{name: "block2/conv", kind: "Conv2D", inputs: []string{"l1_conv_1:0"}, originals: []string{"block2/conv"},
		outputs: []port{n.out("f16", "NC1HWC0", "block2/conv", 0, "NCHW", n.random(1, 24, 4, 4), true)}})
	n.add(&op{name: "volume", kind: "Conv3D", inputs: []string{"block2/conv:0"}, originals: []string{"volume"},
		outputs: []port{n.out("f16", "NDC1HWC0", "volume", 0, "NCDHW", n.random(1, 18, 2, 4, 4), true)}})
	n.add(&op{name: "weight_hwcn", kind: "Const", originals: []string{"weight_hwcn"},
		outputs: []port{n.out("f32", "HWCN", "weight_hwcn", 0, "NCHW", n.random(6, 5, 3, 3), false)}})
	n.add(&op{name: "fc", kind: "MatMulV2", inputs: []string{"volume:0"}, originals: []string{"fc/matmul", "fc/bias"},
		outputs: []port{n.out("f16", "FRACTAL_NZ", "fc/bias", 0, "ND", n.random(20, 30), true)}})
	n.add(&op{name: "trans_Cast_1", kind: "Cast", inputs: []string{"fc:0"}, originals: []string{},
		outputs: []port{n.same("fc:0", "ND")}})
	n.ops[len(n.ops)-1].outputs[0].dtype = dumptest.Float32
	n.add(&op{name: "softmax", kind: "SoftmaxV2", inputs: []string{"trans_Cast_1:0"}, originals: []string{"softmax"},
		outputs: []port{n.out("f32", "ND", "softmax", 0, "ND", n.random(20, 30), true)}})
	top := n.out("f32", "ND", "top", 0, "ND", value{[]float32{3, 17, 4, 0, 29}, []int64{5}}, false)
	top.dtype, top.device = dumptest.Int32, value{[]float32{3, 16, 4, 0, 29}, []int64{5}}
	n.add(&op{name: "top", kind: "ArgMaxD", inputs: []string{"softmax:0"}, originals: []string{"top"}, outputs: []port{top}})
	loss := n.out("f32", "ND", "loss", 0, "ND", value{[]float32{0.125}, []int64{}}, false)
	n.add(&op{name: "loss", kind: "ReduceMeanD", inputs: []string{"softmax:0"}, originals: []string{"loss"}, outputs: []port{loss}})
	n.add(&op{name: "debug_only", kind: "Identity", inputs: []string{"loss:0"}, originals: []string{"debug_only"},
		outputs: []port{n.out("f32", "ND", "", 0, "ND", n.random(4), false)}})
	return n
}

// stored brings a tensor from its golden axis order into the device layout.
func (p *port) stored() (data []byte, shape, origin []int64) {
	v, s := p.device.data, p.device.shape
	origin = s
	if p.originName == "NHWC" && p.layout == "NC1HWC0" {
		v, s = dumptest.Transpose(v, s, 0, 3, 1, 2)
	}
	switch p.layout {
	case "NC1HWC0":
		v, s = dumptest.ToNC1HWC0(v, s, 16)
	case "FRACTAL_Z":
		v, s = dumptest.ToFractalZ(v, s, 16)
	case "FRACTAL_NZ":
		v, s = dumptest.ToFractalNZ(v, s, 16)
	case "HWCN":
		v, s = dumptest.Transpose(v, s, 2, 3, 1, 0)
	case "NDC1HWC0": // depth in front of the channel blocks: (N, D) as batch
		v, s = dumptest.Transpose(v, s, 0, 2, 1, 3, 4)
		lead := []int64{s[0] * s[1], s[2], s[3], s[4]}
		d := s[1]
		v, s = dumptest.ToNC1HWC0(v, lead, 16)
		s = append([]int64{s[0] / d, d}, s[1:]...)
	}
	switch p.dtype {
	case dumptest.Float16:
		return dumptest.Halves(v), s, origin
	case dumptest.Int32:
		ints := make([]int32, len(v))
		for i, x := range v {
			ints[i] = int32(x)
		}
		return dumptest.Int32s(ints), s, origin
	}
	return dumptest.Floats(v), s, origin
}

var formats = map[string]int{"NCHW": dumptest.NCHW, "ND": dumptest.ND, "NC1HWC0": dumptest.NC1HWC0,
	"FRACTAL_Z": dumptest.FractalZ, "HWCN": dumptest.HWCN, "FRACTAL_NZ": dumptest.FractalNZ, "NDC1HWC0": dumptest.NDC1HWC0}

func (p *port) tensor(address uint64) dumptest.Tensor {
	data, shape, origin := p.stored()
	return dumptest.Tensor{Type: p.dtype, Format: formats[p.layout], Shape: shape, Origin: origin, Address: address, Data: data}
}

func flat(name string) string { return strings.NewReplacer("/", "_", ".", "_").Replace(name) }

func (n *network) write(out string) error {
	const start = 1630000000000000
	dumps := filepath.Join(out, "npu", "20260101120000", "0", "sample_net_1", "1", "0")
	var address uint64 = 0x12c0_0000_0000
	for task, o := range n.ops {
		d := dumptest.Dump{OpName: o.name, Time: uint64(start + task*1000)}
		for _, in := range o.inputs {
			d.Inputs = append(d.Inputs, n.at[in].tensor(address))
			address += 512
		}
		for i := range o.outputs {
			p := &o.outputs[i]
			d.Outputs = append(d.Outputs, p.tensor(address))
			address += 512
			if p.golden == "" {
				continue
			}
			name := fmt.Sprintf("%s.%d.%d.npy", flat(p.golden), p.goldenIndex, start+task)
			descr, data := "<f4", dumptest.Floats(p.value.data)
			if p.dtype == dumptest.Int32 {
				q := *p
				q.device = p.value
				descr = "<i4"
				data, _, _ = q.stored()
			}
			if err := dumptest.WriteNpy(filepath.Join(out, "golden", name), descr, p.value.shape, data); err != nil {
				return err
			}
		}
		if o.noDump {
			continue
		}
		file := fmt.Sprintf("%s.%s.%d.1.%d", o.kind, flat(o.name), task, start+task*1000)
		if err := d.Write(filepath.Join(dumps, file)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, "ge_proto_00000001_graph_1_Build.txt"), []byte(n.graph()), 0o644)
}

func main() {
	out := flag.String("out", "testdata/sample", "`folder` to write npu, golden and the graph to")
	flag.Parse()
	if err := build().write(*out); err != nil {
		log.Fatal(err)
	}
}
