// Package jobtest makes, for tests, the recordings of small training jobs: some ranks, some
// steps, an operator with a weight, collectives and an update, with golden arrays and the graph.
// All numbers are multiples of 1/4 and small, so that sums are exact in any order.
package jobtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"precision/testdata/workshop/dumptest"
)

// The operators of a job, by their names in the graph.
const (
	Mul     = "net/mul"
	Reduce  = "grad/HcomAllReduce_0"
	Update  = "train/sub"
	Gather  = "c/HcomAllGather_0"
	Scatter = "c/HcomReduceScatter_0"
	Cast    = "c/HcomBroadcast_0"
	Swap    = "c/HcomAllToAll_0"
)

// Job is a job to make.
type Job struct {
	Ranks, Steps int
	// Size is the number of elements of a tensor: a multiple of the ranks where there are other
	// collectives than the sum.
	Size int
	// All adds the other collectives.
	All bool
	// Break, if not nil, changes the output of an operator on the device after it was
	// computed; what comes behind works on.
	Break func(step, rank int, op string, out []float32)
	// InPlace gives the output of every operator the address of its first input.
	InPlace bool
	// Given writes golden arrays of the input, too.
	Given bool
	// Weight changes the weight of a rank.
	Weight func(step, rank int, w []float32)
}

// rank is what a rank has: the tensors of the device and the golden ones.
type rank struct{ device, golden map[string][]float32 }

// Time is when the recording of a job began.
const Time = "20260101120000"

// Dir is the folder of the dumps of a rank and step below the job's.
func Dir(step, rank int) string {
	return filepath.Join("npu", Time, strconv.Itoa(rank), "net_1", "1", strconv.Itoa(step))
}

// Golden is the folder of its golden arrays.
func Golden(step, rank int) string {
	return filepath.Join("golden", fmt.Sprintf("rank%d", rank), fmt.Sprintf("step%d", step))
}

// Write makes the job in a folder: npu, golden and ge_proto_00000001_graph_1_Build.txt.
func (j Job) Write(dir string) error {
	for step := range j.Steps {
		ranks := j.compute(step)
		for r := range ranks {
			if err := j.write(dir, step, r, &ranks[r]); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, "ge_proto_00000001_graph_1_Build.txt"), []byte(j.graph()), 0o600)
}

func (j Job) compute(step int) []rank {
	ranks := make([]rank, j.Ranks)
	each := func(op string, f func(of func(r int, name string) []float32, r int) []float32) {
		device := make([][]float32, j.Ranks)
		for r := range ranks {
			ranks[r].golden[op] = f(func(r int, name string) []float32 { return ranks[r].golden[name] }, r)
			device[r] = f(func(r int, name string) []float32 { return ranks[r].device[name] }, r)
		}
		for r := range ranks {
			if j.Break != nil {
				j.Break(step, r, op, device[r])
			}
			ranks[r].device[op] = device[r]
		}
	}
	for r := range ranks {
		x, w := make([]float32, j.Size), make([]float32, j.Size)
		for i := range x {
			x[i] = float32((i*7+r*13+step*5+i/11)%17-8) / 4
			w[i] = float32((i*5+i/7)%13 - 6)
		}
		mine := append([]float32(nil), w...)
		if j.Weight != nil {
			j.Weight(step, r, mine)
		}
		ranks[r] = rank{map[string][]float32{"x": x, "w": mine}, map[string][]float32{"x": x, "w": w}}
	}
	each(Mul, func(of func(int, string) []float32, r int) []float32 {
		out, x, w := make([]float32, j.Size), of(r, "x"), of(r, "w")
		for i := range out {
			out[i] = x[i] * w[i]
		}
		return out
	})
	sum := func(of func(int, string) []float32, lo, hi int) []float32 {
		out := make([]float32, hi-lo)
		for r := range ranks {
			in := of(r, Mul)[lo:hi]
			for i := range out {
				out[i] += in[i]
			}
		}
		return out
	}
	each(Reduce, func(of func(int, string) []float32, _ int) []float32 { return sum(of, 0, j.Size) })
	if j.All {
		piece := j.Size / j.Ranks
		each(Gather, func(of func(int, string) []float32, _ int) (out []float32) {
			for r := range ranks {
				out = append(out, of(r, Mul)...)
			}
			return out
		})
		each(Scatter, func(of func(int, string) []float32, r int) []float32 { return sum(of, r*piece, (r+1)*piece) })
		each(Cast, func(of func(int, string) []float32, _ int) []float32 { return append([]float32(nil), of(0, Mul)...) })
		each(Swap, func(of func(int, string) []float32, r int) (out []float32) {
			for s := range ranks {
				out = append(out, of(s, Mul)[r*piece:(r+1)*piece]...)
			}
			return out
		})
	}
	each(Update, func(of func(int, string) []float32, r int) []float32 {
		out, w, sum := make([]float32, j.Size), of(r, "w"), of(r, Reduce)
		for i := range out {
			out[i] = w[i] - sum[i]/4
		}
		return out
	})
	return ranks
}

// ops are the operators of the graph in order, with their inputs.
func (j Job) ops() [][]string {
	list := [][]string{{"Mul", Mul, "x", "w"}, {"HcomAllReduce", Reduce, Mul}}
	if j.All {
		list = append(list, []string{"HcomAllGather", Gather, Mul}, []string{"HcomReduceScatter", Scatter, Mul}, []string{"HcomBroadcast", Cast, Mul},
			[]string{"HcomAllToAll", Swap, Mul})
	}
	return append(list, []string{"Sub", Update, "w", Reduce})
}

func (j Job) write(dir string, step, r int, data *rank) error {
	at := uint64(1767268800000000 + step*1000000)
	tensor := func(name string, k int) dumptest.Tensor {
		v := data.device[name]
		shape := []int64{int64(len(v))}
		return dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: shape, Origin: shape, Address: uint64(4096 * (k + 1)), Data: dumptest.Floats(v)}
	}
	golden := func(name, flat string, k int) error {
		v := data.golden[name]
		path := filepath.Join(dir, Golden(step, r), fmt.Sprintf("%s.0.%d.npy", flat, at+uint64(k)))
		return dumptest.WriteNpy(path, "<f4", []int64{int64(len(v))}, dumptest.Floats(v))
	}
	for k, op := range j.ops() {
		address := 100 + k
		if j.InPlace {
			address = 10 * k
		}
		d := dumptest.Dump{OpName: op[1], Time: at, Outputs: []dumptest.Tensor{tensor(op[1], address)}}
		for i, in := range op[2:] {
			d.Inputs = append(d.Inputs, tensor(in, 10*k+i))
		}
		flat := strings.ReplaceAll(op[1], "/", "_")
		if err := d.Write(filepath.Join(dir, Dir(step, r), fmt.Sprintf("%s.%s.%d.7.%d", op[0], flat, k, at+uint64(k)))); err != nil {
			return err
		}
		if err := golden(op[1], flat, k); err != nil {
			return err
		}
	}
	if j.Given {
		return golden("x", "x", len(j.ops()))
	}
	return nil
}

// graph is the text of the graph that all ranks ran.
func (j Job) graph() string {
	var b strings.Builder
	b.WriteString("graph {\n  name: \"net_1\"\n")
	attr := func(key, value string) {
		fmt.Fprintf(&b, "    attr { key: %q value { %s } }\n", key, value)
	}
	desc := func(field string, n int, origin string) {
		fmt.Fprintf(&b, "    %s {\n      dtype: DT_FLOAT\n      shape { dim: %d }\n      layout: \"ND\"\n", field, n)
		fmt.Fprintf(&b, "      attr { key: \"origin_format\" value { s: \"ND\" } }\n      attr { key: \"origin_shape\" value { list { i: %d val_type: VT_LIST_INT } } }\n", n)
		if origin != "" {
			fmt.Fprintf(&b, "      attr { key: \"_datadump_origin_name\" value { s: %q } }\n      attr { key: \"_datadump_origin_output_index\" value { i: 0 } }\n", origin)
		}
		b.WriteString("    }\n")
	}
	size := func(op string) int {
		switch op {
		case Gather:
			return j.Size * j.Ranks
		case Scatter:
			return j.Size / j.Ranks
		}
		return j.Size
	}
	id := 0
	for _, c := range [][2]string{{"Data", "x"}, {"Variable", "w"}} {
		fmt.Fprintf(&b, "  op {\n    name: %q\n    type: %q\n    id: %d\n", c[1], c[0], id)
		desc("output_desc", j.Size, "")
		b.WriteString("  }\n")
		id++
	}
	for _, op := range j.ops() {
		fmt.Fprintf(&b, "  op {\n    name: %q\n    type: %q\n", op[1], op[0])
		for _, in := range op[2:] {
			fmt.Fprintf(&b, "    input: %q\n", in+":0")
		}
		if strings.HasPrefix(op[0], "Hcom") {
			attr("group", `s: "hccl_world_group"`)
			attr("reduction", `s: "sum"`)
			attr("root_rank", "i: 0")
		}
		attr("_datadump_original_op_names", fmt.Sprintf("list { s: %q val_type: VT_LIST_STRING }", op[1]))
		fmt.Fprintf(&b, "    id: %d\n", id)
		for _, in := range op[2:] {
			desc("input_desc", size(in), "")
		}
		desc("output_desc", size(op[1]), op[1])
		b.WriteString("  }\n")
		id++
	}
	fmt.Fprintf(&b, "  op {\n    name: \"Node_Output\"\n    type: \"NetOutput\"\n    input: %q\n    id: %d\n", Update+":0", id)
	desc("input_desc", j.Size, "")
	b.WriteString("  }\n}\n")
	return b.String()
}
