package oracle

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"precision/compare/pattern"
	"precision/dump/dtype"
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
			if test.change != nil && strings.HasSuffix(place, test.place) {
				test.change(b)
			}
		}
		r.add(found)
		for range 20 { // calls that are right: a recording of wrong ones alone contradicts itself
			c, err := textCase("Torch.neg(float32[2]{1 2}) = float32[2]{-1 -2}")
			if err != nil {
				t.Fatal(err)
			}
			r.add(&c)
		}
		all := r.check()
		if f := all[0]; f.Verdict != Wrong || f.Pattern != string(test.want) {
			t.Errorf("%s: %v, %q, expected %q", test.name, f.Verdict, f.Pattern, test.want)
		}
	}
}
