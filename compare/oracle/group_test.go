package oracle

import (
	"fmt"
	"slices"
	"testing"

	"precision/dump/msprobe"
)

// TestProductsOfRanks: products that ranks add up or gather, of 2 ranks: numbers small enough that all sums are exact.
func TestProductsOfRanks(t *testing.T) {
	const sum = "NPU.npu_mm_all_reduce_base(%s, \"tp\") = %s"
	x := [2]string{"float32[2,2]{1 2 3 4}, float32[2,2]{1 0 2 1}", "float32[2,2]{2 0 1 1}, float32[2,2]{1 1 3 -1}"}
	// 1 2  times 1 0  is 5 2;  2 0  times 1  1  is 2 2
	// 3 4        2 1    11 4   1 1        3 -1     4 0
	const all, other = "float32[2,2]{7 4 15 4}", "float32[2,2]{7 4 15 4.5}"
	const scatter = "NPU.npu_mm_reduce_scatter_base(%s, \"tp\", 2) = %s"
	const gather = "NPU.npu_all_gather_base_mm(%s, \"tp\", 2) = %s, %s"
	const rows = "float32[4,2]{1 2 3 4 2 0 1 1}"
	for name, c := range map[string]struct {
		ranks []string
		want  []string
	}{
		"a sum":          {[]string{fmt.Sprintf(sum, x[0], all), fmt.Sprintf(sum, x[1], all)}, []string{"rank0 ok", "rank1 ok"}},
		"wrong on all":   {[]string{fmt.Sprintf(sum, x[0], other), fmt.Sprintf(sum, x[1], other)}, []string{"rank0 wrong", "rank1 wrong"}},
		"wrong on one":   {[]string{fmt.Sprintf(sum, x[0], all), fmt.Sprintf(sum, x[1], other)}, []string{"rank0 ok", "rank1 wrong"}},
		"another batch":  {[]string{fmt.Sprintf(sum, x[0], "float32[2,2]{5 2 11 4}"), fmt.Sprintf(sum, x[1], "float32[2,2]{2 2 4 0}")}, []string{"rank0 ok", "rank1 ok"}},
		"one rank alone": {[]string{fmt.Sprintf(sum, x[0], all)}, []string{" unknown"}},
		"two groups": {[]string{fmt.Sprintf(sum, x[0], all), fmt.Sprintf(sum, x[1], all), fmt.Sprintf(sum, x[0], "float32[2,2]{10 4 22 8}"), fmt.Sprintf(sum, x[0], "float32[2,2]{10 4 22 8}")},
			[]string{"rank0 ok", "rank1 ok", "rank2 ok", "rank3 ok"}},
		"scattered":   {[]string{fmt.Sprintf(scatter, x[0], "float32[1,2]{7 4}"), fmt.Sprintf(scatter, x[1], "float32[1,2]{15 4}")}, []string{"rank0 ok", "rank1 ok"}},
		"other piece": {[]string{fmt.Sprintf(scatter, x[0], "float32[1,2]{15 4}"), fmt.Sprintf(scatter, x[1], "float32[1,2]{15 4}")}, []string{"rank0 wrong", "rank1 ok"}},
		"gathered": {[]string{fmt.Sprintf(gather, x[0], "float32[4,2]{5 2 11 4 2 0 3 1}", rows), fmt.Sprintf(gather, x[1], "float32[4,2]{7 -1 15 -1 2 2 4 0}", rows)},
			[]string{"rank0 ok", "rank0 ok", "rank1 ok", "rank1 ok"}},
		"gathered and wrong": {[]string{fmt.Sprintf(gather, x[0], "float32[4,2]{5 2 11 4 2 0 3 2}", rows), fmt.Sprintf(gather, x[1], "float32[4,2]{7 -1 15 -1 2 2 4 0}", rows)},
			[]string{"rank0 ok", "rank0 wrong", "rank1 ok", "rank1 ok"}},
	} {
		dir := t.TempDir()
		var list []msprobe.Recording
		for rank, line := range c.ranks {
			call, err := textCase(line)
			if err != nil {
				t.Fatal(err)
			}
			r := newRecorder(t)
			r.dir, r.both = fmt.Sprintf("%s/step0/rank%d", dir, rank), true
			r.makeDir()
			r.add(&call)
			list = append(list, r.write()...)
		}
		findings, bad, err := RecordingJob{Recordings: list, Workers: 1}.Run(t.Context())
		if err != nil || len(bad) > 0 {
			t.Fatal(name, err, bad)
		}
		var got []string
		for _, f := range findings {
			rank := ""
			if len(c.ranks) > 1 {
				rank = f.Op[len("step0/"):][:len("rank0")]
			}
			got = append(got, rank+" "+f.Verdict.String())
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, expected %q: %v", name, got, c.want, findings)
		}
	}
}
