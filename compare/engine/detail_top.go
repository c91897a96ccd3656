package engine

import (
	"cmp"
	"math"
	"slices"

	"precision/internal/order"
)

// element is a pair of values with its errors.
type element struct {
	index    int64
	x, y     float64
	abs, rel float64
}

func newElement(index int64, x, y float64) element {
	d := math.Abs(x - y)
	return element{index, x, y, d, d / math.Abs(y)}
}

// zeroed is an error as the summary counts it: what is not finite is 0.
func zeroed(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// absRank orders by absolute error. NaN on the left side where golden is a number
// comes first of all, with infinite errors; where golden is NaN, or both sides are
// the same infinity, nothing can be said and it counts as none.
func (e element) absRank() float64 {
	switch {
	case math.IsNaN(e.x) && !math.IsNaN(e.y):
		return math.Inf(1)
	case math.IsNaN(e.abs):
		return 0
	}
	return e.abs
}

// relRank is absRank for the relative error. Where golden is 0 there is no such
// error; else the zeros behind a ReLU would fill the list.
func (e element) relRank() float64 {
	switch {
	case math.IsNaN(e.x) && !math.IsNaN(e.y):
		return math.Inf(1)
	case math.IsNaN(e.rel) || e.y == 0:
		return 0
	}
	return e.rel
}

// ranking keeps the elements with the largest errors; of equal ones at the
// limit the first.
type ranking struct {
	limit int
	by    func(element) float64 // nil keeps the first elements
	kept  []element
	full  bool // what is not wanted more than number limit of kept is not kept
}

// compare is negative if a is wanted more than b.
func (r *ranking) compare(a, b element) int {
	if r.by != nil {
		if c := cmp.Compare(r.by(b), r.by(a)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.index, b.index)
}

func (r *ranking) add(e element) {
	if r.full && r.compare(e, r.kept[r.limit-1]) > 0 {
		return
	}
	if r.kept = append(r.kept, e); len(r.kept) == 2*r.limit {
		r.cut()
		r.full = true
	}
}

// cut keeps the most wanted elements.
func (r *ranking) cut() {
	slices.SortFunc(r.kept, r.compare)
	r.kept = r.kept[:min(len(r.kept), r.limit)]
}

// sorted lists the kept elements, the largest error first, and of equal ones
// the last: the order of the old tables.
func (r *ranking) sorted() []element {
	r.cut()
	list := slices.Clone(r.kept)
	order.Stable(list, func(a, b element) int {
		if r.by == nil {
			return cmp.Compare(a.index, b.index)
		}
		return cmp.Or(cmp.Compare(r.by(b), r.by(a)), cmp.Compare(b.index, a.index))
	})
	return list
}
