package verdict

import "precision/compare/result"

// damage lists what cannot be believed: the table's own damage first, then that of its rows.
// Tensors and operators get it as their verdict and state, unless they are known to be wrong:
// damage makes nothing better.
func (j *judge) damage() []result.Damage {
	list := append([]result.Damage(nil), j.table.Meta.Damaged...)
	type place struct {
		file   string
		offset int64
		kind   result.Kind
	}
	seen := map[place]bool{}
	hit := map[int]bool{}
	for i := range j.table.Rows {
		d := j.table.Rows[i].Damaged()
		if d == nil {
			continue
		}
		hit[i] = true
		// A file that feeds several operators is damaged once.
		at := place{d.File, d.Offset, d.Reason.Kind}
		if at.file == "" || !seen[at] {
			seen[at] = true
			list = append(list, *d)
		}
	}
	if len(hit) == 0 {
		return list
	}
	settle := func(tensors []Tensor) (broken bool) {
		for k := range tensors {
			if t := &tensors[k]; hit[t.Row] {
				broken = true
				if t.Verdict == Uncompared || t.Verdict == Good {
					t.Verdict = Damaged
				}
			}
		}
		return broken
	}
	for i := range j.operators {
		op := &j.operators[i]
		broken := settle(op.Outputs)
		settle(op.Inputs)
		for _, row := range op.Whole {
			broken = broken || hit[row]
		}
		if broken && (op.State == StateUncompared || op.State == StateGood) {
			op.State = StateDamaged
		}
	}
	return list
}
