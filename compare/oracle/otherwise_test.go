package oracle

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/pattern"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/testdata/workshop/dumptest"
)

// made is an operator whose inputs are random and whose output a function computes, on two element types.
type made struct {
	typ    string
	attrs  map[string]any
	inputs [][]int64
	shape  []int64
	mask   bool // the first input is a mask of 0 and 1
	y      func(in [][]float64) []float64
}

func (m made) check(t *testing.T, typ dtype.Type, seed uint64) Finding {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 11))
	p := precisionFor(typ)
	tensor := func(typ dtype.Type, v []float64, shape []int64) dumptest.Tensor {
		w := make([]float32, len(v))
		for i, x := range v {
			w[i] = float32(x)
		}
		data := dumptest.Floats(w)
		switch typ {
		case dtype.Float16:
			data = dumptest.Halves(w)
		case dtype.Bool:
			data = nil
			for _, x := range v {
				data = append(data, byte(x))
			}
		}
		return dumptest.Tensor{Type: int(typ), Format: dumptest.ND, Shape: shape, Origin: shape, Data: data}
	}
	c := &recordedCase{Type: m.typ, Attrs: m.attrs}
	nothing := &recordedTensor{Layout: "ND", Axes: "ND"}
	var in [][]float64
	var tensors []dumptest.Tensor
	for i, shape := range m.inputs {
		v := make([]float64, count(shape))
		for k := range v {
			v[k] = p.Round(float64(float32(r.NormFloat64())))
			if m.mask && i == 0 {
				v[k] = float64(r.IntN(3) / 2)
			}
		}
		in = append(in, v)
		if m.mask && i == 0 {
			tensors = append(tensors, tensor(dtype.Bool, v, shape))
		} else {
			tensors = append(tensors, tensor(typ, v, shape))
		}
		c.Inputs = append(c.Inputs, nothing)
	}
	c.Outputs = []*recordedTensor{nothing}
	y := m.y(in)
	for i := range y {
		y[i] = p.Round(float64(float32(y[i])))
	}
	reader := c.dump(t, func(d *dumptest.Dump) {
		d.Inputs, d.Outputs = tensors, []dumptest.Tensor{tensor(typ, y, m.shape)}
	})
	return CheckOp(c.op(t), reader, Settings{})[0]
}

// product is a matrix product of which only some terms are taken.
func productOf(rows, k, columns, from, to int) func(in [][]float64) []float64 {
	return func(in [][]float64) []float64 {
		y := make([]float64, rows*columns)
		for i := range rows {
			for j := range columns {
				for l := from; l < to; l++ {
					y[i*columns+j] += in[0][i*k+l] * in[1][l*columns+j]
				}
			}
		}
		return y
	}
}

func rmsNorm(rows, n int, eps float64) func(in [][]float64) []float64 {
	return func(in [][]float64) []float64 {
		y := make([]float64, rows*n)
		for i := range rows {
			x := in[0][i*n : (i+1)*n]
			s := 0.0
			for _, v := range x {
				s += v * v
			}
			for k, v := range x {
				y[i*n+k] = v * in[1][k] / math.Sqrt(s/float64(n)+eps)
			}
		}
		return y
	}
}

func softmaxAlong(rows, n, axis int, factor float64) func(in [][]float64) []float64 {
	return func(in [][]float64) []float64 {
		y, sum := make([]float64, rows*n), make([]float64, rows+n)
		at := func(i int) int {
			if axis == 0 {
				return i % n
			}
			return i / n
		}
		for i, v := range in[0] {
			y[i] = math.Exp(v)
			sum[at(i)] += y[i]
		}
		for i := range y {
			y[i] *= factor / sum[at(i)]
		}
		return y
	}
}

func elementwiseOf(f func(in [][]float64, i int) float64) func(in [][]float64) []float64 {
	return func(in [][]float64) []float64 {
		y := make([]float64, len(in[len(in)-1]))
		for i := range y {
			y[i] = f(in, i)
		}
		return y
	}
}

// TestOtherwise: what the operator's inputs show is named, with its size; other faults of the same operators are not
// taken for it.
func TestOtherwise(t *testing.T) {
	number := func(s string) any { return json.Number(s) }
	square := []int64{40, 48}
	for _, c := range []struct {
		made
		name string
		kind pattern.Kind
		args any // nil: any
	}{
		{name: "the last block of K", kind: pattern.MissingTerms, args: pattern.Terms{Taken: 64, Of: 80},
			made: made{typ: "MatMulV2", inputs: [][]int64{{24, 80}, {80, 32}}, shape: []int64{24, 32}, y: productOf(24, 80, 32, 0, 64)}},
		{name: "the tail of K", kind: pattern.MissingTerms, args: pattern.Terms{Taken: 64, Of: 71},
			made: made{typ: "MatMulV2", inputs: [][]int64{{24, 71}, {71, 32}}, shape: []int64{24, 32}, y: productOf(24, 71, 32, 0, 64)}},
		{name: "the last of K", kind: pattern.MissingTerms, args: pattern.Terms{Taken: 79, Of: 80},
			made: made{typ: "MatMulV2", inputs: [][]int64{{24, 80}, {80, 32}}, shape: []int64{24, 32}, y: productOf(24, 80, 32, 0, 79)}},
		{name: "the first of K, which is not its tail",
			made: made{typ: "MatMulV2", inputs: [][]int64{{24, 80}, {80, 32}}, shape: []int64{24, 32}, y: productOf(24, 80, 32, 16, 80)}},
		{name: "a scaled product", kind: pattern.Scale,
			made: made{typ: "MatMulV2", inputs: [][]int64{{24, 80}, {80, 32}}, shape: []int64{24, 32}, y: func(in [][]float64) []float64 {
				y := productOf(24, 80, 32, 0, 80)(in)
				for i := range y {
					y[i] *= 1.05
				}
				return y
			}}},
		{name: "another epsilon", kind: pattern.WrongEpsilon, args: pattern.Attribute{Name: "epsilon", Value: "0.5", Graph: "1e-06"},
			made: made{typ: "RmsNorm", attrs: map[string]any{"epsilon": number("1e-6")}, inputs: [][]int64{{40, 16}, {16}}, shape: []int64{40, 16}, y: rmsNorm(40, 16, 0.5)}},
		{name: "no epsilon", kind: pattern.WrongEpsilon, args: pattern.Attribute{Name: "epsilon", Value: "0", Graph: "0.5"},
			made: made{typ: "RmsNorm", attrs: map[string]any{"epsilon": number("0.5")}, inputs: [][]int64{{40, 16}, {16}}, shape: []int64{40, 16}, y: rmsNorm(40, 16, 0)}},
		{name: "the other axis", kind: pattern.WrongAttribute, args: pattern.Attribute{Name: "axes", Value: "[0]", Graph: "[1]"},
			made: made{typ: "SoftmaxV2", attrs: map[string]any{"axes": []any{number("1")}}, inputs: [][]int64{square}, shape: square, y: softmaxAlong(40, 48, 0, 1)}},
		{name: "a scaled softmax", kind: pattern.Scale,
			made: made{typ: "SoftmaxV2", attrs: map[string]any{"axes": []any{number("1")}}, inputs: [][]int64{square}, shape: square, y: softmaxAlong(40, 48, 1, 1.05)}},
		{name: "a - b for b - a", kind: pattern.SwappedOperands,
			made: made{typ: "Sub", inputs: [][]int64{square, square}, shape: square, y: elementwiseOf(func(in [][]float64, i int) float64 { return in[1][i] - in[0][i] })}},
		{name: "an inverted choice", kind: pattern.InvertedMask, args: pattern.Masked{Choice: true},
			made: made{typ: "Select", mask: true, inputs: [][]int64{square, square, square}, shape: square, y: elementwiseOf(func(in [][]float64, i int) float64 {
				return in[1+int(in[0][i])][i]
			})}},
		{name: "another choice",
			made: made{typ: "Select", mask: true, inputs: [][]int64{square, square, square}, shape: square, y: elementwiseOf(func(in [][]float64, i int) float64 {
				return in[1+i*7%3%2][i]
			})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, typ := range []dtype.Type{dtype.Float16, dtype.Float32} {
				for seed := range uint64(4) {
					f := c.check(t, typ, seed)
					if f.Verdict != Wrong {
						t.Fatalf("%v seed %d: %v %v", typ, seed, f.Verdict, f.Reasons)
					}
					if c.kind == "" {
						for _, p := range f.Patterns {
							if !p.Kind.Vague() && p.Kind != pattern.Stale {
								t.Errorf("%v seed %d: %s", typ, seed, p.Kind)
							}
						}
						continue
					}
					if f.Pattern != string(c.kind) {
						t.Errorf("%v seed %d: %s, want %s", typ, seed, f.Pattern, c.kind)
					} else if c.args != nil && fmt.Sprint(f.Patterns[0].Args) != fmt.Sprint(c.args) {
						t.Errorf("%v seed %d: %+v, want %+v", typ, seed, f.Patterns[0].Args, c.args)
					}
				}
			}
		})
	}
}

// TestOverflowInBetween: where a step of a narrow type got beyond what that holds, what is made of it is no number; one that
// is wrong is wrong all the same.
func TestOverflowInBetween(t *testing.T) {
	for found, want := range map[string]Verdict{"Inf": Suspect, "NaN": Suspect, "1168": OK, "1300": Wrong} {
		c, err := textCase("Torch.pow(float16[2]{9 0.5}, float16[]{6}) = float16[2]{Inf 0.015625} : float16[2]{0.001 1} = float16[2]{Inf 0.1875}, float16[]{" + found + "}")
		if err != nil {
			t.Fatal(err)
		}
		r := newRecorder(t)
		r.add(&c)
		f := r.check()
		if len(f) != 3 || f[0].Verdict != OK || f[1].Verdict != Suspect || f[2].Verdict != want {
			t.Errorf("%s: %+v, expected %v", found, f, want)
		}
	}
}

// TestArgumentsOtherwise: a call whose results follow from another argument than the one recorded says which.
func TestArgumentsOtherwise(t *testing.T) {
	for _, test := range []struct {
		name, place string
		n           int // which of the calls of the name
		change      func(b []byte)
		args        func(c *callCase)
		want        pattern.Kind
		value       string // what the argument was taken for, any if empty
	}{
		{name: "NPU.npu_rotary_mul", n: -1, want: pattern.WrongAttribute, args: func(c *callCase) { c.Args[3].Leaf = []byte(`{"type":"str","value":"interleave"}`) }},
		{name: "NPU.npu_rms_norm", n: -1, want: pattern.WrongEpsilon, args: func(c *callCase) { c.Args[2].Leaf = []byte(`{"type":"float","value":0.5}`) }},
		{name: "NPU.npu_scaled_masked_softmax", n: -1, place: "input.1", want: pattern.InvertedMask, change: func(b []byte) {
			for i := range b {
				b[i] ^= 1
			}
		}},
		{name: "NPU.npu_incre_flash_attention", n: 0, place: "kwargs.block_table", want: pattern.WrongAttribute, change: func(b []byte) {
			for i := 0; i < len(b); i += 8 { // rows of two numbers of 32 bits
				b[i], b[i+4] = b[i+4], b[i]
			}
		}},
		{name: "NPU.npu_incre_flash_attention", n: 0, place: "kwargs.block_table", want: pattern.WrongAttribute, value: "block_table[1, 0] = 0", change: func(b []byte) { b[8] = 1 }},
		{name: "NPU.npu_grouped_matmul", n: 0, place: "input.1.0", want: pattern.WrongAttribute, value: "weight[0] = weight[2], weight[2] = weight[0]", change: func(b []byte) {
			third := len(b) / 3
			copy(b, slices.Concat(b[2*third:], b[third:2*third], b[:third]))
		}},
		{name: "NPU.npu_apply_rotary_pos_emb", want: pattern.WrongAttribute, value: "half", args: func(c *callCase) {
			c.Kwargs = map[string]caseValue{"rotary_mode": {Leaf: []byte(`{"type":"str","value":"interleave"}`)}}
		}},
		{name: "NPU.npu_interleave_rope", place: "input.0", want: pattern.WrongAttribute, value: "half", change: func(b []byte) {
			for from := 0; from < len(b); from += 32 { // rows of eight numbers of 32 bits
				var row []byte
				for _, i := range []int{0, 2, 4, 6, 1, 3, 5, 7} {
					row = append(row, b[from+4*i:from+4*i+4]...)
				}
				copy(b[from:], row)
			}
		}},
		{name: "NPU.npu_quant_matmul", place: "input.2", want: pattern.WrongAttribute, value: "roll(scale, -1, 0)", change: lastFirst},
		{name: "NPU.npu_quant_matmul", place: "pertoken_scale", want: pattern.WrongAttribute, value: "roll(pertoken_scale, -1, 0)", change: lastFirst},
		{name: "NPU.npu_moe_token_unpermute", place: "kwargs.probs", want: pattern.WrongAttribute, value: "roll(probs, -1, 0)", change: func(b []byte) { copy(b, slices.Concat(b[24:], b[:24])) }},
		{name: "NPU.npu_grouped_matmul", n: 0, place: "input.1.0", want: pattern.WrongAttribute, change: func(b []byte) {
			third := len(b) / 3
			copy(b, append(append([]byte{}, b[third:]...), b[:third]...))
		}},
	} {
		r := newRecorder(t)
		var found *callCase
		n := 0
		for _, c := range callCases(t) {
			if c.Name != test.name || test.n == -1 && len(c.Gradients) == 0 {
				continue
			}
			if n++; test.n < 0 || n > test.n {
				c.Gradients, c.Back, found = nil, nil, &c
				break
			}
		}
		if found == nil {
			t.Fatalf("there is no case of %s", test.name)
		}
		if test.args != nil {
			test.args(found)
		}
		r.damage = func(place string, b []byte) {
			if test.change != nil && strings.HasPrefix(place, test.name) && strings.HasSuffix(place, test.place) {
				test.change(b)
			}
		}
		r.add(found)
		r.addClean(20)
		all := r.check()
		if f := all[0]; f.Verdict != Wrong || f.Pattern != string(test.want) {
			t.Errorf("%s: %v, %q, expected %q", test.name, f.Verdict, f.Pattern, test.want)
		} else if a, is := f.Patterns[0].Args.(pattern.Attribute); is && test.value != "" && a.Value != test.value {
			t.Errorf("%s: %q, expected %q", test.name, a.Value, test.value)
		}
	}
}

// lastFirst puts the last of some numbers of 32 bits before the others.
func lastFirst(b []byte) {
	copy(b, slices.Concat(b[len(b)-4:], b[:len(b)-4]))
}

// TestArgumentsMistaken: results as the definition gives them for another argument than the one recorded.
func TestArgumentsMistaken(t *testing.T) {
	const n = 40
	x := func(i int) float64 {
		if i < 0 || i >= n {
			return 0
		}
		return math.Round(64*math.Sin(float64(3*i))) / 16
	}
	list := func(n int, f func(i int) float64) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%.9g ", f(i))
		}
		return b.String()
	}
	number := func(i int) float64 { return float64(i) }
	mean := func(i int) (sum float64) {
		for k := range n / 2 {
			sum += x(2*k+i%2) / (n / 2)
		}
		return sum
	}
	for _, c := range [][2]string{
		{"Functional.conv1d(float32[1,1,40]{" + list(n, x) + "}, float32[1,1,3]{1 0 2}, padding=1) = float32[1,1,40]{" +
			list(n, func(i int) float64 { return x(i) + 2*x(i+2) }) + "}", "padding before -1, behind +1"},
		{"Torch.to(int8[40]{" + list(n, func(i int) float64 { return float64(6*i - 128) }) + `}, "torch.float32") = float32[40]{` +
			list(n, func(i int) float64 { return float64((6*i + 128) % 256) }) + "}", "input.view(uint8)"},
		{"Functional.scaled_dot_product_attention(float32[1,1,20,2]{" + list(n, func(int) float64 { return 0 }) + "}, float32[1,1,20,2]{" + list(n, number) + "}, float32[1,1,20,2]{" +
			list(n, x) + "}, is_causal=True) = float32[1,1,20,2]{" + list(n, mean) + "}", "0"},
		{"Functional.scaled_dot_product_attention(float32[1,1,40,1]{" + list(n, x) + "}, float32[1,1,2,1]{0 1}, float32[1,1,2,1]{0 1}, scale=0.5) = float32[1,1,40,1]{" +
			list(n, func(i int) float64 { return 1 / (1 + math.Exp(-x(i))) }) + "}", "1"},
		{"NPU.npu_quant_matmul(int8[20,1]{" + list(n/2, number) + "}, int8[1,2]{1 3}, float32[2]{0.5 0.25}, pertoken_scale=float32[20]{" + list(n/2, func(i int) float64 { return 1 + float64(i%3) }) +
			"}) = float16[20,2]{" + list(n, func(i int) float64 { return float64(i/2) * []float64{0.5, 0.75}[i%2] }) + "}", "None"},
	} {
		call, err := textCase(c[0])
		if err != nil {
			t.Fatal(err)
		}
		r := newRecorder(t)
		r.add(&call)
		r.addClean(20)
		f := r.check()[0]
		if f.Verdict != Wrong || f.Pattern != string(pattern.WrongAttribute) || f.Patterns[0].Args.(pattern.Attribute).Value != c[1] {
			t.Errorf("%s: %v %v, expected %s", call.Name, f.Verdict, f.Patterns, c[1])
		}
	}
}

// addClean adds calls that are right: a recording of wrong ones alone contradicts itself.
func (r *recorder) addClean(n int) {
	for range n {
		c, err := textCase("Torch.neg(float32[2]{1 2}) = float32[2]{-1 -2}")
		if err != nil {
			r.t.Fatal(err)
		}
		r.add(&c)
	}
}

// TestStaleCalls: what the call gave at the step before, or another call before it, is told for what it is, and the same fault of
// the same inputs twice is not.
func TestStaleCalls(t *testing.T) {
	dir := t.TempDir()
	numbers := func(of func(i int) float64) string {
		var b strings.Builder
		for i := range 32 {
			fmt.Fprintf(&b, "%.9g ", of(i))
		}
		return "float32[32]{" + b.String() + "}"
	}
	a := func(i int) float64 { return math.Sin(float64(7 * i)) }
	b := func(i int) float64 { return math.Cos(float64(5 * i)) }
	twice := func(of func(i int) float64) func(i int) float64 { return func(i int) float64 { return 2 * of(i) } }
	odd := func(i int) float64 { return a(i) * a(i+3) }
	var all []msprobe.Recording
	for step, calls := range [][]string{
		{"Torch.mul(" + numbers(a) + ", 2) = " + numbers(twice(a))},
		{"Torch.mul(" + numbers(b) + ", 2) = " + numbers(twice(a)), "Torch.abs(" + numbers(b) + ") = " + numbers(twice(a)),
			"Torch.neg(" + numbers(a) + ") = " + numbers(odd), "Torch.neg(" + numbers(a) + ") = " + numbers(odd)},
	} {
		r := &recorder{t: t, dir: filepath.Join(dir, fmt.Sprint("step", step), "rank0"), count: map[string]int{}, task: "tensor", both: true}
		r.makeDir()
		for _, text := range calls {
			c, err := textCase(text)
			if err != nil {
				t.Fatal(err)
			}
			r.add(&c)
		}
		r.addClean(20)
		all = append(all, r.write()...)
	}
	findings, _, err := RecordingJob{Recordings: all}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"step1/rank0/Torch.mul.0.forward": "step0/rank0/Torch.mul.0.forward:output:0",
		"step1/rank0/Torch.abs.0.forward": "step1/rank0/Torch.mul.0.forward:output:0",
		"step1/rank0/Torch.neg.0.forward": "",
		"step1/rank0/Torch.neg.1.forward": "",
	}
	for _, f := range findings {
		from, is := want[f.Op]
		if !is {
			continue
		}
		delete(want, f.Op)
		got := ""
		if len(f.Patterns) > 0 {
			if copied, is := f.Patterns[0].Args.(pattern.Copy); is {
				got = copied.Name
			}
		}
		if f.Verdict != Wrong || got != from {
			t.Errorf("%s: %v, %q, expected %q", f.Op, f.Verdict, got, from)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}
