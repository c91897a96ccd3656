package oracle

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/dump/dtype"
	catalogue "precision/op"
	"precision/testdata/workshop/dumptest"
)

// asKernel is a recorded call of a function as the operator of a graph that a row of the catalogue binds to it;
// false if the row has no place for one of its arguments.
func asKernel(t *testing.T, c *callCase, row *catalogue.Row, f *function) (*recordedCase, bool) {
	args := map[string]caseValue{}
	for i, v := range c.Args {
		if i >= len(f.params) || f.rest && i >= len(f.params)-1 {
			return nil, false
		}
		args[f.params[i]] = v
	}
	for name, v := range c.Kwargs {
		args[f.param(name)] = v
	}
	outputs := c.Outputs
	if param := row.As.Gradient; param != "" {
		at := slices.Index(f.params, param)
		if len(c.Gradients) == 0 || at >= len(c.Back) || len(c.Outputs) == 0 || strings.Contains(c.Note, "of the last node") {
			return nil, false // what autograd's last node gets is another tensor than a kernel of gradients gives
		}
		args["grad"], args["result"], outputs = c.Gradients[0], c.Outputs[0], c.Back[at:at+1]
	}
	k := &recordedCase{Type: row.Names[0], Note: c.Note, Attrs: map[string]any{}}
	behind := 0 // inputs that lists have more than one
	for i := range row.As.Args {
		moved := row.As.Args[i]
		a := &moved
		if a.Slot >= 0 {
			a.Slot += behind
		}
		v, given := args[a.Param]
		if a.Many && v.List != nil && len(*v.List) > 1 {
			for j, x := range *v.List {
				in, ok := x.recorded()
				if !ok {
					return nil, false
				}
				k.input(&catalogue.Arg{Slot: a.Slot + j, From: []string{a.From[0] + strconv.Itoa(j)}}, in)
			}
			behind += len(*v.List) - 1
			delete(args, a.Param)
			continue
		}
		if a.Many {
			a.From = []string{a.From[0] + "0"}
		}
		if v.List != nil && len(*v.List) == 1 && (*v.List)[0].Tensor != nil && a.Slot >= 0 {
			v = (*v.List)[0] // a dynamic input of one tensor
		}
		delete(args, a.Param)
		switch {
		case a.Slot >= 0 && a.Slot < len(k.Inputs) && k.Inputs[a.Slot] != nil: // stands in for another one
		case !given || v.None:
			if a.Default != "" && a.Param != "" { // the kernel's default is not the function's
				x := usual[row.As.Function+" "+a.Param]
				if x == "" {
					return nil, false
				}
				k.Attrs[a.From[0]] = json.Number(x)
			}
		case a.Slot >= 0:
			if v.Tensor == nil {
				in, ok := v.constant()
				if !ok {
					return nil, false
				}
				k.input(a, in)
				continue
			}
			in, ok := v.recorded()
			if !ok {
				return nil, false
			}
			k.input(a, in)
		default:
			x, ok := v.attribute(a.Words)
			if !ok {
				return nil, false
			}
			k.Attrs[a.From[0]] = x
		}
	}
	if row.As.Gradient != "" { // not all gradients are made of the result, or of the argument
		delete(args, "result")
		delete(args, row.As.Gradient)
	}
	for name, v := range args {
		if !v.None && !ignored[name] {
			return nil, false
		}
	}
	if len(outputs) == 1 && outputs[0].List != nil { // a dynamic output
		outputs = *outputs[0].List
	}
	for i, v := range outputs {
		if v.List != nil && len(*v.List) == 1 {
			v = (*v.List)[0]
		}
		if v.None && i > 0 {
			continue
		}
		out, ok := v.recorded()
		if !ok || row.As.Results != nil && i >= len(row.As.Results) {
			return nil, false
		}
		at := i
		if row.As.Results != nil {
			at = row.As.Results[i]
		}
		for len(k.Outputs) <= at {
			k.Outputs = append(k.Outputs, &recordedTensor{DType: int(dtype.Int8), Format: 2, Layout: "ND", Axes: "ND", Shape: []int64{1}, Origin: []int64{1}, Hex: "00"})
		}
		k.Outputs[at] = out
	}
	return k, len(k.Outputs) > 0
}

func (k *recordedCase) input(a *catalogue.Arg, in *recordedTensor) {
	for len(k.Inputs) <= a.Slot {
		k.Inputs, k.Names = append(k.Inputs, nil), append(k.Names, "unnamed"+strconv.Itoa(len(k.Inputs)))
	}
	in.Format, in.Layout, in.Axes, in.Origin = 2, "ND", "ND", in.Shape
	k.Inputs[a.Slot], k.Names[a.Slot] = in, a.From[0]
}

// usual are the defaults of functions' parameters, where kernels have others.
var usual = map[string]string{"group_norm eps": "1e-05", "sort dim": "-1", "npu_chunk_gated_delta_rule scale": "0.35355339059327376", "npu_gather_pa_kv_cache_functional is_seq_lens_cumsum": "0"}

// constant is a number, or a list of whole ones, as a constant of a graph.
func (v caseValue) constant() (*recordedTensor, bool) {
	x, ok := v.attribute(nil)
	if !ok {
		return nil, false
	}
	list, is := x.([]any)
	if !is {
		list = []any{x}
	}
	raw, typ := []byte(nil), dtype.Int32
	for _, x := range list {
		n, is := x.(json.Number)
		if text, infinite := x.(string); infinite && strings.HasSuffix(text, "inf") {
			n, is = json.Number(text), true
		}
		if !is {
			return nil, false
		}
		if i, err := n.Int64(); err == nil {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(i))
		} else if f, err := n.Float64(); err == nil && len(list) == 1 {
			raw, typ = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(f))), dtype.Float32
		}
	}
	return &recordedTensor{DType: int(typ), Shape: []int64{int64(len(list))}, Hex: hex.EncodeToString(raw)}, true
}

func (v caseValue) leaf() (value any, ok bool) {
	var e struct {
		Type  string
		Value any
	}
	d := json.NewDecoder(strings.NewReader(string(v.Leaf)))
	d.UseNumber()
	ok = v.Leaf != nil && d.Decode(&e) == nil
	return e.Value, ok
}

func (v caseValue) recorded() (*recordedTensor, bool) {
	if v.Tensor == nil {
		return nil, false
	}
	typ, ok := dtype.FromFramework(v.Tensor.DType)
	shape := v.Tensor.Shape
	if len(shape) == 0 {
		shape = []int64{1}
	}
	return &recordedTensor{DType: int(typ), Format: 2, Layout: "ND", Axes: "ND", Shape: shape, Origin: shape, Hex: v.Tensor.Hex}, ok
}

func (v caseValue) attribute(words []string) (any, bool) {
	if v.List != nil {
		out := []any{}
		for _, x := range *v.List {
			n, ok := x.leaf()
			if _, is := n.(json.Number); !ok || !is {
				return nil, false
			}
			out = append(out, n)
		}
		return out, true
	}
	x, ok := v.leaf()
	if !ok || v.Tensor != nil {
		return nil, false
	}
	if n, is := x.(json.Number); is && words != nil {
		x = n.String()
	}
	if s, is := x.(string); is && words != nil {
		return json.Number(strconv.Itoa(slices.Index(words, s))), slices.Contains(words, s)
	}
	switch x.(type) {
	case bool, string, json.Number:
		return x, true
	}
	return nil, false
}

// TestTwins: a kernel that is a function is judged as the recorded calls of that function are, and one changed
// element of its first output is wrong.
func TestTwins(t *testing.T) {
	calls := map[*function][]*callCase{}
	cases := callCases(t)
	for i := range cases {
		prefix, api, _ := strings.Cut(cases[i].Name, ".")
		if f, _, inPlace, swapped := called(prefix, api, "pytorch"); f != nil && !inPlace && !swapped && api != "scatter_add" { // whose name says how
			calls[f] = append(calls[f], &cases[i])
		}
	}
	cased := map[string]bool{} // types that have recorded cases of their own
	for _, c := range recordedCases(t) {
		cased[c.Type] = true
	}
	for _, row := range catalogue.All() {
		if row.As == nil {
			continue
		}
		f := functions()[row.As.Function]
		if f == nil {
			t.Errorf("%v: %s is no function", row.Names, row.As.Function)
			continue
		}
		for _, a := range row.As.Args {
			if a.Param != "" && !slices.Contains(f.params, a.Param) && (row.As.Gradient == "" || a.Param != "grad" && a.Param != "result") {
				t.Errorf("%v: %s has no parameter %s", row.Names, row.As.Function, a.Param)
			}
		}
		judged := 0
		for _, call := range calls[f] {
			k, ok := asKernel(t, call, row, f)
			if !ok {
				continue
			}
			right, first := settle(t, k, nil, "as a kernel"), 0
			if row.As.Results != nil {
				first = row.As.Results[0]
			}
			if right[first].Verdict == Unknown {
				t.Logf("%v, as %s: %v", row.Names, call.Name, right[first].Reasons)
				continue
			}
			judged++
			for _, x := range right {
				if x.Verdict != OK && x.Verdict != Unknown {
					t.Errorf("%v, as %s %s: output %d is %v, ratio %g: %v", row.Names, call.Name, call.Note, x.Index, x.Verdict, x.Ratio, x.Reasons)
				}
			}
			if wrong := settle(t, k, func(d *dumptest.Dump) { spoil(t, k, d, first) }, "spoilt"); wrong[first].Verdict != Wrong {
				t.Errorf("%v, as %s %s: %v with a wrong element: %v", row.Names, call.Name, call.Note, wrong[first].Verdict, wrong[first].Reasons)
			}
		}
		if judged == 0 && !slices.ContainsFunc(row.Names, func(name string) bool { return cased[name] }) {
			t.Errorf("%v: none of %d calls of %s is judged", row.Names, len(calls[f]), row.As.Function)
		}
	}
}

// TestTwinChannels: a function that has the channels in axis 1 says nothing of a tensor that has them elsewhere.
func TestTwinChannels(t *testing.T) {
	row := catalogue.Of("GroupNorm")
	for _, c := range callCases(t) {
		prefix, api, _ := strings.Cut(c.Name, ".")
		f, _, _, _ := called(prefix, api, "pytorch")
		if f == nil || f != functions()["group_norm"] {
			continue
		}
		k, ok := asKernel(t, &c, row, f)
		if !ok || len(k.Inputs[0].Shape) != 4 {
			continue
		}
		k.Inputs[0].Axes = "NHWC"
		if got := settle(t, k, nil, "channels last"); got[0].Verdict != Unknown || got[0].Reasons[0].Kind != BadLayout {
			t.Errorf("%v: %v", got[0].Verdict, got[0].Reasons)
		}
		return
	}
	t.Error("no call of group_norm")
}

// TestTwinsOfGraphs: a kernel whose graph turns a matrix is judged as one whose matrix is turned; one with an input that its function has
// not is refused by the input's name.
func TestTwinsOfGraphs(t *testing.T) {
	of := func(name, api string, fits func(k *recordedCase) bool) *recordedCase {
		row := catalogue.Of(name)
		for _, c := range callCases(t) {
			if prefix, rest, _ := strings.Cut(c.Name, "."); prefix == "NPU" && rest == api {
				if k, ok := asKernel(t, &c, row, functions()[row.As.Function]); ok && fits(k) {
					return k
				}
			}
		}
		t.Fatalf("no case of %s", api)
		return nil
	}
	k := of("QuantBatchMatmulV3", "npu_quant_matmul", func(k *recordedCase) bool {
		return len(k.Inputs[1].Shape) == 2 && k.Inputs[1].DType == int(dtype.Int8)
	})
	w := k.Inputs[1]
	rows, cols, text := w.Shape[0], w.Shape[1], ""
	for j := range cols {
		for i := range rows {
			text += w.Hex[2*(i*cols+j):][:2]
		}
	}
	w.Hex, w.Shape, w.Origin = text, []int64{cols, rows}, []int64{cols, rows}
	for turned, want := range map[bool]Verdict{true: OK, false: Unknown} {
		k.Attrs["transpose_x2"] = turned
		if f := settle(t, k, nil, "turned")[0]; rows != cols && f.Verdict != want {
			t.Errorf("transpose_x2 %t: %v, %v; expected %v", turned, f.Verdict, f.Reasons, want)
		}
	}
	// 1 asks for where the rows of each expert end, 2 for how many they are (tests of MindSpore's primitive); functions count from 0.
	k = of("MoeInitRoutingV2", "npu_moe_init_routing_v2", func(k *recordedCase) bool {
		return len(k.Outputs) > 2 && k.Outputs[2] != nil && k.Outputs[2].Hex == "030000000000000004000000000000000600000000000000"
	})
	for flag, want := range map[int]Verdict{1: OK, 2: Wrong} {
		k.Attrs["expert_tokens_count_or_cumsum_flag"] = flag
		if f := settle(t, k, nil, "counted")[2]; f.Verdict != want {
			t.Errorf("expert_tokens_count_or_cumsum_flag %d: %v, %v; expected %v", flag, f.Verdict, f.Reasons, want)
		}
	}
	k = of("PromptFlashAttention", "npu_prompt_flash_attention", func(*recordedCase) bool { return true })
	k.input(&catalogue.Arg{Slot: 7, From: []string{"deq_scale1"}}, &recordedTensor{DType: int(dtype.Float32), Shape: []int64{1}, Hex: "0000803f"})
	if f := settle(t, k, nil, "with a scale")[0]; f.Verdict != Unknown || f.Reasons[0].Kind != Unsupported || f.Reasons[0].Args[0] != "deq_scale1" {
		t.Errorf("with deq_scale1: %v, %v", f.Verdict, f.Reasons)
	}
	// Weights in a list, one of each expert: the other's is wrong, and without names nobody knows where the list ends.
	k = of("GroupedMatmul", "npu_grouped_matmul", func(k *recordedCase) bool { return slices.Contains(k.Names, "weight2") && len(k.Outputs) > 1 })
	at := slices.Index(k.Names, "weight0")
	for i, f := range settle(t, k, nil, "weights in a list") {
		if f.Verdict != OK {
			t.Errorf("output %d of weights in a list: %v, %v", i, f.Verdict, f.Reasons)
		}
	}
	k.Inputs[at], k.Inputs[at+1] = k.Inputs[at+1], k.Inputs[at]
	for i, f := range settle(t, k, nil, "weights exchanged") {
		if want := map[bool]Verdict{true: Wrong, false: OK}[i < 2]; f.Verdict != want {
			t.Errorf("output %d of exchanged weights: %v, %v; expected %v", i, f.Verdict, f.Reasons, want)
		}
	}
	k.Names = nil
	if f := settle(t, k, nil, "no names")[0]; f.Verdict != Unknown || f.Reasons[0].Kind != InputCount {
		t.Errorf("without names: %v, %v", f.Verdict, f.Reasons)
	}
	// What is written where it is asked for is unknown elsewhere.
	for _, x := range []struct {
		kernel, api, attribute string
		yes, no                any
		at                     int
	}{
		{"AddLayerNorm", "npu_add_layer_norm", "additional_output", true, false, 3},
		{"AttentionUpdate", "npu_attention_update", "update_type", 1, 0, 1},
		{"MoeGatingTopKSoftmaxV2", "npu_moe_gating_top_k_softmax_v2", "output_softmax_result_flag", true, false, 2},
	} {
		k = of(x.kernel, x.api, func(k *recordedCase) bool { return len(k.Outputs) == x.at+1 })
		for asked, want := range map[any]Verdict{x.yes: Wrong, x.no: Unknown} {
			k.Attrs[x.attribute] = asked
			if f := settle(t, k, func(d *dumptest.Dump) { spoil(t, k, d, x.at) }, x.attribute); f[x.at].Verdict != want || f[0].Verdict != OK {
				t.Errorf("%s %v: %v, %v; expected %v", x.attribute, asked, f[x.at].Verdict, f[x.at].Reasons, want)
			}
		}
	}
	// The slots of keys count as they are; a ratio by which they are fewer is refused.
	for kernel, api := range map[string]string{"LightningIndexer": "npu_lightning_indexer", "QuantLightningIndexer": "npu_quant_lightning_indexer"} {
		k = of(kernel, api, func(*recordedCase) bool { return true })
		for ratio, want := range map[int]Verdict{1: OK, 4: Unknown} {
			k.Attrs["cmp_ratio"] = ratio
			if f := settle(t, k, nil, "ratio")[0]; f.Verdict != want {
				t.Errorf("%s, cmp_ratio %d: %v, %v; expected %v", kernel, ratio, f.Verdict, f.Reasons, want)
			}
		}
	}
	// What a graph leaves out of it is another attention than the one that is computed.
	k = of("KvQuantSparseFlashAttention", "npu_kv_quant_sparse_flash_attention", func(*recordedCase) bool { return true })
	delete(k.Attrs, "attention_mode")
	if f := settle(t, k, nil, "no mode")[0]; f.Verdict != Unknown {
		t.Errorf("without attention_mode: %v, %v", f.Verdict, f.Reasons)
	}
	// The scale of a delta rule is 1 where a graph has none, the function's the root of the size.
	k = of("ChunkGatedDeltaRule", "npu_chunk_gated_delta_rule", func(*recordedCase) bool { return true })
	if f := settle(t, k, nil, "scaled")[0]; f.Verdict != OK {
		t.Errorf("with scale_value: %v, %v", f.Verdict, f.Reasons)
	}
	delete(k.Attrs, "scale_value")
	if f := settle(t, k, nil, "not scaled")[0]; f.Verdict != Wrong {
		t.Errorf("without scale_value: %v, %v", f.Verdict, f.Reasons)
	}
}
