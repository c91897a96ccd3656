package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/dump/msprobe"
)

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
	var list []*recordedCall
	for _, name := range c.of.inside[m.Name] {
		if p := c.of.index[name]; p != nil && p.Parsed.Direction == m.Parsed.Direction {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *recordedCall) int { return a.order - b.order })
	c.parts[m.Name] = list
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

// output judges an output of a module.
func (c *composer) output(m *recordedCall, r *recorded, f *Finding) {
	parts := c.inside(m)
	if len(parts) == 0 {
		return
	}
	refuse := func(kind string, args ...any) {
		f.Reasons = f.Reasons[:0]
		switch kind {
		case "apart":
			unknown(f, because(Apart, len(parts)))
		case "part":
			unknown(f, because(PartUnknown, args...))
		default:
			unknown(f, because(Unmade, args...))
		}
	}
	made := c.madeBy(m, r.flat[f.Index].v, c.sources(m, r, nil))
	if made == nil {
		refuse("apart")
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
			refuse("part", s.call.Name)
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
				refuse("unmade", s.call.Name, missing)
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

// madeBy is what a tensor is: one source, or of gradients the sum of some; nil if it is none.
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

// tensor opens a tensor; nil if it cannot be read.
func (c *composer) tensor(v *msprobe.Value) *operand {
	if v.DataName == "" {
		return nil
	}
	o, err := c.files.tensor(v, "")
	if err != nil {
		return nil
	}
	return o
}

// same reports whether two tensors have the same elements.
func (c *composer) same(a, b *msprobe.Value) bool {
	if a == b || a.DataName != "" && a.DataName == b.DataName {
		return true
	}
	x, y := c.tensor(a), c.tensor(b)
	return x != nil && y != nil && sameElements(x, y)
}

// sum reports whether a tensor is the sum of some, each addition rounded once.
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
	y := c.tensor(v)
	if y == nil {
		return false
	}
	var in []*operand
	for _, s := range list {
		o := c.tensor(s.v)
		if o == nil {
			return false
		}
		in = append(in, o)
	}
	found, sum, total, x := make([]float64, tile), make([]float64, tile), make([]float64, tile), make([]float64, tile)
	for lo, n := int64(0), y.view.Len(); lo < n; lo += tile {
		k := min(tile, n-lo)
		clear(sum)
		clear(total)
		if y.Range(lo, found[:k], nil) != nil {
			return false
		}
		for _, o := range in {
			if o.Range(lo, x[:k], nil) != nil {
				return false
			}
			for i, v := range x[:k] {
				sum[i] += v
				total[i] += abs(v)
			}
		}
		for i, v := range sum[:k] {
			if !(abs(found[i]-v) <= float64(len(in))*u*total[i]) {
				return false
			}
		}
	}
	return true
}
