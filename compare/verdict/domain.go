package verdict

import (
	"math"

	"precision/compare/metric"
	"precision/compare/result"
	catalogue "precision/op"
)

// NaN and infinities that no input has are made by the operator. But an operator
// that takes the square root of a negative number does what it should: whoever
// made the number negative is to blame. This is told by the ranges of the two
// sides: the left input leaves the domain of the function, or of the output's
// dtype, and golden does not.

// outside tells whether the inputs of an operator explain that it makes NaN or
// infinities which golden has not.
func (j *judge) outside(op *Operator, out *Tensor) bool {
	rows, _ := j.feeding(op)
	if len(rows) == 0 {
		return false
	}
	most := j.table.Rows[out.Row].Left.DType.Max()
	overflow := catalogue.Of(op.Op.Type).Overflow
	var left, right float64 = 1, 1 // largest product of magnitudes
	for i, at := range rows {
		r := &j.table.Rows[at]
		f := &r.Result().Facts
		if !r.Compared || !f.Known || f.Finite == 0 {
			return false
		}
		x, y := magnitude(&f.X), magnitude(&f.Y)
		if most > 0 && x >= most && y < most {
			return true
		}
		left, right = left*max(x, 1), right*max(y, 1)
		if leaves(op.Op.Type, i, len(rows), f) {
			return true
		}
		if overflow == "exponential" && most > 0 && f.X.Hi > math.Log(most) && f.Y.Hi < math.Log(most) {
			return true
		}
	}
	if overflow == "square" {
		left, right = left*left, right*right
	}
	return (overflow == "square" || overflow == "product") && most > 0 && left >= most && right < most
}

// leaves tells whether input i of n leaves the domain of the operator's function
// on the left side alone.
func leaves(typ string, i, n int, f *metric.Facts) bool {
	switch catalogue.Of(typ).Domain {
	case "nonnegative":
		return f.X.Lo < 0 && f.Y.Lo >= 0
	case "logarithm":
		return f.X.Lo < 0 && f.Y.Lo >= 0 || f.X.Zero > f.Y.Zero
	case "positive":
		return f.X.Lo <= 0 && f.Y.Lo > 0
	case "nonzero":
		return f.X.Zero > f.Y.Zero
	case "divisor":
		return i == n-1 && f.X.Zero > f.Y.Zero
	case "power":
		return i == 0 && (f.X.Lo < 0 && f.Y.Lo >= 0 || f.X.Zero > f.Y.Zero)
	}
	return false
}

// freshNonFinite tells whether an output has NaN or infinities that its inputs
// neither have nor explain.
func (j *judge) freshNonFinite(op *Operator, w *walked) bool {
	if w.nan || w.unknown {
		return false
	}
	for i := range op.Outputs {
		t := &op.Outputs[i]
		for _, c := range t.Causes {
			if (c.Kind == NaN || c.Kind == Inf) && !c.Waived && j.table.Rows[t.Row].Role == result.Output && !j.outside(op, t) {
				return true
			}
		}
	}
	return false
}
