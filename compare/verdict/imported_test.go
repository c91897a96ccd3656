package verdict

import (
	"math"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
)

// TestImported: rows of csv tables, which hold a few numbers and no facts. What
// they do not tell is neither good nor bad.
func TestImported(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	type cells map[metric.Metric]float64
	shape := []int64{4, 5}
	for _, c := range []struct {
		name    string
		shape   []int64
		cells   cells
		reasons []result.Kind
		want    Verdict
	}{
		{"good", shape, cells{metric.CosineSimilarity: 1, metric.RelativeEuclideanDistance: 0.001}, nil, Good},
		{"cosine", shape, cells{metric.CosineSimilarity: 0.97}, nil, Bad},
		{"no shape", nil, cells{metric.CosineSimilarity: 0.97}, nil, Bad},
		{"no shape, good", nil, cells{metric.CosineSimilarity: 0.99}, nil, Good},
		{"wrong scale", shape, cells{metric.CosineSimilarity: 1, metric.RelativeEuclideanDistance: 1}, nil, Bad},
		{"NaN of one side, exact", shape, cells{metric.MaxAbsoluteError: inf, metric.MaxRelativeError: inf}, nil, Bad},
		{"NaN, old table", shape, cells{metric.CosineSimilarity: nan, metric.MaxAbsoluteError: nan}, []result.Kind{result.NonFinite}, Bad},
		{"NaN of the left side", nil, cells{metric.CosineSimilarity: nan}, []result.Kind{result.LeftNonFinite}, Bad},
		{"NaN of both sides", shape, cells{metric.CosineSimilarity: nan, metric.MaxAbsoluteError: nan}, []result.Kind{result.BothNonFinite}, Uncompared},
		{"a side of zeros", shape, cells{metric.MaxAbsoluteError: 5, metric.RelativeEuclideanDistance: inf, metric.MaxRelativeError: 0}, nil, Bad},
		{"scalar", []int64{1}, cells{metric.MaxAbsoluteError: 0.5, metric.MaxRelativeError: 0.5}, nil, Bad},
		{"scalar, good", []int64{1}, cells{metric.MaxAbsoluteError: 1e-5, metric.MaxRelativeError: 1e-5}, nil, Good},
		{"distance only", shape, cells{metric.RelativeEuclideanDistance: 0.3}, nil, Bad},
		{"other columns only", shape, cells{metric.MeanAbsoluteError: 3}, nil, Uncompared},
		{"no difference", shape, cells{metric.MaxAbsoluteError: 0}, nil, Good},
		{"no elements", []int64{0}, cells{metric.CosineSimilarity: 1}, nil, Uncompared},
	} {
		r := result.Row{Op: "a", Shape: c.shape, Compared: true}
		if c.shape != nil {
			r.Measured().N = 1
			for _, d := range c.shape {
				r.Measured().N *= d
			}
		}
		for m, v := range c.cells {
			r.Measured().Values[m], _ = metric.ValueOf(v)
		}
		for _, k := range c.reasons {
			r.Add(result.Because(k))
		}
		j := Judge(&result.Table{Rows: []result.Row{r}}, Options{})
		if got := j.Operators[0].Outputs[0]; got.Verdict != c.want {
			t.Errorf("%s: %v %+v, expected %v", c.name, got.Verdict, got.Causes, c.want)
		}
	}
}
