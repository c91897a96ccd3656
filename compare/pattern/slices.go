package pattern

import (
	"cmp"
	"math"
	"slices"

	"precision/internal/order"
)

// A factor or an offset of each slice of the tensor.
const (
	SliceOffset Kind = "slice-offset" // one number is added to each slice along an axis: a missing or another bias
	SliceScale  Kind = "slice-scale"  // each slice along an axis has a factor of its own
	RowScale    Kind = "row-scale"    // each row along an axis has one: a wrong normalisation
)

// Slices belongs to SliceOffset, SliceScale and RowScale. Values are offsets or factors.
type Slices struct {
	Axis   int          `json:"axis"`
	Groups int          `json:"groups"` // slices or rows
	Off    int          `json:"off"`    // of them, those that are wrong
	Least  float64      `json:"least"`  // values of those that are wrong
	Median float64      `json:"median"`
	Most   float64      `json:"most"`
	Top    []SliceValue `json:"top"` // the eight that are off most
}

// SliceValue is the factor or offset of one slice.
type SliceValue struct {
	Index int64   `json:"index"`
	Value float64 `json:"value"`
}

const (
	screenMost = 1 << 16 // elements on which a grouping is tried first
	groupsMost = 1 << 22
	topMost    = 8
)

// grouping divides the elements into slices.
type grouping struct {
	kind   Kind
	axis   int
	groups int64
	of     func(flat int64) int64
}

// groupings: along each axis by its index, and into rows along it.
func (l *look) groupings() (out []grouping) {
	for a, d := range l.shape {
		step := l.step[a]
		if rest := l.total / max(d, 1); d > 1 && rest >= 4 {
			by := func(i int64) int64 { return i / step % d }
			out = append(out, grouping{SliceOffset, a, d, by}, grouping{SliceScale, a, d, by})
		}
		if rows := l.total / max(d, 1); d >= 8 && rows > 1 {
			out = append(out, grouping{RowScale, a, rows, func(i int64) int64 { return i/(step*d)*step + i%step }})
		}
	}
	return out
}

// slicewise fits a factor (Σgw/Σw²) or offset (mean of g-w) to each group. Behind a relu an
// offset is clipped with everything else: it is fitted where both sides are positive, and max(0,
// want + offset) is what it predicts; where 0 is expected, anything up to the offset is right.
func slicewise(l *look) (found []Finding) {
	screen := l.screen()
	relu := l.isRectified()
	least := 0.95 // offsets that come with something else are no explanation
	if l.Bound == nil {
		least = 0.7
	}
	for _, g := range l.groupings() {
		if g.groups > groupsMost {
			continue
		}
		if f, _, _ := l.fitGroups(g, screen, relu); f.explained < 0.3 {
			continue
		}
		f, args, alike := l.fitGroups(g, l.pick, relu)
		found = append(found, l.told(f.holds(least, int64(args.Groups), 8) && l.simpler.explainsFarLessThan(f) && alike >= 0.7, g.kind, args, f)...)
	}
	// The fewest slices win, unless more of them leave far less.
	order.Stable(found, func(a, b Finding) int { return cmp.Compare(a.Args.(Slices).Groups, b.Args.(Slices).Groups) })
	for len(found) > 1 {
		if 1-found[1].Explained < (1-found[0].Explained)/4 {
			found = found[1:]
		} else {
			found = slices.Delete(found, 1, 2)
		}
	}
	return found
}

// screen is a part of pick, in chunks so that rows stay together.
func (l *look) screen() (out []int) {
	if len(l.pick) <= screenMost {
		return l.pick
	}
	chunks := len(l.pick) / pickChunk
	for i := range screenMost / pickChunk {
		at := i * chunks / (screenMost / pickChunk) * pickChunk
		out = append(out, l.pick[at:at+pickChunk]...)
	}
	return out
}

// isRectified reports whether no number is negative and at least a tenth of the expected ones are 0.
func (l *look) isRectified() bool {
	zeros := 0
	for _, p := range l.pick {
		if l.got[p] < 0 || l.Want[p] < 0 {
			return false
		}
		if l.Want[p] == 0 {
			zeros++
		}
	}
	return zeros*10 >= len(l.pick)
}

// fitGroups also returns the correlation of what it predicts with what was recorded: factors near 0
// come near to any small numbers without any.
func (l *look) fitGroups(g grouping, pick []int, relu bool) (fit, Slices, float64) {
	top, bottom := make([]float64, g.groups), make([]float64, g.groups)
	offset := g.kind == SliceOffset
	for p := range l.errors(pick) {
		i, got, want := g.of(l.flat(p)), l.got[p], l.Want[p]
		switch {
		case !offset:
			top[i] += got * want
			bottom[i] += want * want
		case !relu || got > 0 && want > 0:
			top[i] += got - want
			bottom[i]++
		}
	}
	used := 0
	for i := range top {
		if bottom[i] > 0 {
			top[i] /= bottom[i]
			used++
		} else if top[i] = 1; offset {
			top[i] = 0
		}
	}
	var f fitter
	var c correlation
	before, after := make([]float64, g.groups), make([]float64, g.groups)
	for p, e := range l.errors(pick) {
		i, got, want := g.of(l.flat(p)), l.got[p], l.Want[p]
		r := got - top[i]*want
		if offset {
			r = got - want - top[i]
			if relu {
				r = got - max(0, want+top[i])
				if want == 0 && got <= top[i] {
					r = 0
				}
			}
		}
		before[i] += e * e
		after[i] += r * r
		if l.dense || math.Abs(e) > l.allowed(p) {
			c.add(got, got-r)
		}
		f.add(e, r, l.allowed(p), l.rounding(p), l.dense)
	}
	return f.done(), summarise(g, used, top, before, after), c.value()
}

// summarise describes the groups whose squared error the fit at least halves.
func summarise(g grouping, used int, value, before, after []float64) Slices {
	s := Slices{Axis: g.axis, Groups: used}
	neutral := 1.0
	if g.kind == SliceOffset {
		neutral = 0
	}
	var off []SliceValue
	for i, v := range value {
		if before[i] > 0 && after[i] <= before[i]/2 && v-v == 0 {
			off = append(off, SliceValue{int64(i), v})
		}
	}
	s.Off = len(off)
	if s.Off == 0 {
		return s
	}
	order.Stable(off, func(a, b SliceValue) int { return cmp.Compare(a.Value, b.Value) })
	s.Least, s.Median, s.Most = off[0].Value, off[len(off)/2].Value, off[len(off)-1].Value
	order.Stable(off, func(a, b SliceValue) int {
		return cmp.Compare(math.Abs(b.Value-neutral), math.Abs(a.Value-neutral))
	})
	s.Top = slices.Clone(off[:min(len(off), topMost)])
	return s
}
