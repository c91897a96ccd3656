package oracle

import (
	"maps"
	"slices"
	"strings"

	"precision/compare/pattern"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/must"
	"precision/internal/plainfile"
	catalogue "precision/op"
)

// A recorded call on its way to a verdict: which function it is, its arguments bound to parameters,
// the readings of each output, and what is looked at before an output that no reading explains is
// called wrong.
//
// The same path serves calls of functions, modules, primitives of MindSpore and gradients. For a
// backward call the function and its arguments are those of the forward call of the same number,
// what it takes are gradients of outputs, and what it gives are gradients of inputs: the form's
// backward, in place of its forward.
//
// A recorder does not see everything, and a verdict must not rest on what it missed. An argument
// that was written over before it was saved, a view whose file has the memory as it lies, a sum
// over ranks of which each has a part, a CPU that computed step by step in a narrow type: each of
// these is tried on an output that is beyond its bound, and makes it unknown, or right, where it
// explains what was found. Only what is left is wrong.
//
// At the end stand arguments that a call writes to and does not return, as a cache: they are judged
// by the next call that reads them.

func openPlain(path string) (*plainfile.File, error) {
	f, _, err := plainfile.Open(path, "a file of a recording")
	return f, err
}

// bound is a recorded call on its way to be judged.
type bound struct {
	*recordedCall
	r     *recorded
	files *files

	f    *function
	k    *invocation
	call *Call
	bad  []error // why an output cannot be read
	// grads are the gradients of the outputs, of a backward call.
	grads []Values
	// hidden are the arguments that a module keeps to itself and that no call
	// within it tells.
	hidden []string
	// guesses are what a module of an unknown class may be, and unguessed why its outputs are
	// not known where it is none of these.
	guesses   []guess
	unguessed error
	// viewed: inputs that views made are taken for what they are.
	viewed bool
	// divided: what every rank has is taken for the rank's part of it.
	divided bool
	// added is the place of an argument that is taken for the sum over the ranks; empty without
	// one.
	added string
	// inputs are the names of the positional arguments in their order.
	inputs []string
}

// prepare finds the function, opens the tensors and binds the arguments. Of a backward call the
// function and its arguments are those of the forward call of the same number; what the backward
// call itself has are gradients, of outputs as arguments and of inputs as results.
func (b *bound) prepare() (err error) {
	defer must.Catch(&err)
	b.call = &Call{names: map[string]int{}}
	from := b.recordedCall
	if b.Parsed.Direction == msprobe.Backward {
		if from = b.forward(); from == nil {
			n := b.Parsed
			n.Direction = msprobe.Forward
			return refuse(NoForward, n.String())
		}
	}
	r := b.r
	if from != b.recordedCall {
		r = recordedOf(from.Call)
	}
	b.resolve(from, r)
	b.k.Call = b.call
	b.openInputs(r)
	if b.f.ranks {
		b.openGroup()
	}
	if from != b.recordedCall {
		for i, a := range r.flat {
			b.open(a, "output "+itoa(i))
			b.k.results = append(b.k.results, a.op)
		}
		for i, a := range b.r.args {
			b.open(a, "gradient "+itoa(i))
			var g Values
			if a.tensor() {
				must.Do(a.err)
				g = a.op
				b.k.gradients = append(b.k.gradients, a.op)
			}
			b.grads = append(b.grads, g)
		}
		refuseIf(len(b.grads) == 0, NoInput, "gradient 0")
	}
	b.bad = make([]error, len(b.r.flat))
	for i, a := range b.r.flat {
		var o *operand
		if a.tensor() {
			o, b.bad[i] = b.files.tensor(a.v, "output "+itoa(i))
		}
		b.call.outs = append(b.call.outs, o)
	}
	if b.files.sliced && !(b.f.local && b.cutAlike()) {
		return refuse(Sliced)
	}
	b.call.double, b.call.narrow = b.wide(), b.narrow()
	b.call.device = b.of.device && b.f.local
	b.call.halved = catalogue.Is(strings.ToLower(b.k.name[strings.LastIndexByte(b.k.name, '.')+1:]), catalogue.Halved)
	if b.of.kernels && (b.f.local || strings.HasSuffix(b.k.name, "MatMul") || strings.HasPrefix(b.k.name, "Conv2D")) {
		b.unflatten()
	}
	if b.f.updates {
		b.k.before = b.before()
	}
	return nil
}

// cutAlike tells of a call whose tensors were cut when they were recorded that what is left of them
// still belongs together, element by element: a tensor that was spread over others was cut along
// another axis, and its gradient sums over what was cut away.
func (b *bound) cutAlike() bool {
	backward := b.Parsed.Direction == msprobe.Backward
	var shape []int64
	for _, list := range [][]*operand{b.call.slots, b.call.outs} {
		for _, o := range list {
			switch {
			case o == nil || len(o.shape) == 0 && !backward:
			case backward && !o.part, shape != nil && !slices.Equal(o.shape, shape):
				return false
			default:
				shape = o.shape
			}
		}
	}
	return true
}

// narrow is the unit roundoff of the narrowest type of a call that may have been computed on a CPU.
// On a CPU PyTorch may compute float16 and bfloat16 step by step in that type; on a device each
// step is float32 within a kernel. 0 says the latter, or that nothing is narrow.
func (b *bound) narrow() float64 {
	if b.files.device || b.of.device {
		return 0
	}
	u := 0.0
	for _, list := range [][]*operand{b.call.slots, b.call.outs} {
		for _, o := range list {
			if o != nil && !discrete(o.typ) && !narrowFloat(o.typ) {
				u = max(u, precisionFor(o.numeric()).v)
			}
		}
	}
	if u <= u32 {
		return 0
	}
	return u
}

// wide reports whether all that is computed with is float64.
func (b *bound) wide() bool {
	for _, list := range [][]*operand{b.call.slots, b.call.outs} {
		if slices.ContainsFunc(list, func(o *operand) bool { return o != nil && o.typ != dtype.Float64 && !discrete(o.typ) }) {
			return false
		}
	}
	return b.call.outType() == dtype.Float64
}

// What cannot be read may be the sum over ranks of what others have, which is taken instead.
func (b *bound) open(a *argument, name string) {
	if a.tensor() && a.op == nil && a.err == nil {
		if a.op, a.err = b.files.tensor(a.v, name); a.op != nil {
			b.call.slots = append(b.call.slots, a.op)
		} else if a.op = b.summed(a); a.op != nil {
			a.err, b.added = nil, a.place
		}
	}
}

func (b *bound) openInputs(r *recorded) {
	each := func(a *argument) { b.open(a, a.place) }
	for _, a := range r.args {
		a.each(each)
	}
	for _, name := range sortedKeys(r.kwargs) {
		r.kwargs[name].each(each)
	}
	for _, name := range sortedKeys(r.parameters) {
		r.parameters[name].each(each)
	}
}

// openGroup opens the arguments of a call on all ranks of its group. Its size is an argument, or
// the group are the ranks with the same result, as those that add something up have. Where none
// has, all are tried, and the rank alone.
func (b *bound) openGroup() {
	var all, same []*recordedCall
	own, certain := resultText(b.recordedCall)
	for _, r := range b.of.step {
		if c := r.index[b.Name]; c != nil {
			all = append(all, c)
			if named, ok := resultText(c); c == b.recordedCall || certain && ok && named == own {
				same = append(same, c)
			}
		}
	}
	if size, ok := b.k.args["world_size"].number(); ok {
		refuseIf(float64(len(all)) != size, OneRank, len(all))
		same = all
	}
	if len(same) == 1 {
		same, b.k.lone = all, true
	}
	refuseIf(len(same) < 2, OneRank, len(same))
	slices.SortStableFunc(same, func(x, y *recordedCall) int { return x.of.from.Rank - y.of.from.Rank })
	for i, c := range same {
		if c == b.recordedCall {
			b.k.place, b.k.group = i, append(b.k.group, b.k.args)
			continue
		}
		args, _ := bind(b.f, recordedOf(c.Call), false)
		beside := &files{path: c.of.path}
		b.files.beside = append(b.files.beside, beside)
		for _, name := range sortedKeys(args) {
			args[name].each(func(a *argument) {
				if a.op, a.err = beside.tensor(a.v, "rank "+itoa(c.of.from.Rank)+" "+a.place); a.op != nil {
					b.call.slots = append(b.call.slots, a.op)
				}
			})
		}
		b.k.group = append(b.k.group, args)
	}
}

// resultText is what the statistics of the first result say; false where they say little.
func resultText(c *recordedCall) (string, bool) {
	for i := range c.Values {
		if v := &c.Values[i]; v.Section == msprobe.Output && v.Kind == msprobe.Tensor {
			return statisticsText(v)
		}
	}
	return "", false
}

func sortedKeys(m map[string]*argument) (out []string) {
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// resolve finds the function that a call is one of, and binds the arguments. A reflected method
// (__radd__) has its two parameters swapped. Of what a primitive keeps to itself the readings are
// several (solve).
func (b *bound) resolve(from *recordedCall, r *recorded) {
	n := from.Parsed
	if n.Form == msprobe.Module {
		b.resolveModule(from, r)
		return
	}
	f, base, inPlace, swapped := called(n.Prefix, n.API, b.of.header.Framework)
	refuseIf(f == nil && catalogue.Is(base, catalogue.Random), Random, from.kind())
	refuseIf(f == nil, NoAPI, from.kind())
	args, also := bind(f, r, swapped)
	b.f, b.inputs = f, f.params
	if swapped {
		b.inputs = []string{f.params[1], f.params[0]}
	}
	b.k = &invocation{name: base, args: args, params: f.params, inPlace: inPlace || also}
	for _, name := range f.hidden {
		if args[name] == nil && !(name == "eps" && args["rstd"].tensor()) { // which has it
			b.hidden, b.k.solve = append(b.hidden, name), true
		}
	}
}

// readings are those of one output.
// Each is a way to understand the call; an output is right if one of them explains it.
func (b *bound) readings(c *Call, i int) []Reading {
	if b.guesses != nil {
		return b.guessedReadings(c, i)
	}
	k := *b.k
	k.Call = c
	k.window()
	if b.of.kernels {
		return b.kernelReadings(c, &k)
	}
	if slices.Contains(b.hidden, "eps") && !k.has("eps") {
		return k.everyEpsilon(func(k *invocation) []Reading { return b.readingsBy(k, i) })
	}
	return b.readingsBy(&k, i)
}

// readingsBy are those of one output by the arguments of an invocation.
// A form without a backward refuses the gradients alone.
func (b *bound) readingsBy(k *invocation, i int) []Reading {
	if b.Parsed.Direction != msprobe.Backward {
		return b.f.forward(k)
	}
	refuseIf(b.f.backward == nil, NoGradient, b.kind())
	return b.gradientReadings(b.f.backward(k, b.grads), i)
}

// gradientReadings are the gradients that output i of a backward call may be: that of
// the argument in its place, or that of what the last step of the function took,
// as recorders that look at the graph of gradients have it.
func (b *bound) gradientReadings(g gradients, i int) (out []Reading) {
	names := []string{}
	if i < len(b.inputs) {
		names = append(names, b.inputs[i])
	}
	if b.Parsed.Form != msprobe.Module {
		for _, node := range b.f.nodes {
			switch {
			case len(node) == 1 && node[0] == "#":
				names = append(names, itoa(i))
			case i < len(node):
				names = append(names, node[i])
			}
		}
	}
	var failed error
	for at, name := range names {
		if slices.Contains(names[:at], name) {
			continue
		}
		plain, turn := strings.CutSuffix(name, "'")
		for n := 0; ; n++ {
			compute := g[plain+other(n)]
			if compute == nil {
				break
			}
			v, err := must.Of(compute)
			if err != nil {
				failed = err
				continue
			}
			if turn {
				v = turned(v, true)
			}
			v = b.widened(v, i)
			rec := b.call.outs[i].shape
			if name == "grad" && count(v.Shape()) == count(rec) {
				v = reshape(v, rec)
			}
			if !slices.Equal(v.Shape(), rec) {
				failed = refuse(ShapeComputed, shapeText(v.Shape()), shapeText(rec))
				continue
			}
			out = append(out, Reading{Name: "gradient", Args: []string{name}, Out: onlyOutput(i, v)})
		}
	}
	if len(out) == 0 {
		must.Do(failed)
		panic(refusal(NoGradient, b.kind()))
	}
	return out
}

// widened allows for a gradient that was computed in a narrower type, that of the
// forward call under autocast, before it got the type of its argument. One that is only moved
// is rounded where its argument is of a narrower type than it.
func (b *bound) widened(v Values, i int) Values {
	out := precisionFor(b.call.outs[i].numeric())
	switch p := precisionFor(b.k.working()); {
	case out.integer:
	case !isExact(v) && p.v > out.v:
		return &rounded{v, p}
	case isExact(v) && slices.ContainsFunc(b.k.gradients, func(g *operand) bool { return g != nil && !discrete(g.typ) && precisionFor(g.numeric()).v < out.v }):
		return &rounded{v, precisionOf{}}
	}
	return v
}

// onlyOutput is a list whose entry i is v.
func onlyOutput(i int, v Values) []Values {
	out := make([]Values, i+1)
	out[i] = v
	return out
}

// judge judges one output. A wrong output is looked at again before it is accused: inputs that
// views made, functions of MindSpore's library on a CPU, parts of ranks. What the call keeps to
// itself, goes on from a state that is not recorded, or has written over, makes it unknown.
func (b *bound) judge(f *Finding, full bool) {
	i := f.Index
	if b.bad[i] != nil {
		f.fail(b.bad[i], "")
		return
	}
	b.call.build = func(c *Call) []Reading { return b.readings(c, i) }
	b.call.otherwise = func(k *pattern.Case, want expected) []alternative {
		o := otherReadings{bound: b, index: i, got: k.Got, want: k.Want, expected: want}
		o.try()
		return o.out
	}
	readings, err := b.call.readings()
	if err != nil {
		f.fail(err, "")
		return
	}
	if readings[0].out(i) == nil {
		unknown(f, because(OutputCount, len(b.call.outs), len(readings[0].Out)))
		return
	}
	c := checker{call: b.call, index: i, rec: b.call.outs[i], full: full, keep: b.of.keep, earlier: b.earlier}
	if b.guesses != nil {
		b.judgeGuess(f, &c, readings)
		return
	}
	c.check(f, readings)
	if f.Verdict == Suspect && b.f.borrowed {
		unknown(f, because(NoAPI, b.kind()))
	}
	if f.Verdict != Wrong {
		return
	}
	if b.of.kernels && !b.viewed {
		b.viewed = true
		args := b.k.args
		left, certain := b.throughViews()
		if certain && left == "" {
			again := b.blank(b.r.flat[i].v, i)
			b.judge(&again, full)
			*f = again
			b.k.args, b.viewed = args, false
			return
		}
		if b.viewed = false; left != "" {
			f.retract(because(NotRecorded, "strides of "+left))
			return
		}
	}
	if (f.looser || catalogue.Is(strings.ToLower(b.k.name[strings.LastIndexByte(b.k.name, '.')+1:]), catalogue.Approximate) && f.Ratio <= mostApart) && b.of.header.Framework == "mindspore" && !b.of.device {
		// The library that MindSpore has its exponentials from on a CPU is 26 to 44 roundoffs off.
		f.Verdict, f.Pattern, f.Patterns = Suspect, "", nil
		f.Reasons = append(f.Reasons[:0], because(LowPrecision, f.Beyond))
		return
	}
	if again, ok := b.share(f, full); ok {
		*f = again
		return
	}
	partial := b.partial(i)
	if partial == "" {
		partial = b.added
	}
	switch at := b.overwritten(i); {
	case b.f.borrowed:
		f.retract(because(NoAPI, b.kind()))
	case partial != "":
		f.retract(because(Partial, partial))
	case slices.Contains(b.f.states, i):
		f.retract(because(NotRecorded, "running_mean, running_var"))
	case len(b.hidden) > 0:
		f.retract(because(NotRecorded, strings.Join(b.hidden, ", ")))
	case at != "":
		f.retract(because(Overwritten, at))
	}
}

// retract takes back what was found.
func (f *Finding) retract(why result.Reason) {
	f.Pattern, f.Patterns, f.Reasons = "", nil, nil
	unknown(f, why)
}

// partial is a tensor of a call that is spread over ranks and is, on each, one summand of what
// it is; empty if there is none. DTensor adds the ranks' parts up, or leaves a bias to one of
// them, before or after what is recorded of the call.
func (b *bound) partial(i int) string {
	calls := []*recordedCall{b.recordedCall}
	if b.Parsed.Direction == msprobe.Backward {
		calls = append(calls, b.forward())
	}
	for n, c := range calls {
		out := -1
		for at := range c.Values {
			v := &c.Values[at]
			if v.Section == msprobe.Output {
				if out++; n > 0 || out != i { // the recorded outputs, of this call only the one that is judged
					continue
				}
			}
			if v.Partial() {
				return v.Section.String() + "." + v.Path
			}
		}
	}
	return ""
}

// share judges an output of which n ranks have a summand each as what the n-th part of every tensor
// gives that all of them have: DTensor divides a bias so before it adds it to a product whose
// factors are spread over the ranks. It is false where that does not explain the output, either.
func (b *bound) share(f *Finding, full bool) (again Finding, ok bool) {
	v := b.r.flat[f.Index].v
	if b.divided || b.Parsed.Direction == msprobe.Backward || v == nil || !v.Partial() {
		return again, false
	}
	mesh, n := v.Mesh(), 1.0
	over := map[int]bool{}
	for k, p := range v.Placements() {
		if p.Kind == "Partial" && p.Op == "sum" && k < len(mesh) {
			over[k] = true
			n *= float64(mesh[k])
		}
	}
	args, some := maps.Clone(b.k.args), false
	for name, a := range args {
		if !a.tensor() || a.op == nil {
			continue
		}
		list := a.v.Placements()
		whole := len(list) == len(mesh)
		for k, p := range list {
			whole = whole && (!over[k] || p.Kind == "Replicate")
		}
		if !whole {
			continue
		}
		if args[name] = changed(a, func(x float64) float64 { return x / n }); args[name] == nil {
			return again, false
		}
		some = true
	}
	if !some || n < 2 {
		return again, false
	}
	before := b.k.args
	b.k.args, b.divided = args, true
	again = b.blank(v, f.Index)
	b.judge(&again, full)
	b.k.args, b.divided = before, false
	return again, again.Verdict == OK
}

// mostApart is how many times its bound an exponential of MindSpore on a CPU may be off: its error
// goes with its argument, of up to 88, of which five roundoffs were found.
const mostApart = 64

// overwritten is the input of a call in place that is the same as its output: it was
// recorded after the call. Empty if there is none.
func (b *bound) overwritten(i int) string {
	if !b.k.inPlace {
		return ""
	}
	out := b.call.outs[i]
	for _, o := range b.call.slots {
		if o.typ == out.typ && slices.Equal(o.shape, out.shape) && sameElements(o, out) {
			return o.name
		}
	}
	return ""
}

func sameElements(a, b *operand) bool {
	x, y := make([]float64, tile), make([]float64, tile)
	n := a.view.Len()
	for lo := int64(0); lo < n; lo += tile {
		k := min(tile, n-lo)
		if !reads(a, lo, x[:k]) || !reads(b, lo, y[:k]) {
			return false
		}
		for i := range k {
			if x[i] != y[i] && (x[i] == x[i] || y[i] == y[i]) {
				return false
			}
		}
	}
	return true
}

// Some calls write to their arguments and do not return them: caches, and kernels with an argument
// for their result. A recorder writes what was there before the call. They are judged by the next
// call that reads the buffer.

const (
	// mostRead bounds the tensors that are looked at as what became of an argument.
	mostRead = 64
	// sampled is how many elements tell a buffer from others.
	sampled = 1 << 16
)

// mended judges the arguments that a call writes to and does not return, by what later calls read.
func (c *recordedCall) mended(files *files, full bool) (out []Finding) {
	n := c.Parsed
	if n.Form != msprobe.API || n.Direction != msprobe.Forward {
		return nil
	}
	f, _, _, _ := called(n.Prefix, n.API, c.of.header.Framework)
	if f == nil || f.mends == nil {
		if ofDevice(n.Prefix) && f == nil && slices.ContainsFunc(c.Values, func(v msprobe.Value) bool { return v.Kind == msprobe.Tensor && v.Section != msprobe.Output }) &&
			!slices.ContainsFunc(c.Values, func(v msprobe.Value) bool { return v.Kind == msprobe.Tensor && v.Section == msprobe.Output }) {
			return refused([]Finding{c.blank(nil, 0)}, because(NoAPI, c.kind()))
		}
		return nil
	}
	r := recordedOf(c.Call)
	b := &bound{recordedCall: c, r: r, files: files}
	first := 0
	for _, a := range r.flat {
		if a.tensor() {
			first++
		}
	}
	defer func() {
		if p := recover(); p != nil {
			out = refused(out, because(Crashed, p))
		}
	}()
	err := b.prepare()
	if b.call != nil {
		defer b.call.release()
	}
	for _, name := range f.mends {
		list := []*argument{nil}
		if err == nil {
			list = b.k.args[name].members()
		}
		for _, a := range list {
			finding := c.blank(nil, first)
			switch {
			case err != nil:
				finding.fail(err, "")
			case a.tensor():
				finding = c.blank(a.v, first)
				if b.judgeMended(&finding, a, full); len(finding.Reasons) == 1 && finding.Reasons[0].Kind == NoElements {
					finding.Reasons = append(finding.Reasons, statisticsLeft(a))
				}
			case b.leaves(first) && a.none():
				first++
				continue // a part that the call was not asked for
			default:
				finding.fail(refuse(NoInput, b.k.shown(name)), "")
			}
			first, out = first+1, append(out, finding)
		}
	}
	return out
}

// leaves tells whether a call has nothing to write to an argument, with the others as they are.
func (b *bound) leaves(index int) bool {
	readings, err := must.Of(func() []Reading { return b.readings(b.call, index) })
	return err == nil && readings[0].out(index) == nil
}

// judgeMended judges an argument that a call wrote to.
func (b *bound) judgeMended(f *Finding, was *argument, full bool) {
	if was.err != nil {
		f.fail(was.err, "")
		return
	}
	for len(b.r.flat) <= f.Index {
		b.r.flat, b.bad, b.call.outs = append(b.r.flat, nil), append(b.bad, nil), append(b.call.outs, nil)
	}
	var best *Finding
	looked := 0
	// A call may read the buffer twice, and others of the same size: what explains it is what it
	// is.
	try := func(v *msprobe.Value, from *recordedCall) (done bool) {
		o, err := b.files.tensor(v, from.Name+" "+v.Section.String()+"."+v.Path)
		if looked++; err != nil || count(o.shape) != count(was.op.shape) {
			return false
		}
		if x := o.shaped(was.op.shape); x != nil {
			o = x
		}
		again := b.blank(was.v, f.Index)
		b.r.flat[f.Index], b.call.outs[f.Index] = &argument{v: v, place: o.name, op: o}, o
		defer func() { b.call.outs[f.Index] = nil }()
		b.judge(&again, full)
		again.Reasons = append(again.Reasons, because(ReadBy, from.Name, v.Section.String()+"."+v.Path))
		switch {
		case again.Verdict == Suspect && again.Reasons[0].Kind == OutsideCache:
		case again.Verdict != OK && again.Verdict != Unknown && !b.follows(was.op, o, f.Index):
			return false
		}
		if best == nil || best.Verdict == Unknown || again.Verdict != Unknown && again.Verdict < best.Verdict {
			best = &again
		}
		return again.Verdict == OK
	}
	for _, later := range b.of.calls[b.order+1:] {
		for at := range later.Values {
			v := &later.Values[at]
			if n, ok := v.Elements(); v.Section == msprobe.Output || v.Kind != msprobe.Tensor || v.DataName == "" || v.Elem != was.v.Elem || !ok || n != count(was.op.shape) {
				continue
			}
			if try(v, later) || looked > mostRead {
				break
			}
		}
		// What looks wrong may be another buffer of the same size: one that is right may come.
		if best != nil && (best.Verdict == OK || best.Reasons[0].Kind == OutsideCache) || looked > mostRead {
			break
		}
	}
	if best == nil {
		unknown(f, because(NotRead, was.place))
		_, err := must.Of(func() []Reading { return b.readings(b.call, f.Index) })
		if again := b.blank(was.v, f.Index); err != nil {
			if again.fail(err, ""); again.Reasons[0].Kind == OutsideCache {
				*f = again
			}
		}
		return
	}
	*f = *best
}

// follows tells whether a tensor is what became of a buffer, though not what it should be: most of
// what was in it is as it was, the number apart that most of an empty buffer has, or most of what
// was to be written stands somewhere in it.
func (b *bound) follows(was, now *operand, index int) bool {
	n := min(count(was.shape), sampled)
	old, new := make([]float64, n), make([]float64, n)
	if n == 0 || !reads(was, 0, old) || !reads(now, 0, new) {
		return false
	}
	seen, there := map[float64]int{}, map[float64]bool{}
	empty := old[0]
	for i, x := range old {
		if seen[x]++; seen[x] > seen[empty] {
			empty = x
		}
		there[new[i]] = true
	}
	same, held := 0, 0
	for i, x := range old {
		if x == empty {
			continue
		}
		if held++; x == new[i] {
			same++
		}
	}
	if len(seen) > 2 && 2*same > held {
		return true
	}
	if b.k.has("head_size") && keepsLengths(old, new, int(b.k.int("head_size", 0))) {
		return true
	}
	readings, err := must.Of(func() []Reading { return b.readings(b.call, index) })
	if err != nil || readings[0].out(index) == nil {
		return false
	}
	want := make([]float64, n)
	if !reads(readings[0].out(index), 0, want) {
		return false
	}
	p := precisionFor(now.numeric())
	written, found := 0, 0
	for i, x := range want {
		if x = p.Round(x); p.Round(x) != old[i] && seen[x] == 0 {
			if written++; there[x] {
				found++
			}
		}
	}
	return written > 0 && 2*found > written
}

// keepsLengths tells whether the rows of so many numbers are as long as they were, nearly all of
// them and more than a few: heads that were turned by whatever angles are.
func keepsLengths(old, new []float64, width int) bool {
	same, rows := 0, 0
	for ; width > 0 && (rows+1)*width <= len(old); rows++ {
		was, now := 0.0, 0.0
		for i := rows * width; i < (rows+1)*width; i++ {
			was, now = was+old[i]*old[i], now+new[i]*new[i]
		}
		same += int(toNumber(abs(now-was) <= 0x1p-7*was && was > 0)) // of bfloat16
	}
	return rows >= 4 && 10*same >= 9*rows
}
