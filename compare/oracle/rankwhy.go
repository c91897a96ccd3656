package oracle

import (
	"maps"
	"math"
	"slices"

	"precision/compare/result"
)

// is tells whether an output is what some parts make.
type is func(m *gathering, o *gathered, parts []stretch) bool

// elementsAre looks at the elements that are wrong, and at no others.
func elementsAre(j *ranked) is {
	idx := worstOf(j.judge, 128)
	return func(m *gathering, o *gathered, parts []stretch) bool {
		var found [1]float64
		hit := false
		for _, i := range idx {
			at := slices.IndexFunc(parts, func(s stretch) bool { return i >= s.lo && i < s.lo+s.n })
			if at < 0 {
				continue
			}
			s := &parts[at]
			for _, from := range s.from {
				if m.opened(from.member, from.arg) != nil || from.lo+i-s.lo >= from.arg.op.view.Len() {
					return false
				}
			}
			var y, b, x [1]float64
			if m.expect(s, o.arg.op, i-s.lo, y[:], b[:], x[:]) != nil || o.arg.op.Range(i, found[:], nil) != nil {
				return false
			}
			look := newJudge(o.arg.op.numeric(), s.op == "" || s.op == "max" || s.op == "min")
			if look.element(i, found[0], y[0], b[0]); look.beyond > 0 || look.judged == 0 {
				return false
			}
			hit = true
		}
		return hit
	}
}

// statisticsAre looks at statistics.
func statisticsAre(out *argument) is {
	return func(_ *gathering, _ *gathered, parts []stretch) bool {
		x, known := statsOf(out)
		s, told := spanOf(out, parts)
		if !known || !told {
			return false
		}
		_, _, ok := s.allows(x)
		return ok
	}
}

// why looks for what explains a wrong output: the only other thing that it is.
func (m *gathering) why(o *gathered, numbers any, fits is) (why result.Reason, found bool) {
	with := func(change func(s *stretch)) []stretch {
		parts := slices.Clone(o.parts)
		for i := range parts {
			change(&parts[i])
		}
		return parts
	}
	if o.parts[0].op == "" {
		return m.whyMoved(o, fits)
	}
	own := slices.IndexFunc(o.parts[0].from, func(s brought) bool { return s.member == o.member })
	if own >= 0 && fits(m, o, with(func(s *stretch) { s.from, s.op = s.from[own:own+1], "" })) {
		if len(o.parts[0].from) == 2 && m.shared(o) { // both have it: that of the other is lost
			return because(LeftOut, m.ranks[o.parts[0].from[1-own].member]), true
		}
		return because(OwnInput), true
	}
	for _, op := range []string{"sum", "mean", "max", "min", "prod"} {
		if op == "prod" && o.arg.op == nil {
			continue // statistics of products may be anything
		}
		if op != o.parts[0].op && fits(m, o, with(func(s *stretch) { s.op = op })) {
			return because(OtherReduction, op), true
		}
	}
	if why, found := m.countedOtherwise(o, numbers, fits, with); found {
		return why, true
	}
	if ranks := m.otherGroup(o, fits, with); ranks != nil {
		return because(OtherGroup, ranksText(ranks)), true
	}
	// The piece of another rank.
	for i := range m.outs {
		p := &m.outs[i]
		if p.index == o.index && p.member != o.member && p.why == nil && len(p.parts) == len(o.parts) && p.parts[0].n == o.parts[0].n && p.parts[0].from[0] != o.parts[0].from[0] && fits(m, o, p.parts) {
			return because(OtherPiece, m.ranks[p.member]), true
		}
	}
	if f, ok := m.factor(o); ok {
		return because(Scaled, f), true
	}
	return why, false
}

// omission is what the answer depends on that leaves a member out or counts it twice: outputs of
// ranks that are the same numbers, made of the same, have the same.
type omission struct {
	numbers any // statistics, or a checksum of the elements
	op      string
	first   brought
	members int
}

// mostOmissions bounds for how many outputs of one assembly each member is left out in turn, which
// costs the square of their number: the ranks of a sound collective have one output, and a
// wrong one is wrong in few ways.
const mostOmissions = 8

// countedOtherwise looks for the one member whose part is missing in a reduction, or in it twice.
func (m *gathering) countedOtherwise(o *gathered, numbers any, fits is, with func(func(*stretch)) []stretch) (why result.Reason, found bool) {
	from := o.parts[0].from
	key := omission{numbers, o.parts[0].op, from[0], len(from)}
	if known, is := m.omitted[key]; is || len(m.omitted) == mostOmissions {
		return known, known.Kind != ""
	}
	hits := 0
	for r := range from {
		rank := m.ranks[from[r].member]
		if fits(m, o, with(func(s *stretch) { s.from = slices.Delete(slices.Clone(s.from), r, r+1) })) {
			why, hits = because(LeftOut, rank), hits+1
		} else if fits(m, o, with(func(s *stretch) { s.from = append(slices.Clone(s.from), s.from[r]) })) {
			why, hits = because(CountedTwice, rank), hits+1
		}
	}
	if hits != 1 {
		why = result.Reason{}
	}
	if m.omitted == nil {
		m.omitted = map[omission]result.Reason{}
	}
	m.omitted[key] = why
	return why, hits == 1
}

// mostSubsets bounds of how many ranks any of them may be another group; of more ranks only such groups are tried as
// people make: neighbours, and equal strides.
const mostSubsets = 6

// otherGroup looks for the ranks whose inputs a reduction is made of, if these are not those of its group: some
// of them, or with those that met in other groups at the same time. Elements have to tell, and no two groups may fit.
func (m *gathering) otherGroup(o *gathered, fits is, with func(func(*stretch)) []stretch) (ranks []int) {
	if o.arg.op == nil || m.api != "all_reduce" && m.api != "reduce" {
		return nil
	}
	of := map[int]brought{} // by rank
	for _, b := range o.parts[0].from {
		of[m.ranks[b.member]] = b
	}
	at := len(m.calls)
	for _, a := range m.beside {
		for k, c := range a.calls {
			if c != nil {
				if in := c.collective()["tensor"]; filed(in) && elementsOfArgument(in) == elementsOfArgument(o.arg) {
					of[a.ranks[k]] = brought{at, in, 0}
				}
			}
			at++
		}
	}
	all := slices.Sorted(maps.Keys(of))
	own := m.ranks[o.member]
	for _, group := range groupsOf(all, m.ranks) {
		if !slices.Contains(group, own) || slices.Equal(group, slices.Sorted(slices.Values(m.ranks))) {
			continue
		}
		var from []brought
		for _, r := range group {
			from = append(from, of[r])
		}
		if !fits(m, o, with(func(s *stretch) { s.from = from })) {
			continue
		}
		if ranks != nil {
			return nil
		}
		ranks = group
	}
	return ranks
}

// groupsOf are the groups that ranks may be taken for: all of them, any of those that should have met where
// they are few, blocks of neighbours and equal strides.
func groupsOf(all, met []int) (groups [][]int) {
	add := func(group []int) {
		if len(group) > 1 && !slices.ContainsFunc(groups, func(g []int) bool { return slices.Equal(g, group) }) {
			groups = append(groups, group)
		}
	}
	add(all)
	for _, list := range [][]int{all, slices.Sorted(slices.Values(met))} {
		if len(list) <= mostSubsets {
			for set := range 1 << len(list) {
				var group []int
				for i, r := range list {
					if set>>i&1 == 1 {
						group = append(group, r)
					}
				}
				add(group)
			}
			continue
		}
		for size := 2; size < len(list); size *= 2 {
			for lo := 0; lo+size <= len(list); lo += size {
				add(slices.Clone(list[lo : lo+size]))
			}
			for first := range size {
				var group []int
				for i := first; i < len(list); i += size {
					group = append(group, list[i])
				}
				add(group)
			}
		}
	}
	return groups
}

// taker is a call of the group, or behind these of one beside it.
func (m *gathering) taker(member int) *recordedCall {
	if member < len(m.calls) {
		return m.calls[member]
	}
	member -= len(m.calls)
	for _, a := range m.beside {
		if member < len(a.calls) {
			return a.calls[member]
		}
		member -= len(a.calls)
	}
	return nil
}

// shared tells whether another rank has the same output.
func (m *gathering) shared(o *gathered) bool {
	return slices.ContainsFunc(m.outs, func(p gathered) bool {
		if p.member == o.member || p.index != o.index {
			return false
		}
		if o.arg.op != nil && p.arg.op != nil {
			return o.arg.op.view.Len() == p.arg.op.view.Len() && sameElements(o.arg.op, p.arg.op)
		}
		a, _ := statsOf(o.arg)
		b, known := statsOf(p.arg)
		return known && a == b
	})
}

// whyMoved does so for what is only moved, part by part.
func (m *gathering) whyMoved(o *gathered, fits is) (why result.Reason, found bool) {
	for _, s := range o.parts {
		one := func(from brought) bool {
			return elementsOfArgument(from.arg) >= from.lo+s.n && fits(m, o, []stretch{{s.lo, s.n, []brought{from}, ""}})
		}
		if fits(m, o, []stretch{s}) {
			continue // this one is right
		}
		for i := range m.outs { // what went to the rank itself, or to another
			p := &m.outs[i]
			for _, x := range p.parts {
				switch {
				case p.why != nil || x.op != "" || x.n != s.n || x.from[0] == s.from[0]:
				case !one(x.from[0]):
				case x.from[0].member == o.member:
					return because(OwnInput), true
				case x.from[0].member != s.from[0].member:
					return because(OtherPiece, m.ranks[x.from[0].member]), true
				default:
					return because(OtherPiece, m.ranks[p.member]), true
				}
			}
		}
		if a := m.args[o.member]["tensor"]; a.tensor() && s.from[0].member != o.member && one(brought{o.member, a, 0}) {
			return because(OwnInput), true
		}
	}
	if f, ok := m.factor(o); ok {
		return because(Scaled, f), true
	}
	return why, false
}

// factor is what all of an output is multiplied by, where it is neither 1 nor too small to tell.
func (m *gathering) factor(o *gathered) (f float64, ok bool) {
	if o.arg.op == nil {
		return m.factorOfStatistics(o)
	}
	n := min(o.arg.op.view.Len(), 256)
	for i := range n {
		at := slices.IndexFunc(o.parts, func(s stretch) bool { return i >= s.lo && i < s.lo+s.n })
		if at < 0 {
			return 0, false
		}
		s := &o.parts[at]
		var y, b, x, found [1]float64
		if m.expect(s, o.arg.op, i-s.lo, y[:], b[:], x[:]) != nil || o.arg.op.Range(i, found[:], nil) != nil {
			return 0, false
		}
		room := b[0] + 4*precisionFor(o.arg.op.numeric()).v*abs(y[0])
		if y[0] == 0 || room > 1e-3*abs(y[0]) {
			continue
		}
		g := found[0] / y[0]
		if f == 0 {
			f = g
		}
		if ok = abs(g-f) <= abs(f)*(1e-5+2*room/abs(y[0])); !ok {
			return 0, false
		}
	}
	return rounded4(f), ok && abs(f-1) > 1e-4 && f != 0
}

func (m *gathering) factorOfStatistics(o *gathered) (float64, bool) {
	x, known := statsOf(o.arg)
	s, told := spanOf(o.arg, o.parts)
	if !known || !told || s.norm.hi-s.norm.lo > 1e-3*s.norm.hi || s.norm.hi == 0 {
		return 0, false
	}
	f := x[3] / s.norm.hi
	for i, r := range []interval{s.max, s.min} {
		if abs(x[i]-f*r.hi) > 1e-3*abs(f*r.hi) {
			return 0, false
		}
	}
	return rounded4(f), abs(f-1) > 1e-3
}

// rounded4 is a number with four digits.
func rounded4(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(abs(v)))-3)
	return math.Round(v/unit) * unit
}
