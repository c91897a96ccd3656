package recording_test

import (
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
)

// TestBlocks: what the sides compute by other calls is paired between the tensors that both have, and
// what comes out of it is judged.
func TestBlocks(t *testing.T) {
	x, w, bias := sized(2, 0), sized(1.3, 0), strings.Replace(sized(0.7, 0), "[8, 8]", "[32]", 1)
	back := func(text string) string { return strings.Replace(text, ".forward", ".backward", 1) }
	// last is what both sides call behind a block, of what comes out of it.
	last := func(out float64) string {
		return entry("Functional.linear", 7, []string{sized(6, out), sized(1.7, 0)}, sized(12, out))
	}
	// steps is linear in three calls, whose result is off.
	steps := func(off float64) []string {
		return []string{entry("Tensor.t", 0, []string{w}, sized(1.3, 1e-9)), entry("Torch.matmul", 0, []string{x, w}, sized(5, 0)),
			entry("Tensor.__add__", 0, []string{sized(5, 0), bias}, sized(6, off)), last(off)}
	}
	whole := []string{entry("Functional.linear", 0, []string{x, w, bias}, sized(6, 0)), last(0)}
	// norm is one of several steps on either side.
	norm := func(off float64) []string {
		return []string{entry("Tensor.pow", 0, []string{x}, sized(3, 0)), entry("Tensor.mean", 0, []string{sized(3, 0)}, sized(3.3, 0)),
			entry("Torch.rsqrt", 0, []string{sized(3.3, 0)}, sized(0.4, 0)), entry("Tensor.__mul__", 0, []string{x, sized(0.4, 0)}, sized(6, off)), last(off)}
	}
	other := []string{entry("Tensor.norm", 0, []string{x}, sized(3.1, 0)), entry("Tensor.__truediv__", 0, []string{x, sized(3.1, 0)}, sized(6, 0)), last(0)}
	// gradients come by two ways that no call adds up.
	gradients := func(off float64) []string {
		return []string{entry("Functional.relu", 0, []string{sized(9, 0)}, sized(11, 0)), back(entry("Functional.linear", 7, []string{sized(4, 0)}, sized(6, 0))),
			back(entry("Tensor.__mul__", 0, []string{sized(6, 0)}, sized(2.1, 0)+", "+sized(2.2, 0))), back(entry("Torch.sigmoid", 0, []string{sized(2.2, 0)}, sized(2.3, 0))),
			back(entry("Functional.relu", 0, []string{sized(4.4, off)}, sized(5.5, off)))}
	}
	gradient := []string{entry("Functional.relu", 0, []string{sized(9, 0)}, sized(11, 0)), back(entry("Functional.linear", 7, []string{sized(4, 0)}, sized(6, 0))),
		back(entry("Functional.silu", 0, []string{sized(6, 0)}, sized(4.4, 0))), back(entry("Functional.relu", 0, []string{sized(4.4, 0)}, sized(5.5, 0)))}
	// step is that of an optimizer on the bias, with a gradient that is added up in a block.
	step := func(forward, backward []string, gradient, off float64) []string {
		list := append(slices.Clone(forward), back(entry("Functional.linear", 7, []string{sized(4, 0)}, sized(6, 0))))
		return append(append(list, backward...), entry("Tensor.add_", 0, []string{bias, strings.Replace(sized(gradient, off), "[8, 8]", "[32]", 1)}, bias))
	}
	apart := []string{back(entry("Tensor.__add__", 0, []string{sized(6, 0)}, sized(6, 0))), back(entry("Torch.matmul", 0, []string{sized(6, 0)}, sized(2.5, 0)+", "+sized(2.6, 0))),
		back(entry("Tensor.t", 0, []string{sized(2.6, 0)}, sized(2.6, 0)))}
	together := []string{back(entry("Functional.linear", 0, []string{sized(6, 0)}, sized(2.5, 0)+", "+sized(2.6, 0)))}
	// scores are a product and a scale, which one side multiplies queries by and the other what comes of them.
	scores := func(size, off float64) string { return strings.Replace(sized(size, off), "[8, 8]", "[8, 16]", 1) }
	softmax := func(off float64) (list []string) {
		for i := range 12 {
			list = append(list, entry("Functional.softmax", i+1, []string{sized(6+float64(i), 0)}, sized(0.5+float64(i)/100, 0)))
		}
		return append(list, entry("Functional.softmax", 0, []string{scores(6, off)}, scores(1, off)), back(entry("Functional.softmax", 0, []string{scores(2, 0)}, scores(3, 0))))
	}
	before := func(off float64) []string {
		return append([]string{entry("Tensor.__mul__", 0, []string{x}, sized(0.25, 0)), entry("Torch.matmul", 0, []string{sized(0.25, 0), w}, scores(6, off))}, append(softmax(off),
			back(entry("Torch.matmul", 0, []string{scores(3, 0)}, scores(3, 0))), back(entry("Tensor.__mul__", 0, []string{sized(4, 0)}, sized(0.5, 0))))...)
	}
	behind := append([]string{entry("Torch.matmul", 0, []string{x, w}, scores(48, 0)), entry("Tensor.__mul__", 0, []string{scores(48, 0)}, scores(6, 0))}, append(softmax(0),
		back(entry("Tensor.__mul__", 0, []string{scores(3, 0)}, scores(0.375, 0))), back(entry("Torch.matmul", 0, []string{scores(0.375, 0)}, scores(0.375, 0))))...)
	// A term is added and taken off again, so that the gradient goes by it: one side has a function of its own for that.
	relu := entry("Functional.relu", 0, []string{sized(9, 0)}, x)
	through := func(off float64) []string {
		return []string{relu, entry("Functional.linear", 3, []string{x, w}, sized(3.3, 0)), entry("Tensor.__add__", 0, []string{w, x}, sized(5, 0)),
			entry("Tensor.__sub__", 0, []string{sized(3.3, 0), x}, sized(0.1, 0)), entry("Tensor.__add__", 1, []string{sized(5, 0), sized(0.1, 0)}, sized(6, off)), last(off)}
	}
	rounded := []string{relu, entry("Functional.linear", 3, []string{x, w}, sized(3.3, 0)), entry("Tensor.__add__", 0, []string{w, sized(3.3, 0)}, sized(6, 0)), last(0)}
	for _, c := range []struct {
		name         string
		left, golden []string
		blocks       string // of the left side, how many, then calls of either side
		roots        []string
	}{
		{"one call in several", steps(3e-7), whole, "1 3 1", nil},
		{"the other way round", whole, steps(3e-7), "1 1 3", nil},
		{"several that give something else", steps(4e-4), whole, "1 3 1", []string{"Tensor.__add__.0.forward"}},
		{"several that give something quite different", steps(0.2), whole, "", []string{"Tensor.__add__.0.forward"}},
		{"several in several others", norm(3e-7), other, "1 4 2", nil},
		{"several in several others that give something else", norm(4e-4), other, "1 4 2", []string{"Tensor.__mul__.0.forward"}},
		{"a sum that no call makes", gradients(3e-7), gradient, "1 2 1", nil},
		{"a step by what cancels in a block", step(steps(3e-7), apart, 1e-12, 1), step(whole, together, 1e-12, 0), "2 6 2", nil},
		{"a step by another gradient of a block", step(steps(3e-7), apart, 0.3, 1), step(whole, together, 0.3, 0), "2 6 2", []string{"Tensor.add_.0.forward"}},
		{"a scale before a product and one behind", before(3e-7), behind, "1 2 2", nil},
		{"a scale behind a product and one before", behind, before(3e-7), "1 2 2", nil},
		{"another scale before a product than the one behind", before(4e-4), behind, "", []string{"Tensor.__mul__.0.forward"}},
		{"a term that is added and taken off", through(3e-7), rounded, "1 3 1", nil},
		{"another term that is taken off", through(4e-4), rounded, "", []string{"Functional.linear.3.forward"}},
		{"a sum that no call makes, and that is another", gradients(4e-4), gradient, "1 2 1", []string{"Torch.sigmoid.0.backward"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judged(t, written(t, c.left...), written(t, c.golden...))
			if got := rootNames(j); !slices.Equal(got, c.roots) || (j.Verdict == verdict.Good) != (c.roots == nil) {
				t.Errorf("%s with the roots %v, expected %v", j.Verdict, got, c.roots)
			}
			certain := ""
			for _, r := range j.Table.Meta.Pairing.Why {
				if r.Kind == result.BlocksPaired {
					certain = strings.Join([]string{r.Args[0], r.Args[2], r.Args[3]}, " ")
				}
			}
			if certain != c.blocks {
				t.Errorf("blocks %q, expected %q", certain, c.blocks)
			}
		})
	}
}

// TestBlocksMany: sides that have little in common take no longer than their calls do.
func TestBlocksMany(t *testing.T) {
	var left, golden []string
	for i := range 3000 {
		v := 1 + float64(i)/1000
		left = append(left, entry("Functional.silu", i, []string{sized(v, 0)}, sized(v, 1e-3)))
		golden = append(golden, entry("Functional.gelu", i, []string{sized(v, 0.2)}, sized(v, 0.21)))
	}
	if j := judged(t, written(t, left...), written(t, golden...)); j.Verdict == verdict.Good {
		t.Error("what has no partner is good")
	}
}
