package look

import (
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
)

// How a weight differs is told by statistics, and no longer told where one of them makes it false.
func TestGivenHints(t *testing.T) {
	const known = result.KnownMax | result.KnownMin | result.KnownMean | result.KnownNorm
	weight := func(op string, left, right result.Stats) result.Row {
		r := result.Row{Op: op, Type: "linear", Role: result.Input, Slot: 1, Recorded: &result.Recorded{Place: "input.1",
			Left: &result.Summary{Known: known, Stats: left}, Right: &result.Summary{Known: known, Stats: right}}}
		r.Left.Shape, r.Right.Shape, r.Left.DType = []int64{4, 8}, []int64{4, 8}, dtype.Float32
		return r
	}
	a, b, c := result.Stats{Max: 1, Min: -1, Mean: 0.1, Norm: 3}, result.Stats{Max: 2, Min: -1, Mean: 0.1, Norm: 4}, result.Stats{Max: 3, Min: -2, Norm: 5}
	moved := a
	moved.Mean += 1e-9
	for _, x := range []struct {
		name string
		rows []result.Row // the last is what the root begins with
		want result.Kind
	}{
		{"not updated", []result.Row{weight("step0/rank0/f", a, a), weight("step1/rank0/f", a, b)}, result.HintStale},
		{"updated", []result.Row{weight("step0/rank0/f", a, a), weight("step1/rank0/f", c, b)}, ""},
		{"neither was", []result.Row{weight("step0/rank0/f", a, b), weight("step1/rank0/f", a, b)}, ""},
		{"another layer's", []result.Row{weight("rank0/g", b, b), weight("rank0/f", b, a)}, result.HintOther},
		{"nearly another layer's", []result.Row{weight("rank0/g", b, b), weight("rank0/f", result.Stats{Max: 2, Min: -1, Norm: 4.01}, a)}, ""},
		{"in other places", []result.Row{weight("f", moved, a)}, result.HintMoved},
		{"others", []result.Row{weight("f", b, a)}, ""},
		{"one number", []result.Row{weight("f", result.Stats{Max: 1, Min: 1, Norm: 1}, result.Stats{Max: 1, Min: 1, Norm: 1})}, ""},
	} {
		j := &verdict.Judged{Table: &result.Table{Rows: x.rows}, Roots: []verdict.Root{{Kind: verdict.RootWeight, Begin: &verdict.Begin{Row: len(x.rows) - 1}}}}
		hints, _ := givenHints(j)
		switch {
		case x.want == "" && len(hints) == 0:
		case x.want == "" || len(hints) != 1 || hints[0].Kind != x.want:
			t.Errorf("%s: %v", x.name, hints)
		}
	}
	rows := []result.Row{weight("f", b, a)}
	for _, from := range [][]string{{"g", "h"}, {"g"}} {
		j := &verdict.Judged{Table: &result.Table{Rows: rows}, Roots: []verdict.Root{{Kind: verdict.RootDiffers, Begin: &verdict.Begin{From: from}}}}
		if hints, _ := givenHints(j); (len(hints) == 1 && hints[0].Kind == result.HintFed) != (len(from) == 2) {
			t.Errorf("made by %v: %v", from, hints)
		}
	}
}
