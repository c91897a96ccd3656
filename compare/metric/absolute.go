package metric

// max |x-y|
var maxAbsoluteError = definition{
	name:      "MaxAbsoluteError",
	exact:     errorOf(func(s *exactSums) float64 { return s.maxAbs }),
	reference: maximum(func(r *referenceRun) float64 { return float64(r.extrema.maxAbs) }),
}

// Σ|x-y| / n
var meanAbsoluteError = definition{
	name:      "MeanAbsoluteError",
	exact:     errorOf(func(s *exactSums) float64 { return s.ad.mean(s.n).float() }),
	reference: numeric(func(r *referenceRun) float64 { return float64(r.mean(r.sums.ad)) }),
}

// √(Σ(x-y)² / n)
var rootMeanSquareError = definition{
	name:      "RootMeanSquareError",
	exact:     errorOf(func(s *exactSums) float64 { return s.dd.mean(s.n).sqrt().float() }),
	reference: numeric(func(r *referenceRun) float64 { return float64(sqrt32(r.mean(r.sums.dd))) }),
}
