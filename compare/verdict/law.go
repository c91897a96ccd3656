package verdict

import (
	"math"

	"precision/compare/metric"
)

// Laws: what an output's own numbers must be, whatever the inputs hold
//
// Some operators keep a sum. What only moves elements has the same smallest,
// largest and mean element behind it as before it; a split and a concatenation
// have them in parts; a mean over axes has the mean of its input; sums of tensors
// have the sum of their means; the rows of a softmax add up to one on both sides.
// Errors that came in do not excuse a law that is broken, so this is found
// behind other errors too, where a comparison with golden sees but one more
// wrong tensor.

// law is how far an operator's outputs are from keeping its law, in unit
// roundoffs, and which output is the farthest.
type law func(in []*metric.Facts, out []*metric.Facts, u float64) (units float64, output int)

// laws by the words that the catalogue has for them.
var laws = map[string]law{"elements": keepsElements, "ones": keepsOnes, "mean": keepsMean, "sum": addsMeans}

// broken measures how far an operator is from its law. ok is false where it has
// none, or not everything it needs was compared.
func (j *judge) broken(op *Operator) (units float64, output int, ok bool) {
	check := laws[op.row.Law]
	if check == nil || len(op.Outputs) == 0 || len(op.Op.Framework) > 1 {
		return 0, 0, false // fused kernels compute more than their type says
	}
	u := 0.0
	facts := func(list []Tensor) []*metric.Facts {
		var out []*metric.Facts
		for i := range list {
			r := &j.table.Rows[list[i].Row]
			f := &r.Result().Facts
			if !r.Compared || !f.Known || f.Finite == 0 || f.Finite != f.N || f.X.NaN+f.X.Inf+f.Y.NaN+f.Y.Inf > 0 || counted(r.Left.DType) || r.Saturated != nil {
				return nil
			}
			u = max(u, unit(coarserOf(r)))
			out = append(out, f)
		}
		return out
	}
	in, out := facts(op.Inputs), facts(op.Outputs)
	if in == nil || out == nil || u == 0 {
		return 0, 0, false
	}
	units, output = check(in, out, max(u, leastUnit))
	return units, output, !math.IsNaN(units)
}

// leastUnit is the finest roundoff a law is held to: sums of many float32
// numbers, and the exponentials of a softmax, are not good to their last bits.
const leastUnit = 1.0 / (1 << 18)

// share is a deviation over a size, in roundoffs; 0 over 0 is 0.
func share(deviation, size, u float64) float64 {
	if deviation == 0 {
		return 0
	}
	return math.Abs(deviation) / (size * u)
}

// keepsElements: the elements of the inputs and of the outputs are the same.
// Where the numbers of elements differ some were dropped or repeated, and there
// is no law.
func keepsElements(in, out []*metric.Facts, u float64) (float64, int) {
	total := func(list []*metric.Facts) (n, lo, hi, sum, squares float64) {
		lo, hi = math.Inf(1), math.Inf(-1)
		for _, f := range list {
			k := float64(f.N)
			n, lo, hi, sum, squares = n+k, min(lo, f.X.Lo), max(hi, f.X.Hi), sum+k*f.X.Mean, squares+k*f.X.RMS*f.X.RMS
		}
		return
	}
	n, lo, hi, sum, squares := total(in)
	m, lo2, hi2, sum2, squares2 := total(out)
	if n != m || n == 0 {
		return math.NaN(), 0
	}
	rms := math.Sqrt(squares / n)
	most := max(math.Abs(lo), math.Abs(hi))
	units := max(share(lo2-lo, most, u), share(hi2-hi, most, u), share((sum2-sum)/n, rms, u), share(math.Sqrt(squares2/n)-rms, rms, u))
	return units, 0
}

// keepsOnes: rows add up to one on both sides, so that the mean is the same.
func keepsOnes(in, out []*metric.Facts, u float64) (float64, int) {
	return share(out[0].MeanError, out[0].Y.Mean, u), 0
}

// keepsMean: the mean of means over parts of one size is the mean of all.
func keepsMean(in, out []*metric.Facts, u float64) (float64, int) {
	return share(out[0].X.Mean-in[0].X.Mean, in[0].X.RMS, u), 0
}

// addsMeans: the mean of a sum is the sum of the means, of what is broadcast,
// too. Both inputs have to be known.
func addsMeans(in, out []*metric.Facts, u float64) (float64, int) {
	if len(in) < 2 {
		return math.NaN(), 0
	}
	var mean, size float64
	for _, f := range in {
		if out[0].N%f.N != 0 {
			return math.NaN(), 0
		}
		mean, size = mean+f.X.Mean, size+f.X.RMS
	}
	return share(out[0].X.Mean-mean, size, u), 0
}
