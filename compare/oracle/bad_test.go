package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// settle runs a check of a spoiled operator, which must neither crash nor call
// something wrong that it cannot know.
func settle(t *testing.T, c *recordedCase, change func(d *dumptest.Dump), what string) []Finding {
	t.Helper()
	var out []Finding
	func() {
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%v, %s: panic: %v", c, what, p)
			}
		}()
		out = CheckOp(c.op(t), c.dump(t, change), Settings{})
	}()
	for _, f := range out {
		if f.Verdict == Unknown && len(f.Reasons) == 0 {
			t.Errorf("%v, %s: output %d is unknown without a reason", c, what, f.Index)
		}
	}
	return out
}

// clone copies a case so that its attributes can be changed.
func (c *recordedCase) clone() *recordedCase {
	d := *c
	d.Attrs = map[string]any{}
	for k, v := range c.Attrs {
		d.Attrs[k] = v
	}
	d.Inputs = append([]*recordedTensor{}, c.Inputs...)
	return &d
}

// TestBadAttributes gives every attribute of every recorded operator nonsense, or
// takes it away: no crash, and no memory by an attribute's word. SEEDS=1 tries all values, not a third of them.
func TestBadAttributes(t *testing.T) {
	nonsense := []any{json.Number("-1"), json.Number("99999999999999"), json.Number("9223372036854775807"), json.Number("0"), json.Number("1.5"), "text", true,
		[]any{}, []any{json.Number("-7")}, []any{json.Number("0"), json.Number("0"), json.Number("0"), json.Number("0")},
		[]any{json.Number("9223372036854775807"), json.Number("9223372036854775807"), json.Number("9223372036854775807"), json.Number("9223372036854775807")},
		[]any{json.Number("3"), json.Number("1"), json.Number("2")}}
	seen, turn := map[string]bool{}, 0
	for _, c := range recordedCases(t) {
		key := c.Type + c.Note
		if seen[key] {
			continue
		}
		seen[key] = true
		for _, name := range slices.Sorted(maps.Keys(c.Attrs)) {
			d := c.clone()
			delete(d.Attrs, name)
			settle(t, d, nil, "without "+name)
			turn++ // other attributes get other values
			for _, v := range nonsense {
				if turn++; turn%3 != 0 && os.Getenv("SEEDS") == "" {
					continue
				}
				d.Attrs[name] = v
				before := allocated()
				settle(t, d, nil, fmt.Sprintf("%s = %v", name, v))
				if n := allocated() - before; n > 256<<20 {
					t.Errorf("%v, %s = %v: allocates %d MB", c, name, v, n>>20)
				}
			}
		}
	}
}

// TestBadShapes takes inputs away, cuts their data short, exchanges them and
// changes their dims.
func TestBadShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	seen := map[string]bool{}
	for _, c := range recordedCases(t) {
		if key := c.Type + c.Note; seen[key] {
			continue
		} else {
			seen[key] = true
		}
		for _, f := range settle(t, c, func(d *dumptest.Dump) { d.Inputs = nil }, "without inputs") {
			if f.Verdict != Unknown && c.Type != "ZerosLike" && c.Type != "OnesLike" {
				t.Errorf("%v: %v without inputs", c, f.Verdict)
			}
		}
		settle(t, c, func(d *dumptest.Dump) { d.Outputs = d.Outputs[:1] }, "one output")
		if len(c.Inputs) > 1 {
			settle(t, c, func(d *dumptest.Dump) { d.Inputs[0], d.Inputs[1] = d.Inputs[1], d.Inputs[0] }, "exchanged")
		}
		for k := range c.Inputs {
			if c.Inputs[k] == nil {
				continue
			}
			at := func(d *dumptest.Dump) *dumptest.Tensor { return &d.Inputs[min(k, len(d.Inputs)-1)] }
			for _, f := range settle(t, c, func(d *dumptest.Dump) { in := at(d); in.Data = in.Data[:len(in.Data)/2] }, "short") {
				if f.Verdict == Wrong {
					t.Errorf("%v: wrong though input %d is short", c, k)
				}
			}
			settle(t, c, func(d *dumptest.Dump) { at(d).Origin = nil }, "no origin")
			settle(t, c, func(d *dumptest.Dump) { at(d).Type = 13 }, "a string")
			settle(t, c, func(d *dumptest.Dump) { at(d).Format = int(r.Int32N(50)) }, "another layout")
			settle(t, c, func(d *dumptest.Dump) { in := at(d); in.Shape = append([]int64{1 << 40, 1 << 20}, in.Shape...) }, "huge")
			settle(t, c, func(d *dumptest.Dump) { in := at(d); in.Shape, in.Origin = []int64{0, 3}, []int64{0, 3} }, "empty")
			settle(t, c, func(d *dumptest.Dump) { in := at(d); in.Shape, in.Origin = []int64{1}, []int64{1} }, "one element")
		}
		for _, f := range settle(t, c, func(d *dumptest.Dump) { o := &d.Outputs[0]; o.Data = o.Data[:len(o.Data)/2] }, "short output") {
			if f.Index == 0 && f.Damage == nil {
				t.Errorf("%v: %v, and output 0 is not damaged though half of it is gone: %v", c, f.Verdict, f.Reasons)
			}
		}
		settle(t, c, func(d *dumptest.Dump) { o := &d.Outputs[0]; o.Shape, o.Origin = []int64{0}, []int64{0} }, "empty output")
		settle(t, c, func(d *dumptest.Dump) { o := &d.Outputs[0]; o.Shape, o.Origin = []int64{2}, []int64{2} }, "two elements")
	}
}

// TestInPlace says nothing against an output that was written over its input.
func TestInPlace(t *testing.T) {
	for _, c := range recordedCases(t) {
		if c.Type != "AssignAdd" {
			continue
		}
		spoilt := func(d *dumptest.Dump) {
			d.Inputs[0].Data = append([]byte{}, d.Outputs[0].Data...) // what the input holds afterwards
			d.Inputs[0].Address, d.Outputs[0].Address = 0x1000, 0x1000
		}
		f := settle(t, c, spoilt, "in place")[0]
		if f.Verdict != Unknown || f.Reasons[0].Kind != InPlace {
			t.Errorf("%v %v", f.Verdict, f.Reasons)
		}
	}
}

// TestUnknownTypes gives reasons for what is not recomputed.
func TestUnknownTypes(t *testing.T) {
	base := recordedCases(t)[0]
	for typ, kind := range map[string]string{"Unheard": string(NoOperator), "NonMaxSuppressionV3": string(NoOperator), "DropOutGenMask": string(Random)} {
		c := base.clone()
		c.Type = typ
		if f := settle(t, c, nil, typ)[0]; f.Verdict != Unknown || string(f.Reasons[0].Kind) != kind {
			t.Errorf("%s: %v %v", typ, f.Verdict, f.Reasons)
		}
	}
	c := base.clone()
	c.Kernel = "te_fused_op_conv2d_unheard_leaky_relu_0123456789abcdef_0__kernel0"
	if f := settle(t, c, nil, "fused")[0]; f.Verdict != Unknown || f.Reasons[0].Kind != FusedWord || !strings.Contains(f.Reasons[0].Args[0], "unheard") {
		t.Errorf("%v %v", f.Verdict, f.Reasons)
	}
}

// TestClaims: what lists and shapes of a call claim is refused before anything is made of it, by its name.
func TestClaims(t *testing.T) {
	gather := func(caches, lengths, offset string) string {
		return "NPU.npu_gather_pa_kv_cache(" + caches + ", " + caches + ", int32[1,1]{0}, " + lengths + ", float32[2,1,1]{0 0}, float32[2,1,1]{0 0}" + offset + ") = None; " +
			"Torch.clone(float32[2,1,1]{1 2}) = float32[2,1,1]{1 2}"
	}
	const pages, row, many = "float32[2,2,1,1]{1 2 3 4}", "float32[1,1,128]{", "[67108864,0]{}"
	tenths := strings.Repeat("0.1 ", 128) + "}"
	for _, c := range []struct {
		kind result.Kind
		text string
	}{
		{ShapesDiffer, gather(pages, "int64[1]{67108864}", "")},
		{ShapesDiffer, gather(pages, "int64[2]{1 -1}", "")},
		{ShapesDiffer, gather("float32[2,0,1,1]{}", "int64[1]{1}", "")},
		{BadArgument, gather(pages, "int64[1]{1}", ", int64[1]{-2}")},
		{TooLarge, "NPU.npu_chunk_gated_delta_rule(" + row + tenths + ", " + row + tenths + ", " + row + tenths + ", beta=float32[1,1]{0.5}, actual_seq_lengths=int64[4000]{1" +
			strings.Repeat(" 0", 3999) + "}) = " + row + tenths},
		{TooLarge, "NPU.npu_dynamic_quant(float16" + many + ", smooth_scales=float32[1,1]{1}, group_index=int32[1]{1}) = int8[2]{1 1}, float32[1]{1}"},
		{TooLarge, "NPU.npu_fused_infer_attention_score(float16[67108864,1,0]{}, float16[67108864,1,0]{}, float16[67108864,1,0]{}, num_heads=1, input_layout=\"BSH\") = float16[1]{1}, float32[1]{1}"},
	} {
		before := allocated()
		found := Made(t, c.text)
		if n := allocated() - before; n > most {
			t.Errorf("%.120s: allocates %d MB", c.text, n>>20)
		}
		if len(found) == 0 || found[0].Verdict != Unknown || found[0].Reasons[0].Kind != c.kind {
			t.Errorf("%.120s: not refused as %s: %+v", c.text, c.kind, found)
		}
	}
}

// Caches of two layers that are mostly empty, written one after the other and read later: each is held against itself.
func TestCachesOfLayers(t *testing.T) {
	const zeros = " 0 0 0 0 0 0 0 0 0 0 0 0}"
	write := func(a, b, keys, values string) string {
		return "NPU._npu_reshape_and_cache(float32[1,1,1]{" + a + "}, float32[1,1,1]{" + b + "}, float32[4,4,1,1]{" + keys + zeros + ", float32[4,4,1,1]{" + values + zeros + ", int32[1]{3}) = None; "
	}
	read := func(text string) string {
		return "Torch.clone(float32[4,4,1,1]{" + text + zeros + ") = float32[4,4,1,1]{" + text + zeros
	}
	found := Made(t, write("9", "8", "1 2 3 0", "4 5 6 0")+write("7", "6", "11 12 13 0", "14 15 16 0")+
		read("1 2 3 9")+"; "+read("4 5 6 8")+"; "+read("11 12 13 7")+"; "+read("14 15 16 6"))
	for _, f := range found {
		if f.Verdict != OK {
			t.Errorf("%+v", f)
		}
	}
	if len(found) < 4 {
		t.Errorf("%d findings", len(found))
	}
}

// TestTurnedWrong: what an embedding wrote over its queries is found by the lengths of its heads where all of it is turned the other way.
func TestTurnedWrong(t *testing.T) {
	read := func(text string) string { return "Torch.clone(" + text + ") = " + text }
	call := "NPU._npu_rotary_embedding(int64[4]{1 1 1 1}, float32[4,2]{1 2 3 5 2 7 4 1}, float32[4,4]{1 2 3 5 2 7 4 1 5 2 1 1 2 9 3 4}, 2, float32[2,2]{1 0 0 1}, True) = None; "
	keys := read("float32[4,4]{-2 1 -5 3 -7 2 -1 4 -2 5 -1 1 -9 2 -4 3}")
	for text, want := range map[string]Verdict{"float32[4,2]{-2 1 -5 3 -7 2 -1 4}": OK, "float32[4,2]{2 -1 5 -3 7 -2 1 -4}": Wrong, "float32[4,2]{9 9 1 3 7 7 2 5}": Unknown} {
		found := Made(t, call+read(text)+"; "+keys)
		if len(found) < 2 || found[0].Verdict != want || found[1].Verdict != OK {
			t.Errorf("%s: %+v, expected %v", text, found, want)
		}
	}
}

// TestTiesWithin: a number between two steps inside of a product may be either, and none beyond.
func TestTiesWithin(t *testing.T) {
	for found, want := range map[string]Verdict{"0": OK, "100": OK, "150": Wrong} {
		f := Made(t, "NPU.npu_quant_matmul_dequant(float16[1,3]{127 0.5 0}, int8[1,3]{0 100 7}, float32[1]{1}, quant_mode=\"pertoken\") = float16[1,1]{"+found+"}")
		if len(f) != 1 || f[0].Verdict != want {
			t.Errorf("%s: %+v, expected %v", found, f, want)
		}
	}
}

// TestNoKeysInSteps: a sequence without keys in front of another is no more than zeros, also where keys have scales.
func TestNoKeysInSteps(t *testing.T) {
	tried := 0
	for _, c := range textCases(t) {
		_, scaled := c.Kwargs["key_antiquant_scale"]
		lengths := c.Kwargs["actual_seq_lengths_kv"].List
		if _, paged := c.Kwargs["block_table"]; !scaled || !paged || lengths == nil || c.Name != "NPU.npu_fused_infer_attention_score" {
			continue
		}
		tried++
		(*lengths)[0].Leaf = []byte(`{"type":"int","value":0}`)
		y := c.Outputs[0].Tensor
		y.Hex = strings.Repeat("0", len(y.Hex)/len(*lengths)) + y.Hex[len(y.Hex)/len(*lengths):]
		r := newRecorder(t)
		r.add(&c)
		if f := r.check(); f[0].Verdict != OK {
			t.Errorf("%+v", f[0])
		}
	}
	if tried == 0 {
		t.Error("no case has keys in steps in pages")
	}
}

// TestNonsenseOfKernels: places outside of what they are a place in are a finding of its own, and what is not known is unknown with the reason.
func TestNonsenseOfKernels(t *testing.T) {
	table := "float32[3,2]{1 2 3 4 5 6}"
	for _, c := range []struct {
		call string
		want Verdict
		why  string // of the first reason
	}{
		{"Functional.embedding(int64[2]{1 7}, " + table + ") = float32[2,2]{3 4 0 0}", Suspect, "check-outside input.0 7 3"},
		{"Torch.index_select(" + table + ", 0, int64[2]{1 7}) = float32[2,2]{3 4 0 0}", Suspect, "check-outside input.2 7 3"},
		{"Torch.gather(" + table + ", 0, int64[2,2]{1 2 7 0}) = float32[2,2]{3 6 0 2}", Suspect, "check-outside index 7 3"},
		{"Tensor.__getitem__(" + table + ", int64[2]{1 7}) = float32[2,2]{3 4 0 0}", Suspect, "check-outside index 7 3"},
		{`NPU.npu_dynamic_quant(float32[1,2]{1 2}, quant_mode="perplanet") = int8[1,2]{64 127}, float32[1]{0.015748031}`, Unknown, "check-unsupported quant_mode perplanet"},
		{`NPU.npu_dynamic_quant(float32[1,2]{1 2}, quant_mode=1) = int8[1,2]{64 127}, float32[1]{0.015748031}`, Unknown, "check-bad-argument quant_mode 1 a text"},
		{`NPU.npu_moe_init_routing_v2(float32[1,2]{1 2}, int32[1,1]{0}, active_num=1, expert_num=1, quant_mode=7) = float32[1,2]{1 2}`, Unknown, "check-unsupported quant_mode 7"},
		{`NPU.npu_dynamic_quant_asymmetric(float32[0,3]{}, quant_mode="perchannel") = int8[0,3]{}, float32[3]{1 1 1}, float32[3]{0 0 0}`, Unknown, "check-no-bound 0"},
		{"NPU.npu_quant_matmul_dequant(float16[0,3]{}, int8[1,3]{0 100 7}, float32[1]{1}) = float16[1,1]{0}", Unknown, "check-shapes [0,3] [1,3]"},
		{"NPU.npu_moe_token_unpermute(float32[2,1]{1 2}, int32[2]{1 -1}, None) = float32[2,1]{2 1}", Suspect, "check-outside sorted_indices -1 2"},
		{"NPU.npu_dtype_cast(uint8[2]{24 8}, \"torch.float32\", input_dtype=290) = float32[2]{0.5 1}", Unknown, "check-unsupported input_dtype"},
		{"NPU.npu_dynamic_quant(float32[1,2]{1 2}, mystery=3) = int8[1,2]{64 127}, float32[1]{0.015748031}", Unknown, "check-new-argument mystery"},
		{"NPU.npu_quantize(float32[2]{1 2}, float32[1]{1}, None, 13, 0) = float32[2]{1 2}", Unknown, "check-type output 0 float32"},
		{"NPU.npu_grouped_matmul([float32[1,1]{2}], [float32[1,1,1]{3}], group_list=int64[1]{1}, split_item=17, group_type=0) = [float32[1,1]{6}]", Unknown, "check-unsupported split_item 17"},
		{"NPU.npu_min_backward(float32[2,1]{1 2}, 1, int64[2,1]{0 0}, [2, -6], True) = float32[2,3]{1 0 0 2 0 0}", Unknown, "check-shapes"},
		{"NPU.npu_rms_norm(float32[1,2]{1 2}, float32[3]{1 1 1}) = float32[1,2]{1 2}, float32[1,1]{1}", Unknown, "check-shapes [1,2] [3]"},
	} {
		call, err := textCase(c.call)
		if err != nil {
			t.Fatal(err)
		}
		r := newRecorder(t)
		r.add(&call)
		f := r.check()[0]
		if why := string(f.Reasons[0].Kind) + " " + strings.Join(f.Reasons[0].Args, " "); f.Verdict != c.want || !strings.HasPrefix(why, c.why) {
			t.Errorf("%s: %v %q, expected %v %q", call.Name, f.Verdict, why, c.want, c.why)
		}
	}
}

// TestArgumentsUnknown: an argument that the form of a kernel does not know makes its output unknown, and the reason names it.
func TestArgumentsUnknown(t *testing.T) {
	cases := map[string]*recordedCase{}
	for _, c := range recordedCases(t) {
		cases[c.Type] = c
	}
	number := func(raw string, shape ...int64) *recordedTensor {
		return &recordedTensor{DType: int(dtype.Float32), Shape: shape, Origin: shape, Hex: raw}
	}
	for _, a := range []struct {
		kind, key string
		value     any
		input     int // that takes the value's place; -1 where an attribute does
		want      result.Kind
	}{
		{"ApplyAdamW", "amsgrad", true, -1, Unsupported},
		{"ApplyAdamW", "max_grad_norm", number("0000803f", 1), 11, Unsupported},
		{"DropOutDoMask", "keep_prob", number("00000000", 1), 2, BadArgument},
		{"LayerNormBetaGammaBackpropV2", "shape_gamma", []any{json.Number("5")}, -1, ShapesDiffer},
		{"MaxPoolGrad", "padding", "OTHER", -1, BadAttribute},
		{"AvgPoolV2Grad", "divisor_override", json.Number("5"), -1, Unsupported},
		{"AvgPoolGradD", "orig_input_shape", []any{json.Number("1"), json.Number("3"), json.Number("7"), json.Number("7")}, -1, ShapesDiffer},
		{"DynamicRNN", "direction", "BIDIRECTIONAL", -1, Unsupported},
		{"DynamicRNN", "use_peephole", true, -1, Unsupported},
		{"DynamicRNN", "cell_clip", json.Number("3.0"), -1, Unsupported},
		{"DynamicRNN", "num_proj", json.Number("2"), -1, Unsupported},
		{"DynamicRNN", "gate_order", "fijo", -1, BadAttribute},
		{"DynamicRNN", "seq_length", number("0000803f0000803f", 2), 3, Unsupported},
		{"DynamicRNN", "b", number("0000803f0000803f", 2), 2, ShapesDiffer},
		{"DynamicGRUV2", "reset_after", false, -1, Unsupported},
		{"DynamicGRUV2", "gate_order", "hzr", -1, BadAttribute},
		{"DynamicGRUV2", "time_major", false, -1, Unsupported},
		{"ResizeBilinearV2D", "size", []any{json.Number("8"), json.Number("8")}, -1, ShapeComputed},
		{"ResizeBilinearV2D", "align_corners", true, -1, Unsupported}, // beside half_pixel_centers
		{"ResizeNearestNeighborV2D", "scales", []any{json.Number("1.5"), json.Number("2.5")}, -1, Unsupported},
	} {
		c := cases[a.kind].clone()
		if a.input >= 0 {
			for len(c.Inputs) <= a.input {
				c.Inputs = append(c.Inputs, nil)
			}
			c.Inputs[a.input] = a.value.(*recordedTensor)
		} else {
			c.Attrs[a.key] = a.value
		}
		if f := settle(t, c, nil, a.key)[0]; f.Verdict != Unknown || f.Reasons[0].Kind != a.want {
			t.Errorf("%s with %s: %v, %v; expected %s", a.kind, a.key, f.Verdict, f.Reasons, a.want)
		}
	}
}

// TestPackedWork: gradients of packed sequences are too large by what each looks at, not by the longest of all.
func TestPackedWork(t *testing.T) {
	tokens := func(n int) string {
		return fmt.Sprintf("float16[%d,1,64]{%s}", n, strings.Repeat("0 ", n*64))
	}
	all := tokens(4000)
	c, err := textCase("NPU.npu_block_sparse_attention_backward(" + strings.Repeat(all+", ", 5) + "None, int8[2,1,1,1]{1 1}, [4096, 4096], [3000, 1000], [3000, 1000], \"TND\", \"TND\", 1, 0.1) = " + all)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder(t)
	r.add(&c)
	if f := r.check()[0]; f.Verdict != Unknown || f.Reasons[0].Kind != TooLarge || f.Reasons[0].Args[0] != "1280000000" {
		t.Errorf("%v, %v", f.Verdict, f.Reasons)
	}
}
