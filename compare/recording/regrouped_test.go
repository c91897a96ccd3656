package recording_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"precision/compare/verdict"
)

// TestExpertsOfOthers: of some thousand tokens another device sends one or two to another expert, which the largest and the smallest number of an expert
// do not show, and how many tokens an expert gets does. That is nobody's fault as far as noise explains it; many more tokens are, and so is one
// where the scores are the same.
func TestExpertsOfOthers(t *testing.T) {
	ints := func(typ, hi, lo, shape string) string {
		return strings.Replace(statistics(typ, hi, lo, "null", "null"), "[8, 8]", shape, 1)
	}
	flags := ints("bool", "true", "false", "[4096, 2]")
	side := func(off float64, tokens int) string {
		scores := large("[4096, 8]", 0.27*(1+off), 0.125*(1+off/8), 23*(1+off/4))
		top := fmt.Sprintf("%s, %s", large("[4096, 2]", 0.27*(1+off), 0.15, 14), ints("int64", "7", "0", "[4096, 2]"))
		one := fmt.Sprintf("[%d]", tokens)
		x := large("[4096, 64]", 2.5*(1+off), 0.1, 500)
		return written(t, entry("Functional.linear", 0, []string{large("[4096, 32]", 4, 0, 360), large("[64, 32]", 0.2, 0, 4.5)}, x),
			entry("Functional.softmax", 0, []string{large("[4096, 8]", 1.5*(1+off), 0, 90)}, scores),
			entry("Torch.topk", 0, []string{scores, "2", "-1"}, top),
			entry("Tensor.__eq__", 0, []string{ints("int64", "7", "0", "[4096, 2]"), "0"}, flags),
			entry("Torch.where", 0, []string{flags}, ints("int64", "4095", "2", one)+", "+ints("int64", "1", "0", one)),
			entry("Functional.gelu", 0, []string{x}, large("[4096, 64]", 2.4*(1+off), 0.2, 400)))
	}
	golden := side(0, 886)
	for _, c := range []struct {
		name   string
		off    float64
		tokens int
		want   []string
	}{
		{"one token", 1e-6, 885, nil},
		{"a hundred", 1e-6, 786, []string{"Torch.where.0.forward"}},
		{"one token, the same scores", 0, 885, []string{"Torch.where.0.forward"}},
	} {
		j := judged(t, side(c.off, c.tokens), golden)
		if names := rootNames(j); !slices.Equal(names, c.want) || c.want == nil && j.Verdict == verdict.Bad {
			t.Errorf("%s: %s, roots %v, expected %v", c.name, j.Verdict, names, c.want)
		}
	}
}
