package recording

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
	"precision/internal/order"
	catalogue "precision/op"
)

// A network that moved from PyTorch to MindSpore has its modules at the same paths, under other classes, and makes
// its calls under other names: a Dense is reshape, MatMul, BiasAdd and reshape where a Linear is one linear.
// Modules are paired by path and number; calls by what they do, module by module in their order; backward
// calls as their forward calls are. What one framework alone has, shapes, primitives inside a module that is
// compared, the steps of an optimizer, has no partner and is not expected to have one.

// does is what a function does, whatever a framework calls it.
func (c *call) does() string {
	name := c.Parsed.API
	if c.kernel() {
		name = c.Parsed.Class
	} else if c.Parsed.Prefix == "Primitive" {
		name = name[strings.LastIndexByte(name, '.')+1:]
	}
	if does := catalogue.Of(name).Does; does != "" {
		return does
	}
	return strings.ToLower(strings.Trim(name, "_"))
}

// ofMindSpore tells whether the tensors of a side are MindSpore's; false for known without any.
func (s *side) ofMindSpore() (is, known bool) {
	for _, c := range s.calls {
		for i := range c.leaves {
			if l := &c.leaves[i]; l.tensor() {
				return strings.HasPrefix(l.Type, "mindspore"), strings.HasPrefix(l.Type, "mindspore") || strings.HasPrefix(l.Type, "torch")
			}
		}
	}
	return false, false
}

// across tells whether one side is MindSpore's and the other PyTorch's, and which is the former.
func across(left, right *side) (mindspore, torch *side, ok bool) {
	a, known := left.ofMindSpore()
	b, too := right.ofMindSpore()
	switch {
	case !known || !too || a == b || left.unordered || right.unordered:
		return nil, nil, false
	case a:
		return left, right, true
	}
	return right, left, true
}

// migrated pairs the calls of a network in MindSpore with those of the same in PyTorch. ms is the former.
func migrated(ms, pt *side) {
	sameModules(ms, pt)
	type scope struct{ ms, pt []*call }
	scopes := map[*call]*scope{}
	var order []*scope
	at := func(module *call) *scope {
		x := scopes[module]
		if x == nil {
			x = &scope{}
			scopes[module], order = x, append(order, x)
		}
		return x
	}
	for _, s := range []*side{ms, pt} {
		for _, c := range s.calls {
			if c.Parsed.Form != msprobe.API || c.Parsed.Direction != msprobe.Forward || c.pair != nil || c.fused != nil || c.first() == nil {
				continue
			}
			if module := s.around(c); s == ms {
				x := at(module)
				x.ms = append(x.ms, c)
			} else {
				if module != nil {
					module = module.pair
				}
				x := at(module)
				x.pt = append(x.pt, c)
			}
		}
	}
	for _, x := range order {
		units := combined(x.ms)
		for _, p := range longest(len(units), len(x.pt), func(i, k int) float64 {
			last := units[i][len(units[i])-1]
			if units[i][0].does() != x.pt[k].does() || !sameSize(last, x.pt[k]) {
				return 0
			}
			return 2 - apart(last.first(), x.pt[k].first())
		}) {
			list, one := units[p[0]], x.pt[p[1]]
			standFor(list, one)
			var back []*call
			for _, c := range slices.Backward(list) {
				if b := ms.find(backwardOf(c)); b != nil && b.pair == nil && b.fused == nil {
					back = append(back, b)
				}
			}
			if b := pt.find(backwardOf(one)); b != nil && b.pair == nil && b.fused == nil && len(back) > 0 {
				standFor(back, b)
			}
		}
	}
}

// around is the innermost module around a call that has a partner; nil if none has.
func (s *side) around(c *call) *call {
	name := s.parent[c.Name]
	for range 64 {
		if name == "" {
			break
		}
		if m := s.find(name); m != nil && m.pair != nil {
			return m
		}
		name = s.parent[name]
	}
	return nil
}

// backwardOf is the name of the backward call of a forward one.
func backwardOf(c *call) string {
	n := c.Parsed
	n.Direction = msprobe.Backward
	return n.String()
}

// sameModules pairs modules of the same path, direction and number, and what their parameters became. One
// side may have its network inside another module.
func sameModules(ms, pt *side) {
	modules := func(s *side) (list []*call) {
		for _, c := range s.calls {
			if (c.Parsed.Form == msprobe.Module || c.Parsed.Form == msprobe.ParametersGrad) && c.pair == nil && c.fused == nil {
				list = append(list, c)
			}
		}
		return list
	}
	a, b := modules(ms), modules(pt)
	key := func(c *call, without string) string {
		path := strings.TrimPrefix(c.Parsed.API, without)
		return path + "/" + strconv.Itoa(int(c.Parsed.Form)) + "/" + strconv.Itoa(int(c.Parsed.Direction)) + "/" + strconv.Itoa(c.Parsed.Number)
	}
	// outer are the first parts of the paths of a side, "" first.
	outer := func(list []*call) []string {
		found := []string{""}
		for _, c := range list {
			if head, _, ok := strings.Cut(c.Parsed.API, "."); ok && !slices.Contains(found, head+".") && len(found) < 8 {
				found = append(found, head+".")
			}
		}
		return found
	}
	var best [][2]*call
	for _, x := range outer(a) {
		for _, y := range outer(b) {
			if x != "" && y != "" {
				continue
			}
			index := map[string]*call{}
			for _, c := range b {
				index[key(c, y)] = c
			}
			var pairs [][2]*call
			for _, c := range a {
				if o := index[key(c, x)]; o != nil {
					pairs = append(pairs, [2]*call{c, o})
				}
			}
			if len(pairs) > len(best) {
				best = pairs
			}
		}
	}
	for _, p := range best {
		p[0].rename(p[1])
		joinMapped(p[0], p[1])
	}
}

// rename puts the parameters of a cell, and their gradients, to where its partner has them.
func (c *call) rename(partner *call) {
	for i := range c.leaves {
		l := &c.leaves[i]
		if l.Section != msprobe.Parameters && l.Section != msprobe.Gradients {
			continue
		}
		first, rest, _ := strings.Cut(l.path, ".")
		to := strings.TrimSuffix(l.Section.String()+"."+msprobe.ParameterNames[first]+"."+rest, ".")
		if msprobe.ParameterNames[first] != "" && partner.leaf(to, i) != nil && partner.leaf(l.place, i) == nil {
			c.place(i, to)
		}
	}
}

// combined are the calls of a module in MindSpore, a product with the bias that is added to it as one.
func combined(list []*call) (units [][]*call) {
	for i := 0; i < len(list); i++ {
		unit := list[i : i+1 : i+1]
		if d := list[i].does(); (d == "linear" || strings.HasPrefix(d, "conv")) && i+1 < len(list) {
			next := list[i+1]
			bias := next.Parsed.Prefix == "Primitive" && strings.HasSuffix(next.Parsed.API, ".BiasAdd")
			if in := next.leaf("input.0", 0); bias && in != nil && sameSize(list[i], next) && in.sameness() == list[i].first().sameness() {
				unit = list[i : i+2 : i+2]
				i++
			}
		}
		units = append(units, unit)
	}
	return units
}

// standFor pairs calls of one framework with the one of the other that they stand for. Values go to where the
// other has them, by their size and what is in them; what has no partner is left out.
func standFor(list []*call, one *call) {
	last := list[len(list)-1]
	whole := gather(slices.Clone(list))
	whole.Parsed = last.Parsed
	inside := map[identity]bool{}
	var open [2][]*leaf // inputs, outputs
	for n, x := range list {
		for i := range x.leaves {
			l := &x.leaves[i]
			if !l.tensor() {
				continue
			}
			if l.role == result.Input {
				if key := l.content(); key == 0 || !inside[key] {
					open[0] = append(open[0], l)
				}
				continue
			}
			if n == len(list)-1 || x.Parsed.Direction == msprobe.Backward {
				open[1] = append(open[1], l)
			}
			if key := l.content(); key != 0 && n < len(list)-1 {
				inside[key] = true
			}
		}
	}
	if len(list) > 1 { // what a later part takes in stays inside
		taken := map[identity]bool{}
		for _, x := range list[1:] {
			for i := range x.leaves {
				if l := &x.leaves[i]; l.role == result.Input && l.tensor() {
					taken[l.sameness()] = true
				}
			}
		}
		open[1] = slices.DeleteFunc(open[1], func(l *leaf) bool { return inside[l.content()] && taken[l.sameness()] })
	}
	loss := one.does() == "cross_entropy" && one.Parsed.Direction == msprobe.Backward
	kept := one.leaves[:0:0]
	for i := range one.leaves {
		l := one.leaves[i]
		if !l.tensor() {
			continue
		}
		side := 0
		if l.role == result.Output {
			if loss { // here the gradient of the logits, there that of their log_softmax
				continue
			}
			if in := one.handsOn(&l); in != nil {
				if k := slices.IndexFunc(whole.leaves, func(x leaf) bool { return x.place == in.place }); k >= 0 {
					whole.take(whole.taken[k], &l)
					kept = append(kept, l)
				}
				continue
			}
			side = 1
		}
		at, far := -1, 0.0
		for k, x := range open[side] {
			n, known := x.Elements()
			if m, too := l.Elements(); !known || !too || n != m || x.sort() != l.sort() {
				continue
			}
			d := apart(x, &l)
			if !sameShape(x.Shape, l.Shape) {
				d += 0.5
			}
			if at < 0 || d < far {
				at, far = k, d
			}
		}
		if at < 0 {
			continue
		}
		whole.take(open[side][at], &l)
		open[side] = slices.Delete(open[side], at, at+1)
		kept = append(kept, l)
	}
	one.leaves = kept
	joinMapped(whole, one)
}

// handsOn is what came into a backward call if an output is that: the last step was a view, whose gradient
// is no argument's. Else it is nil.
func (c *call) handsOn(out *leaf) *leaf {
	if c.Parsed.Direction != msprobe.Backward || out.content() == 0 {
		return nil
	}
	for i := range c.leaves {
		l := &c.leaves[i]
		if l.role == result.Input && l.tensor() && (l.sameness() == out.sameness() || l.alike() != 0 && l.alike() == out.alike()) {
			return l
		}
	}
	return nil
}

// kernelwise tells whether one side was recorded by MindSpore kernel by kernel and the other call by call, in
// any order, and which is the former.
func kernelwise(left, right *side) (kernels, calls *side, ok bool) {
	of := func(s *side) bool { return slices.ContainsFunc(s.calls, (*call).kernel) }
	switch a, b := of(left), of(right); {
	case a == b || left.unordered || right.unordered:
		return nil, nil, false
	case a:
		kernels, calls = left, right
	default:
		kernels, calls = right, left
	}
	is, known := calls.ofMindSpore()
	return kernels, calls, is && known
}

// byKernels pairs the kernels of a step with the calls that another recorder has of it, in their order: what does
// the same and gives as much, in the module of the same path above all. Gradients are computed by other kernels
// than those of the calls, and have no partners.
func byKernels(kernels, calls *side) {
	var a, b []*call
	for _, c := range kernels.calls {
		if c.kernel() && !c.state && !strings.HasPrefix(c.Name, "Gradients_") && c.first() != nil {
			a = append(a, c)
		}
	}
	paths := map[*call]string{}
	for _, c := range calls.calls {
		if c.Parsed.Form == msprobe.API && c.Parsed.Direction == msprobe.Forward && c.first() != nil {
			b = append(b, c)
			paths[c] = "_" + strings.ReplaceAll(msprobe.ParseName(calls.parent[c.Name]).API, ".", "_") + "_"
		}
	}
	within := make([]string, len(a)) // layers-CellList_1-Layer_ln-LayerNorm is layers.1.ln
	for i, c := range a {
		for _, part := range strings.Split(c.Name, "_") {
			if attribute, _, cell := strings.Cut(part, "-"); cell {
				within[i] += "_" + attribute
			}
		}
		within[i] += "_"
	}
	// What gets the same is each other's, then what is in the same module, then what comes at the same place.
	type match struct{ i, k, cost, away int }
	var all []match
	places := map[string][]int{}
	for k, c := range b {
		places[c.does()] = append(places[c.does()], k)
	}
	number := map[string]int{}
	for i, c := range a {
		same := places[c.does()]
		number[c.does()]++
		for n, k := range same {
			if !sameSize(c, b[k]) {
				continue
			}
			cost := int(math.Round(100 * farInputs(c, b[k])))
			if path := paths[b[k]]; path != "__" && !strings.Contains(within[i], path) {
				cost += 50
			}
			away := number[c.does()] - 1 - n
			all = append(all, match{i, k, cost, max(away, -away)})
		}
	}
	order.Stable(all, func(x, y match) int { return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.away, y.away)) })
	for _, m := range all {
		if x, y := a[m.i], b[m.k]; x.fused == nil && y.pair == nil {
			standFor([]*call{x}, y)
			x.fused.markUnknown()
		}
	}
	if len(b) == 0 {
		modulesByKernels(calls, a, within)
	}
}

// markUnknown marks what the dump of a kernel does not tell: the state of a batch norm, which is recorded
// behind the step and not handed out by every kernel; results of kernels that a pass of the compiler
// made, whose files may have what was in the same memory before; and in which order the elements of an input are, which
// may be a view.
func (c *call) markUnknown() {
	state := c.parts[0].does() == "batch_norm"
	for i := range c.leaves {
		l := &c.leaves[i]
		kept := l.place == "output.0" || l.place == "input.0" || l.place == "input.1" || l.place == "input.2"
		l.unfilled = l.unfilled || state && !kept
		if o := c.pair.leaf(l.place, i); l.role == result.Input && l.tensor() && o != nil && apart(l, o) < sameSums {
			l.DataName = ""
		}
		if l.role == result.Output && strings.HasPrefix(c.parts[0].Name, "Expand_") && !catalogue.Is(typeOf(c), catalogue.Moves) {
			l.unfilled = l.unfilled || slices.ContainsFunc(c.leaves, func(in leaf) bool {
				return in.role == result.Input && in.tensor() && in.content() != 0 && in.content() == l.content()
			})
		}
	}
}

// sameSums is how far statistics may be apart that two libraries summed of the same elements.
const sameSums = 1e-6

// farInputs is how far the tensors that go into a call are from those of its size that go into a kernel.
func farInputs(kernel, c *call) (sum float64) {
	for i := range c.leaves {
		l := &c.leaves[i]
		n, ok := l.Elements()
		if l.role != result.Input || !l.tensor() || !ok || n < 2 {
			continue
		}
		near := 1.0
		for k := range kernel.leaves {
			o := &kernel.leaves[k]
			if m, too := o.Elements(); o.role == result.Input && o.tensor() && too && n == m && o.sort() == l.sort() {
				near = min(near, apart(o, l))
			}
		}
		sum += near
	}
	return sum
}

// mute tells of a tensor that it has elements, and that nothing is said of them.
func (l *leaf) mute() bool {
	return l.tensor() && l.Known && l.DataName != "" && l.summary.Known == 0
}

// measured are the statistics of the elements of a tensor.
func (s *side) measured(ctx context.Context, l *leaf) (sums, error) {
	t, err := s.open(l)
	if err != nil {
		return sums{}, err
	}
	defer t.Close()
	return measure(ctx, t, l, &sums{})
}

// summarise computes what a recorder would say of the elements of kernels, so that they can be told by it.
func (s *side) summarise() {
	for _, c := range s.calls {
		for i := range c.leaves {
			l := &c.leaves[i]
			if !l.mute() {
				continue
			}
			found, err := s.measured(context.Background(), l)
			if err != nil {
				continue // its row will tell
			}
			l.summary, l.arg = found.summary(l.summary), nil
			for k := range found.stats {
				l.kinds[k] = found.stats[k].Kind
			}
		}
		c.token, c.content = c.describe()
	}
}

// modulesByKernels pairs cells, where these alone were recorded, with the last kernels in them: what they give.
func modulesByKernels(calls *side, kernels []*call, within []string) {
	times := map[string]int{}
	for _, c := range calls.calls {
		if c.Parsed.Form == msprobe.Module && c.Parsed.Direction == msprobe.Forward {
			times[c.Parsed.API]++
		}
	}
	for _, c := range calls.calls {
		if c.Parsed.Form != msprobe.Module || c.Parsed.Direction != msprobe.Forward || times[c.Parsed.API] > 1 || c.first() == nil {
			continue
		}
		path := "_" + strings.ReplaceAll(c.Parsed.API, ".", "_") + "_"
		for i, k := range slices.Backward(kernels) {
			if !strings.Contains(within[i], path) {
				continue
			}
			if k.fused == nil && k.pair == nil && sameSize(k, c) {
				c.leaves = slices.DeleteFunc(slices.Clone(c.leaves), func(l leaf) bool { return l.role == result.Input })
				standFor([]*call{k}, c)
			}
			break
		}
	}
}

// aside tells of a call without a partner, where the sides are of two frameworks, that none is expected: it is
// part of a module that is compared, it only moves numbers or asks for shapes, or it belongs to an optimizer, which
// comes behind the last gradient. behind is that place.
func (s *side) aside(c *call, behind int) bool {
	if s.other {
		return true
	}
	if c.Parsed.Form != msprobe.API {
		return false
	}
	return s.around(c) != nil || c.first() == nil || catalogue.Is(typeOf(c), catalogue.Moves) || c.does() == "to" || catalogue.Is(c.does(), catalogue.Moves) || behind > 0 && c.at > behind
}

// lastGradient is the place of the last backward call, 0 without one.
func (s *side) lastGradient() (at int) {
	for _, c := range s.calls {
		if c.Parsed.Direction == msprobe.Backward {
			at = c.at
		}
	}
	return at
}
