package verdict

import (
	"math"
	"slices"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
)

// gated is a table of outputs, an operator each.
func gated(rows ...result.Row) *Judged {
	t := &result.Table{}
	for i, r := range rows {
		r.Op, r.Facts.Order = string(rune('a'+i)), i
		t.Rows = append(t.Rows, r)
	}
	return Judge(t, Options{})
}

// paired is a table judged anew with another pairing.
func paired(j *Judged, p result.Pairing) *Judged {
	j.Table.Meta.Pairing = p
	return Judge(j.Table, Options{})
}

func cosineRow(n int64, cosine float64) result.Row {
	r := result.Row{Compared: true, Metrics: &metric.Result{N: n}}
	r.Result().Values[metric.CosineSimilarity], _ = metric.ValueOf(cosine)
	return r
}

func TestTrips(t *testing.T) {
	limit := func(v float64) Gate { return Gate{Below: &v} }
	good, low, nan := cosineRow(20, 1), cosineRow(20, 0.9), cosineRow(20, math.NaN())
	nan.Result().Disagree = 1
	scalar := result.Row{Compared: true, Facts: result.Facts{Scalar: true}, Metrics: &metric.Result{N: 1}}
	scalar.Result().Values[metric.MaxRelativeError], _ = metric.ValueOf(0.05)
	without := result.Row{Reasons: []result.Reason{result.Because(result.NoRightTensor, "c", "c:output:0")}}
	unread := result.Row{Role: result.Whole, Slot: -1, Reasons: []result.Reason{result.Because(result.BadFile, "d", "x", "short")}}
	for _, c := range []struct {
		name string
		j    *Judged
		gate Gate
		want []TripKind
	}{
		{"good", gated(good), Gate{On: true, Strict: true}, nil},
		{"no gate", gated(low), Gate{}, nil},
		{"bad", gated(good, low), Gate{On: true}, []TripKind{TripBad}},
		{"below", gated(good, low), limit(0.98), []TripKind{TripCosine}},
		{"not below", gated(good, low), limit(0.9), nil},
		{"not a number", gated(good, nan), limit(0.5), []TripKind{TripNoCosine}},
		{"scalar", gated(good, scalar), limit(0.98), []TripKind{TripScalar}},
		{"scalar within", gated(good, scalar), limit(0.94), nil},
		{"uncompared", gated(good, good, without), limit(0.1), []TripKind{TripUncompared}},
		{"unreadable", gated(good, good, unread), limit(0.1), []TripKind{TripInconclusive, TripLoss, TripUncompared}},
		{"inconclusive", gated(without, without, good), limit(0.1), []TripKind{TripInconclusive, TripLoss, TripUncompared, TripUncompared}},
		{"both", gated(without, without, low), Gate{On: true, Below: new(0.98)}, []TripKind{TripInconclusive, TripLoss, TripCosine, TripUncompared, TripUncompared}},
		{"few recordings", paired(gated(good), result.Pairing{Paired: 1, Unpaired: 2}), Gate{On: true}, []TripKind{TripInconclusive, TripLoss}},
		{"one of many", paired(gated(good), result.Pairing{Paired: 200, Unpaired: 1}), Gate{On: true}, []TripKind{TripInconclusive, TripLoss}},
		{"suspect is no better", paired(gated(good), result.Pairing{Paired: 1, Unpaired: 1}), Gate{On: true, Strict: true}, []TripKind{TripInconclusive, TripLoss}},
		{"few, and bad", paired(gated(low), result.Pairing{Paired: 1, Unpaired: 2}), Gate{On: true}, []TripKind{TripBad}},
		{"itself", paired(gated(good), result.Pairing{Why: []result.Reason{result.Because(result.SameSides, "a")}}), limit(0.5), []TripKind{TripItself}},
	} {
		var got []TripKind
		for _, trip := range c.j.Trips(c.gate) {
			got = append(got, trip.Kind)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: trips %q, expected %q", c.name, got, c.want)
		}
	}
}
