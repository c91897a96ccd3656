package oracle

import (
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/msprobe"
)

// guess is a function that a module of an unknown class may be, by its parameters and
// arguments. Nobody says that it is: one that explains the output does, and if none does, the
// output is not known.
type guess struct {
	name   string
	f      *function
	args   map[string]*argument
	inputs []string
	// epsilon is set where the function takes one that the module keeps to itself.
	epsilon float64
}

// usualEpsilons are those that normalisations of known models have.
var usualEpsilons = []float64{1e-6, 1e-5, 1e-12, 1e-8, 1e-7}

// activations that modules of any name have been seen to be, with the argument that tells two
// forms apart.
var usualActivations = []struct{ function, argument, value string }{
	{"silu", "", ""}, {"gelu", "approximate", "none"}, {"gelu", "approximate", "tanh"}, {"relu", "", ""}, {"tanh", "", ""}, {"sigmoid", "", ""},
	{"mish", "", ""}, {"hardswish", "", ""}, {"relu6", "", ""}, {"clone", "", ""},
}

// guessModule lists what a module of an unknown class may be; none where it has another number of
// inputs or parameters than any of these functions.
func (b *bound) guessModule(r *recorded) (list []guess) {
	if len(r.args) != 1 || !r.args[0].tensor() || slices.ContainsFunc(sortedKeys(r.kwargs), func(k string) bool { return r.kwargs[k].tensor() }) {
		return nil
	}
	x := r.args[0]
	var weight, bias *argument
	for _, name := range sortedKeys(r.parameters) {
		switch a := r.parameters[name]; {
		case !a.tensor():
			return nil
		case name == "bias" || name == "beta":
			bias = a
		case weight == nil:
			weight = a
		default:
			return nil
		}
	}
	b.openInputs(r)
	if x.op == nil || weight != nil && weight.op == nil || bias != nil && bias.op == nil {
		return nil
	}
	add := func(name string, args map[string]*argument, inputs ...string) {
		list = append(list, guess{name: name, f: functions[name], args: args, inputs: inputs})
	}
	last := int64(0)
	if n := len(x.op.shape); n > 0 {
		last = x.op.shape[n-1]
	}
	switch {
	case weight == nil && bias == nil:
		for _, a := range usualActivations {
			args := map[string]*argument{"input": x}
			if a.argument != "" {
				args[a.argument] = &argument{v: &msprobe.Value{Kind: msprobe.Scalar, Type: "str", Value: msprobe.Number{Kind: msprobe.Text, S: a.value}}}
			}
			add(a.function, args, "input")
		}
	case weight == nil:
	case discrete(x.op.typ) && len(weight.op.shape) == 2 && bias == nil:
		add("embedding", map[string]*argument{"input": x, "weight": weight}, "input")
	case discrete(x.op.typ):
	case len(weight.op.shape) == 1 && weight.op.shape[0] == last:
		names := []string{"Functional.layer_norm"}
		if bias == nil {
			names = []string{"rms_norm", "Functional.layer_norm"}
		}
		for _, name := range names {
			for _, w := range []*argument{weight, oneMore(weight)} {
				for _, eps := range usualEpsilons {
					args := map[string]*argument{"input": x, "weight": w, "eps": {v: &msprobe.Value{Kind: msprobe.Scalar, Type: "float", Value: msprobe.Number{Kind: msprobe.Float, F: eps}}}}
					if bias != nil {
						args["bias"] = bias
					}
					if w != nil {
						add(name, args, "input")
						list[len(list)-1].epsilon = eps
					}
				}
			}
		}
	case len(weight.op.shape) == 2:
		args := map[string]*argument{"input": x, "weight": weight}
		if bias != nil {
			args["bias"] = bias
		}
		if weight.op.shape[1] == last {
			add("linear", args, "input")
		}
		if turned := weight.op.transposed([]int{1, 0}); weight.op.shape[0] == last && turned != nil {
			args := map[string]*argument{"input": x, "weight": {v: weight.v, place: weight.place, op: turned}}
			if bias != nil {
				args["bias"] = bias
			}
			add("linear", args, "input")
		}
	}
	return list
}

// oneMore is a weight that a norm takes as what it adds to one; nil if it cannot be had.
func oneMore(a *argument) *argument {
	n := count(a.op.shape)
	if !a.op.typ.IsFloat() || n > maxDense {
		return nil
	}
	y := make([]float64, n)
	if a.op.Range(0, y, nil) != nil {
		return nil
	}
	o := &operand{name: a.op.name, typ: dtype.Float32, shape: a.op.shape, f32: make([]float32, n), packed: true}
	for i, x := range y {
		o.f32[i] = float32(x) + 1
	}
	var err error
	if o.view, err = layout.Contiguous(a.op.shape); err != nil {
		return nil
	}
	return &argument{v: a.v, place: a.place, op: o}
}

// guessedReadings are those of an output for everything that the module may be.
func (b *bound) guessedReadings(c *Call, i int) (out []Reading) {
	for _, g := range b.guesses {
		k := invocation{Call: c, name: g.name, args: g.args, params: g.f.params, results: b.k.results, gradients: b.k.gradients}
		list, err := attempt(func() []Reading {
			if b.Parsed.Direction != msprobe.Backward {
				return g.f.forward(&k)
			}
			if g.f.backward == nil {
				return nil
			}
			as := *b
			as.f, as.inputs, as.k = g.f, g.inputs, &k
			return as.gradientReadings(g.f.backward(&k, b.grads), i)
		})
		if err != nil {
			continue
		}
		for _, r := range list {
			if v := r.out(i); v == nil || !slices.Equal(v.Shape(), c.outs[i].shape) {
				continue
			}
			r.Args = append([]string{r.Name}, r.Args...)
			if r.Name == "" {
				r.Args = nil
			}
			r.Name = strings.TrimPrefix(g.name, "Functional.")
			if g.epsilon > 0 {
				r.Args = append(r.Args, "eps "+because("", g.epsilon).Args[0])
			}
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		panic(b.unguessed)
	}
	return out
}

// judgeGuess judges an output by what the module may be, which is not known to be what it is.
func (b *bound) judgeGuess(f *Finding, c *checker, readings []Reading) {
	if _, j, err := c.best(readings); err != nil || j.beyond > 0 || j.judged == 0 {
		f.Verdict = Unknown
		f.fail(b.unguessed, "")
		return
	}
	c.check(f, readings)
	if f.Verdict != OK && f.Verdict != Suspect {
		f.Pattern, f.Patterns, f.Reasons = "", nil, nil
		f.Verdict = Unknown
		f.fail(b.unguessed, "")
	}
}
