package verdict

import (
	"fmt"
	"math"
	"slices"

	"precision/compare/result"
)

// Baseline is what became of a network's errors since an earlier table.
type Baseline struct {
	// Time is when the earlier comparison began, as RFC 3339.
	Time string
	// Regressions are tensors whose error grew beyond noise, that are bad now and were not
	// compared then, or that were compared then and are not now; Improved those whose error shrank as much.
	Regressions, Improved []Change
	// Same counts the tensors that did neither, New those the earlier table
	// does not have.
	Same, New int
}

// Change is a tensor of which the error changed.
type Change struct {
	// Tensor is its name, Row the row of the new table, -1 where it has none.
	Tensor string
	Row    int
	// Before and Now are relative Euclidean distances, or relative errors of
	// scalars; NaN where NaN and Inf disagree or nothing was compared.
	Before, Now float64
	// BeforeCount and NowCount are elements in which NaN and Inf disagree.
	BeforeCount, NowCount int64
}

const (
	// grown is how many times an error may grow before it is a regression.
	// Kernels of two versions sum in other orders; on the computed networks
	// the distances of one tensor over seeds and orders of summation stay
	// within a factor of 1.4.
	grown = 2
	// grownUnits is the growth, in unit roundoffs of the coarser dtype, below
	// which it is never one.
	grownUnits = 2
)

// BaselineFault says why an earlier table is no baseline of another. Its text is its name in
// messages.
type BaselineFault string

// Why a table is no baseline.
const (
	// BaselineEmpty: it has no verdict itself, as too little of it was compared.
	BaselineEmpty BaselineFault = "empty"
	// BaselineOther: it is of other operators.
	BaselineOther BaselineFault = "other"
	// BaselineShapes: a tensor has another shape in it.
	BaselineShapes BaselineFault = "shapes"
)

// BaselineError tells that an earlier table is no baseline.
type BaselineError struct {
	Fault BaselineFault
	// Compared of Expected tensors, or operators that both tables have of those of the larger one.
	Compared, Expected int
	// Tensor has the shape Then in the baseline and Now.
	Tensor    string
	Then, Now []int64
}

func (e *BaselineError) Error() string {
	switch e.Fault {
	case BaselineEmpty:
		return fmt.Sprintf("the baseline is inconclusive itself: %d of %d expected tensors were compared", e.Compared, e.Expected)
	case BaselineShapes:
		return fmt.Sprintf("the baseline is not of this network: %s has the shape %s in it, and %s here", e.Tensor, result.ShapeText(e.Then), result.ShapeText(e.Now))
	}
	return fmt.Sprintf("the baseline is not of this network: %d of %d operators are in both", e.Compared, e.Expected)
}

// FitBaseline tells whether an earlier table is a baseline of another: conclusive itself, and of the
// same operators and shapes. Few operators may have come or gone, as between versions.
func FitBaseline(old, now *result.Table, opts Options) error {
	opts.Baseline, opts.Second = nil, nil
	judged := Judge(old, opts)
	if c := judged.Coverage; judged.Verdict == Inconclusive {
		return &BaselineError{Fault: BaselineEmpty, Compared: c.Compared, Expected: c.Expected}
	}
	mine, common := operatorsOf(now), 0
	its := operatorsOf(old)
	for name := range its {
		if mine[name] {
			common++
		}
	}
	if larger := max(len(mine), len(its)); 2*common < larger {
		return &BaselineError{Fault: BaselineOther, Compared: common, Expected: larger}
	}
	before := tensors(old)
	for i := range now.Rows {
		r := &now.Rows[i]
		if o := before[r.Tensor()]; o != nil && r.Role != result.Whole && o.Compared && r.Compared && o.Shape != nil && r.Shape != nil && !slices.Equal(o.Shape, r.Shape) {
			return &BaselineError{Fault: BaselineShapes, Tensor: r.Tensor(), Then: o.Shape, Now: r.Shape}
		}
	}
	return nil
}

// operatorsOf are the names of the operators of a table that compute something.
func operatorsOf(t *result.Table) map[string]bool {
	names := map[string]bool{}
	listed := map[string]bool{}
	for i := range t.Ops {
		listed[t.Ops[i].Name] = true
		if computes(&t.Ops[i]) {
			names[t.Ops[i].Name] = true
		}
	}
	for i := range t.Rows {
		if op := t.Rows[i].Op; !listed[op] {
			names[op] = true
		}
	}
	return names
}

// baseline compares the outputs with an earlier table.
func (j *judge) baseline(old *result.Table) *Baseline {
	before := tensors(old)
	causes := j.causesOf(old)
	b := &Baseline{}
	if !old.Meta.Time.IsZero() {
		b.Time = old.Meta.Time.Format("2006-01-02T15:04:05Z07:00")
	}
	now := map[string]bool{}
	for i := range j.operators {
		for _, t := range j.operators[i].Outputs {
			r := &j.table.Rows[t.Row]
			name := r.Tensor()
			now[name] = true
			o := before[name]
			c := Change{Tensor: name, Row: t.Row, Before: math.NaN(), Now: math.NaN()}
			if r.Compared {
				c.Now, c.NowCount = size(r)
			}
			if o == nil || !o.Compared {
				switch {
				case t.Verdict == Bad: // nobody knows that it was so before
					b.Regressions = append(b.Regressions, c)
				case o == nil:
					b.New++
				default:
					b.Same++
				}
				continue
			}
			c.Before, c.BeforeCount = size(o)
			noise := grownUnits * max(unit(coarserOf(r)), unit(coarserOf(o)))
			switch {
			case !t.Verdict.Compared(), c.grew(noise), newly(&t, causes[name]), t.Verdict == Bad && otherSize(r, o):
				b.Regressions = append(b.Regressions, c)
			case c.NowCount < c.BeforeCount, c.Before > grown*c.Now+noise, math.IsNaN(c.Before) && !math.IsNaN(c.Now):
				b.Improved = append(b.Improved, c)
			default:
				b.Same++
			}
		}
	}
	for i := range j.operators {
		b.Regressions = append(b.Regressions, j.changedOnTheWay(&j.operators[i], before)...)
	}
	// What was compared then and has no row now is lost.
	for i := range old.Rows {
		if o := &old.Rows[i]; o.Role == result.Output && o.Compared && !now[o.Tensor()] {
			c := Change{Tensor: o.Tensor(), Row: -1, Now: math.NaN()}
			c.Before, c.BeforeCount = size(o)
			b.Regressions = append(b.Regressions, c)
		}
	}
	return b
}

// grew tells that an error is larger than it was, by more than noise.
func (c *Change) grew(noise float64) bool {
	return c.NowCount > c.BeforeCount || c.Now > grown*c.Before+noise || math.IsNaN(c.Now) && !math.IsNaN(c.Before)
}

// changedOnTheWay are the inputs of an operator that got worse and are bad although the outputs that feed them are not: an output
// that was bad before may hide them.
func (j *judge) changedOnTheWay(op *Operator, before map[string]*result.Row) (list []Change) {
	for t, from := range j.feeds(op) {
		if t == nil || t.Verdict != Bad {
			continue
		}
		if from.by != nil {
			if out := from.by.output(from.Index); out != nil && out.Verdict == Bad {
				continue
			}
		}
		r := &j.table.Rows[t.Row]
		o := before[r.Tensor()]
		if o == nil || !o.Compared || !r.Compared {
			continue
		}
		c := Change{Tensor: r.Tensor(), Row: t.Row}
		c.Now, c.NowCount = size(r)
		c.Before, c.BeforeCount = size(o)
		if c.grew(grownUnits * max(unit(coarserOf(r)), unit(coarserOf(o)))) {
			list = append(list, c)
		}
	}
	return list
}

// causesOf are the causes of the outputs of an earlier table.
func (j *judge) causesOf(old *result.Table) map[string][]Cause {
	opts := j.opts
	opts.Baseline, opts.Second = nil, nil
	judged := Judge(old, opts)
	list := map[string][]Cause{}
	for i := range judged.Operators {
		for _, t := range judged.Operators[i].Outputs {
			if len(t.Causes) > 0 {
				list[old.Rows[t.Row].Tensor()] = t.Causes
			}
		}
	}
	return list
}

// mostResized is how many times larger or smaller a golden tensor may be than that of the baseline
// for errors relative to the two to be compared: other data of the same sort keep their size.
const mostResized = 2

// otherSize tells that the golden tensor of a row is no longer the one that an earlier error was
// relative to.
func otherSize(now, then *result.Row) bool {
	a, b := &now.Result().Facts, &then.Result().Facts
	if !a.Known || !b.Known || !(b.Y.RMS > 0) {
		return false
	}
	return !(a.Y.RMS <= mostResized*b.Y.RMS && b.Y.RMS <= mostResized*a.Y.RMS)
}

// newly tells that a tensor has a cause that no growth measures and that it did not have before.
func newly(t *Tensor, before []Cause) bool {
	for _, c := range t.Causes {
		switch c.Kind {
		case NaN, Inf, Zeros, Form, Argument, Unexplained, Law:
			if !c.Waived && !slices.ContainsFunc(before, func(b Cause) bool { return b.Kind == c.Kind }) {
				return true
			}
		}
	}
	return false
}

// size is the error of a row as one number, and in how many elements NaN and Inf
// disagree.
func size(r *result.Row) (float64, int64) {
	m := measureOf(r)
	var count int64
	if m.facts != nil {
		count = m.facts.Disagree
		if m.facts.Differ == 0 {
			return 0, 0
		}
	}
	if m.scalar() {
		return m.relative, count
	}
	return m.distance, count
}
