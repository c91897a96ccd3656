package metric

// Result is what a comparison of two tensors came to.
type Result struct {
	// N is the number of elements of each side.
	N int64
	// Values are indexed by Metric. Metrics that were not selected are not
	// computed.
	Values [Count]Value
	// Notes are in the order of the selected metrics.
	Notes []Note
	// Facts are what a judge goes by, besides the values.
	Facts Facts

	// The counts below are of Exact numerics.

	// AgreeNonFinite is the number of elements that are NaN on both sides, or
	// the same infinity. They are left out of all metrics.
	AgreeNonFinite int64
	// Disagree is the number of elements that are not finite on one side or
	// both, and do not agree.
	Disagree int64
	// FirstDisagree is the first of them, if there is one: its index in the
	// tensor and its values.
	FirstDisagree Element
	// ZeroGolden is the number of elements that differ where golden is 0.
	ZeroGolden int64
	// ZeroGoldenMax is their largest absolute error.
	ZeroGoldenMax float64
}

// Element is an element of the pair.
type Element struct {
	Index int64
	X, Y  float64
	// XRest and YRest are what integers of more than 53 bits have beyond X and Y,
	// the float64 next to them; else 0.
	XRest, YRest float64
}

// Text is the table cell of m.
func (r *Result) Text(m Metric) string { return r.Values[m].Text(m) }
