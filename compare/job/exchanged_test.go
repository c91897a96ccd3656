package job

import (
	"encoding/json"
	"fmt"
	"os"
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
				path := filepath.Join(dir, fmt.Sprintf("step%d", s), fmt.Sprintf("rank%d", r))
				text := `{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {` + strings.Join(calls, ",\n") + "}}"
				if err := os.MkdirAll(path, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(path, "dump.json"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
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
		told := r.Premise != nil && r.Premise.Kind == verdict.PremiseRanks
		if r.Verdict != c.verdict || told != c.premise || (len(r.Origins) > 0) != (c.origin != "") || c.origin != "" && (r.Origins[0].Op != c.origin || r.Origins[0].Ranks != c.rank) {
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

// TestOlderPiece: a result in which what a piece was fed is a flag can be read.
func TestOlderPiece(t *testing.T) {
	var p verdict.Piece
	if err := json.Unmarshal([]byte(`{"step": 1, "rank": 2, "fed": true, "given": [[1, 2, 3]]}`), &p); err != nil || p.Rank != 2 {
		t.Errorf("%+v, %v", p, err)
	}
}
