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

// TestNothingLeftOfGradient: the gradient of a convolution's weight in front of a norm over a batch may cancel to zero on one side and to what
// rounding leaves on the other. That is no error, though no limit is met; one of the size of its terms is.
func TestNothingLeftOfGradient(t *testing.T) {
	side := func(noise, left float64) string {
		weight := statistics("float32", fmt.Sprint(left), fmt.Sprint(-left), "0", fmt.Sprint(3*left))
		x, y, w, g, back := sized(2, noise), sized(3, noise), sized(1, 0), sized(1e-6, noise), sized(2e-6, noise)
		calls := []string{
			entry("Functional.gelu", 0, []string{sized(4, 0)}, x),
			entry("Functional.conv2d", 0, []string{x, w}, y),
			fmt.Sprintf(`"Module.c.Conv2d.forward.0": {"input_args": [%s], "input_kwargs": {}, "output": [%s], "parameters": {"weight": [%s]}}`, x, y, w),
			fmt.Sprintf(`"Functional.conv2d.0.backward": {"input": [%s], "output": [%s, %s]}`, g, back, weight),
			fmt.Sprintf(`"Module.c.Conv2d.parameters_grad.0": {"weight": [%s]}`, weight),
			fmt.Sprintf(`"Module.c.Conv2d.backward.0": {"input": [%s], "output": [%s]}`, g, back),
		}
		inside := `{"Functional.conv2d.0.forward": "Module.c.Conv2d.forward.0", "Functional.conv2d.0.backward": "Module.c.Conv2d.backward.0", "Module.c.Conv2d.forward.0": null, "Module.c.Conv2d.backward.0": null}`
		return files(t, map[string]string{"dump.json": dumpOf("mix", calls), "construct.json": inside})
	}
	golden := side(0, 0)
	for left, want := range map[float64]verdict.Verdict{1e-14: verdict.Good, 1e-5: verdict.Bad} {
		if j := judged(t, side(1e-7, left), golden); j.Verdict != want || (len(j.Roots) == 0) != (want == verdict.Good) {
			t.Errorf("%g in place of zero: %s, roots %v", left, j.Verdict, rootNames(j))
		}
	}
}
