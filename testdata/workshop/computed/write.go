package computed

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/testdata/workshop/dumptest"
)

const (
	graphName = "ge_default_20261122010203_1"
	started   = 1614717261785536
)

// GraphFile, DumpDir and GoldenDir are where a network is below its folder.
const (
	GraphFile = "graph.txt"
	DumpDir   = "npu/debug_0/dump"
	GoldenDir = "golden"
)

var (
	formats = map[string]int{"NCHW": 0, "NHWC": 1, "ND": 2, "NC1HWC0": 3, "FRACTAL_Z": 4, "FRACTAL_NZ": 29}
	types   = map[string]int{f32: 1, f16: 2, i8: 3, i32: 7, i64: 8, u64: 10, flag: 11, b16: 27, f8: 35, e8: 36}
	descrs  = map[string]string{f32: "<f4", f16: "<f4", b16: "<f4", f8: "<f4", e8: "<f4", i8: "|i1", i32: "<i4", i64: "<i8", u64: "<u8", flag: "|b1"}
)

// Write writes dumps, golden arrays, graph and answer below a folder.
func (n *Network) Write(dir string) (Answer, error) {
	dump := filepath.Join(dir, filepath.FromSlash(DumpDir), "20261122010203", "0", graphName, "1", "0")
	golden := filepath.Join(dir, GoldenDir)
	for _, d := range []string{dump, golden} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return n.answer, err
		}
	}
	written := n.device
	if n.mixed != nil {
		written = n.mixed
	}
	var padding *rand.Rand
	if n.options.DirtyPadding {
		padding = n.options.rng(9)
	}
	for task, x := range n.nodes {
		if !n.options.Devices {
			if err := n.writeGolden(golden, task, x); err != nil {
				return n.answer, err
			}
		} else if err := n.writeDump(golden, task, x, n.golden, n.golden, padding); err != nil {
			return n.answer, err
		}
		if err := n.writeDump(dump, task, x, n.device, written, padding); err != nil {
			return n.answer, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, GraphFile), []byte(n.graph()), 0o644); err != nil {
		return n.answer, err
	}
	text, err := json.MarshalIndent(n.answer, "", " ")
	if err != nil {
		return n.answer, err
	}
	return n.answer, os.WriteFile(filepath.Join(dir, "answer.json"), text, 0o644)
}

// writeDump writes what a device recorded of an operator that it computed.
func (n *Network) writeDump(dir string, task int, x *node, took, gave map[string]array, padding *rand.Rand) error {
	if !x.computed() {
		return nil
	}
	d := dumptest.Dump{OpName: x.name, Time: uint64(started+task*1000) / 1000}
	for _, in := range x.connected() {
		d.Inputs = append(d.Inputs, n.tensor(took, in, padding))
	}
	for i := range x.outputs {
		d.Outputs = append(d.Outputs, n.tensor(gave, fmt.Sprintf("%s:%d", x.name, i), padding))
	}
	return d.Write(filepath.Join(dir, fmt.Sprintf("%s.%s.%d.7.%d", x.kind, plain(x.name), task, started+task*1000)))
}

func plain(name string) string { return strings.NewReplacer("/", "_", ".", "_").Replace(name) }

func (n *Network) writeGolden(dir string, task int, x *node) error {
	origin := x.origin
	if origin == "" && n.options.WeightGolden && x.weight() {
		origin = x.name
	}
	if origin == "" {
		return nil
	}
	for i, s := range x.outputs {
		v := n.golden[fmt.Sprintf("%s:%d", x.name, i)]
		shape := make([]int64, len(v.shape))
		for k, d := range v.shape {
			shape[k] = int64(d)
		}
		dtype := s.dtype
		if floats(dtype) { // numpy has no others
			dtype = f32
		}
		path := filepath.Join(dir, fmt.Sprintf("%s.%d.%d.npy", plain(origin), i, started+task))
		if err := dumptest.WriteNpy(path, descrs[s.dtype], shape, encoded(dtype, v.v)); err != nil {
			return err
		}
	}
	return nil
}

func encoded(dtype string, v []float64) []byte {
	var out []byte
	for _, x := range v {
		switch dtype {
		case f32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(x)))
		case i8, flag:
			out = append(out, byte(int64(x)))
		case i32:
			out = binary.LittleEndian.AppendUint32(out, uint32(int32(x)))
		case i64:
			out = binary.LittleEndian.AppendUint64(out, uint64(int64(x)))
		case u64: // scales of dequantisation: a float32 in the low half
			out = binary.LittleEndian.AppendUint64(out, uint64(math.Float32bits(float32(x))))
		case b16:
			out = binary.LittleEndian.AppendUint16(out, uint16(math.Float32bits(float32(x))>>16))
		case f8:
			out = append(out, fromFloat8(x))
		case e8:
			if x != x {
				out = append(out, 0xff)
				break
			}
			out = append(out, byte(math.Log2(x)+127))
		case f16:
			h := dumptest.Halves([]float32{float32(x)})
			out = append(out, h...)
		}
	}
	return out
}

// fromFloat8 are the bits of a number of float8, of four exponent bits and three digits, or of its NaN.
func fromFloat8(x float64) (b byte) {
	if x != x {
		return 0x7f
	}
	if math.Signbit(x) {
		b = 0x80
	}
	x = math.Abs(x)
	if x < 0x1p-6 {
		return b | byte(x*0x1p9)
	}
	e := math.Ilogb(x)
	return b | byte(e+7)<<3 | byte(math.Ldexp(x, 3-e))&7
}

// width is how many channels a block has.
func width(dtype string) int64 {
	if dtype == i8 {
		return 32
	}
	return 16
}

// dims is the shape of a tensor on the device.
func (s spec) dims() []int {
	c0 := int(width(s.dtype))
	up := func(n, by int) int { return (n + by - 1) / by }
	d := s.shape
	switch s.layout {
	case "NC1HWC0":
		return []int{d[0], up(d[1], c0), d[2], d[3], c0}
	case "FRACTAL_Z":
		return []int{up(d[1], c0) * d[2] * d[3], up(d[0], 16), 16, c0}
	case "FRACTAL_NZ":
		k := len(d) - 2
		return append(slices.Clone(d[:k]), up(d[k+1], c0), up(d[k], 16), 16, c0)
	}
	return d
}

func wide(shape []int) []int64 {
	out := make([]int64, len(shape))
	for i, d := range shape {
		out[i] = int64(d)
	}
	return out
}

// tensor is a tensor of a run of the device as a dump holds it.
func (n *Network) tensor(side map[string]array, name string, padding *rand.Rand) dumptest.Tensor {
	s := n.tensors[name]
	v := side[name].v
	t := dumptest.Tensor{Type: types[s.dtype], Format: formats[s.layout], Shape: wide(s.dims()), Origin: wide(s.shape), Address: address(name)}
	blocked := func(v []float32) []float32 {
		shape := wide(s.shape)
		switch s.layout {
		case "NC1HWC0":
			v, _ = dumptest.ToNC1HWC0(v, shape, width(s.dtype))
		case "FRACTAL_Z":
			v, _ = dumptest.ToFractalZ(v, shape, width(s.dtype))
		case "FRACTAL_NZ":
			v, _ = dumptest.ToFractalNZ(v, shape, width(s.dtype))
		}
		return v
	}
	if s.layout == "NC1HWC0" || s.layout == "FRACTAL_Z" || s.layout == "FRACTAL_NZ" {
		narrow, ones := make([]float32, len(v)), make([]float32, len(v))
		for i := range v {
			narrow[i], ones[i] = float32(v[i]), 1
		}
		stored := blocked(narrow)
		data := blocked(ones)
		v = make([]float64, len(stored))
		for i := range stored {
			v[i] = float64(stored[i])
			if padding != nil && data[i] == 0 {
				if v[i] = round(s.dtype, padding.NormFloat64()); s.dtype == i8 || s.dtype == i32 {
					v[i] = float64(padding.IntN(200) - 100)
				}
			}
		}
	}
	t.Data = encoded(s.dtype, v)
	return t
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

func address(name string) uint64 { return 0x12C0_0000_0000 + hash(name)%(1<<32)*512 }

// names of inputs and outputs where they are not x or x1, x2.
var inputNames = map[string][]string{
	"MatMulV2": {"x1", "x2", "bias", "offset_w"}, "Conv2D": {"x", "filter", "bias", "offset_w"}, "DepthwiseConv2D": {"x", "filter", "bias", "offset_w"},
	"Conv2DTransposeD": {"x", "filter", "bias", "offset_w"}, "LayerNorm": {"x", "gamma", "beta"}, "RmsNorm": {"x", "gamma"},
	"Select": {"condition", "x1", "x2"}, "MaskedFill": {"x", "mask", "value"}, "GatherV2D": {"x", "indices"}, "TransData": {"src"},
	"AscendDequant": {"x", "deq_scale"}, "QuantBatchMatmulV3": {"x1", "x2", "scale", "pertoken_scale"}, "Quantize": {"x", "scales", "zero_points"}, "Dequantize": {"x", "deq_scale"}, "ReluGrad": {"gradients", "features"}, "Relu6Grad": {"gradients", "features"},
	"MaxPoolGrad": {"x1", "x2", "grad"}, "SoftmaxCrossEntropyWithLogits": {"features", "labels"},
	"BNTrainingUpdate":     {"x", "sum", "square_sum", "scale", "offset", "mean", "variance"},
	"BNTrainingUpdateGrad": {"grads", "x", "batch_mean", "batch_variance"},
	"BNTrainingReduceGrad": {"grads", "x", "diff_scale", "diff_offset", "scale", "batch_mean", "batch_variance"},
	"ApplyMomentumD":       {"var", "accum", "lr", "grad", "momentum"}, "ApplyAdamD": {"var", "m", "v", "beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"},
	"Conv2DBackpropFilterD": {"x", "out_backprop"}, "Conv2DBackpropInputD": {"filter", "out_backprop"},
	"TopKD": {"x", "assist_seq"}, "NonMaxSuppressionV6": {"boxes", "scores"}, "DynamicRNN": {"x", "w", "b"}, "OneHotD": {"x", "on_value", "off_value"},
}

var outputNames = map[string][]string{
	"LayerNorm": {"y", "mean", "variance"}, "RmsNorm": {"y", "rstd"}, "DynamicQuant": {"y", "scale"}, "DynamicMxQuant": {"y", "mxscale"}, "TransData": {"dst"}, "TopKD": {"values", "indices"}, "Sort": {"y1", "y2"},
	"BNTrainingReduce": {"sum", "square_sum"}, "BNTrainingUpdate": {"y", "mean", "variance", "batch_mean", "batch_variance"},
	"BNTrainingUpdateGrad": {"diff_scale", "diff_offset"}, "SoftmaxCrossEntropyWithLogits": {"loss", "backprop"}, "ApplyMomentumD": {"var", "accum"},
	"ApplyAdamD": {"var", "m", "v"}, "NonMaxSuppressionV6": {"selected_indices"}, "DynamicRNN": {"y", "output_h", "output_c", "i", "j", "f", "o", "tanhc"},
}

func nth(list []string, single, many string, i, n int) string {
	switch {
	case i < len(list):
		return list[i]
	case n == 1:
		return single
	}
	return many + strconv.Itoa(i+1)
}

// text is a graph as it is written: lines with their depth.
type text struct {
	b     strings.Builder
	depth int
}

func (t *text) line(format string, args ...any) {
	t.b.WriteString(strings.Repeat("  ", t.depth))
	fmt.Fprintf(&t.b, format, args...)
	t.b.WriteByte('\n')
}

func (t *text) block(name string, body func()) {
	t.line("%s {", name)
	t.depth++
	body()
	t.depth--
	t.line("}")
}

func (t *text) attrs(a attrs) {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if strings.HasPrefix(key, ".") {
			continue
		}
		t.block("attr", func() {
			t.line("key: %q", key)
			t.block("value", func() { t.value(a[key]) })
		})
	}
}

func (t *text) value(v any) {
	list := func(kind string, n int, item func(i int)) {
		t.block("list", func() {
			for i := range n {
				item(i)
			}
			t.line("val_type: VT_LIST_%s", kind)
		})
	}
	switch v := v.(type) {
	case bool:
		t.line("b: %v", v)
	case int:
		t.line("i: %d", v)
	case float64:
		t.line("f: %.9g", v)
	case string:
		t.line("s: %q", v)
	case []int:
		list("INT", len(v), func(i int) { t.line("i: %d", v[i]) })
	case []string:
		list("STRING", len(v), func(i int) { t.line("s: %q", v[i]) })
	case []bool:
		list("BOOL", len(v), func(i int) { t.line("b: %v", v[i]) })
	default:
		panic(fmt.Sprintf("an attribute of type %T", v))
	}
}

func (t *text) desc(field string, s spec, origin string, index int) {
	t.block(field, func() {
		t.line("dtype: %s", s.dtype)
		t.block("shape", func() {
			for _, d := range s.dims() {
				t.line("dim: %d", d)
			}
		})
		t.line("layout: %q", s.layout)
		format := "ND"
		if len(s.shape) == 4 && s.layout != "ND" && s.layout != "FRACTAL_NZ" {
			format = "NCHW"
		}
		was := s.dtype
		if narrow(was) {
			was = f32
		}
		a := attrs{"origin_data_type": was, "origin_format": format, "origin_shape": s.shape, "origin_shape_initialized": true}
		if origin != "" {
			a["_datadump_origin_data_type"], a["_datadump_origin_format"] = was, format
			a["_datadump_origin_name"], a["_datadump_origin_output_index"] = origin, index
		}
		if field == "input_desc" {
			a["format_for_int"] = formats[s.layout]
		}
		t.attrs(a)
		t.line("has_out_attr: true")
		t.line("size: %d", (product(s.dims())*4+31)/32*32+32)
		t.line(`device_type: "NPU"`)
		t.line("real_dim_cnt: %d", len(s.shape))
	})
}

// graph is the network as GE writes it.
func (n *Network) graph() string {
	t := &text{}
	t.block("graph", func() {
		t.line("name: %q", graphName)
		for id, x := range n.nodes {
			t.block("op", func() { n.operator(t, id, x) })
		}
		t.block("op", func() {
			t.line(`name: "Node_Output"`)
			t.line(`type: "NetOutput"`)
			for _, r := range n.results {
				t.line("input: %q", r)
			}
			t.attrs(attrs{"_datadump_original_op_names": []string{}, "is_input_const": make([]bool, len(n.results))})
			t.line("id: %d", len(n.nodes))
			for _, r := range n.results {
				t.desc("input_desc", n.tensors[r], "", 0)
			}
		})
	})
	return t.b.String()
}

func (n *Network) operator(t *text, id int, x *node) {
	t.line("name: %q", x.name)
	t.line("type: %q", x.kind)
	for _, in := range x.inputs {
		t.line("input: %q", in)
	}
	a := attrs{"_datadump_original_op_names": x.originals, "OwnerGraphIsUnknown": false}
	for k, v := range x.attrs {
		a[k] = v
	}
	in := x.connected()
	names, constant := make([]string, len(in)), make([]bool, len(in))
	for i := range in {
		names[i] = nth(inputNames[x.kind], "x", "x", i, len(in))
		if len(x.parts) > 1 {
			names[i] = fmt.Sprintf("__input%d", i)
		}
		op, _, _ := strings.Cut(in[i], ":")
		constant[i] = n.byName[op].weight()
	}
	if len(in) > 0 {
		order := make([]int, len(in))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return strings.Compare(names[i], names[j]) })
		sorted := make([]string, len(in))
		for i, k := range order {
			sorted[i] = names[k]
		}
		a["_input_name_key"], a["_input_name_value"], a["is_input_const"] = sorted, order, constant
	}
	if x.computed() {
		kernelName := fmt.Sprintf("te_%s_%016x_1__kernel0", strings.ToLower(x.kind), hash(x.name))
		if len(x.parts) > 1 {
			words := ""
			for _, p := range x.parts {
				words += map[string]string{"MatMulV2": "mat_mul", "Conv2D": "conv2d", "LeakyRelu": "leaky_relu"}[p.kind]
				if p.kind != "MatMulV2" && p.kind != "Conv2D" && p.kind != "LeakyRelu" {
					words += strings.ToLower(p.kind)
				}
				words += "_"
			}
			kernelName = fmt.Sprintf("te_fused_op_%s%016x_0__kernel0", words, hash(x.name))
			a["pass_name"], a["fusion_scope"] = "TbeCommonRules2FusionPass", id
		}
		a[x.name+"_kernelname"] = kernelName
		a["_ge_attr_op_kernel_lib_name"] = "AIcoreEngine"
		outs, places := make([]string, len(x.outputs)), make([]int, len(x.outputs))
		for i := range outs {
			outs[i], places[i] = nth(outputNames[x.kind], "y", "y", i, len(outs)), i
		}
		a["_output_name_key"], a["_output_name_value"] = outs, places
	} else {
		a["_ge_attr_op_kernel_lib_name"] = "DNN_VM_GE_LOCAL_OP_STORE"
	}
	t.attrs(a)
	t.line("has_out_attr: true")
	t.line("id: %d", id)
	for _, in := range x.inputs {
		if in != "" {
			t.desc("input_desc", n.tensors[in], "", 0)
		}
	}
	for i, s := range x.outputs {
		t.desc("output_desc", s, x.origin, i)
	}
}
