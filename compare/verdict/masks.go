package verdict

import (
	"math"
	"slices"
	"strconv"

	"precision/compare/result"
	"precision/dump/dtype"
)

// Masks are made of numbers so far below all others that nothing is left of these beside them: -inf,
// the lowest number of a type, -1e30, -1e9. In norms, distances and bounds they swallow what is
// wrong with the others, so that nothing is known of how far two such tensors are apart.

// veiled tells of a pair that numbers of masks are in it, on either side.
func veiled(r *result.Row) bool {
	if f := &r.Result().Facts; r.Compared && f.Known {
		return f.Finite > 0 && (swamps(f.X.Lo, f.X.Hi) || swamps(f.Y.Lo, f.Y.Hi))
	}
	rec := r.Recorded
	if rec == nil || rec.Argument {
		return false
	}
	const extremes = result.KnownMin | result.KnownMax
	for _, s := range []*result.Summary{rec.Left, rec.Right} {
		if s.Has(extremes) && swamps(s.Stats.Min, s.Stats.Max) {
			return true
		}
	}
	return false
}

// maskedAlone tells of an input that calls of one side alone put numbers of masks into what the other side takes as it is, which may
// do so later: what comes out shows whether it does.
func (w *recordedWalk) maskedAlone(r *result.Row) bool {
	a, b := r.Recorded.Left, r.Recorded.Right
	return veiled(r) && a.Has(result.KnownMax) && b.Has(result.KnownMax) && a.Stats.Max == b.Stats.Max &&
		(w.stepsAlone(r.Facts.Producer, r.Recorded.Golden) > 0 || w.stepsAlone(r.Recorded.Golden, r.Facts.Producer) > 0)
}

// sunk tells of statistics that the sides mask with other numbers: -inf, the lowest number of a type, which
// becomes -inf in a coarser one, -1e30. Numbers above -[mostMask] are no such masks: beside them -inf is an overflow.
func sunk(r *result.Row) bool {
	masks := func(s *result.Summary) bool {
		nan, _ := s.NotFinite() // a mean that is no number comes of no mask
		return !nan && s.Has(result.KnownMin|result.KnownMax) && math.Abs(s.Stats.Max) <= math.MaxFloat64 && s.Stats.Min <= -mostMask && swamps(s.Stats.Min, s.Stats.Max)
	}
	a, b := r.Recorded.Left, r.Recorded.Right
	return a != nil && b != nil && a.Stats.Min != b.Stats.Min && masks(a) && masks(b)
}

// masked tells of an output with [sunk] statistics that its call did not make the masks: they came in with an input or
// an argument, or the number of the one side is beyond the type of the other.
func (j *judge) masked(op *Operator, r *result.Row) bool {
	if !sunk(r) {
		return false
	}
	coarse, low := r.Left.DType, r.Recorded.Right.Stats.Min
	if math.IsInf(low, -1) {
		coarse, low = r.Right.DType, r.Recorded.Left.Stats.Min
	}
	if most := coarse.Max(); most > 0 && -low > most {
		return true
	}
	return slices.ContainsFunc(op.Inputs, func(t Tensor) bool {
		in := &j.table.Rows[t.Row]
		switch rec := in.Recorded; {
		case rec == nil || rec.Left == nil || rec.Right == nil:
			return false
		case rec.Argument:
			return swamping(rec)
		default:
			return sunk(in) && rec.Left.Stats.Min == r.Recorded.Left.Stats.Min && rec.Right.Stats.Min == r.Recorded.Right.Stats.Min
		}
	})
}

// swamps tells it of the extremes: the largest number is less than a rounding of the
// smallest, as the coarsest type in use has it.
func swamps(lo, hi float64) bool {
	return lo <= masked && math.Abs(hi) < -lo*unit(dtype.BFloat16)
}

// swamping tells of an argument that both sides have a number of masks, maybe of another type.
func swamping(rec *result.Recorded) bool {
	for _, s := range []*result.Summary{rec.Left, rec.Right} {
		if v, err := strconv.ParseFloat(s.Value, 64); err != nil || !(v <= -mostMask) {
			return false
		}
	}
	return true
}

// mostMask is beyond what people use as a number that stands for itself.
const mostMask = 1e9

// unseen tells of what an attention gives, which one side computes by other calls than the other, that it may differ in rows that see nothing: those of
// padding on the left, of which a mask leaves no number. What these are is up to who computes them, zeros or the mean of all values; what is seen does
// not hang on them. Statistics do not tell which rows differ. That the extremes are the same says that it is not all.
func (w *recordedWalk) unseen(op *Operator) bool {
	if backwards(op) == 1 || len(op.Outputs) == 0 || !slices.ContainsFunc(op.Inputs, func(t Tensor) bool { return hidesKeys(w.row(&t)) }) {
		return false
	}
	return !slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		e, known := extremesOf(r)
		far := 4 * roundedOff(r) * math.Max(math.Abs(e.rightMax), math.Abs(e.rightMin))
		return !known || nonFinite(r.Recorded.Left) || nonFinite(r.Recorded.Right) || math.Abs(e.leftMax-e.rightMax) > far || math.Abs(e.leftMin-e.rightMin) > far
	})
}

// blank says that rows of an attention see nothing, and that what follows is not judged by size.
func (w *recordedWalk) blank(op *Operator) {
	if k := slices.IndexFunc(w.out.Premises, func(p Premise) bool { return p.Reason.Kind == result.RowsUnseen }); k >= 0 {
		w.out.Premises[k].Tensors++
		return
	}
	t := &op.Outputs[0]
	w.out.Premises = append(w.out.Premises, Premise{Kind: PremiseCompared, Broken: true, Tensors: 1, Share: 1, Rows: []int{t.Row}, Reason: result.Because(result.RowsUnseen, op.Op.Name)})
}

// hidesKeys tells of what goes into an attention that it is a mask of flags, a row for each query, which one side alone is given: the other one
// adds it to scores.
func hidesKeys(r *result.Row) bool {
	if r.Recorded == nil || r.Recorded.Argument {
		return false
	}
	flags, has := r.Left, r.Recorded.Left
	if r.Has(result.NoLeftValue) {
		flags, has = r.Right, r.Recorded.Right
	} else if !r.Has(result.NoRightValue) {
		return false
	}
	n := len(flags.Shape)
	return n >= 2 && flags.Shape[n-2] > 1 && flags.DType.IsBool() && has.Has(result.KnownMin|result.KnownMax) && has.Stats.Max > has.Stats.Min
}
