package recording

import (
	"slices"
	"strings"
	"sync"

	"precision/compare/result"
	"precision/dump/msprobe"
	"precision/internal/each"
	catalogue "precision/op"
)

// Defaults are the calls that do the same on an NPU and elsewhere, as users of torch_npu
// and MindSpore write them. Entries of a profile come before them.
var Defaults = sync.OnceValue(func() (list []result.Map) {
	for _, row := range catalogue.With("pairs=") {
		for _, name := range row.Names {
			for _, right := range row.Pairs {
				if !slices.Equal(right, []string{name}) {
					list = append(list, result.Map{Left: []string{name}, Right: right})
				}
			}
		}
	}
	return list
})

// between is how many calls may stand between those of a sequence.
const between = 8

// named tells whether a call is the one that a map names.
func (c *call) named(name string) bool {
	n := &c.Parsed
	if n.Form == msprobe.Module {
		return n.Class == name
	}
	return n.Form == msprobe.API && (n.API == name || len(name) == len(n.Prefix)+1+len(n.API) && name == n.Prefix+"."+n.API)
}

// byMaps pairs calls that do the same under other names: on both sides in their order,
// between calls that are pairs already.
func byMaps(left, right *side, maps []result.Map) {
	alone := func(c *call) bool { return c.pair == nil }
	if !slices.ContainsFunc(left.calls, alone) && !slices.ContainsFunc(right.calls, alone) {
		return
	}
	maps = append(slices.Clone(maps), Defaults()...)
	// others are the sequences that a call may stand for.
	known := map[msprobe.Name][][]string{}
	others := func(c *call) [][]string {
		name := msprobe.Name{Form: c.Parsed.Form, Prefix: c.Parsed.Prefix, API: c.Parsed.API, Class: c.Parsed.Class}
		list, ok := known[name]
		if !ok {
			for _, m := range maps {
				for _, way := range [][2][]string{{m.Left, m.Right}, {m.Right, m.Left}} {
					if len(way[0]) == 1 && len(way[1]) > 0 && c.named(way[0][0]) {
						list = append(list, way[1])
					}
				}
			}
			known[name] = list
		}
		return list
	}
	for _, flip := range []bool{false, true} {
		a, b := left, right
		if flip {
			a, b = right, left
		}
		starts := b.startsOf(maps)
		at, next := 0, 0 // what is behind the last pair on the other side; the next pair here
		for i, c := range a.calls {
			if c.pair != nil {
				at = max(at, c.pair.at+1)
				continue
			}
			if c.fused != nil || c.Parsed.Direction != msprobe.Forward && c.Parsed.Direction != msprobe.Backward {
				continue
			}
			next = max(next, i+1)
			for next < len(a.calls) && (a.calls[next].pair == nil || a.calls[next].pair.at < at) {
				next++
			}
			end := len(b.calls) // what comes before the next pair
			if next < len(a.calls) {
				end = a.calls[next].pair.at
			}
			for _, names := range others(c) {
				if list := b.sequence(starts, at, end, names, c); list != nil {
					fuse(c, list, flip)
					at = list[len(list)-1].at + 1
					break
				}
			}
		}
	}
}

// startsOf leads from the names that sequences of maps begin or end with to the calls of
// these names.
func (s *side) startsOf(maps []result.Map) map[string][]int {
	starts := map[string][]int{}
	for _, m := range maps {
		for _, list := range [][]string{m.Left, m.Right} {
			if len(list) > 0 {
				starts[list[0]], starts[list[len(list)-1]] = nil, nil
			}
		}
	}
	for i, c := range s.calls {
		for _, name := range []string{c.Parsed.Class, c.Parsed.API, c.Parsed.Prefix + "." + c.Parsed.API} {
			if list, ok := starts[name]; ok && c.named(name) && (len(list) == 0 || list[len(list)-1] != i) {
				starts[name] = append(list, i)
			}
		}
	}
	return starts
}

// sequence finds, from one place to another, calls of the given names in their order, with
// those that stand between them, of which the last one's output is as large as that of c; nil
// if they are not there, or not at one of the nearest places. Backward calls come in the
// opposite order.
func (s *side) sequence(starts map[string][]int, from, to int, names []string, c *call) []*call {
	if c.Parsed.Direction == msprobe.Backward {
		names = slices.Clone(names)
		slices.Reverse(names)
	}
	places := starts[names[0]]
	first, _ := slices.BinarySearch(places, from)
	for tries := 0; first < len(places) && places[first] < to && tries < near; first++ {
		start := places[first]
		if x := s.calls[start]; x.pair != nil || x.fused != nil || x.Parsed.Direction != c.Parsed.Direction {
			continue
		}
		tries++
		var list []*call
		found, gap := 0, 0
		for _, x := range s.calls[start:to] {
			if x.pair != nil || x.fused != nil || x.Parsed.Direction != c.Parsed.Direction || x.Parsed.Form == msprobe.Module && len(names) > 1 {
				continue
			}
			if x.named(names[found]) {
				gap = 0
				list = append(list, x)
				if found++; found == len(names) {
					break
				}
				continue
			}
			if found == 0 {
				break // another start
			}
			if gap++; gap > between {
				break
			}
			list = append(list, x)
		}
		if found == len(names) && sameSize(list[len(list)-1], c) {
			return list
		}
	}
	return nil
}

// first is the first output of a call that is a tensor.
func (c *call) first() *leaf {
	for i := range c.leaves {
		if l := &c.leaves[i]; l.role == result.Output && l.tensor() {
			return l
		}
	}
	return nil
}

// sameSize tells whether two calls give as many elements.
func sameSize(a, b *call) bool {
	x, y := a.first(), b.first()
	return x != nil && y != nil && sameCount(x, y)
}

// fuse pairs a call with a sequence of the other side: its first output with that of the
// last, and its inputs with those that come into the sequence from outside, which are found
// by their size and what is in them.
func fuse(c *call, list []*call, flip bool) {
	last := list[len(list)-1]
	whole := &call{Name: last.Name, Parsed: last.Parsed, at: last.at, parts: list}
	if len(list) > 1 {
		names := each.Of(list, func(x *call) string { return x.Name })
		whole.Name = strings.Join(names, ", ")
	}
	inside := map[identity]bool{}
	var open, made []*leaf
	for _, x := range list {
		for i := range x.leaves {
			l := &x.leaves[i]
			switch key := l.content(); {
			case !l.tensor():
			case l.role == result.Output:
				inside[key] = true
				made = append(made, l)
			case key == 0 || !inside[key]:
				open = append(open, l)
			}
		}
	}
	for i := range c.leaves {
		l := &c.leaves[i]
		if !l.tensor() {
			continue
		}
		if l.role == result.Output {
			if out := last.first(); l == c.first() {
				whole.take(out, l)
			}
			continue
		}
		best, at := 0.5, -1
		n, _ := l.Elements()
		for k, x := range open {
			if m, _ := x.Elements(); m != n || x.sort() != l.sort() {
				continue
			}
			d := 0.0
			if x.sameness() != l.sameness() {
				d = apart(x, l)
			}
			if d < best || at < 0 {
				best, at = d, k
			}
		}
		// What the other side makes before the call may be made on the way here, as a mask of two is.
		if k := slices.IndexFunc(made, func(x *leaf) bool { return sameShape(x.Shape, l.Shape) && x.sameness() == l.sameness() }); k >= 0 && best > 0.5 {
			whole.take(made[k], l)
		} else if at >= 0 {
			whole.take(open[at], l)
			open = slices.Delete(open, at, at+1)
		}
	}
	for _, x := range list {
		x.fused = whole
	}
	if flip {
		join(whole, c)
	} else {
		join(c, whole)
	}
	c.how, whole.how = byMap, byMap
}

// take makes a value of a part one of the whole, at the place that it has in the other
// call, in its shape.
func (c *call) take(l, like *leaf) {
	v := *l
	v.number = 0
	f := *l.form
	f.place, f.role = like.place, like.role
	if !sameShape(f.Shape, like.Shape) {
		// A view in between that is not recorded.
		if f.filed = f.Shape; !regrouped(f.Shape, like.Shape) {
			v.DataName = "" // elements may be in another order
		}
		f.Shape = like.Shape
	}
	v.form = &f
	c.leaves = append(c.leaves, v)
	c.taken = append(c.taken, l)
}

// regrouped tells of two shapes of as many elements that one has some axes of the other as one: 14 for 2 and 7.
func regrouped(a, b []int64) bool {
	ends := func(shape []int64) (list []int64) {
		n := int64(1)
		for _, d := range shape {
			if n *= d; d != 1 {
				list = append(list, n)
			}
		}
		return list
	}
	x, y := ends(a), ends(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	return !slices.ContainsFunc(x, func(n int64) bool { return !slices.Contains(y, n) })
}
