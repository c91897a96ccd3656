package recording

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/msprobe"
)

// A run whose ranks hold parts of tensors against one that is not cut: the recordings of all ranks
// of a step become one, of which each tensor is that of the whole. How it is cut tells the other
// side: a tensor that is one of n equal slices of its partner there along one axis, on as many
// ranks, is put together. Of the slices there are statistics: the largest of the largest elements,
// the norm of norms, the mean of means. What ranks have whole and alike stays as it is; what they
// have whole and not alike is a part of a sum, of which nothing is known, unless one of them has
// what the other side has: then the others are wrong.

// unsharding is what became of the tensors of a step.
type unsharding struct {
	by              engine.Unshard
	joined, tensors int    // of those that have a partner
	first           string // the first that was put together
}

// occasion is what the recordings of several ranks of a step have in common.
type occasion struct {
	mode string
	step int
	file string
}

func (r *found) occasion() occasion { return occasion{r.mode, r.step, r.file} }

// gathered has of a step that the golden side has one recording of one for all ranks.
func gathered(left, golden []found) (list []found) {
	at := map[occasion]int{}
	for _, l := range left {
		k := l.occasion()
		n := 0
		for _, g := range golden {
			if k == g.occasion() {
				n++
			}
		}
		if first, known := at[k]; known && n == 1 && l.rank >= 0 {
			list[first].others = append(list[first].others, l)
			continue
		}
		at[k] = len(list)
		list = append(list, l)
	}
	return list
}

// unshard puts the other ranks of a step together with the left side; done tells whether there was anything to.
func (p *part) unshard(of *found, by engine.Unshard) (done bool, why result.Reason, err error) {
	ranks := []*side{p.left}
	for i := range of.others {
		s, err := of.others[i].load()
		if err != nil {
			return false, why, err
		}
		ranks = append(ranks, s)
	}
	var u unsharding
	p.left, u = unshard(ranks, p.right, by)
	return u.joined > 0, u.reason(strings.TrimSuffix(of.label(), "/rank"+strconv.Itoa(of.rank))), nil
}

// leastShared is the share of calls that all ranks make, by their names, for their recordings to be those of one
// program: stages of a pipeline make others.
const leastShared = 0.9

// unshard makes one recording of those of several ranks.
func unshard(ranks []*side, golden *side, by engine.Unshard) (s *side, u unsharding) {
	s, u.by = ranks[0], by
	u.by.Ranks = len(ranks)
	shared := 0
	for _, c := range s.calls {
		if all := onAll(ranks, c); all != nil {
			shared++
		}
	}
	if float64(shared) < leastShared*float64(len(s.calls)) {
		return s, u
	}
	loosely(s, golden)
	for _, c := range s.calls {
		g := c.pair
		all := onAll(ranks, c)
		if g == nil || all == nil {
			continue
		}
		for i := range c.leaves {
			k := slices.IndexFunc(g.leaves, func(l leaf) bool { return l.place == c.leaves[i].place })
			if k >= 0 {
				u.leaf(all, i, &g.leaves[k])
			}
		}
	}
	for _, list := range [][]*call{s.calls, golden.calls} {
		for _, c := range list {
			c.pair, c.how = nil, 0
			c.token, c.content = c.describe()
		}
	}
	return s, u
}

// onAll is a call on all ranks, nil if one does not make it.
func onAll(ranks []*side, c *call) []*call {
	all := []*call{c}
	for _, r := range ranks[1:] {
		x := r.find(c.Name)
		if x == nil || !slices.EqualFunc(c.leaves, x.leaves, func(a, b leaf) bool { return a.place == b.place && a.tensor() == b.tensor() }) {
			return nil
		}
		all = append(all, x)
	}
	return all
}

// loosely pairs calls that do the same with tensors of any shape, modules by their paths.
func loosely(left, right *side) {
	for _, s := range []*side{left, right} {
		for _, c := range s.calls {
			var h hash
			n := &c.Parsed
			h.number(uint64(n.Form)<<8 | uint64(n.Direction))
			h.text(n.Prefix)
			h.text(n.API)
			if n.Form == msprobe.API {
				for i := range c.leaves {
					if l := &c.leaves[i]; l.tensor() {
						h.text(l.place)
						h.number(uint64(len(l.Shape)))
					}
				}
			}
			c.token = h.identity()
		}
	}
	tell(left, right)
	defer left.forget()
	defer right.forget()
	byToken(left.calls, right.calls)
}

// leaf puts the value at a place of a call together, of all ranks; golden is that of the other side.
func (u *unsharding) leaf(all []*call, i int, golden *leaf) {
	own := &all[0].leaves[i]
	parts := make([]*leaf, len(all))
	alike := true
	for k, c := range all {
		parts[k] = &c.leaves[i]
		alike = alike && parts[k].sameness() == own.sameness()
	}
	if !own.tensor() || !golden.tensor() {
		if number := func(l *leaf) bool { return l.Kind == msprobe.Scalar && l.arg != nil && l.arg.Value.Kind == msprobe.Int }; number(own) && number(golden) && own.arg.Value.I*int64(len(all)) == golden.arg.Value.I && own.role == result.Input {
			own.arg, own.summary = golden.arg, golden.summary // a size of the slice
		}
		return
	}
	u.tensors++
	if slices.Equal(own.Shape, golden.Shape) {
		if alike || !own.Known || own.sort() != 'f' {
			return
		}
		whole := slices.IndexFunc(parts, func(l *leaf) bool { return l.near(golden) })
		if whole < 0 {
			own.summand = true
			return
		}
		if wrong := slices.IndexFunc(parts, func(l *leaf) bool { return !l.near(golden) }); wrong > 0 {
			place := own.slot
			*own = *parts[wrong]
			own.slot, own.DataName = place, ""
		}
		return
	}
	_, n, cut := u.by.Cut(own.Shape, golden.Shape)
	if !cut || len(parts)%n != 0 || slices.ContainsFunc(parts, func(l *leaf) bool { return !slices.Equal(l.Shape, own.Shape) }) {
		return
	}
	// Neighbours hold one tensor, or, where the next one has what the first has, ranks at a stride.
	step := 1
	if len(parts) > n && parts[1].sameness() == own.sameness() {
		step = len(parts) / n
	}
	summary := *own.summary
	sum, squares := 0.0, 0.0
	for k := range n {
		p := parts[k*step].summary
		summary.Known &= p.Known
		summary.Stats.Max, summary.Stats.Min = max(summary.Stats.Max, p.Stats.Max), min(summary.Stats.Min, p.Stats.Min)
		sum, squares = sum+p.Stats.Mean, squares+p.Stats.Norm*p.Stats.Norm
	}
	summary.Stats.Mean, summary.Stats.Norm = sum/float64(n), math.Sqrt(squares)
	summary.Sum, summary.Digits = "", joinedDigits
	if elements, ok := golden.Elements(); ok && math.Abs(summary.Stats.Mean)*math.Sqrt(float64(elements)) < leastMean*summary.Stats.Norm {
		summary.Known &^= result.KnownMean // of what nearly cancels the slices leave too few digits
		summary.Stats.Mean, own.kinds[atMean] = 0, msprobe.Absent
	}
	f := *own.form
	f.Shape = golden.Shape
	own.form, own.summary, own.kinds[atSum], own.DataName = &f, &summary, msprobe.Absent, ""
	if u.joined++; u.first == "" {
		u.first = all[0].Name + " " + own.place
	}
}

// joinedDigits is how many digits of numbers that were put together from numbers of float32 are sure, leastMean
// the least share of the root mean square that a mean of such may be.
const joinedDigits, leastMean = 6, 0.01

// near tells of a tensor that its largest, smallest elements and its norm are those of another but for rounding.
func (l *leaf) near(o *leaf) bool {
	a, b := &l.summary.Stats, &o.summary.Stats
	peak := max(math.Abs(b.Max), math.Abs(b.Min))
	return math.Abs(a.Max-b.Max) <= nearly*peak && math.Abs(a.Min-b.Min) <= nearly*peak && math.Abs(a.Norm-b.Norm) <= nearly*b.Norm
}

// nearly is how far the same number may be apart on two sides that compute it otherwise.
const nearly = 1e-3

// reason says what became of the tensors.
func (u *unsharding) reason(step string) result.Reason {
	if u.joined == 0 {
		return result.Because(result.NotUnsharded, step, strconv.Itoa(u.by.Ranks))
	}
	return result.Because(result.Unsharded, step, strconv.Itoa(u.by.Ranks), strconv.Itoa(u.joined), strconv.Itoa(u.tensors), u.first)
}
