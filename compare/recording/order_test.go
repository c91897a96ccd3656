package recording_test

import (
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
)

// TestOtherOrder: two sides that compute in another order are told as such, and no call is accused, whether or not they
// are off by noise; calls that do not depend on each other may stand in any order, and a fault beside them stays one.
func TestOtherOrder(t *testing.T) {
	const layers = 6
	// run are the calls of a network of layers with two products of one input, their product, a norm and an
	// activation; the numbers of a layer tell what made them.
	run := func(noise float64, exchanged bool, swapped func(layer int) bool, fault int) string {
		var list []string
		at := map[string]int{}
		call := func(api string, out float64, in ...float64) float64 {
			var inputs []string
			for _, v := range in {
				inputs = append(inputs, sized(v, noise))
			}
			list = append(list, entry(api, at[api], inputs, sized(out, noise)))
			at[api]++
			return out
		}
		x, other := 2.0, 1.0 // what comes of another order, or of a fault, is another number
		for i := range layers {
			base := float64(10 * (i + 1))
			q, k := (base+1)*other, (base+2)*other
			product := func(v, weight float64) {
				list = append(list, entry("Functional.linear", at["Functional.linear"], []string{sized(x, noise), sized(weight, 0)}, sized(v, noise)))
				at["Functional.linear"]++
			}
			if exchanged && i%2 == 1 {
				product(k, base+0.2)
				product(q, base+0.1)
			} else {
				product(q, base+0.1)
				product(k, base+0.2)
			}
			h := call("Tensor.__mul__", (base+3)*other, q, k)
			if i == fault {
				other *= 1.4
			}
			h = call("Functional.silu", (base+4)*other, h)
			if swapped(i) {
				other *= 1.5
				h = call("Functional.gelu", (base+5)*other, h)
				h = call("Functional.layer_norm", (base+6)*other, h)
			} else {
				h = call("Functional.layer_norm", (base+6)*other, h)
				h = call("Functional.gelu", (base+5)*other, h)
			}
			x = h
		}
		return written(t, list...)
	}
	none, every := func(int) bool { return false }, func(int) bool { return true }
	for _, noise := range []float64{0, 2e-7} {
		golden := run(0, false, none, -1)
		for name, c := range map[string]struct {
			left  string
			order bool
			root  string
		}{
			"every layer":              {run(noise, false, every, -1), true, ""},
			"one layer":                {run(noise, false, func(layer int) bool { return layer == 3 }, -1), true, ""},
			"independent":              {run(noise, true, none, -1), false, ""},
			"independent, and a fault": {run(noise, true, none, 2), false, "Functional.silu.2.forward"},
		} {
			j := judged(t, c.left, golden)
			certain := len(j.Premises) == 1 && j.Premises[0].Kind == verdict.PremiseGraph && j.Premises[0].Broken && j.Premises[0].Reason.Kind == result.OrderDiffers
			switch roots := strings.Join(rootNames(j), " "); {
			case certain != c.order || roots != c.root, c.order != (j.Verdict == verdict.Inconclusive), (c.root != "") != (j.Verdict == verdict.Bad):
				t.Errorf("%s, noise %g: %s, roots %s, premises %v", name, noise, j.Verdict, roots, j.Premises)
			}
		}
	}
}

// TestOfEachNumber: what a function makes of each number is the same in any order of them as far as statistics go, so that a call of one side alone
// which may have put them in another order is not to blame for it; a product of them it may be.
func TestOfEachNumber(t *testing.T) {
	side := func(turned bool, off float64, last string) string {
		x, y := sized(1, 0), sized(2, 0)
		calls := []string{entry("Functional.linear", 0, []string{x, sized(0.3, 0)}, y)}
		if turned {
			calls = append(calls, entry("Tensor.gather", 0, []string{y}, y))
		}
		inputs := []string{y}
		if last == "linear" {
			inputs = append(inputs, sized(0.4, 0))
		}
		return written(t, append(calls, entry("Functional."+last, 1, inputs, sized(3, off)))...)
	}
	for last, want := range map[string]string{"relu": "Functional.relu.1.forward", "linear": "Tensor.gather.0.forward"} {
		if got := rootNames(judged(t, side(true, 0.01, last), side(false, 0, last))); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: roots %v, expected %s", last, got, want)
		}
	}
}
