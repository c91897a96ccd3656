package verdict

import (
	"math"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	catalogue "precision/op"
)

// Integers that are numbers
//
// An id, an index, a flag is right or wrong, and one that differs is wrong
// whatever its distance. A quantised activation and the sum of products of such
// are measured instead: they are numbers with a step of one, their inputs' noise
// moves some of them by a step, and a sum of many of them differs nearly
// everywhere by next to nothing. Nor are the bits of fractions taken for integers (Bitcast)
// equal where these are not: those of near ones are near. These are judged by distance, like
// numbers with a fraction.

// narrow tells whether integers of a dtype are hardly ever more than small
// numbers: what networks are quantised to.
func narrow(t dtype.Type) bool { return t.IsInteger() && t.Bits() <= 8 }

// findNumbers tells which outputs hold integers that are numbers.
func (j *judge) findNumbers() {
	index := map[result.Port]bool{} // used as an index, maybe behind what moves it
	for i := len(j.operators) - 1; i >= 0; i-- {
		op := &j.operators[i]
		row := op.row
		for _, slot := range row.Indices {
			if slot < len(op.Op.Inputs) {
				index[op.Op.Inputs[slot]] = true
			}
		}
		if hands(row) && row.Indices == nil || row.Traits&(catalogue.Rounds|catalogue.Reshapes) != 0 {
			for k := range op.Outputs {
				if len(op.Op.Inputs) > 0 && index[result.Port{Op: op.Op.Name, Index: op.Outputs[k].Slot}] {
					index[op.Op.Inputs[0]] = true
				}
			}
		}
	}
	j.numbers = map[result.Port]bool{}
	for i := range j.operators {
		op := &j.operators[i]
		row := op.row
		made := row.Traits&(catalogue.Quantises|catalogue.Product) != 0
		for slot, p := range op.Op.Inputs {
			made = made || !row.TakesPlaces(slot) && j.numbers[p]
		}
		if op.Op.Skipped && made && len(op.Outputs) == 0 {
			j.numbers[result.Port{Op: op.Op.Name}] = true // has no row, and is passed on all the same
		}
		for k := range op.Outputs {
			t := &op.Outputs[k]
			r := &j.table.Rows[t.Row]
			at := result.Port{Op: op.Op.Name, Index: t.Slot}
			is := r.Left.DType
			if !counted(is) || is.IsBool() || index[at] || row.PicksPlaces(t.Slot) {
				continue
			}
			if made || quantName(op.Op.Name) && narrow(is) || row.Traits&(catalogue.Rounds|catalogue.Reshapes) != 0 && j.fractions(op) {
				j.numbers[at], t.Number = true, true
			}
		}
	}
}

// quantName tells whether a name speaks of quantisation.
func quantName(name string) bool { return strings.Contains(strings.ToLower(name), "quant") }

// fractions tells whether what goes into an operator has fractions.
func (j *judge) fractions(op *Operator) bool {
	for i := range op.Inputs {
		r := &j.table.Rows[op.Inputs[i].Row]
		if op.Inputs[i].Slot == 0 {
			return r.Left.DType.IsFloat()
		}
	}
	if len(op.Op.Inputs) > 0 { // where inputs have no rows of their own
		if from := j.named(op.Op.Inputs[0].Op); from != nil {
			t := from.output(op.Op.Inputs[0].Index)
			return t != nil && j.table.Rows[t.Row].Left.DType.IsFloat()
		}
	}
	return false
}

// counts tells whether the elements of a row are counted rather than measured:
// flags, ids, indices.
func (j *judge) counts(r *result.Row) bool {
	if !counted(r.Left.DType) {
		return false
	}
	at := result.Port{Op: r.Op, Index: r.Slot}
	if r.Role == result.Input {
		if at = r.Facts.Producer; at.Op == "" {
			if op := j.named(r.Op); op != nil && r.Slot < len(op.Op.Inputs) {
				at = op.Op.Inputs[r.Slot]
			}
		}
		if at.Op == "" || j.named(at.Op) == nil || j.named(at.Op).Op.Constant {
			// Nobody knows who made it: what it is made for tells.
			return r.Left.DType.IsBool() || !catalogue.Is(r.Type, catalogue.Product) || !narrow(r.Left.DType)
		}
	}
	return !j.numbers[at]
}

// quantised: what goes in times a scale, rounded to whole numbers. Noise of e
// steps moves a share e of the elements by a whole step. Of few elements one may be
// moved by chance.
func quantised(in []operand, out *operand) prediction {
	if len(in) == 0 || in[0].dev <= 0 || out.dev <= 0 || out.count == 0 {
		return prediction{}
	}
	x, step := &in[0], 1.0
	if out.step > 0 {
		step = out.step
	}
	steps := out.dev / x.dev / step // the scale; deviations do not see the zero point
	e := steps * (x.err.rms + 2*x.unit*x.rms)
	most := math.Ceil(steps*(x.err.max+2*x.unit*x.magnOf)) + 1
	if out.step > 0 { // the sides may round in other steps
		e = max(e, otherSteps)
	}
	s := spread{math.Sqrt((e + 3/out.count) * (1 + e)), most}.times(step)
	return prediction{typical: s, bound: s.times(2), tame: true}
}

// otherSteps is the error, in steps, of numbers rounded in steps of one side and in up to twice as large ones of the other:
// √(1/12 + 4/12), and what rounds to it.
const otherSteps = 0.5
