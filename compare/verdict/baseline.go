package verdict

import (
	"math"

	"precision/compare/result"
)

// Baseline is what became of a network's errors since an earlier table.
type Baseline struct {
	// Time is when the earlier comparison began, as RFC 3339.
	Time string
	// Regressions are tensors whose error grew beyond noise, or that could be
	// compared then and cannot now; Improved those whose error shrank as much.
	Regressions, Improved []Change
	// Same counts the tensors that did neither, New those the earlier table
	// does not have.
	Same, New int
}

// Change is a tensor of which the error changed.
type Change struct {
	// Row is the row of the new table.
	Row int
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

// baseline compares the outputs with an earlier table.
func (j *judge) baseline(old *result.Table) *Baseline {
	before := tensors(old)
	b := &Baseline{}
	if !old.Meta.Time.IsZero() {
		b.Time = old.Meta.Time.Format("2006-01-02T15:04:05Z07:00")
	}
	for i := range j.operators {
		for _, t := range j.operators[i].Outputs {
			r := &j.table.Rows[t.Row]
			o := before[r.Tensor()]
			switch {
			case o == nil:
				b.New++
				continue
			case !o.Compared:
				b.Same++
				continue
			}
			c := Change{Row: t.Row, Now: math.NaN()}
			c.Before, c.BeforeCount = size(o)
			if r.Compared {
				c.Now, c.NowCount = size(r)
			}
			noise := grownUnits * max(unit(coarserOf(r)), unit(coarserOf(o)))
			switch {
			case !r.Compared, c.NowCount > c.BeforeCount, c.Now > grown*c.Before+noise, math.IsNaN(c.Now) && !math.IsNaN(c.Before):
				b.Regressions = append(b.Regressions, c)
			case c.NowCount < c.BeforeCount, c.Before > grown*c.Now+noise, math.IsNaN(c.Before) && !math.IsNaN(c.Now):
				b.Improved = append(b.Improved, c)
			default:
				b.Same++
			}
		}
	}
	return b
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
