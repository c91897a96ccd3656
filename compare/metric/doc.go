// Package metric computes the comparison metrics of a pair of tensors:
// how far x, the tensor that was recorded ("mine", the left side), is from y,
// the ground truth ("golden", the right side).
//
// It knows nothing of files, types or shapes: it is fed with tiles of float32
// or float64 elements in logical order.
//
// # The metrics
//
// n is the number of elements.
//
//	CosineSimilarity           Σxy / (√Σx² · √Σy²)
//	MaxAbsoluteError           max |x-y|
//	AccumulatedRelativeError   Σ |x-y|/|y|           over y ≠ 0
//	RelativeEuclideanDistance  √(Σ(x-y)² / Σy²)
//	KullbackLeiblerDivergence  Σ p·ln(p/q), p and q being x and y scaled to
//	                           [0,1] by their extrema, floored at 2^-23 and
//	                           divided by their sums
//	StandardDeviation          mean and population deviation of either side
//	MeanAbsoluteError          Σ|x-y| / n
//	RootMeanSquareError        √(Σ(x-y)² / n)
//	MaxRelativeError           max |x-y|/|y|         over y ≠ 0
//	MeanRelativeError          Σ |x-y|/|y| / n       (n counts y = 0 as well)
//
// Each is an entry of the registry (registry.go), whose definition says what sums
// it needs and how it is made from them in either numerics.
//
// # Two numerics
//
// [Exact] widens every element to float64 and accumulates in float64.
// Elements that are not finite but agree (both NaN, or the same infinity) are
// left out, of the sums and of n. If any disagree, then CosineSimilarity,
// RelativeEuclideanDistance and KullbackLeiblerDivergence are not computed,
// the errors (maxima, sums and means) are infinite, StandardDeviation is over
// the finite values of each side, and a note tells how many disagree and which
// is first. Elements that differ where y is 0 have no relative error; a note
// counts them. A scalar has no cosine.
//
// [Reference] reproduces msaccucmp digit for digit, with its float32
// arithmetic, its order of summation, its special cases and its messages;
// KullbackLeiblerDivergence within 1e-6 plus 1e-6 relative, because the
// logarithm of the original is not specified to the last bit. Relative errors
// are |x/y - 1| there, and 0 where |y| <= 2^-52.
//
// # Facts
//
// Both numerics give the [Facts] of a pair as well: what a judge wants to know
// that no column tells, such as counts, the places of the first difference and
// of the largest error, offset and scale. They do not depend on the selected metrics.
//
// # Use
//
// [Compute32] and [Compute64] take whole slices. A [Run] takes a tensor in
// tiles of [TileLen] elements, so that it need not be in memory as a whole, in
// one to three passes:
//
//	run := metric.NewRun(cfg)
//	for {
//		for each tile in order {
//			run.Reduce32(&partial, x, y) // in any goroutine
//			run.Fold(&partial)           // in tile order
//		}
//		if !run.Next() {
//			break
//		}
//	}
//	result := run.Result()
//
// The digits depend neither on the number of goroutines nor on which of the
// kernels (AVX-512, AVX2, NEON, Go) ran in Reference numerics; in Exact numerics
// kernels differ by rounding, about 1e-14 relative.
package metric
