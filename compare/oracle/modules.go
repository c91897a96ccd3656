package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/each"
	"precision/internal/must"
	catalogue "precision/op"
)

// Modules of recordings. A module whose class the catalogue knows is a call of a function with the
// module's parameters as further arguments. One of an unknown class is first taken for what its
// parameters allow (a linear layer, a norm, an embedding, an activation): what explains the output
// is believed, and what does not says nothing.
//
// A module of several parts is explained by these: its output has to be that of a recorded call
// inside it, which is explained itself, and whose inputs came from the module's inputs or from
// other such calls ([composer]). So a verdict on a block is one on its parts and on what flows
// between them, without any formula of the block.

// resolveModule makes a call of a function of that of a module: its inputs are the
// module's, its weights the module's parameters, and other arguments those of the
// one call of the function within it, as far as that was recorded.
func (b *bound) resolveModule(from *recordedCall, r *recorded) {
	m := catalogue.Of(from.Parsed.Class).Module
	if m == nil {
		b.unguessed = refuse(NoAPI, from.kind())
		if parts := b.of.within(from); len(parts) > 0 {
			b.unguessed = refuse(Composite, len(parts))
		}
		if b.guesses = b.guessModule(r); len(b.guesses) == 0 {
			must.Do(b.unguessed)
		}
		g := b.guesses[0]
		b.f, b.inputs, b.k = g.f, g.inputs, &invocation{name: g.name, args: g.args, params: g.f.params}
		return
	}
	f := functions()[m.Form]
	args, inPlace := map[string]*argument{}, false
	if child := b.within(from, f); child != nil {
		inner := recordedOf(child.Call)
		args, inPlace = bind(f, inner, false)
		for name, a := range args {
			if b.of.owns && a.tensor() && !slices.Contains(m.Params, name) && name != "target" {
				delete(args, name) // the module's own are taken, where they are recorded
			}
		}
		b.openInputs(inner)
	} else {
		// Recorders before 1.1 leave out all parameters: a norm may have a weight that is not known.
		refuseIf(!b.of.owns && slices.Contains(f.params, "weight"), NotRecorded, "weight")
		b.hidden = m.Params
	}
	for i, a := range r.args {
		refuseIf(i >= len(f.params), NewArgument, itoa(i))
		args[f.params[i]] = a
	}
	for name, a := range r.parameters {
		if to := msprobe.ParameterNames[name]; to != "" && !slices.Contains(f.params, name) {
			name = to
		}
		refuseIf(!slices.Contains(f.params, name), NewArgument, name)
		args[name] = a
	}
	for name, a := range r.kwargs {
		refuseIf(!slices.Contains(f.params, name), NewArgument, name)
		args[name] = a
	}
	b.f, b.inputs = f, f.params[:min(len(f.params), max(len(r.args), 1))]
	b.k = &invocation{name: m.Form, args: args, params: f.params, inPlace: inPlace}
	b.k.solve = len(b.hidden) > 0
}

// within is the one call of a function within a module; nil if there is none, or
// more than one.
func (b *bound) within(from *recordedCall, f *function) (found *recordedCall) {
	for _, name := range b.of.inside[from.Name] {
		c := b.of.index[name]
		if c == nil || c.Parsed.Form != msprobe.API {
			continue
		}
		if g, _, _, _ := called(c.Parsed.Prefix, c.Parsed.API, b.of.header.Framework); g == f {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}

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

// guessModule lists what a module of an unknown class may be; none where it has another number of
// inputs or parameters than any of these functions. Of one input: without parameters a pointwise
// function or the identity; with a matrix and whole numbers an embedding; with a vector as long as
// the last axis a norm, for each usual ε, and with weights that add to one; with a matrix a linear,
// also transposed.
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
		list = append(list, guess{name: name, f: functions()[name], args: args, inputs: inputs})
	}
	last := int64(0)
	if n := len(x.op.shape); n > 0 {
		last = x.op.shape[n-1]
	}
	switch {
	case weight == nil && bias == nil:
		for _, row := range catalogue.All() {
			if row.Traits&catalogue.Alone == 0 {
				continue
			}
			words := []string{""}
			param := slices.IndexFunc(row.Formula.Params, func(p catalogue.Param) bool { return p.Words != nil })
			if param >= 0 {
				words = row.Formula.Params[param].Words
			}
			for _, word := range words {
				args := map[string]*argument{"input": x}
				if word != "" {
					args[row.Formula.Params[param].Name] = textArgument(word)
				}
				add(row.Names[0], args, "input")
			}
		}
		add("clone", map[string]*argument{"input": x}, "input")
	case weight == nil:
	case discrete(x.op.typ) && len(weight.op.shape) == 2 && bias == nil:
		add("embedding", map[string]*argument{"input": x, "weight": weight}, "input")
	case discrete(x.op.typ):
	case len(weight.op.shape) == 1 && weight.op.shape[0] == last:
		names := []string{"layer_norm"}
		if bias == nil {
			names = []string{"rms_norm", "layer_norm"}
		}
		for _, name := range names {
			for _, w := range []*argument{weight, oneMore(weight)} {
				for _, eps := range usualEpsilons {
					args := map[string]*argument{"input": x, "weight": w, "eps": numberArgument(eps)}
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
	return changed(a, func(x float64) float64 { return x + 1 })
}

// changed is a tensor with f of its elements, in float32; nil if it cannot be had.
func changed(a *argument, f func(x float64) float64) *argument {
	n := count(a.op.shape)
	if !a.op.typ.IsFloat() || n > maxDense {
		return nil
	}
	y := make([]float64, n)
	if !reads(a.op, 0, y) {
		return nil
	}
	o := inMemory(a.op.name, dtype.Float32, a.op.shape)
	for i, x := range y {
		o.f32[i] = float32(f(x))
	}
	return &argument{v: a.v, place: a.place, op: o}
}

// guessedReadings are those of an output for everything that the module may be.
func (b *bound) guessedReadings(c *Call, i int) (out []Reading) {
	for _, g := range b.guesses {
		k := invocation{Call: c, name: g.name, args: g.args, params: g.f.params, results: b.k.results, gradients: b.k.gradients}
		list, err := must.Of(func() []Reading {
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
		must.Do(b.unguessed)
	}
	return out
}

// judgeGuess judges an output by what the module may be, which is not known to be what it is.
func (b *bound) judgeGuess(f *Finding, c *checker, readings []Reading) {
	if _, j, err := c.best(readings); err != nil || j.beyond > 0 || j.judged == 0 {
		f.fail(b.unguessed, "")
		return
	}
	c.check(f, readings)
	if f.Verdict != OK && f.Verdict != Suspect {
		f.retract(reasonOf(b.unguessed))
	}
}

// A module of several parts is what its parts make of its inputs: an output is explained if it
// is that of a call recorded in the module, that call is explained, and what it took came from
// the module's inputs or from other such calls. Gradients may be sums of what several calls gave
// back, which autograd adds up unrecorded.

const (
	// mostParts bounds the calls of a module that are looked through for one that made a tensor.
	mostParts = 4096
	// mostSummands bounds those that a gradient may be a sum of: queries, keys and values.
	mostSummands = 3
	// mostLike bounds the tensors of one shape that sums are tried of.
	mostLike = 24
)

// composer explains the modules of a recording by their parts.
type composer struct {
	of    *recordedCalls
	found map[string][]*Finding // of a call, by its name in the recording
	open  map[string]bool       // modules that are being composed
	done  map[string]bool
	parts map[string][]*recordedCall // direct, in order
	calls bool                       // calls of functions were recorded, not modules alone
	files *files
}

// compose judges the modules of a recording that are no function known by itself. Findings are
// those of its calls.
func (r *recordedCalls) compose(findings []Finding) {
	c := composer{of: r, found: map[string][]*Finding{}, open: map[string]bool{}, done: map[string]bool{}, parts: map[string][]*recordedCall{}}
	for i := range findings {
		f := &findings[i]
		name := strings.TrimPrefix(f.Op, r.prefix)
		c.found[name] = append(c.found[name], f)
	}
	for _, call := range r.calls {
		c.calls = c.calls || call.Parsed.Form == msprobe.API
	}
	for _, call := range r.calls {
		if call.Parsed.Form == msprobe.Module {
			c.module(call)
		}
	}
}

// composed is whether a finding is of a module whose parts are all that is known of it.
func composed(f *Finding) bool {
	return f.Verdict == Unknown && len(f.Reasons) == 1 && f.Reasons[0].Kind == Composite && f.Damage == nil
}

// module judges the outputs of a module, of its parts first.
func (c *composer) module(m *recordedCall) {
	if c.done[m.Name] || c.open[m.Name] {
		return
	}
	list := c.found[m.Name]
	if !slices.ContainsFunc(list, composed) {
		c.done[m.Name] = true
		return
	}
	c.open[m.Name] = true
	for _, p := range c.inside(m) {
		if p.Parsed.Form == msprobe.Module {
			c.module(p)
		}
	}
	files := &files{path: c.of.path}
	defer files.close()
	outer := c.files
	c.files = files
	defer func() { c.files = outer; delete(c.open, m.Name); c.done[m.Name] = true }()
	r := recordedOf(m.Call)
	for _, f := range list {
		if composed(f) && f.Index < len(r.flat) {
			c.output(m, r, f)
		}
	}
}

// inside are the calls made directly in a module, in their order.
func (c *composer) inside(m *recordedCall) []*recordedCall {
	if list, ok := c.parts[m.Name]; ok {
		return list
	}
	list := c.of.within(m)
	slices.SortFunc(list, func(a, b *recordedCall) int { return a.order - b.order })
	c.parts[m.Name] = list
	return list
}

// within are the calls made directly in a module, as far as they were recorded.
func (r *recordedCalls) within(m *recordedCall) (list []*recordedCall) {
	for _, name := range r.inside[m.Name] {
		if p := r.index[name]; p != nil && p.Parsed.Direction == m.Parsed.Direction {
			list = append(list, p)
		}
	}
	return list
}

// source is a tensor that may be what another is.
type source struct {
	v    *msprobe.Value
	call *recordedCall // nil: the module's own input
	out  int
}

// sources are what flows in a module: its inputs, and the results of its parts before one.
func (c *composer) sources(m *recordedCall, r *recorded, before *recordedCall) (list []source) {
	each := func(a *argument) {
		a.each(func(a *argument) { list = append(list, source{v: a.v}) })
	}
	for _, a := range r.args {
		each(a)
	}
	for _, name := range sortedKeys(r.kwargs) {
		each(r.kwargs[name])
	}
	for _, p := range c.inside(m) {
		if p == before || len(list) > mostParts {
			break
		}
		n := 0
		for i := range p.Values {
			if v := &p.Values[i]; v.Section == msprobe.Output {
				if v.Kind == msprobe.Tensor {
					list = append(list, source{v, p, n})
				}
				n++
			}
		}
	}
	return list
}

// output judges an output of a module. It goes back from the output: each tensor must be an input
// of the module or the explained output of a part, whose inputs are looked at in turn. Wrong and
// unknown parts leave it unknown, a suspect one suspect.
func (c *composer) output(m *recordedCall, r *recorded, f *Finding) {
	parts := c.inside(m)
	refuse := func(kind result.Kind, args ...any) {
		f.Reasons = f.Reasons[:0]
		unknown(f, because(kind, args...))
	}
	made := c.madeBy(m, r.flat[f.Index].v, c.sources(m, r, nil))
	if made == nil {
		refuse(Apart, len(parts))
		return
	}
	seen, suspect := map[*recordedCall]bool{}, ""
	for len(made) > 0 {
		s := made[len(made)-1]
		if made = made[:len(made)-1]; s.call == nil {
			continue
		}
		switch part := c.finding(s); {
		case part == nil || part.Verdict == Unknown || part.Verdict == Wrong:
			refuse(PartUnknown, s.call.Name)
			return
		case part.Verdict == Suspect && suspect == "":
			suspect = s.call.Name
		}
		if seen[s.call] {
			continue
		}
		seen[s.call] = true
		in := recordedOf(s.call.Call)
		for _, a := range slices.Concat(in.args, argumentsOf(in.kwargs)) {
			missing := ""
			a.each(func(a *argument) {
				from := c.madeBy(m, a.v, c.sources(m, r, s.call))
				if from == nil && (!c.calls || m.Parsed.Direction == msprobe.Backward) {
					missing = a.place // with calls recorded, what none of them made is a parameter or a buffer
				}
				made = append(made, from...)
			})
			if missing != "" {
				refuse(Unmade, s.call.Name, missing)
				return
			}
		}
	}
	f.Reasons = append(f.Reasons[:0], because(Composed, len(seen)))
	f.Verdict, f.Looked = OK, f.Elements
	if suspect != "" {
		f.Verdict = Suspect
		f.Reasons = append(f.Reasons, because(PartSuspect, suspect))
	}
}

// argumentsOf are the arguments by name, in the order of their names.
func argumentsOf(m map[string]*argument) (list []*argument) {
	for _, name := range sortedKeys(m) {
		list = append(list, m[name])
	}
	return list
}

// finding is that of a part's output.
func (c *composer) finding(s source) *Finding {
	for _, f := range c.found[s.call.Name] {
		if f.Index == s.out {
			return f
		}
	}
	return nil
}

// madeBy is what a tensor is: one source, or of gradients the sum of some; nil if it is none. Of
// gradients pairs and triples of tensors of the shape are tried, 24 tensors at most: 276 + 2024
// sums.
func (c *composer) madeBy(m *recordedCall, v *msprobe.Value, list []source) []source {
	list = slices.DeleteFunc(list, func(s source) bool { return s.v.DType != v.DType || count(s.v.Shape) != count(v.Shape) })
	// Of equal tensors the latest: what a call in place left.
	for _, s := range slices.Backward(list) {
		if slices.Equal(s.v.Shape, v.Shape) && sameStatistics(s.v, v) && c.same(s.v, v) {
			return []source{s}
		}
	}
	if m.Parsed.Direction != msprobe.Backward || len(list) > mostLike {
		return nil
	}
	var pick func(from int, have []source) []source
	pick = func(from int, have []source) []source {
		if len(have) > 1 && c.sum(have, v) {
			return slices.Clone(have)
		}
		if len(have) == mostSummands {
			return nil
		}
		for i := from; i < len(list); i++ {
			if slices.Equal(list[i].v.Shape, v.Shape) {
				if found := pick(i+1, append(have, list[i])); found != nil {
					return found
				}
			}
		}
		return nil
	}
	return pick(0, make([]source, 0, mostSummands))
}

// sameStatistics reports whether nothing in the statistics of two tensors tells them apart.
func sameStatistics(a, b *msprobe.Value) bool {
	for _, p := range [][2]msprobe.Number{{a.Max, b.Max}, {a.Min, b.Min}, {a.Mean, b.Mean}, {a.Norm, b.Norm}} {
		x, ok := p[0].Value()
		y, also := p[1].Value()
		if ok != also || ok && x != y && (x == x || y == y) {
			return false
		}
	}
	return true
}

// tensor opens a tensor.
func (c *composer) tensor(v *msprobe.Value) *operand {
	refuseIf(v.DataName == "", NoElements, "")
	return must.Get(c.files.tensor(v, ""))
}

// same reports whether two tensors have the same elements.
func (c *composer) same(a, b *msprobe.Value) bool {
	if a == b || a.DataName != "" && a.DataName == b.DataName {
		return true
	}
	same, _ := must.Of(func() bool { return sameElements(c.tensor(a), c.tensor(b)) })
	return same
}

// sum reports whether a tensor is the sum of some, each addition rounded once. The means must add
// up within what n norms in the type may be off; then elements, n additions of u each. Statistics
// keep most from being opened.
func (c *composer) sum(list []source, v *msprobe.Value) bool {
	u := precisionFor(v.Elem).v
	mean, size := 0.0, 0.0
	for _, s := range list {
		m, ok := s.v.Mean.Value()
		n, also := s.v.Norm.Value()
		if !ok || !also {
			return false
		}
		mean, size = mean+m, size+abs(n)
	}
	elements := float64(max(count(v.Shape), 1))
	if m, ok := v.Mean.Value(); !ok || !(abs(m-mean) <= 2*float64(len(list))*(u+u32)*size/math.Sqrt(elements)) {
		return false
	}
	return must.Try(func() {
		y, in := c.tensor(v), each.Of(list, func(s source) *operand { return c.tensor(s.v) })
		found, sum, total, x := make([]float64, tile), make([]float64, tile), make([]float64, tile), make([]float64, tile)
		for lo, n := int64(0), y.view.Len(); lo < n; lo += tile {
			k := min(tile, n-lo)
			clear(sum)
			clear(total)
			y.Range(lo, found[:k], nil)
			for _, o := range in {
				o.Range(lo, x[:k], nil)
				for i, v := range x[:k] {
					sum[i] += v
					total[i] += abs(v)
				}
			}
			for i, v := range sum[:k] {
				if !(abs(found[i]-v) <= float64(len(in))*u*total[i]) {
					panic(refusal(Unmade))
				}
			}
		}
	}) == nil
}
