package verdict

import "precision/compare/result"

// blanks takes back what was said of outputs that hold the same number everywhere, or nothing but
// NaN, on both sides, where most outputs are so: two sides that both recorded zeros do not
// agree, they say nothing, and a verdict needs half of what is expected. Fewer such tensors among
// others, as masks and the gradients of what is not used, are as good as any.
func (j *judge) blanks() {
	blank, all := 0, 0
	for _, op := range j.operators {
		for k := range op.Outputs {
			if t := &op.Outputs[k]; computes(op.Op) && t.Verdict.Compared() {
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
					if _, empty := vacant(&j.table.Rows[t.Row]); empty {
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
