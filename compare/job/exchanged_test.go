package job

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/verdict"
)

// TestExchangedJob: ranks in another order are the premise of a job, and excuse no fault of a step before, nor one of a rank that has
// its own data.
func TestExchangedJob(t *testing.T) {
	write := func(steps ...[][]string) string {
		dir := t.TempDir()
		for s, list := range steps {
			for r, calls := range list {
				recorded(t, dir, s, r, calls...)
			}
		}
		return dir
	}
	call := func(api string, out float64, in ...float64) string {
		var list []string
		for _, v := range in {
			list = append(list, said(v))
		}
		return fmt.Sprintf(`"%s.0.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, api, strings.Join(list, ", "), said(out))
	}
	carried := func(got ...float64) string {
		var s0, s1 [][]string
		for r, v := range got {
			x := 1.5 + float64(r)/4
			s0 = append(s0, []string{call("Functional.gelu", x+1, x), call("Distributed.all_to_all_single", v, x+1)})
			s1 = append(s1, []string{call("Functional.silu", 3*v, 2*v), call("Functional.gelu", 1.5*v, 3*v)})
		}
		return write(s0, s1)
	}
	x, w := []float64{3.5, 4.5, 5.5}, []float64{1.5, 1.75, 1.875}
	three := func(swap0, swap1 bool, off0, off1 float64) string {
		var list [2][][]string
		for r := range 3 {
			for s, swap := range []bool{swap0, swap1} {
				q, f := r, 1.0
				if swap && r < 2 {
					q = 1 - r
				}
				if r == 2 {
					f = []float64{off0, off1}[s]
				}
				list[s] = append(list[s], []string{call("Functional.linear", (3*x[q]+9)*f, x[q]+7*float64(s), w[q]+float64(s))})
			}
		}
		return write(list[0], list[1])
	}
	golden := three(false, false, 1, 1)
	for name, c := range map[string]struct {
		left, golden, verdict string
		premise               bool
		origin                string
		rank                  string
	}{
		"all_to_all of a step before":    {carried(4.75, 3.25), carried(3.25, 4.75), "bad", false, "Distributed.all_to_all_single.0.forward", "0"},
		"a step before":                  {three(false, true, 1.5, 1), golden, "bad", false, "Functional.linear.0.forward", "2"},
		"exchanged":                      {three(true, true, 1, 1), golden, "inconclusive", true, "", ""},
		"exchanged, and a rank is wrong": {three(true, true, 1.5, 1), golden, "bad", true, "Functional.linear.0.forward", "2"},
		"and wrong in the step behind":   {three(true, true, 1, 1.5), golden, "bad", true, "Functional.linear.0.forward", "2"},
	} {
		r := ran(t, Request{Left: c.left, Right: c.golden}, Settings{Out: filepath.Join(t.TempDir(), "out")})
		reported := r.Premise != nil && r.Premise.Kind == verdict.PremiseRanks
		if r.Verdict != c.verdict || reported != c.premise || (len(r.Origins) > 0) != (c.origin != "") || c.origin != "" && (r.Origins[0].Op != c.origin || r.Origins[0].Ranks != c.rank) {
			t.Errorf("%s: %s, premise %v, origins %+v", name, r.Verdict, r.Premise, r.Origins)
		}
	}
}

// TestExchangedKeepsProven: what a check recomputed stays where ranks are in another order.
func TestExchangedKeepsProven(t *testing.T) {
	pieces := func(proven bool) (list []verdict.Piece) {
		for r := range 2 {
			list = append(list, verdict.Piece{Rank: r, Given: []verdict.GivenTensor{{Name: 1, Left: int64(2 - r), Right: int64(1 + r), Tells: true}}, Roots: []verdict.Start{{Op: "x", Proven: proven}}})
		}
		return list
	}
	for _, proven := range []bool{false, true} {
		if _, own := verdict.Exchanged(pieces(proven)); len(own) != 2 || own[0][0] != proven {
			t.Errorf("proven %v: %v", proven, own)
		}
	}
}

// TestExchangedSlices: two ranks that hold slices are in each other's place, or are not.
func TestExchangedSlices(t *testing.T) {
	type given = verdict.GivenTensor
	weight := func(name, left, right int64) given {
		return given{Name: name, Left: left, Right: right, Order: 5, Tells: left != right, Alike: left == right, Weight: true}
	}
	data := func(name, left, right int64) given {
		return given{Name: name, Left: left, Right: right, Order: 5, Tells: left != right, Alike: left == right}
	}
	place := func(left, right int64) verdict.Start { // where a slice begins, before anything is given
		return verdict.Start{Op: "narrow", Argument: "narrow input.2", Seen: []int64{left, right}}
	}
	eps := verdict.Start{Op: "layer_norm", Order: 9, Argument: "layer_norm input.4", Seen: []int64{50, 10}}
	before := verdict.Start{Op: "embedding", Order: 1, Open: true, Seen: []int64{7, 8}}
	for name, c := range map[string]struct {
		given     [2][]given
		roots     [2][]verdict.Start
		exchanged bool
		own       int
	}{
		"places of slices come before the data":   {[2][]given{{data(1, 3, 4)}, {data(1, 4, 3)}}, [2][]verdict.Start{{place(0, 2)}, {place(2, 0)}}, true, 0},
		"a place that no rank has":                {[2][]given{{data(1, 3, 4)}, {data(1, 4, 3)}}, [2][]verdict.Start{{place(1, 2)}, {place(2, 0)}}, false, 0},
		"an output is wrong before data":          {[2][]given{{data(1, 3, 4)}, {data(1, 4, 3)}}, [2][]verdict.Start{{before}, nil}, false, 0},
		"weights were loaded before that":         {[2][]given{{weight(1, 3, 4)}, {weight(1, 4, 3)}}, [2][]verdict.Start{{before}, {before}}, true, 0},
		"an argument that no rank has":            {[2][]given{{weight(1, 3, 4)}, {weight(1, 4, 3)}}, [2][]verdict.Start{{eps}, nil}, true, 1},
		"ranks of a transfer":                     {[2][]given{{weight(1, 3, 4)}, {weight(1, 4, 3)}}, [2][]verdict.Start{{{Op: "recv", Meets: "0 1", Argument: "recv input.1", Seen: []int64{1, 0}}}, nil}, true, 0},
		"a weight that is wrong on all ranks":     {[2][]given{{data(1, 3, 4), weight(2, 5, 6)}, {data(1, 4, 3), weight(2, 5, 6)}}, [2][]verdict.Start{}, true, 0},
		"one weight of many is wrong on one rank": {[2][]given{{weight(1, 3, 4), weight(2, 13, 14), weight(3, 23, 24), weight(4, 33, 34), weight(5, 99, 44)}, {weight(1, 4, 3), weight(2, 14, 13), weight(3, 24, 23), weight(4, 34, 33), weight(5, 44, 43)}}, [2][]verdict.Start{}, true, 0},
		"most weights are others":                 {[2][]given{{weight(1, 3, 4), weight(2, 98, 14), weight(5, 99, 44)}, {weight(1, 4, 3), weight(2, 97, 13), weight(5, 96, 43)}}, [2][]verdict.Start{}, false, 0},
		"data that is neither's":                  {[2][]given{{weight(1, 3, 4), data(2, 98, 14)}, {weight(1, 4, 3), data(2, 14, 13)}}, [2][]verdict.Start{}, false, 0},
	} {
		var pieces []verdict.Piece
		for r := range 2 {
			pieces = append(pieces, verdict.Piece{Rank: r, Given: c.given[r], Roots: c.roots[r]})
		}
		_, own := verdict.Exchanged(pieces)
		kept := 0
		for _, list := range own {
			for _, is := range list {
				if is {
					kept++
				}
			}
		}
		if (own != nil) != c.exchanged || kept != c.own {
			t.Errorf("%s: exchanged %v, %d roots of their own", name, own != nil, kept)
		}
	}
}

// TestOlderPiece: a result in which what a piece was fed is a flag can be read.
func TestOlderPiece(t *testing.T) {
	var p verdict.Piece
	if err := json.Unmarshal([]byte(`{"step": 1, "rank": 2, "fed": true, "given": [[1, 2, 3]]}`), &p); err != nil || p.Rank != 2 {
		t.Errorf("%+v, %v", p, err)
	}
}
