package verdict

import (
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// TestSizeBesideMasks: the distance of two tensors that are masked by the lowest numbers of two types is that of these numbers; what is
// beside them tells where it was looked at alone.
func TestSizeBesideMasks(t *testing.T) {
	const coarse, fine = -3.3895313892515355e+38, -3.4028234663852886e+38
	facts := func(distance float64) metric.Result {
		return metric.Result{Facts: metric.Facts{Known: true, N: 4, Finite: 4, Distance: distance}}
	}
	for _, c := range []struct {
		name      string
		low       float64
		saturated *result.Saturated
		size      float64
		known     bool
	}{
		{"of one type", fine, nil, 0.0039, true},
		{"of two", coarse, nil, 0, false},
		{"of two, the others known", coarse, &result.Saturated{Count: 2, Result: facts(1e-4)}, 1e-4, true},
	} {
		summary := func(top, low float64) *result.Summary {
			return &result.Summary{Known: result.KnownMax | result.KnownMin, Stats: result.Stats{Max: top, Min: low}}
		}
		whole := facts(0.0039)
		r := &result.Row{Compared: true, Metrics: &whole, Saturated: c.saturated, Recorded: &result.Recorded{Left: summary(0.25, c.low), Right: summary(0.2501, fine)}}
		r.Left.DType, r.Right.DType, r.Left.Shape, r.Right.Shape = dtype.Float32, dtype.Float32, []int64{4}, []int64{4}
		if size, known := sizeOf(r); size != c.size || known != c.known {
			t.Errorf("%s: %g, %v, expected %g, %v", c.name, size, known, c.size, c.known)
		}
	}
}

// TestSteepestAlone: of a call of one side alone, which has no pair to look at, no slope is known.
func TestSteepestAlone(t *testing.T) {
	if got := steepest("rsqrt", &result.Row{}); got != 0 {
		t.Errorf("a slope of %g of nothing", got)
	}
	row := result.Row{Recorded: &result.Recorded{Left: &result.Summary{}, Right: &result.Summary{Known: result.KnownMax | result.KnownMin, Stats: result.Stats{Max: 2, Min: -4}}}}
	if got := steepest("rsqrt", &row); got != 32 {
		t.Errorf("a slope of %g, expected 4³/2", got)
	}
}

// TestBadHasAName: what limits call bad is a root where nothing else is one.
func TestBadHasAName(t *testing.T) {
	table := &result.Table{Rows: make([]result.Row, 2)}
	w := &recordedWalk{judge: &judge{table: table}, out: &Judged{}}
	w.operators = []Operator{{State: StateGood, Outputs: []Tensor{{Row: 0}}}, {State: StateBad, Outputs: []Tensor{{Row: 1, Verdict: Bad}}}}
	if w.nameBad(); len(w.out.Roots) != 1 || w.out.Roots[0].Operator != 1 {
		t.Errorf("roots %+v, expected the second operator", w.out.Roots)
	}
	if w.nameBad(); len(w.out.Roots) != 1 {
		t.Errorf("%d roots", len(w.out.Roots))
	}
}
