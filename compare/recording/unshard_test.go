package recording_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/engine"
	"precision/compare/recording"
	"precision/compare/result"
	"precision/compare/verdict"
)

// TestUnshard: ranks that hold slices against a run that is not cut.
func TestUnshard(t *testing.T) {
	shaped := func(text, shape string) string { return strings.Replace(text, "[8, 8]", shape, 1) }
	one := func(hi, lo, mean, norm float64) string {
		return statistics("float32", fmt.Sprint(hi), fmt.Sprint(lo), fmt.Sprint(mean), fmt.Sprint(norm))
	}
	x, sum, part, other := one(2, -1, 0.5, 10), one(6, -6, 0.2, 30), one(4, -1, 0.1, 9), one(2, -5, 0.3, 8)
	// A column-parallel and a row-parallel linear, and a normalisation behind their sum.
	rank := func(weight, made, summand, normed string) []string {
		return []string{
			entry("Functional.linear", 0, []string{x, shaped(weight, "[4, 8]")}, shaped(made, "[8, 4]")),
			entry("Functional.linear", 1, []string{shaped(made, "[8, 4]"), shaped(weight, "[8, 4]")}, summand),
			entry("Functional.layer_norm", 0, []string{sum}, normed),
		}
	}
	left := func(second []string) string {
		dir := t.TempDir()
		for i, calls := range [][]string{rank(one(3, -1, 0.5, 3), one(5, -2, 1, 12), part, x), second} {
			folder := filepath.Join(dir, "step0", fmt.Sprintf("rank%d", i))
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(folder, "dump.json"), []byte(dumpOf("L1", calls)))
		}
		return dir
	}
	weight, made := one(3, -4, 0.75, 5), one(5, -3, 2, 13)
	golden := t.TempDir()
	if err := os.MkdirAll(filepath.Join(golden, "step0", "proc77"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(golden, "step0", "proc77", "dump.json"), []byte(dumpOf("L1", []string{
		entry("Functional.linear", 0, []string{x, weight}, made), entry("Functional.linear", 1, []string{made, weight}, sum), entry("Functional.layer_norm", 0, []string{sum}, x),
	})))
	for name, c := range map[string]struct {
		left  string
		by    engine.Unshard
		say   result.Kind
		roots []string
	}{
		"slices of both":             {left(rank(one(2, -4, 1, 4), one(4, -3, 3, 5), other, x)), engine.Unshard{Axis: -1}, result.Unsharded, nil},
		"a slice that is another":    {left(rank(one(2, -4, 1, 6), one(4, -3, 3, 7), other, x)), engine.Unshard{Axis: -1}, result.Unsharded, []string{"Functional.linear.0.forward"}},
		"wrong on one rank alone":    {left(rank(one(2, -4, 1, 4), one(4, -3, 3, 5), other, one(2.5, -1, 0.5, 11))), engine.Unshard{Axis: -1}, result.Unsharded, []string{"Functional.layer_norm.0.forward"}},
		"nothing is cut in threes":   {left(rank(one(2, -4, 1, 4), one(4, -3, 3, 5), other, x)), engine.Unshard{Axis: -1, Slices: 3}, result.NotUnsharded, nil},
		"ranks that do other things": {left([]string{entry("Functional.gelu", 0, []string{x}, x)}), engine.Unshard{Axis: -1}, result.NotUnsharded, nil},
	} {
		s, err := recording.Open(c.left, golden, recording.Options{Unshard: &c.by})
		if err != nil {
			t.Fatal(err)
		}
		out, err := engine.Run(t.Context(), s, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		j := verdict.Judge(out.Table, verdict.Options{})
		if !slices.ContainsFunc(out.Table.Meta.Pairing.Why, func(r result.Reason) bool { return r.Kind == c.say }) {
			t.Errorf("%s: %v", name, out.Table.Meta.Pairing.Why)
		}
		if got := rootNames(j); c.say == result.Unsharded && !slices.Equal(got, c.roots) || len(s.Table().Ops) == 0 {
			t.Errorf("%s: %s with the roots %v, expected %v", name, j.Verdict, got, c.roots)
		}
	}
}

// TestOneProcess: a run of one process is that of all ranks, and what only some of them call is missing on none.
func TestOneProcess(t *testing.T) {
	dir := func(name string, calls ...string) string {
		top := t.TempDir()
		for folder, text := range map[string]string{name: dumpOf("L1", calls)} {
			if err := os.MkdirAll(filepath.Join(top, folder), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(top, folder, "dump.json"), []byte(text))
		}
		return top
	}
	first, second := entry("Functional.gelu", 0, []string{sized(2, 0)}, sized(3, 0)), func(n int, off float64) string {
		return entry("Functional.silu", n, []string{sized(3, 0)}, sized(4, off))
	}
	golden := dir("proc7", first, second(0, 0), second(1, 0))
	for off, roots := range map[float64][]string{0: nil, 0.3: {"rank1/Functional.silu.0.forward"}} {
		left := dir("rank0", first)
		if err := os.Rename(filepath.Join(dir("rank1", second(0, off), second(1, off)), "rank1"), filepath.Join(left, "rank1")); err != nil {
			t.Fatal(err)
		}
		j := judged(t, left, golden)
		if got := rootNames(j); !slices.Equal(got, roots) && !(len(got) > 0 && len(roots) > 0 && got[0] == roots[0]) {
			t.Errorf("off by %v: %v, expected %v", off, got, roots)
		}
		if off == 0 && (j.Verdict != verdict.Good || j.Coverage.Compared != j.Coverage.Expected) {
			t.Errorf("%s, %d of %d compared", j.Verdict, j.Coverage.Compared, j.Coverage.Expected)
		}
	}
}
