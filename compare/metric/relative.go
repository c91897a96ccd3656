package metric

// Relative errors are |x-y|/|y| over y ≠ 0. In Reference numerics they are |x/y-1|
// where |y| > 2^-52, and 0 elsewhere.

// Σ |x-y|/|y|
var accumulatedRelativeError = definition{
	name:      "AccumulatedRelativeError",
	relative:  true,
	exact:     errorOf(func(s *exactSums) float64 { return s.rel.float() }),
	reference: numeric(func(r *referenceRun) float64 { return float64(r.sums.rel) }),
}

// max |x-y|/|y|
var maxRelativeError = definition{
	name:      "MaxRelativeError",
	relative:  true,
	exact:     errorOf(func(s *exactSums) float64 { return s.maxRel }),
	reference: maximum(func(r *referenceRun) float64 { return float64(r.extrema.maxRel) }),
}

// Σ |x-y|/|y| / n; n counts elements without a relative error as well.
var meanRelativeError = definition{
	name:      "MeanRelativeError",
	relative:  true,
	exact:     errorOf(func(s *exactSums) float64 { return s.rel.mean(s.n).float() }),
	reference: numeric(func(r *referenceRun) float64 { return float64(r.mean(r.sums.rel)) }),
}
