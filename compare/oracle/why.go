package oracle

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"precision/compare/pattern"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/graph"
	"precision/internal/must"
)

// What kind of wrong an output is. Once elements are beyond their bounds, hypotheses are tried on
// them: numbers alone (a factor, an offset, a stale or shifted tensor, truncation, a wrong type:
// compare/pattern), and then other readings of the call, with one argument taken for another, a
// part of the operator left out, or operands exchanged.
//
// A hypothesis is named only if it makes most of the difference go away, and where several do the
// one that leaves least. It is evidence for whoever looks for the fault, and takes no part in the
// verdict: an output is wrong by its elements alone.

const (
	// mostExplained bounds the elements of an output that hypotheses are tried
	// on whole; of a larger one they see a sample.
	mostExplained = 1 << 18
	// mostEarlier is how many earlier outputs stale data is looked for in.
	mostEarlier = 16
	// mostPictured bounds the elements of an output that are kept.
	mostPictured = 1 << 21
)

// explain tries what kind of wrong an output is, and names the kind that its numbers bear out best.
// Outputs of up to mostExplained elements are looked at whole, larger ones at samples, extremes and
// misses. Values, bounds and recorded numbers go to the hypotheses of compare/pattern; readings
// that leave the graph are tried where these say nothing or little.
func (c *checker) explain(f *Finding, best Reading, j *judge) {
	v := best.out(c.index)
	n := c.rec.view.Len()
	kase := pattern.Case{Shape: c.rec.shape, Axes: c.rec.axes, Block: c.rec.block, DType: c.rec.typ}
	if n > mostExplained || cost(v)*float64(n) > mostCounted {
		if must.Try(c.scan) != nil {
			return
		}
		kase.At = samples(c.rec.shape, c.ext.places())
		for _, m := range j.misses {
			kase.At = append(kase.At, m.i)
		}
		kase.At = sortedUnique(kase.At)
		if most := int(max(min(mostCounted/cost(v), 4096), 64)); len(kase.At) > most {
			kase.At = thinned(kase.At, most)
		}
		n = int64(len(kase.At))
	}
	read := func(v Values, y, b []float64) {
		if kase.At == nil {
			v.Range(0, y, b)
		} else {
			v.At(kase.At, y, b)
		}
	}
	want := func(v Values, half []float64) (y, b []float64) {
		y, b = make([]float64, n), make([]float64, n)
		read(v, y, b)
		for i := range b {
			if half != nil {
				half[i] = halfOver(c.rec.typ) * b[i] / 4
			}
			b[i] = j.bound(y[i], b[i])
			if half != nil {
				half[i] += b[i]
			}
		}
		return y, b
	}
	kase.Half, kase.Got = make([]float64, n), make([]float64, n)
	if must.Try(func() {
		kase.Want, kase.Bound = want(v, kase.Half)
		read(c.rec, kase.Got, nil)
	}) != nil {
		return
	}
	try := func(list []alternative) {
		for _, a := range list {
			_ = must.Try(func() { // one that cannot be computed explains nothing
				y, b := want(a.v, nil)
				kase.Alternatives = append(kase.Alternatives, pattern.Alternative{Kind: a.kind, Args: a.args, Want: y, Bound: b})
			})
		}
	}
	try(alternatives(v))
	if kase.At == nil {
		kase.Operands = c.tensors(int(n))
	}
	kase.Other = c.others()
	found, err := pattern.Find(kase)
	if err == nil && (len(found) == 0 || isGeneral(&found[0])) {
		try(c.otherwise(v, &kase, func(v Values) (y, b []float64, err error) {
			err = must.Try(func() { y, b = want(v, nil) })
			return y, b, err
		}))
		found, err = pattern.Find(kase)
	}
	if err != nil {
		return
	}
	f.Patterns = found
	if len(found) > 0 {
		f.Pattern = string(found[0].Kind)
	}
	// Sums in float16 look like noise to what does not know the terms.
	if vague := len(found) == 0 || found[0].Kind.Vague() && found[0].Kind != pattern.Border; vague && isProduct(v) && lowAccumulation(j) {
		f.Pattern = "acc16"
	}
}

// show keeps the elements of an output and what they should be, where that is no more than a
// moment's work. Up to 2 M elements, if they can be recomputed in as many operations as a second
// look takes.
func (c *checker) show(f *Finding, best Reading) {
	v, n := best.out(c.index), c.rec.view.Len()
	if n > mostPictured || cost(v)*float64(n) > mostRechecked {
		return
	}
	want, got, bounds := make([]float64, n), make([]float64, n), make([]float64, min(n, slab))
	for from := int64(0); from < n; from += slab {
		to := min(from+slab, n)
		if must.Try(func() { v.Range(from, want[from:to], bounds[:to-from]) }) != nil || !reads(c.rec, from, got[from:to]) {
			return
		}
	}
	f.Want, f.Got = want, got
}

// general are kinds that another reading of the operator may explain better: a factor is what
// another epsilon makes, too.
var general = map[pattern.Kind]bool{pattern.Scale: true, pattern.Offset: true, pattern.Affine: true, pattern.SliceOffset: true, pattern.SliceScale: true,
	pattern.RowScale: true, pattern.Slope: true, pattern.Clipped: true, pattern.Shifted: true, pattern.Reversed: true, pattern.SlicesPermuted: true,
	pattern.StrideIgnored: true, pattern.StrideDoubled: true, pattern.InvertedMask: true}

// isGeneral reports whether another reading may say more than a finding: also where another
// tensor's numbers stand, which a choice between inputs gives, and the same fault before.
func isGeneral(f *pattern.Finding) bool {
	return general[f.Kind] || f.Kind.Vague() || f.Kind == pattern.Stale || f.Left > 2
}

// tensors are the inputs that have one number for every element, or one for all.
// What a factor or an offset of each element may be.
func (c *checker) tensors(n int) (out []pattern.Tensor) {
	for _, o := range c.call.operands() {
		if k := o.view.Len(); k == int64(n) || k == 1 {
			t := pattern.Tensor{Name: o.name, Values: make([]float64, k)}
			if reads(o, 0, t.Values) {
				out = append(out, t)
			}
		}
	}
	return out
}

// others are the tensors that stale data may come from: the operator's inputs
// and what was computed before it.
func (c *checker) others() iter.Seq[pattern.Tensor] {
	return func(yield func(pattern.Tensor) bool) {
		for _, o := range c.call.operands() {
			if o.view.Len() > mostExplained {
				continue
			}
			t := pattern.Tensor{Name: strings.TrimPrefix(o.name, "input "), Values: make([]float64, o.view.Len()), Input: true}
			if reads(o, 0, t.Values) && !yield(t) {
				return
			}
		}
		if c.earlier != nil {
			c.earlier(yield)
		}
	}
}

// earlier yields what the same call gave at the step before, and then what the calls before it
// gave, the nearest first.
func (c *recordedCall) earlier(yield func(pattern.Tensor) bool) {
	var before []*recordedCall
	if c.of.before != nil && c.of.before.index[c.Name] != nil {
		before = append(before, c.of.before.index[c.Name])
	}
	for i := c.order - 1; i >= max(0, c.order-mostEarlier); i-- {
		before = append(before, c.of.calls[i])
	}
	for _, b := range before {
		if b.repeats(c) {
			continue
		}
		f := &files{path: b.of.path}
		for i, a := range recordedOf(b.Call).flat {
			if n := int64(0); a.tensor() {
				if n, _ = a.v.Elements(); n == 0 || n > mostExplained {
					continue
				}
				t := pattern.Tensor{Name: b.name + ":output:" + itoa(i), Values: make([]float64, n)}
				if o, err := f.tensor(a.v, t.Name); err == nil && reads(o, 0, t.Values) && !yield(t) {
					f.close()
					return
				}
			}
		}
		f.close()
	}
}

// repeats tells a call of the same function with arguments of the same statistics, as checkpointing
// makes: what is wrong with both is no old data.
func (c *recordedCall) repeats(o *recordedCall) bool {
	if c.kind() != o.kind() || len(c.Values) != len(o.Values) {
		return false
	}
	for i := range c.Values {
		if v, w := &c.Values[i], &o.Values[i]; v.Section != msprobe.Output && (v.Max != w.Max || v.Min != w.Min || v.Norm != w.Norm) {
			return false
		}
	}
	return true
}

// earlier yields the outputs of the operators before a task, the nearest first.
func (j Job) earlier(t task) iter.Seq[pattern.Tensor] {
	return func(yield func(pattern.Tensor) bool) {
		left := mostEarlier
		device := j.Devices[t.device]
		var before []task
		for op := range j.Graph.Ops() {
			if op.ID >= t.op.ID || op.Graph != t.op.Graph {
				continue
			}
			if rec := device.Folder.Op(op.Name); rec != nil && !skipped[op.Type] {
				before = append(before, task{op, t.device, rec.Newest()})
			}
		}
		for i := len(before) - 1; i >= 0 && left > 0; i-- {
			r, err := before[i].entry.Open()
			if err != nil {
				continue
			}
			for k := range r.Outputs {
				o, err := openOperand(r, &r.Outputs[k], descAt(before[i].op.OutputDesc, k))
				if err != nil || o.view.Len() > mostExplained {
					continue
				}
				tensor := pattern.Tensor{Name: before[i].op.Name + ":output:" + itoa(k), Values: make([]float64, o.view.Len())}
				if reads(o, 0, tensor.Values) && !yield(tensor) {
					r.Close()
					return
				}
				left--
			}
			r.Close()
		}
	}
}

// alternative is what an output would be if part of its operator were left out
// or done otherwise.
type alternative struct {
	kind pattern.Kind
	args any
	v    Values
}

// alternatives lists what can be left out of v.
// Without the bias; the product without what is done to it; and two blocks of weights exchanged.
func alternatives(v Values) (out []alternative) {
	try := func(kind pattern.Kind, change func(v Values) Values) {
		if w := rewritten(v, change); w != nil {
			out = append(out, alternative{kind: kind, v: w})
		}
	}
	try(pattern.MissingBias, func(v Values) Values {
		if v, is := v.(*product); is && v.bias != nil {
			w := *v
			w.bias = nil
			return &w
		}
		return nil
	})
	try(pattern.MissingOperand, func(v Values) Values {
		if p, ok := v.(*pointwise); ok && len(p.in) == 2 && isProduct(p.in[0]) {
			return p.in[0]
		}
		return nil
	})
	try(pattern.WrongWeight, func(of Values) Values {
		v, is := of.(*product)
		if !is || !v.held || v.conv != nil && v.conv.groups > 1 {
			return nil
		}
		w := *v
		if m := v.conv; m != nil {
			w.l32 = swappedBlocks(v.l32, int(v.rows), int(m.cg), int(m.places))
		} else {
			w.r32 = swappedBlocks(v.r32, len(v.r32)/max(int(v.cols), 1), int(v.cols), 1)
		}
		return &w
	})
	return out
}

// expected are the values of a reading and their bounds, at the elements that hypotheses are tried
// on.
type expected func(v Values) (y, b []float64, err error)

// otherReadings are those of an output of a call with one argument as a kernel may have taken it:
// another epsilon or axis, the other of two words, a mask inverted, places one off or in another
// order, what belongs to another expert, channel, token or sequence.
type otherReadings struct {
	*bound
	index     int
	got, want []float64
	expected
	out []alternative
}

// with are the readings of a changed call.
func (o *otherReadings) with(change func(k *invocation)) []Reading {
	readings, _ := must.Of(func() []Reading {
		k := o.k.with(nil)
		k.Call = o.call
		change(k)
		return o.readingsBy(k, o.index)
	})
	return readings
}

// given are the readings with an argument in place of one of a name.
func (o *otherReadings) given(name string, a *argument) []Reading {
	return o.with(func(k *invocation) { k.args[name] = a })
}

// add keeps readings that come nearer to what was recorded.
// They must take away a twentieth of the error at least.
func (o *otherReadings) add(kind pattern.Kind, args any, readings []Reading) {
	was := apartOf(o.want, o.got)
	for _, r := range readings {
		if v := r.out(o.index); v != nil && sameCount(v.Shape(), o.call.outs[o.index].shape) {
			if y, _, err := o.expected(v); err == nil && apartOf(y, o.got).within(0.95, was) {
				o.out = append(o.out, alternative{kind, args, v})
			}
		}
	}
}

// attribute tries an argument whose value is other than the one recorded.
func (o *otherReadings) attribute(kind pattern.Kind, name, value string, a *argument) {
	given := name // of a tensor, whose values are those with something done to it
	if was := o.k.args[name]; was.none() {
		given = "None"
	} else if was.v != nil && !was.tensor() {
		given = was.text()
	}
	o.add(kind, pattern.Attribute{Name: name, Value: value, Graph: given}, o.given(name, a))
}

// renumbered is a tensor with other numbers.
func renumbered(o *operand, of func(list []float64, j int64) float64) *argument {
	v, list := inMemory(o.name, o.typ, o.shape), numbers(o)
	for j := range list {
		if x := of(list, int64(j)); v.f32 != nil {
			v.f32[j] = float32(x)
		} else {
			v.f64[j] = x
		}
	}
	return &argument{v: &msprobe.Value{Kind: msprobe.Tensor}, place: o.name, op: v}
}

// taken is an argument with slices of others in their places along an axis; of a list of tensors,
// these. from says which slice comes in the place of slice e; a list of tensors has a slice each.
func taken(a *argument, axis int, from func(e int64) int64) *argument {
	switch {
	case a.tensor():
		n, inner := a.op.shape[axis], count(a.op.shape[axis+1:])
		return renumbered(a.op, func(list []float64, j int64) float64 {
			e := j / inner % n
			return list[j+(from(e)-e)*inner]
		})
	case len(a.list) == 1:
		return &argument{list: []*argument{taken(a.list[0], axis, from)}}
	}
	w := &argument{}
	for e := range a.list {
		w.list = append(w.list, a.list[from(int64(e))])
	}
	return w
}

// further is an argument with another slice in the place of each, which is so many further on of n.
func further(a *argument, axis int, n, by int64) *argument {
	return taken(a, axis, func(e int64) int64 { return (e + by + n) % n })
}

const (
	// mostSlices is how many experts, sequences or channels are put in each other's place.
	mostSlices = 64
	// mostEntries is how many entries of a table are taken for others.
	mostEntries = 64
)

// inOrder tries slices of an argument along an axis, which no two share an element of the output,
// in the order that was recorded: two exchanged, or one taken for another. n readings with all
// slices by further on tell of each element which slice would explain it; a reading with one slice
// changed tells which elements depend on it. A slice is moved where one other explains all of its
// elements: 2n readings, not n².
func (o *otherReadings) inOrder(name string, a *argument, axis int, n int64) {
	if n < 3 || n > mostSlices {
		return
	}
	at := func(a *argument) (y, b []float64) {
		for _, r := range o.given(name, a) {
			if v := r.out(o.index); v != nil {
				y, b, _ = o.expected(v)
				break
			}
		}
		return y, b
	}
	var fits [][]bool // by the slice that is taken instead, that many further on
	for by := range n {
		y, b := at(further(a, axis, n, by))
		if y == nil {
			return
		}
		fit := make([]bool, len(y))
		for p := range y {
			fit[p] = abs(o.got[p]-y[p]) <= b[p]
		}
		fits = append(fits, fit)
	}
	order, text, moved := make([]int64, n), []string{}, 0
	for e := range n {
		order[e] = e
		y, _ := at(taken(a, axis, func(i int64) int64 { return (i + int64(toNumber(i == e))) % n }))
		var reached []int // elements that the slice goes into
		for p := range y {
			if y[p] != o.want[p] {
				reached = append(reached, p)
			}
		}
		best := slices.IndexFunc(fits, func(fit []bool) bool { return !slices.ContainsFunc(reached, func(p int) bool { return !fit[p] }) })
		if best > 0 && len(reached) > 0 {
			order[e] = (e + int64(best)) % n
			moved++
			text = append(text, fmt.Sprintf("%s[%d] = %[1]s[%[3]d]", name, e, order[e]))
		}
	}
	if moved > 4 {
		text = append(text[:4], "…")
	}
	if moved > 0 {
		o.attribute(pattern.WrongAttribute, name, strings.Join(text, ", "), taken(a, axis, func(e int64) int64 { return order[e] }))
	}
}

// entries tries one entry of a table of pages taken for another: that of the page behind or before,
// of its neighbours in the table, or any of the first pages. The first 64 entries; each value once.
func (o *otherReadings) entries(name string, a *argument) {
	list, width := numbers(a.op), a.op.shape[len(a.op.shape)-1]
	for e := range min(int64(len(list)), mostEntries) {
		values := map[float64]bool{list[e]: true}
		try := func(x float64) {
			if !values[x] && x >= 0 {
				values[x] = true
				o.attribute(pattern.WrongAttribute, name, fmt.Sprintf("%s[%d, %d] = %g", name, e/width, e%width, x), renumbered(a.op, func(list []float64, j int64) float64 {
					if j == e {
						return x
					}
					return list[j]
				}))
			}
		}
		for _, at := range []int64{e - 1, e + 1, e - width, e + width} {
			if at >= 0 && at < int64(len(list)) {
				try(list[at])
			}
		}
		try(list[e] + 1)
		try(list[e] - 1)
		for x := range 16 {
			try(float64(x))
		}
	}
}

// misread tries an argument whose bits were taken for another type of the same width.
func (o *otherReadings) misread(name string, a, t *argument) {
	for _, pair := range [][2]dtype.Type{{dtype.Float16, dtype.BFloat16}, {dtype.Int8, dtype.Uint8}} {
		for i, of := range pair {
			if as := pair[1-i]; t.op.typ == of {
				w := renumbered(t.op, func(list []float64, j int64) float64 { return pattern.Reread(of, as, list[j]) })
				if a != t {
					w = &argument{list: []*argument{w}}
				}
				o.attribute(pattern.WrongAttribute, name, name+".view("+as.String()+")", w)
			}
		}
	}
}

// try tries all arguments. Epsilons that are usual; the other of two words or truths; scales of 1,
// squared and rooted, or those of the next or the first slice; axes 0 to 3; paddings one off; masks
// inverted; indices one off, reversed, of the next row; pages of a table; experts in other places.
func (o *otherReadings) try() {
	wrong := pattern.WrongAttribute
	if o.k.has("cos") {
		o.add(wrong, pattern.Attribute{Name: "rotary_mode", Value: "half", Graph: "interleave"}, o.with(func(k *invocation) { k.straight = true }))
	}
	if o.k.has("padding") {
		for _, by := range []int64{1, -1} {
			pads := pattern.Attribute{Name: "padding", Value: fmt.Sprintf("padding before %+d, behind %+d", by, -by), Graph: o.k.args["padding"].text()}
			o.add(wrong, pads, o.with(func(k *invocation) { k.padBy = by }))
		}
	}
	for _, name := range o.f.params {
		a := o.k.args[name]
		x, isNumber := a.number()
		t := a // the tensor, also where it is a list of one
		if a != nil && a.v == nil && len(a.list) == 1 {
			t = a.list[0]
		}
		scales := strings.Contains(name, "scale") || strings.Contains(name, "offset") || name == "probs"
		if t != nil && t.tensor() && t.op != nil && count(t.op.shape) <= maxDense {
			o.attribute(wrong, name, "None", nil)
			o.misread(name, a, t)
		}
		switch {
		case name == "eps" || name == "epsilon":
			for _, eps := range []float64{1e-3, 1e-5, 1e-6, 1e-8, 1e-12} {
				if eps != x || !isNumber {
					o.attribute(pattern.WrongEpsilon, name, fmt.Sprint(eps), numberArgument(eps))
				}
			}
		case isNumber && (name == "rotary_mode" || a.v.Kind == msprobe.Scalar && a.v.Value.Kind == msprobe.Bool):
			o.attribute(wrong, name, fmt.Sprint(1-x), numberArgument(1-x))
		case name == "rotary_mode":
			other := map[bool]string{true: "half", false: "interleave"}[!a.none() && a.text() == "interleave"]
			o.attribute(wrong, name, other, textArgument(other))
		case scales && (a.none() || isNumber):
			for _, factor := range []float64{1, x * x, math.Sqrt(x)} {
				if factor != x && factor > 0 {
					o.attribute(wrong, name, fmt.Sprint(factor), numberArgument(factor))
				}
			}
		case name == "dim" || name == "axis":
			for axis := range 4 {
				if isNumber && float64(axis) != x {
					o.attribute(wrong, name, itoa(axis), numberArgument(float64(axis)))
				}
			}
		case name == "pad" && a != nil && len(a.list) > 1:
			p, first := a.list[0].number()
			q, second := a.list[1].number()
			for _, by := range []float64{1, -1} {
				if first && second {
					moved := append([]*argument{numberArgument(p + by), numberArgument(q - by)}, a.list[2:]...)
					o.attribute(wrong, name, fmt.Sprintf("%g, %g", p+by, q-by), &argument{list: moved})
				}
			}
		case o.k.has("group_list") && a != nil && a.v == nil && len(a.list) > 1 && a.list[0].tensor(): // a tensor for each expert
			o.inOrder(name, a, 0, int64(len(a.list)))
		case t == nil || !t.tensor() || t.op == nil || count(t.op.shape) > maxDense:
		case strings.HasSuffix(name, "mask") || name == "condition":
			o.add(pattern.InvertedMask, pattern.Masked{}, o.given(name, renumbered(a.op, func(list []float64, j int64) float64 { return float64(toNumber(list[j] == 0)) })))
		case scales:
			for axis, n := range t.op.shape {
				if n < 2 {
					continue
				}
				for _, by := range []int64{1, -1} {
					o.attribute(wrong, name, fmt.Sprintf("roll(%s, %d, %d)", name, -by, axis), further(a, axis, n, by))
				}
				o.attribute(wrong, name, fmt.Sprintf("take(%s, [0], %d)", name, axis), taken(a, axis, func(int64) int64 { return 0 }))
				o.inOrder(name, a, axis, n)
			}
		case discrete(t.op.typ) && (name == "input" || name == "slot_mapping" || name == "block_table" || strings.Contains(name, "ind")):
			for _, by := range []float64{1, -1} {
				o.attribute(wrong, name, fmt.Sprintf("%s%+g", name, by), renumbered(t.op, func(list []float64, j int64) float64 { return list[j] + by }))
			}
			if last := len(t.op.shape) - 1; last > 0 {
				n := t.op.shape[last]
				o.attribute(wrong, name, name+"[..., ::-1]", taken(t, last, func(e int64) int64 { return n - 1 - e }))
				n = t.op.shape[0]
				o.attribute(wrong, name, fmt.Sprintf("roll(%s, -1, 0)", name), further(t, 0, n, 1))
			}
			if name == "block_table" {
				o.entries(name, t)
			}
		case len(t.op.shape) == 3 && o.k.has("group_list"):
			n := t.op.shape[0]
			for _, by := range []int64{1, -1} {
				o.attribute(wrong, name, fmt.Sprintf("roll(%s, %d, 0)", name, -by), further(a, 0, n, by))
			}
			o.inOrder(name, a, 0, n)
		}
	}
}

// rewritten returns v with the first part that change applies to changed; nil if
// there is none.
func rewritten(v Values, change func(v Values) Values) Values {
	if w := change(v); w != nil {
		return w
	}
	switch v := v.(type) {
	case *strided:
		if in := rewritten(v.in, change); in != nil {
			w := *v
			w.in, w.idx = in, nil
			return &w
		}
	case *rounded:
		if in := rewritten(v.Values, change); in != nil {
			return &rounded{in, v.p}
		}
	case *concat: // all parts
		w := *v
		w.parts = nil
		for _, p := range v.parts {
			if w.parts = append(w.parts, rewritten(p, change)); w.parts[len(w.parts)-1] == nil {
				return nil
			}
		}
		return &w
	case *pointwise:
		for i := range v.in {
			if in := rewritten(v.in[i], change); in != nil {
				w := *v
				w.in = append([]Values{}, v.in...)
				w.in[i] = in
				w.x, w.e, w.x32 = make([][]float64, len(w.in)), make([][]float64, len(w.in)), make([][]float32, len(w.in))
				return &w
			}
		}
	}
	return nil
}

// swappedBlocks is a matrix of rows × cols, each of depth numbers, with every
// block of 16 × 16 transposed, as reading a blocked layout in the wrong order does.
// What lies beyond the edge of a block is 0.
func swappedBlocks(w []float32, rows, cols, depth int) []float32 {
	out := make([]float32, len(w))
	for r := range rows {
		for c := range cols {
			from, to := r/16*16+c%16, c/16*16+r%16
			if from < rows && to < cols {
				copy(out[(r*cols+c)*depth:][:depth], w[(from*cols+to)*depth:])
			}
		}
	}
	return out
}

// isProduct reports whether the elements of v are sums of products.
func isProduct(v Values) bool {
	switch v := v.(type) {
	case *product:
		return true
	case *strided:
		return isProduct(v.in)
	case *rounded:
		return isProduct(v.Values)
	case *pointwise:
		if slices.ContainsFunc(v.in, func(in Values) bool { return isProduct(in) }) {
			return true
		}
	}
	return false
}

// lowAccumulation reports whether the misses are what sums in float16 give: none
// is larger than rounding every partial sum to float16 allows, which is the
// bound B with the unit of float16 in place of float32's; many elements are off, to
// both sides, and not in proportion to their values.
func lowAccumulation(j *judge) bool {
	half := halfOver(dtype.Float16)
	if len(j.misses) < 8 {
		return false
	}
	up, same, squares, cross := 0, 0.0, 0.0, 0.0
	for _, m := range j.misses {
		off := m.found - m.y
		if math.IsNaN(off) || math.IsInf(off, 0) || abs(off) > half*m.before/4 {
			return false
		}
		if off > 0 {
			up++
		}
		same += m.y * m.y
		squares += off * off
		cross += m.y * off
	}
	share := float64(up) / float64(len(j.misses))
	return share > 0.1 && share < 0.9 && abs(cross) < 0.7*math.Sqrt(same*squares)
}

// halfOver is how much coarser half precision rounds than the float32 of bounds: bfloat16 where
// numbers are recorded in it, else float16, which is what kernels fall back to.
func halfOver(t dtype.Type) float64 {
	if t == dtype.BFloat16 {
		return 0x1p-8 / u32
	}
	return 0x1p-11 / u32
}

// A tensor that one operator makes and another takes is recorded twice: where the two differ, one
// is not what the device had, and what was recomputed from it says nothing of the kernel.

// mostHeld is how many elements of the two are held against each other: all of a small tensor, and
// of others enough to see that it was written over, exchanged or lost.
const mostHeld = 4096

// contrary adds to the findings of an operator which of its inputs are not what was recorded
// where they were made.
func (j Job) contrary(t task, r *dump.Reader, findings []Finding) {
	at := -1
	for slot, e := range t.op.Inputs {
		if e.IsControl() || e.IsEmpty() {
			continue
		}
		if at++; at >= len(r.Inputs) {
			return
		}
		differ, looked := j.held(t, r, &r.Inputs[at], descAt(t.op.InputDesc, slot), e)
		if differ == 0 {
			continue
		}
		for i := range findings {
			f := &findings[i]
			switch f.Verdict {
			case Unknown:
				continue
			case OK:
				f.Verdict = Suspect
			}
			f.Reasons = append(f.Reasons, because(Contrary, at, e.Producer(), e.Index, differ, looked))
		}
	}
}

// held is in how many elements an input and the output that an edge names were found to differ,
// and how many were looked at.
func (j Job) held(t task, r *dump.Reader, in *dump.Tensor, desc *graph.TensorDesc, e graph.Edge) (differ, looked int) {
	rec := j.Devices[t.device].Folder.Op(e.Producer())
	if rec == nil || r.Slices != nil {
		return 0, 0
	}
	made, err := rec.Newest().Open()
	if err != nil {
		return 0, 0 // told of its operator
	}
	defer made.Close()
	if made.Slices != nil || e.Index < 0 || int64(e.Index) >= int64(len(made.Outputs)) || made.Misnamed() != nil {
		return 0, 0
	}
	out := &made.Outputs[e.Index]
	if out.Type != in.Type || out.Format != in.Format || out.SubFormat != in.SubFormat {
		return 0, 0
	}
	if sameBytes(r, in, made, out) {
		return 0, 0
	}
	a := someOf(r, in, desc)
	differ = unlike(a, someOf(made, out, desc))
	if differ == 0 || writtenOver(r, in, a, desc) {
		return 0, 0
	}
	return differ, len(a)
}

// sameBytes tells whether two tensors are stored as the same bytes, which takes no more than
// reading them.
func sameBytes(r *dump.Reader, t *dump.Tensor, s *dump.Reader, u *dump.Tensor) bool {
	if t.Size != u.Size || !slices.Equal(t.Shape, u.Shape) || !slices.Equal(t.OriginShape, u.OriginShape) || t.Err != nil || u.Err != nil {
		return false
	}
	kept := raws.Get().(*[2][]byte)
	defer raws.Put(kept)
	for at := uint64(0); at < t.Size; at += tile {
		n := min(tile, t.Size-at)
		a, b := grow(kept[0], int(n)), grow(kept[1], int(n))
		kept[0], kept[1] = a, b
		if i, _ := r.ReadAt(a, t.Offset+int64(at)); i < len(a) {
			return false
		}
		if i, _ := s.ReadAt(b, u.Offset+int64(at)); i < len(b) || !bytes.Equal(a, b) {
			return false
		}
	}
	return true
}

// raws are what [sameBytes] reads into.
var raws = sync.Pool{New: func() any { return new([2][]byte) }}

// writtenOver tells whether the operator put an output in the place of an input, which was
// recorded after that; some are elements of the input.
func writtenOver(r *dump.Reader, in *dump.Tensor, some []float64, desc *graph.TensorDesc) bool {
	uniform := true
	for _, v := range some {
		uniform = uniform && v == some[0]
	}
	for i := range r.Outputs {
		out := &r.Outputs[i]
		if in.Address != 0 && out.Address != 0 {
			if in.Address == out.Address {
				return true
			}
			continue
		}
		// One number everywhere is no sign of it.
		if out.Type != in.Type || out.Format != in.Format || uniform {
			continue
		}
		if b := someOf(r, out, desc); len(b) == len(some) && unlike(some, b) == 0 {
			return true
		}
	}
	return false
}

// someOf are evenly spaced elements of a tensor, nil if it cannot be read.
func someOf(r *dump.Reader, t *dump.Tensor, desc *graph.TensorDesc) []float64 {
	o, err := openOperand(r, t, desc)
	if err != nil || count(o.shape) != o.view.Len() {
		return nil
	}
	defer o.release()
	n := o.view.Len()
	idx := make([]int64, min(n, mostHeld))
	for i := range idx {
		if idx[i] = int64(i); n > mostHeld {
			idx[i] = int64(float64(i) * float64(n-1) / (mostHeld - 1))
		}
	}
	some := make([]float64, len(idx))
	if !readsAt(o, idx, some) {
		return nil
	}
	return some
}

// unlike is in how many places two lists differ, 0 where they are of different length.
func unlike(a, b []float64) (n int) {
	if len(a) != len(b) {
		return 0
	}
	for i := range a {
		if a[i] != b[i] && (a[i] == a[i] || b[i] == b[i]) {
			n++
		}
	}
	return n
}
