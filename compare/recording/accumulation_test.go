package recording_test

import (
	"fmt"
	"slices"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
)

// TestAccumulatedInOtherOrder: of parts of a batch in another order the gradients of parameters, which are added up as they come, are the same when the
// last has come. A last one that is another is a root, and so is a part where the order is the same.
func TestAccumulatedInOtherOrder(t *testing.T) {
	side := func(order []int, sums ...float64) string {
		var lines []string
		for number, part := range order {
			v := float64(part)
			x, y, g := sized(2+v/8, 0), sized(1.5+v/16, 0), sized(0.25+v/32, 0)
			lines = append(lines,
				fmt.Sprintf(`"Module.c.Linear.forward.%d": {"input_args": [%s], "input_kwargs": {}, "output": [%s], "parameters": {"weight": [%s]}}`, number, x, y, sized(1, 0)),
				fmt.Sprintf(`"Module.c.Linear.parameters_grad.%d": {"weight": [%s]}`, number, sized(sums[number], 0)),
				fmt.Sprintf(`"Module.c.Linear.backward.%d": {"input": [%s], "output": [%s]}`, number, g, sized(0.5+v/4, 0)))
		}
		return written(t, lines...)
	}
	golden := side([]int{0, 1, 2}, 0.5, 0.75, 1.25)
	for _, c := range []struct {
		name  string
		left  string
		want  []string
		parts int
	}{
		{"turned", side([]int{2, 1, 0}, 0.625, 0.875, 1.25), nil, 2},
		{"turned, and another sum", side([]int{2, 1, 0}, 0.625, 0.875, 1.5), []string{"Module.c.Linear.parameters_grad.2"}, 2},
		{"another part", side([]int{0, 1, 2}, 0.5, 0.875, 1.25), []string{"Module.c.Linear.parameters_grad.1"}, 0},
	} {
		j := judged(t, c.left, golden)
		if !slices.Equal(rootNames(j), c.want) || (j.Verdict == verdict.Good) != (c.want == nil) || has(j, result.PartOfSum) != c.parts {
			t.Errorf("%s: %s, roots %v, expected %v, %d parts", c.name, j.Verdict, rootNames(j), c.want, has(j, result.PartOfSum))
		}
	}
}
