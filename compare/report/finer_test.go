package report

import (
	"testing"

	"precision/compare/result"
)

// TestFiner: of two tensors whose extremes read alike the first thing that differs is shown, and nothing that does not.
func TestFiner(t *testing.T) {
	all := int32(result.KnownMax | result.KnownMin | result.KnownMean | result.KnownNorm)
	side := func(max, norm float64, sum string) *result.Summary {
		return &result.Summary{Known: all, Sum: sum, Stats: result.Stats{Max: max, Min: -1, Norm: norm}}
	}
	for _, c := range []struct {
		a, b        *result.Summary
		left, right string
	}{
		{side(6, 30.001, "a"), side(6, 30, "b"), "Norm 30.001", "Norm 30"},
		{side(6.0000001, 30, "a"), side(6, 30, "b"), "Max 6.0000001", "Max 6"},
		{side(6, 30, "a"), side(6, 30, "b"), "a", "b"},
		{side(1<<60, 30, ""), side(1<<60, 30, ""), "x", "x"},
	} {
		if left, right := finer(&result.Recorded{Left: c.a, Right: c.b}, "x", "x"); left != c.left || right != c.right {
			t.Errorf("%q instead of %q, expected %q and %q", left, right, c.left, c.right)
		}
	}
	if left, right := finer(&result.Recorded{Left: side(6, 1, ""), Right: side(7, 1, "")}, "x", "y"); left != "x" || right != "y" {
		t.Errorf("%q instead of %q: what reads otherwise stays", left, right)
	}
}
