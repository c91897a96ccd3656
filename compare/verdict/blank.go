package verdict

import (
	"slices"
	"strconv"

	"precision/compare/result"
)

// blanks takes back what was said of outputs that hold the same number everywhere, or nothing but
// NaN, on both sides, where most outputs are so: two sides that both recorded zeros do not
// agree, they say nothing, and a verdict needs half of what is expected. Fewer such tensors among
// others, as masks and the gradients of what is not used, are as good as any.
func (j *judge) blanks() {
	blank, all := 0, 0
	for i := range j.operators {
		op := &j.operators[i]
		for k := range op.Outputs {
			if t := &op.Outputs[k]; op.computes() && t.Verdict.Compared() {
				n, empty := vacant(&j.table.Rows[t.Row])
				if n != 1 { // a single element is always one number; of 0 the count is not known
					all++
				}
				if empty {
					blank++
				}
			}
		}
	}
	if 2*blank <= all {
		return
	}
	for i := range j.operators {
		op := &j.operators[i]
		for _, list := range [][]Tensor{op.Outputs, op.Inputs} {
			for k := range list {
				if t := &list[k]; t.Verdict == Good || t.Verdict == Suspect {
					r := &j.table.Rows[t.Row]
					_, empty := vacant(r)
					n, left, right := zeroSides(r)
					if empty || n == 1 && (left && right || neitherFinite(r)) { // beside such tensors a single 0 or NaN says no more
						t.Verdict = Uncompared
					}
				}
			}
		}
		if op.State == StateGood {
			op.State = StateUncompared
			for k := range op.Outputs {
				if op.Outputs[k].Verdict.Compared() {
					op.State = StateGood
				}
			}
		}
	}
}

// vacant tells whether both sides of a tensor of several elements hold one and the same number
// everywhere, or NaN everywhere; n is the number of its elements.
func vacant(r *result.Row) (n float64, empty bool) {
	if f := &r.Result().Facts; r.Compared && f.Known {
		n = float64(f.N)
		return n, n > 1 && f.Disagree == 0 && (f.Finite == 0 || f.Finite == f.N && f.X.Lo == f.X.Hi && f.BitEqual)
	}
	rec := r.Recorded
	if rec == nil || rec.Argument || r.Left.Shape == nil {
		return 0, false
	}
	n = elements(r.Left.Shape)
	const extremes = result.KnownMax | result.KnownMin
	if n <= 1 || !rec.Left.Has(extremes) || !rec.Right.Has(extremes) {
		return n, false
	}
	a, b := &rec.Left.Stats, &rec.Right.Stats
	constant := a.Max == a.Min && b.Max == b.Min && a.Max == b.Max
	none := a.Max != a.Max && b.Max != b.Max
	return n, constant || none
}

// neitherFinite tells that neither side of a tensor has a finite element.
func neitherFinite(r *result.Row) bool {
	if f := &r.Result().Facts; r.Compared && f.Known {
		return f.Disagree == 0 && f.Finite == 0
	}
	return r.Recorded != nil && !r.Recorded.Argument && nonFinite(r.Recorded.Left) && nonFinite(r.Recorded.Right)
}

// mostIdle is how many of the tensors of a side are zero, nine in ten, where it was run on nothing.
const mostIdle = 0.9

// idle tells of a side that is zero alone, in nearly all tensors or in all that the premise of inputs
// names, that it may be a call for warming up: that is another thing than other data.
func (j *judge) idle(out *Judged) {
	var zeros [2]int
	all := 0
	for i := range j.table.Rows {
		r := &j.table.Rows[i]
		if r.Compared || r.Recorded != nil && !r.Recorded.Argument && r.Recorded.Both > 0 {
			all++
			n, left, right := zeroSides(r)
			for side, zero := range [2]bool{left, right} {
				if zero && n > 1 {
					zeros[side]++
				}
			}
		}
	}
	fed := slices.IndexFunc(out.Premises, func(p Premise) bool { return p.Kind == PremiseInputs && p.Broken && len(p.Rows) > 0 })
	for side, name := range []string{"left", "right"} {
		n, of := zeros[side], all
		if zeros[1-side] > 0 || of < leastWeights || float64(n) < mostIdle*float64(of) {
			if fed < 0 || slices.ContainsFunc(out.Premises[fed].Rows, func(row int) bool {
				n, left, right := zeroSides(&j.table.Rows[row])
				return n <= 1 || left == right || left != (side == 0)
			}) {
				continue
			}
			n = len(out.Premises[fed].Rows)
			of = n
		}
		out.AddHints(result.Because(result.HintZeros, name, strconv.Itoa(n), strconv.Itoa(of)))
	}
}

// zeroSides tells of the left and the right side of a tensor of n elements whether all are zero.
func zeroSides(r *result.Row) (n float64, left, right bool) {
	if f := &r.Result().Facts; r.Compared && f.Known {
		return float64(f.N), f.X.Zero == f.N, f.Y.Zero == f.N
	}
	rec := r.Recorded
	if rec == nil || r.Left.Shape == nil {
		return 0, false, false
	}
	zero := func(s *result.Summary) bool {
		return s.Has(result.KnownMax|result.KnownMin) && s.Stats.Max == 0 && s.Stats.Min == 0
	}
	return elements(r.Left.Shape), zero(rec.Left), zero(rec.Right)
}
