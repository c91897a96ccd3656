package recording_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/verdict"
)

// jobOf writes the calls of steps and ranks.
func jobOf(t *testing.T, steps ...[][]string) string {
	t.Helper()
	dir := t.TempDir()
	for s, list := range steps {
		for r, calls := range list {
			path := filepath.Join(dir, fmt.Sprintf("step%d", s), fmt.Sprintf("rank%d", r))
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, "dump.json"), []byte(dumpOf("L1", calls)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// TestExchangedRanksSwallowNothing: that ranks were given what belongs to others excuses no fault that made it so, none that is
// another one, and nothing where a rank has only part of another's.
func TestExchangedRanksSwallowNothing(t *testing.T) {
	ranks := func(list ...[3]float64) (calls [][]string) { // weight, batch, product
		for _, p := range list {
			calls = append(calls, []string{entry("Functional.linear", 0, []string{sized(p[1], 0), sized(p[0], 0)}, sized(p[2], 0)),
				entry("Functional.gelu", 0, []string{sized(p[2], 0)}, sized(p[2]/2, 0))})
		}
		return calls
	}
	scattered := func(got ...float64) (calls [][]string) {
		for r, v := range got {
			calls = append(calls, []string{entry("Distributed.scatter", 0, []string{sized(1.25+float64(r), 0)}, sized(v, 0)),
				entry("Functional.linear", 0, []string{sized(1.5, 0), sized(v/3, 0)}, sized(v*1.5, 0)), entry("Functional.gelu", 0, []string{sized(v*1.5, 0)}, sized(v, 0))})
		}
		return calls
	}
	masked := func(off float64, masks ...string) (calls [][]string) {
		for r, m := range masks {
			if r == 2 {
				off = 0
			}
			v := float64(r)
			calls = append(calls, []string{entry("Functional.linear", 0, []string{sized(2+v, 0), sized(1.1+v, 0)}, sized(3+v, 0)),
				entry("Functional.attention", 0, []string{sized(3+v, 0), `{"type": "torch.Tensor", "dtype": "torch.bool", "shape": [1, 12], "Max": true, "Min": ` + m + `, "Mean": null, "Norm": null, "requires_grad": false}`}, sized(6+v, off)),
				entry("Functional.gelu", 0, []string{sized(6+v, off)}, sized(4+v, off))})
		}
		return calls
	}
	a, b, c := [3]float64{1.5, 3.5, 10}, [3]float64{1.75, 4.5, 12}, [3]float64{1.875, 5.5, 14}
	d, e, f := [3]float64{1.25, 6.5, 20}, [3]float64{1.125, 7.5, 22}, [3]float64{1.0625, 8.5, 24}
	for name, x := range map[string]struct {
		left, golden string
		premise      bool
		root         string // "" for none, "*" for any
	}{
		"same":                        {jobOf(t, ranks(a, b, c)), jobOf(t, ranks(a, b, c)), false, ""},
		"exchanged":                   {jobOf(t, ranks(b, a, c)), jobOf(t, ranks(a, b, c)), true, ""},
		"in both steps":               {jobOf(t, ranks(b, a, c), ranks(e, d, f)), jobOf(t, ranks(a, b, c), ranks(d, e, f)), true, ""},
		"three":                       {jobOf(t, ranks(b, c, a)), jobOf(t, ranks(a, b, c)), true, ""},
		"only batches, own weights":   {jobOf(t, ranks([3]float64{1.5, 4.5, 11}, [3]float64{1.75, 3.5, 11.5}, c)), jobOf(t, ranks(a, b, c)), false, "*"},
		"another rank is wrong":       {jobOf(t, ranks(b, a, [3]float64{1.875, 5.5, 19})), jobOf(t, ranks(a, b, c)), true, "step0/rank2/Functional.linear.0.forward"},
		"a step before is wrong":      {jobOf(t, ranks(a, b, [3]float64{1.875, 5.5, 19}), ranks(e, d, f)), jobOf(t, ranks(a, b, c), ranks(d, e, f)), false, "step0/rank2/Functional.linear.0.forward"},
		"scattered to others":         {jobOf(t, scattered(4.75, 3.25)), jobOf(t, scattered(3.25, 4.75)), false, "step0/rank0/Distributed.scatter.0.forward"},
		"flags of two ranks, no data": {jobOf(t, masked(0.3, "false", "true", "true")), jobOf(t, masked(0, "true", "false", "true")), false, "*"},
	} {
		j := judged(t, x.left, x.golden)
		certain := slices.ContainsFunc(j.Premises, func(p verdict.Premise) bool { return p.Kind == verdict.PremiseRanks })
		want := verdict.Bad
		switch {
		case x.root == "" && x.premise:
			want = verdict.Inconclusive
		case x.root == "":
			want = verdict.Good
		}
		got := strings.Join(rootNames(j), " ")
		if certain != x.premise || j.Verdict != want || (x.root == "*") != (got != "" && x.root == "*") || x.root != "*" && !strings.HasPrefix(got+" ", x.root+" ") && got != x.root {
			t.Errorf("%s: %v, roots %v, premises %v", name, j.Verdict, got, j.Premises)
		}
	}
}

// TestFirstNaNOfOneSide: of calls that one side alone makes and that hand NaN on, the first that gives them is the root, not the last before
// a call that both sides make.
func TestFirstNaNOfOneSide(t *testing.T) {
	const before, golden = "Functional.linear.0.forward | 1#00000001 2#00000002 | 3#00000003", "Tensor.__mul__.0.forward | 3#00000003 5#00000005 | 7#00000007"
	for _, c := range []struct{ hole, add, gelu, root string }{ // -1 is NaN
		{"-1#00000009", "-1#0000000a", "-1#0000000b", "Tensor.__add__.0.forward"},
		{"6#00000006", "4#0000000a", "-1#0000000b", "Functional.gelu.0.forward"},
	} {
		left := []string{before, "Tensor.__add__.0.forward | 3#00000003 " + c.hole + " | " + c.add, "Functional.gelu.0.forward | " + c.add + " | " + c.gelu, "Tensor.__mul__.0.forward | " + c.gelu + " 5#00000005 | -1#0000000c"}
		if j := judged(t, entries(t, "", append(left, alike...)...), entries(t, "", append([]string{before, golden}, alike...)...)); j.Verdict != verdict.Bad || !slices.Equal(rootNames(j), []string{c.root}) {
			t.Errorf("%s: %s, roots %v, expected %s", c.add, j.Verdict, rootNames(j), c.root)
		}
	}
}
