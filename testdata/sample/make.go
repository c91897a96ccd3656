// Make writes the sample network: the dumps of a small model as an NPU leaves
// them, the golden arrays of the framework and the GE graph.
//
//	go run ./testdata/sample -out testdata/sample
//
// Inputs and weights are random but fixed; everything behind them is computed.
// The golden side computes in float32. The device side computes every operator
// from its recorded inputs in float32 and rounds the result to the type it is
// recorded in. One operator is broken: block2/conv leaves its last 16 lanes,
// channels 16 to 23, unwritten.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"precision/testdata/workshop/dumptest"
)

var formats = map[string]int{"NCHW": dumptest.NCHW, "ND": dumptest.ND, "NC1HWC0": dumptest.NC1HWC0, "FRACTAL_Z": dumptest.FractalZ,
	"HWCN": dumptest.HWCN, "FRACTAL_NZ": dumptest.FractalNZ, "NCDHW": dumptest.NCDHW, "NDC1HWC0": dumptest.NDC1HWC0, "FRACTAL_Z_3D": dumptest.FractalZ3D}

// stored brings a tensor from its golden axis order into the device layout.
func (p *port) stored() (data []byte, shape, origin []int64) {
	v, s := p.device.data, p.device.shape
	switch p.layout {
	case "NC1HWC0":
		nchw := p.device.to("NCHW")
		v, s = dumptest.ToNC1HWC0(nchw.data, nchw.shape, 16)
	case "FRACTAL_Z":
		v, s = dumptest.ToFractalZ(v, s, 16)
	case "FRACTAL_NZ":
		v, s = dumptest.ToFractalNZ(v, s, 16)
	case "HWCN":
		v, s = dumptest.Transpose(v, s, 2, 3, 1, 0)
	case "NDC1HWC0":
		v, s = perDepth(v, s, dumptest.ToNC1HWC0)
		s = append([]int64{1}, s...)
	case "FRACTAL_Z_3D":
		v, s = perDepth(v, s, dumptest.ToFractalZ)
		s = append([]int64{s[0] * s[1]}, s[2:]...)
	}
	return encoded(p.dtype, v), s, p.device.shape
}

// perDepth stores (N, C, D, H, W) as D tensors without depth, one behind the other;
// in an activation N is 1 and D counts as the batch.
func perDepth(v []float32, s []int64, store func(v []float32, shape []int64, c0 int64) ([]float32, []int64)) (all []float32, shape []int64) {
	v, s = dumptest.Transpose(v, s, 2, 0, 1, 3, 4)
	size := int64(len(v)) / s[0]
	for d := range s[0] {
		part, partShape := store(v[d*size:(d+1)*size], s[1:], 16)
		all, shape = append(all, part...), partShape
	}
	if len(shape) == 5 { // (1, C1, H, W, 16)
		shape = shape[1:]
	}
	return all, append([]int64{s[0]}, shape...)
}

func encoded(element int, v []float32) []byte {
	switch element {
	case dumptest.Float16:
		return dumptest.Halves(v)
	case dumptest.Int32:
		ints := make([]int32, len(v))
		for i, x := range v {
			ints[i] = int32(x)
		}
		return dumptest.Int32s(ints)
	}
	return dumptest.Floats(v)
}

func (p *port) tensor(address uint64) dumptest.Tensor {
	data, shape, origin := p.stored()
	return dumptest.Tensor{Type: p.dtype, Format: formats[p.layout], Shape: shape, Origin: origin, Address: address, Data: data}
}

func flat(name string) string { return strings.NewReplacer("/", "_", ".", "_").Replace(name) }

func (n *network) write(out string) error {
	const start = 1630000000000000
	dumps := filepath.Join(out, "npu", "20260101120000", "0", "sample_net_1", "1", "0")
	task := 0
	for _, o := range n.ops {
		if o.golden != "" {
			name := fmt.Sprintf("%s.%d.%d.npy", flat(o.golden), o.goldenIndex, start+task)
			descr, element := "<f4", dumptest.Float32
			if o.dtype == dumptest.Int32 {
				descr, element = "<i4", dumptest.Int32
			}
			if err := dumptest.WriteNpy(filepath.Join(out, "golden", name), descr, o.value.shape, encoded(element, o.value.data)); err != nil {
				return err
			}
		}
		if o.noDump {
			continue
		}
		d := dumptest.Dump{OpName: o.name, Time: uint64(start + task*1000)}
		for i := range o.inputs {
			in := n.input(o, i)
			d.Inputs = append(d.Inputs, in.tensor(in.address))
		}
		d.Outputs = append(d.Outputs, o.tensor(o.address))
		file := fmt.Sprintf("%s.%s.%d.1.%d", o.kind, flat(o.name), task, start+task*1000)
		if err := d.Write(filepath.Join(dumps, file)); err != nil {
			return err
		}
		task++
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
