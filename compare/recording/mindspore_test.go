package recording_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/recording"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/dump/npy"
)

// wrote writes the tensors of a kernel of MindSpore as its own recorder does, input by input and
// output by output; a nil one was not recorded.
func wrote(t *testing.T, dir, typ, name string, time int, inputs, outputs [][]float32) {
	t.Helper()
	for side, list := range [][][]float32{inputs, outputs} {
		for i, values := range list {
			if values != nil {
				wroteOne(t, dir, typ, name, time+10*side+i, side, i, dtype.Float32, values, int64(len(values)))
			}
		}
	}
}

// wroteOne writes one of them: of side 0 the inputs, of 1 the outputs.
func wroteOne(t *testing.T, dir, typ, name string, time, side, slot int, of dtype.Type, values []float32, shape ...int64) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b, err := npy.AppendHeader(nil, of, shape)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if of == dtype.Int64 {
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
		} else {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	kind := map[dtype.Type]string{dtype.Float32: "Float32", dtype.Int64: "Int64"}[of]
	file := fmt.Sprintf("%s/%s.%s.0.0.%d.%s.%d.DefaultFormat.%s.npy", dir, typ, name, time, []string{"input", "output"}[side], slot, kind)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestKernelAlone: a kernel that one side alone has, between two that both have, is the root of what is behind it if it changes
// the elements, and nothing if it does not; also where the other side takes the tensor in another shape.
func TestKernelAlone(t *testing.T) {
	step := func(factor float32, shape ...int64) string {
		dir := t.TempDir() + "/rank_0/Net/0/0"
		x, y, more := make([]float32, 24), make([]float32, 24), make([]float32, 24)
		for i := range x {
			x[i] = float32(i*i%13) + 0.25
			y[i] = x[i] * x[i]
			more[i] = float32(i%5) * 0.5
		}
		wrote(t, dir, "Square", "Default_Square-op0", 1000, [][]float32{x}, [][]float32{y})
		if factor != 0 {
			scaled := slices.Clone(y)
			for i := range scaled {
				scaled[i] *= factor
			}
			wroteOne(t, dir, "Mul", "Default_Mul-op0", 2000, 0, 0, dtype.Float32, y, 24)
			wroteOne(t, dir, "Mul", "Default_Mul-op0", 2001, 0, 1, dtype.Float32, []float32{factor})
			wroteOne(t, dir, "Mul", "Default_Mul-op0", 2010, 1, 0, dtype.Float32, scaled, shape...)
			y = scaled
		}
		wroteOne(t, dir, "Add", "Default_Add-op0", 3000, 0, 0, dtype.Float32, y, shape...)
		wroteOne(t, dir, "Add", "Default_Add-op0", 3001, 0, 1, dtype.Float32, more, 2, 3, 4)
		sum, exp := make([]float32, 24), make([]float32, 24)
		for i := range sum {
			sum[i] = y[i] + more[i]
			exp[i] = float32(math.Tanh(float64(sum[i]) / 50))
		}
		wroteOne(t, dir, "Add", "Default_Add-op0", 3010, 1, 0, dtype.Float32, sum, 2, 3, 4)
		wroteOne(t, dir, "Tanh", "Default_Tanh-op0", 4000, 0, 0, dtype.Float32, sum, 2, 3, 4)
		wroteOne(t, dir, "Tanh", "Default_Tanh-op0", 4010, 1, 0, dtype.Float32, exp, 2, 3, 4)
		return dir
	}
	for _, shape := range [][]int64{{2, 3, 4}, {6, 4}} {
		golden := step(0, shape...)
		if j := judged(t, step(1, 2, 3, 4), golden); len(j.Roots) > 0 {
			t.Errorf("%v: a product with 1 is a root: %s, %+v", shape, j.Verdict, j.Roots)
		}
		j := judged(t, step(1.05, 2, 3, 4), golden)
		if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "Default_Mul-op0" || j.Verdict == verdict.Good {
			t.Errorf("%v: %s, %+v", shape, j.Verdict, j.Roots)
		}
	}
}

// TestSlices: where a slice begins is an input of its kernel, of three numbers: it tells slices of one tensor apart
// that the sides take in another order.
func TestSlices(t *testing.T) {
	step := func(order [3]int, wrong int) string {
		dir := t.TempDir() + "/rank_0/Net/0/0"
		x := make([]float32, 24)
		for i := range x {
			x[i] = float32(i*i%17) - 3.5
		}
		for at, k := range order {
			from, name := k*8, fmt.Sprintf("Default_StridedSlice-op%d", at)
			if k == wrong {
				from = (k + 1) % 3 * 8
			}
			time := 1000 * (at + 1)
			wrote(t, dir, "StridedSlice", name, time, [][]float32{x}, nil)
			wroteOne(t, dir, "StridedSlice", name, time+1, 0, 1, dtype.Int64, []float32{0, 0, float32(from)}, 3)
			wroteOne(t, dir, "StridedSlice", name, time+10, 1, 0, dtype.Float32, x[from:from+8], 8)
		}
		return dir
	}
	golden := step([3]int{0, 1, 2}, -1)
	if j := judged(t, step([3]int{0, 2, 1}, -1), golden); len(j.Roots) > 0 || j.Verdict != verdict.Good {
		t.Errorf("another order: %s, %+v", j.Verdict, j.Roots)
	}
	if j := judged(t, step([3]int{0, 1, 2}, 2), golden); len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "Default_StridedSlice-op2" {
		t.Errorf("another slice: %s, %+v", j.Verdict, j.Roots)
	}
}

// TestStates: a step of training with its parameters. What an optimizer left and what the parameters hold
// behind it follows from a wrong product, whatever was in buffers that nobody fills; a kernel whose first
// input was not recorded follows, too, and a parameter that nothing else tells of is a root.
func TestStates(t *testing.T) {
	step := func(dir string, scale, frozen, garbage float32) string {
		dir += "/rank_0/Net/0/0"
		x, w := []float32{1, 2, 3, 4, 5}, []float32{2, 1, 4, 3, 7}
		y, g, after := make([]float32, 5), make([]float32, 5), make([]float32, 5)
		for i := range x {
			y[i] = scale * x[i] * w[i]
			g[i] = y[i] * 0.5
			after[i] = w[i] - 0.1*g[i]
		}
		wrote(t, dir, "Mul", "Default_Mul-op0", 1000, [][]float32{x, w}, [][]float32{y})
		wrote(t, dir, "Scale", "Gradients_Scale-op0", 2000, [][]float32{nil, {0.5}}, [][]float32{g})
		wrote(t, dir, "Momentum", "Default_opt-op0", 3000, [][]float32{after, nil, nil, g}, [][]float32{{garbage, 2, garbage, 4, 1}})
		wrote(t, dir, "Parameter", "model_w", 100, nil, [][]float32{after})
		wrote(t, dir, "Parameter", "model_frozen", 110, nil, [][]float32{{1, frozen, 2, 3, 9}})
		return dir
	}
	golden := step(t.TempDir(), 1, 4, 0.25)
	j := judged(t, step(t.TempDir(), 1, 4, 7e30), golden)
	if len(j.Roots) > 0 || j.Verdict != verdict.Good {
		t.Errorf("clean: %s, %+v", j.Verdict, j.Roots)
	}
	j = judged(t, step(t.TempDir(), 1.5, 5, 7e30), golden)
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "Default_Mul-op0" {
		t.Errorf("product: %s, %+v", j.Verdict, j.Roots)
	}
	j = judged(t, step(t.TempDir(), 1, 5, 0.25), golden)
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "model_frozen" {
		t.Errorf("parameter: %s, %+v", j.Verdict, j.Roots)
	}
}

// TestKernels: what no kernel fills and none reads, sums in which all but rounding cancels, and kernels whose
// numbers changed places, are nobody's fault.
func TestKernels(t *testing.T) {
	run := func(left bool) string {
		dir := t.TempDir() + "/rank_0/Net/0/0"
		x, y := []float32{1, 2, 3, 4.5, 5}, []float32{2, 1, 4, 3, 7.5}
		junk, rest, names := []float32{0, 0, 0, 0}, []float32{0, 0, 0, 0, 6e-8}, []string{"0", "1"}
		if left {
			junk, rest, names = []float32{3, -7, 1e20, 4}, []float32{6e-8, 0, -6e-8, 0, 0}, []string{"1", "0"}
		}
		opposite := make([]float32, len(x))
		for i, v := range x {
			opposite[i] = -v
		}
		wrote(t, dir, "BatchNorm", "Default_BatchNorm-op0", 1000, [][]float32{x}, [][]float32{x, junk, junk})
		for i, from := range [][]float32{x, y} {
			out := make([]float32, len(from))
			for k, v := range from {
				out[k] = v * v
			}
			wrote(t, dir, "Square", "Default_Square-op"+names[i], 2000+100*i, [][]float32{from}, [][]float32{out})
		}
		wrote(t, dir, "AddN", "Default_AddN-op0", 3000, [][]float32{x, opposite}, [][]float32{rest})
		return dir
	}
	j := judged(t, run(true), run(false))
	if len(j.Roots) > 0 || j.Verdict != verdict.Good {
		t.Errorf("%s, %+v", j.Verdict, j.Roots)
	}
}

// TestMigratedGap: what one side alone does, or records, between two calls that have partners is where an error
// is looked for that begins there. It is never good.
func TestMigratedGap(t *testing.T) {
	torch := listed(t, "pytorch",
		"Functional.linear.0.forward|Module.net.Net.forward.0|2,3,4=1 4,4=2|2,3,4=4",
		"Torch.mul.0.forward|Module.net.Net.forward.0|2,3,4=4|2,3,4=5",
		"Functional.linear.1.forward|Module.net.Net.forward.0|2,3,4=5 4,4=6|2,3,4=7",
		"Module.net.Net.forward.0||2,3,4=1|2,3,4=7",
	)
	ms := listed(t, "mindspore",
		"Primitive.matmul.MatMul.0.forward|Cell.net.Net.forward.0|6,4=1 4,4=2|6,4=4.0000005",
		"Primitive.reshape.Reshape.0.forward|Cell.net.Net.forward.0|6,4=4.5|6,4=4.5",
		"Primitive.matmul.MatMul.1.forward|Cell.net.Net.forward.0|6,4=4.5 4,4=6|6,4=6.5",
		"Cell.net.Net.forward.0||2,3,4=1.0000005|2,3,4=6.5",
	)
	j := judged(t, ms, torch)
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "Primitive.matmul.MatMul.1.forward" || !slices.Contains(j.Roots[0].Region, "Torch.mul.0.forward") || !slices.Contains(j.Roots[0].Region, "Cell.net.Net.forward.0") {
		t.Errorf("%s, %+v", j.Verdict, j.Roots)
	}
}

// TestOrder: where statistics say that what goes into a call is the same and its axes are not those that it was made
// with, its elements may be in another order: what may have done that is named, too.
func TestOrder(t *testing.T) {
	run := func(out string) string {
		return listed(t, "pytorch",
			"Torch.matmul.0.forward|Module.net.Attn.forward.0|2,2,3,4=1 2,2,3,4=2|2,2,3,4=3",
			"Functional.linear.0.forward|Module.net.out.Linear.forward.0|2,3,8=3 8,8=4|2,3,8="+out,
			"Module.net.out.Linear.forward.0|Module.net.Attn.forward.0|2,3,8=3|2,3,8="+out,
			"Module.net.Attn.forward.0||2,3,8=1|2,3,8="+out,
		)
	}
	j := judged(t, run("5"), run("6"))
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "Functional.linear.0.forward" || j.Roots[0].Certainty != verdict.Region || !slices.Contains(j.Roots[0].Region, "Module.net.Attn.forward.0") {
		t.Errorf("%s, %+v", j.Verdict, j.Roots)
	}
}

// TestInside: statistics show of what comes in the largest and the smallest element. That others are off by as much as
// anything before is nobody's fault.
func TestInside(t *testing.T) {
	run := func(far float64, last string) string {
		var calls []string
		for i := range 12 {
			calls = append(calls, fmt.Sprintf("Torch.mul.%d.forward||2,3,4=%v|2,3,4=%v", i, float64(i)+1.5+far, float64(i)+2.5+far))
		}
		calls[5] = fmt.Sprintf("Torch.matmul.0.forward||2,3,4=%v 4,4=7|2,3,4=%v", 6.5+far, 7.5+40*far)
		calls[6] = fmt.Sprintf("Torch.mul.6.forward||2,3,4=%v|2,3,4=%v", 7.5+40*far, 8.5+far)
		return listed(t, "pytorch", append(calls, "Torch.mul.12.forward||2,3,4=13.5|2,3,4="+last)...)
	}
	if j := judged(t, run(1e-7, "4.000004"), run(0, "4")); len(j.Roots) > 0 {
		t.Errorf("%s, %+v", j.Verdict, j.Roots)
	}
	if j := judged(t, run(1e-7, "4.0004"), run(0, "4")); len(j.Roots) != 1 {
		t.Errorf("a hundred times as much: %s, %+v", j.Verdict, j.Roots)
	}
}

// TestView: the file of a view has the memory as it lies. A kernel that one side alone takes through a view gets other
// elements than the files say: the view is the root, of the gradients, too.
func TestView(t *testing.T) {
	run := func(view bool) string {
		dir := t.TempDir() + "/rank_0/Net/0/0"
		x, y := []float32{1, 2, 3, 4, 5, 7}, []float32{1, 2, 3, 4, 5, 9}
		wrote(t, dir, "Softmax", "Default_Softmax-op0", 1000, [][]float32{y}, [][]float32{x})
		product, back := []float32{2, 4, 6, 8, 10, 14}, []float32{1, 3, 5, 2, 4, 7}
		if view {
			wrote(t, dir, "TransposeExtView", "Default_TransposeExtView-op0", 2000, [][]float32{x}, [][]float32{x})
			product, back = []float32{2, 6, 10, 4, 8, 14}, x
		}
		wrote(t, dir, "MatMul", "Expand_MatMul-op0", 3000, [][]float32{x, y}, [][]float32{product})
		wrote(t, dir, "Transpose", "Gradients_Transpose-op0", 4000, [][]float32{x}, [][]float32{back})
		return dir
	}
	j := judged(t, run(true), run(false))
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "Default_TransposeExtView-op0" {
		t.Errorf("%s, %+v", j.Verdict, j.Roots)
	}
}

// TestGraph: where contents do not tell what feeds a kernel, as of constants, the graph beside the dump does.
func TestGraph(t *testing.T) {
	message := func(field byte, parts ...string) string {
		all := strings.Join(parts, "")
		return string([]byte{field<<3 | 2, byte(len(all))}) + all
	}
	run := func() string {
		top := t.TempDir() + "/rank_0"
		ones := []float32{1, 1, 1, 1}
		wrote(t, top+"/Net/0/0", "Mul", "Default_Mul-op0", 1000, [][]float32{{1, 2, 3, 4}}, [][]float32{ones})
		wrote(t, top+"/Net/0/0", "Square", "Default_Square-op0", 2000, [][]float32{ones}, [][]float32{ones})
		write(t, top+"/graphs/ms_output_trace_code_graph_0.pb", []byte(message(4,
			message(1, message(1, message(1, "x")), message(2, "1"), message(3, "Mul"), message(8, "Default/Mul-op0")),
			message(1, message(1, message(1, "1")), message(2, "2"), message(3, "Square"), message(8, "Default/Square-op0")))))
		return top
	}
	j := judged(t, run(), run())
	for i := range j.Table.Rows {
		if r := &j.Table.Rows[i]; r.Op == "Default_Square-op0" && r.Recorded != nil && r.Recorded.Place == "input.0" && r.Facts.Producer.Op == "Default_Mul-op0" {
			return
		}
	}
	t.Error("nothing feeds Square")
}

// TestKernelwise: what MindSpore dumps itself is held against the calls that msprobe has of the same step, in
// whatever order: by what goes in. Gradients and optimizers need no partner.
func TestKernelwise(t *testing.T) {
	x, q, k := []float32{1, -2, 3, 4}, []float32{2, 1, 4, 3}, []float32{0.5, -1, 2, 5}
	times := func(a, b []float32, by float32) []float32 {
		out := make([]float32, len(a))
		for i := range a {
			out[i] = by * a[i] * b[i]
		}
		return out
	}
	kernels := func(by float32) string {
		dir := t.TempDir() + "/rank_0/Net/0/0"
		wrote(t, dir, "Mul", "Default_net-Net_Mul-op0", 1000, [][]float32{x, k}, [][]float32{times(x, k, 1)})
		wrote(t, dir, "Mul", "Default_net-Net_Mul-op1", 2000, [][]float32{x, q}, [][]float32{times(x, q, by)})
		wrote(t, dir, "ReLU", "Default_net-Net_ReLU-op0", 3000, [][]float32{times(x, q, by)}, [][]float32{times(x, q, by)})
		wrote(t, dir, "ReluGrad", "Gradients_Default_net-Net_ReluGrad-op0", 4000, [][]float32{x, q}, [][]float32{x})
		return dir
	}
	tensor := func(v []float32) string {
		hi, lo, sum, squares := float64(v[0]), float64(v[0]), 0.0, 0.0
		for _, x := range v {
			y := float64(x)
			hi, lo, sum, squares = max(hi, y), min(lo, y), sum+y, squares+y*y
		}
		return fmt.Sprintf(`{"type": "mindspore.Tensor", "dtype": "Float32", "shape": [2, 2], "Max": %v, "Min": %v, "Mean": %v, "Norm": %v}`, hi, lo, sum/float64(len(v)), float32(math.Sqrt(squares)))
	}
	var data []string
	for _, c := range []struct {
		name    string
		in, out []string
	}{
		{"Primitive.mul.Mul.0.forward", []string{tensor(x), tensor(q)}, []string{tensor(times(x, q, 1))}},
		{"Primitive.mul.Mul.1.forward", []string{tensor(x), tensor(k)}, []string{tensor(times(x, k, 1))}},
		{"Primitive.relu.ReLU.0.forward", []string{tensor(times(x, q, 1))}, []string{tensor(times(x, q, 1))}},
	} {
		data = append(data, fmt.Sprintf(`%q: {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, c.name, strings.Join(c.in, ", "), strings.Join(c.out, ", ")))
	}
	calls := t.TempDir() + "/step0/rank0"
	write(t, calls+"/dump.json", []byte(`{"task": "statistics", "level": "L1", "framework": "mindspore", "dump_data_dir": null, "data": {`+strings.Join(data, ",\n")+`}}`))
	j := judged(t, kernels(1), calls)
	if len(j.Roots) > 0 || j.Verdict != verdict.Good || j.Coverage.Compared != 3 {
		t.Errorf("the same: %s, %d compared, %+v", j.Verdict, j.Coverage.Compared, j.Roots)
	}
	for _, sides := range [][2]string{{kernels(1.5), calls}, {calls, kernels(1.5)}} {
		j = judged(t, sides[0], sides[1])
		if len(j.Roots) != 1 || !slices.Contains([]string{"Default_net-Net_Mul-op1", "Primitive.mul.Mul.0.forward"}, j.Operators[j.Roots[0].Operator].Op.Name) {
			t.Errorf("a wrong product: %s, %+v", j.Verdict, j.Roots)
		}
	}
}

// listed writes a recording of statistics: calls with the tensors that go in and come out, each by its shape and the
// number that all its statistics are made of.
func listed(t *testing.T, framework string, calls ...string) string {
	t.Helper()
	tensor := func(text string) string {
		var shape, number string
		if shape, number, _ = strings.Cut(text, "="); number == "" {
			return text
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		typ, norm := `"type": "torch.Tensor", "dtype": "torch.float32"`, 1.5*v
		if framework == "mindspore" {
			typ = `"type": "mindspore.Tensor", "dtype": "Float32"`
			norm *= 1 + 1e-7 // summed in another order
		}
		return fmt.Sprintf(`{%s, "shape": [%s], "Max": %g, "Min": %g, "Mean": %g, "Norm": %.9g}`, typ, shape, v, -v-0.125, v/8, norm)
	}
	list := func(text string) string {
		var items []string
		for _, x := range strings.Fields(text) {
			items = append(items, tensor(x))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	var data, construct []string
	for _, c := range calls {
		parts := strings.Split(c, "|") // name | inside | in | out | parameters
		entry := fmt.Sprintf(`"input_args": %s, "input_kwargs": {}, "output": %s`, list(parts[2]), list(parts[3]))
		if strings.Contains(parts[0], "backward") {
			entry = fmt.Sprintf(`"input": %s, "output": %s`, list(parts[2]), list(parts[3]))
		}
		if strings.Contains(parts[0], "parameters_grad") {
			entry = strings.TrimSpace(parts[4])
			for _, x := range strings.Fields(parts[2]) {
				entry = strings.Replace(entry, "%", "["+tensor(x)+"]", 1)
			}
		} else if len(parts) > 4 {
			params := parts[4]
			for _, x := range strings.Fields(params) {
				if strings.Contains(x, "=") {
					params = strings.Replace(params, x, tensor(x), 1)
				}
			}
			entry += `, "parameters": {` + params + `}`
		}
		data = append(data, fmt.Sprintf("%q: {%s}", parts[0], entry))
		inside := "null"
		if parts[1] != "" {
			inside = strconv.Quote(parts[1])
		}
		construct = append(construct, fmt.Sprintf("%q: %s", parts[0], inside))
	}
	dir := t.TempDir() + "/step0/rank0"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"dump.json":      fmt.Sprintf(`{"task": "statistics", "level": "mix", "framework": %q, "dump_data_dir": null, "data": {%s}}`, framework, strings.Join(data, ",\n")),
		"construct.json": "{" + strings.Join(construct, ", ") + "}",
	} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestMigrated: a Dense is a Linear, its product and bias are one linear; parameters, gradients and what
// is called otherwise find each other; an activation that was exchanged is the root; shapes and the
// optimizer are not missed.
func TestMigrated(t *testing.T) {
	torch := listed(t, "pytorch",
		"Functional.embedding.0.forward||6=3 7,4=0.5|2,3,4=1",
		"Functional.linear.0.forward|Module.fc.Linear.forward.0|2,3,4=1 5,4=2 5=3|2,3,5=4",
		"Module.fc.Linear.forward.0||2,3,4=1|2,3,5=4|\"weight\": 5,4=2 , \"bias\": 5=3",
		"Functional.gelu.0.forward||2,3,5=4|2,3,5=5",
		"Module.norm.LayerNorm.forward.0||2,3,5=5|2,3,5=6|\"weight\": 5=7 , \"bias\": 5=8",
		"Module.norm.LayerNorm.backward.0||2,3,5=9|2,3,5=10",
		"Functional.linear.0.backward|Module.fc.Linear.backward.0|2,3,5=11|5=12 2,3,4=13 4,5=14",
		"Module.fc.Linear.parameters_grad.0||5,4=14 5=12||\"weight\": %, \"bias\": %",
		"Tensor.add_.0.forward||5,4=2|5,4=2.5",
	)
	cells := func(activation string, wrong float64) string {
		n := func(v float64) string { return strconv.FormatFloat(v*wrong, 'g', -1, 64) }
		return listed(t, "mindspore",
			"Primitive.gather.Gather.0.forward||7,4=0.5 6=3|6,4=1",
			"Primitive.shape_op.Shape.0.forward|Cell.net.fc.Dense.forward.0|2,3,4=1|",
			"Primitive.reshape.Reshape.0.forward|Cell.net.fc.Dense.forward.0|2,3,4=1|6,4=1",
			"Primitive.matmul.MatMul.0.forward|Cell.net.fc.Dense.forward.0|6,4=1 5,4=2|6,5=3.5",
			"Primitive.bias_add.BiasAdd.0.forward|Cell.net.fc.Dense.forward.0|6,5=3.5 5=3|6,5=4",
			"Primitive.reshape.Reshape.1.forward|Cell.net.fc.Dense.forward.0|6,5=4|2,3,5=4",
			"Cell.net.fc.Dense.forward.0||2,3,4=1|2,3,5=4|\"weight\": 5,4=2 , \"bias\": 5=3",
			"Functional."+activation+".0.forward||2,3,5=4|2,3,5="+n(5),
			"Cell.net.norm.LayerNorm.forward.0||2,3,5="+n(5)+"|2,3,5="+n(6)+"|\"gamma\": 5=7 , \"beta\": 5=8",
			"Cell.net.norm.LayerNorm.backward.0||2,3,5=9|2,3,5=10",
			"Primitive.bias_add.BiasAdd.0.backward|Cell.net.fc.Dense.backward.0|6,5=11|5=12 6,5=11",
			"Primitive.matmul.MatMul.0.backward|Cell.net.fc.Dense.backward.0|6,5=11|5,4=14 6,4=13",
			"Cell.net.fc.Dense.parameters_grad.0||5,4=14 5=12||\"weight\": %, \"bias\": %",
			"Primitive.momentum.Momentum.0.forward||5,4=2|5,4=2.5",
		)
	}
	j := judged(t, cells("gelu", 1), torch)
	if j.Verdict != verdict.Good || len(j.Roots) > 0 || j.Coverage.Compared != j.Coverage.Expected || j.Coverage.Compared < 8 {
		t.Errorf("the same network: %s, %d of %d compared, %+v", j.Verdict, j.Coverage.Compared, j.Coverage.Expected, j.Roots)
	}
	held := map[string]bool{}
	for i := range j.Table.Rows {
		if r := &j.Table.Rows[i]; r.Recorded != nil && r.Recorded.Both > 0 {
			held[r.Right.Names+":"+r.Recorded.Place] = true
		}
	}
	for _, want := range []string{"Functional.linear.0.forward:input.2", "Functional.linear.0.backward:output.2", "Module.norm.LayerNorm.forward.0:parameters.bias", "Module.fc.Linear.parameters_grad.0:parameters_grad.weight"} {
		if !held[want] && !held[want+".0"] {
			t.Errorf("%s is held against nothing, of %v", want, held)
		}
	}
	j = judged(t, cells("relu", 1.5), torch)
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "Functional.relu.0.forward" {
		t.Errorf("another activation: %s, %+v", j.Verdict, j.Roots)
	}
	// The other way round it is the same.
	j = judged(t, torch, cells("relu", 1.5))
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "Functional.gelu.0.forward" {
		t.Errorf("the other way round: %s, %+v", j.Verdict, j.Roots)
	}
}

// TestMigratedMaps: a line Cell: Module says what two frameworks are paired by anyway and names nothing in vain; names of
// functions as in msprobe's ms_to_pt_api.yaml pair calls that nothing else tells to be the same.
func TestMigratedMaps(t *testing.T) {
	left := listed(t, "mindspore", "Cell.fc.Dense.forward.0||2,4=1|2,5=4", "Mint.fancy.0.forward||2,5=4|2,5=6", "Mint.other.0.forward||2,5=6|2,5=7")
	right := listed(t, "pytorch", "Module.fc.Linear.forward.0||2,4=1|2,5=4", "Torch.plain.0.forward||2,5=4|2,5=6", "Torch.thing.0.forward||2,5=6|2,5=7")
	for text, want := range map[string]struct{ pairs, unused int }{
		"Cell: Module\n": {1, 0},
		"Mint.fancy: Torch.plain\nMint.other: Torch.thing\n": {3, 0},
		"Mint.fancy: Torch.plain\nMint.gone: Torch.away\n":   {2, 1},
	} {
		j := mapped(t, left, right, text)
		pairs := map[string]bool{}
		for i := range j.Table.Rows {
			if r := &j.Table.Rows[i]; r.Left.Names != "*" && r.Right.Names != "*" {
				pairs[r.Left.Names+" = "+r.Right.Names] = true
			}
		}
		if got := unusedEntries(j); len(pairs) != want.pairs || len(got) != want.unused || !pairs["Cell.fc.Dense.forward.0 = Module.fc.Linear.forward.0"] || want.pairs > 1 && !pairs["Mint.fancy.0.forward = Torch.plain.0.forward"] {
			t.Errorf("%q: %v, unused %q", text, pairs, got)
		}
	}
}

// TestShown: of recordings of elements alone people see what they lie between, their size, and what feeds them, once
// elements are read.
func TestShown(t *testing.T) {
	dir := t.TempDir() + "/rank_0/Net/0/0"
	wrote(t, dir, "Mul", "Default_Mul-op0", 1000, [][]float32{{1, 2, 3, 4}}, [][]float32{{2, -3, 4, 5}})
	wrote(t, dir, "Square", "Default_Square-op0", 2000, [][]float32{{2, -3, 4, 5}}, [][]float32{{4, 9, 16, 25}})
	for _, feeds := range []bool{false, true} {
		n := 0
		err := recording.Each(dir, feeds, func(c *recording.Call) bool {
			if n++; c.Type != "Square" {
				return true
			}
			in := &c.Values[0]
			if from := map[bool]string{true: "Default_Mul-op0"}[feeds]; in.From != from || in.Summary.Known != 0 {
				t.Errorf("with feeds %v from %q, %+v", feeds, in.From, in.Summary)
			}
			if c.Measure(t.Context()); report.SummaryText(in.Summary) != "-3…5 ‖7.34847‖" {
				t.Errorf("%s", report.SummaryText(in.Summary))
			}
			return true
		})
		if err != nil || n != 2 {
			t.Errorf("%d calls, %v", n, err)
		}
	}
}

// TestIntegersByFloat32: MindSpore's recorder takes integers and float64 by way of float32. Those of PyTorch are exact: they agree
// where float32 makes the same of them, which is said of integers, and differ beyond.
func TestIntegersByFloat32(t *testing.T) {
	side := func(framework, most string) string {
		typ, whole, float := "torch.Tensor", "torch.int64", "torch.float32"
		if framework == "mindspore" {
			typ, whole, float = "mindspore.Tensor", "Int64", "Float32"
		}
		x := func(dtype, hi, lo string) string {
			return fmt.Sprintf(`{"type": %q, "dtype": %q, "shape": [8], "Max": %s, "Min": %s, "Mean": null, "Norm": null}`, typ, dtype, hi, lo)
		}
		dir := t.TempDir() + "/step0/rank0"
		write(t, dir+"/dump.json", []byte(`{"task": "statistics", "level": "L1", "framework": "`+framework+`", "dump_data_dir": null, "data": {`+
			entry("Functional.embedding", 0, []string{x(whole, most, "3"), x(float, "4.0", "-4.0")}, x(float, "3.5", "-2.5"))+"}}"))
		return dir
	}
	for _, c := range []struct {
		left, golden string // framework and largest number
		differs      bool
		named        int
	}{
		{"mindspore 16777216.0", "pytorch 16777217", false, 1}, {"pytorch 16777217", "mindspore 16777216.0", false, 1}, {"mindspore 16777216.0", "pytorch 16777219", true, 1},
		{"pytorch 16777216", "pytorch 16777217", true, 0}, {"mindspore 77.0", "pytorch 77", false, 0}, {"mindspore 77.0", "pytorch 78", true, 0},
	} {
		made := func(text string) string {
			framework, most, _ := strings.Cut(text, " ")
			return side(framework, most)
		}
		j := judged(t, made(c.left), made(c.golden))
		if named := whys(j, result.IntegersRounded); (j.Verdict != verdict.Good) != c.differs || len(named) != c.named {
			t.Errorf("%s against %s: %s, roots %v, told %q", c.left, c.golden, j.Verdict, rootNames(j), named)
		}
	}
}
