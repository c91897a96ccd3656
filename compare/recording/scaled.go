package recording

import (
	"context"
	"math"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/scaled"
)

// pairOf are the quantised numbers that a leaf of a call belongs to and their scales, one of them the leaf itself and the other as the
// quantiser gave it; nil where it is of no such pair.
func (s *side) pairOf(c *call, l *leaf) (data, scales *leaf) {
	slot := l.slot
	if l.role != result.Output {
		if l.from.call == 0 {
			return nil, nil
		}
		c, slot = s.calls[l.from.call-1], l.from.slot
	}
	var leaves []*leaf
	var tensors []scaled.Tensor
	at := -1
	for i := range c.scaled {
		o := &c.scaled[i]
		switch {
		case o.role != result.Output || !o.Known:
			continue
		case o.slot == slot:
			o, at = l, len(leaves)
		}
		leaves, tensors = append(leaves, o), append(tensors, scaled.Tensor{Type: o.Elem, Shape: o.Shape})
	}
	if at < 0 {
		return nil, nil
	}
	if n, of, ok := scaled.Pair(tensors, true, at); ok {
		return leaves[n], leaves[of]
	}
	return nil, nil
}

// scaled are the values of both sides where they have a pair each of which both parts differ, and the types of their numbers; ok is
// false for others. They are read until done is called.
func (p *part) scaled(ctx context.Context, x leafPair, u *unit) (left, right *engine.Tensor, numbers [2]dtype.Type, ok bool, done func()) {
	var q [2]engine.Quantised
	var open []*engine.SideTensor
	done = func() {
		for _, t := range open {
			t.Close()
		}
	}
	for i, s := range []*side{p.left, p.right} {
		l, c := []*leaf{x.left, x.right}[i], []*call{u.left, u.right}[i]
		data, scales := s.pairOf(c, l)
		if data == nil || data.DataName == "" || scales.DataName == "" {
			return nil, nil, numbers, false, done
		}
		for k, of := range []*leaf{data, scales} {
			t, err := s.open(of)
			if err != nil {
				return nil, nil, numbers, false, done
			}
			open = append(open, t)
			*[]**engine.Tensor{&q[i].Numbers, &q[i].Scales}[k] = &t.Tensor
		}
	}
	left, right, numbers, ok = engine.Products(ctx, q[0], q[1])
	return left, right, numbers, ok, done
}

// otherScales is how far the means of scales, and the norms of numbers, are apart at least where a side has its scales by another
// rule: what rounding moves stays below a hundredth, powers of two are up to twice as large.
const otherScales = 0.05

// undecided tells of a pair of which statistics alone were recorded that its values may be the same though numbers and scales are
// others: as much larger as the scales are, the numbers are smaller, and between the least and the largest scale there is room for
// the same norm and the same largest value, each with what rounding to steps may do to it.
func (p *part) undecided(x leafPair, u *unit) bool {
	var norm, mean, peak, least, most, off, all [2]float64
	for i, s := range []*side{p.left, p.right} {
		data, scales := s.pairOf([]*call{u.left, u.right}[i], []*leaf{x.left, x.right}[i])
		if data == nil {
			return false
		}
		q, f := data.summary, scales.summary
		if !q.Has(result.KnownMax|result.KnownMin|result.KnownNorm) || !f.Has(result.KnownMax|result.KnownMin|result.KnownMean) {
			return false
		}
		for _, known := range []*result.Summary{q, f} {
			if nan, inf := known.NotFinite(); nan || inf {
				return false // what is infinite has room for any value
			}
		}
		norm[i], peak[i] = q.Stats.Norm, math.Max(math.Abs(q.Stats.Max), math.Abs(q.Stats.Min))
		if off[i], all[i] = data.Elem.Unit()*peak[i], data.Elem.Unit()*norm[i]; data.Elem.IsInteger() {
			n, _ := data.Elements()
			off[i], all[i] = 0.5, 0.5*math.Sqrt(float64(n)) // half a step each
		}
		mean[i], least[i], most[i] = f.Stats.Mean, f.Stats.Min, f.Stats.Max
		if scales.Elem == dtype.Uint8 {
			mean[i], least[i], most[i] = math.Exp2(mean[i]-127), math.Exp2(least[i]-127), math.Exp2(most[i]-127)
		}
	}
	overlap := func(of, off [2]float64) bool {
		return (of[0]-off[0])*least[0] <= (of[1]+off[1])*most[1] && (of[1]-off[1])*least[1] <= (of[0]+off[0])*most[0]
	}
	larger, coarser := math.Log(norm[0]/norm[1]), math.Log(mean[0]/mean[1])
	return larger*coarser < 0 && min(math.Abs(larger), math.Abs(coarser)) > otherScales && overlap(norm, all) && overlap(peak, off)
}
