package recording_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
)

// TestOtherSums: a device and a CPU add up a million squares in other orders. Weights and inputs of which nothing but the norm differs
// by no more than that tell so, and what comes out of calls is judged with that room; where most norms are the same, or one is further
// off, a norm that differs is a difference.
func TestOtherSums(t *testing.T) {
	value := func(shape string, peak, norm float64) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": %s, "Max": %v, "Min": %v, "Mean": 0.001953125, "Norm": %v, "requires_grad": false}`, shape, float32(peak), float32(-peak/2), float32(norm))
	}
	side := func(offs [4]float64, out float64) string { // how far the norm of the input and of three weights are off; that of the last output
		var entries []string
		x := value("[1024, 1024]", 3, 500*(1+offs[0]))
		for i := range 3 {
			peak, norm := 5.5+float64(i), 700+100*float64(i)
			if i == 2 {
				norm *= 1 + out
			}
			y := value("[1024, 1024]", peak, norm)
			entries = append(entries, entry("Functional.linear", i, []string{x, value("[1024, 1024]", 0.5+float64(i)/8, 33*(1+offs[i+1]))}, y))
			x = y
		}
		return written(t, entries...)
	}
	golden := side([4]float64{}, 0)
	const units = 1.0 / (1 << 24)
	for _, c := range []struct {
		name  string
		offs  [4]float64
		out   float64
		good  bool
		named []string
	}{
		{"the same", [4]float64{}, 0, true, nil},
		{"all norms", [4]float64{-160 * units, -170 * units, -8300 * units, -900 * units}, 5000 * units, true, []string{"5"}},
		{"an output, too far", [4]float64{-160 * units, -170 * units, -8300 * units, -900 * units}, 0.1, false, []string{"4"}},
		{"a weight, further than sums", [4]float64{-160 * units, -170 * units, -0.01, -900 * units}, 0.1, false, []string{"3"}},
		{"one weight of three", [4]float64{0, 0, -8300 * units, 0}, 0, false, nil},
		{"the last digit of one", [4]float64{0, 0, 2 * units, 0}, 0, true, nil},
	} {
		j := judged(t, side(c.offs, c.out), golden)
		if named := whys(j, result.NormsDiffer); (j.Verdict == verdict.Good) != c.good || !slices.Equal(named, c.named) {
			t.Errorf("%s: %s, roots %v, premises %v, told %q, expected good %v and %q", c.name, j.Verdict, rootNames(j), j.Premises, named, c.good, c.named)
		}
	}
}

// TestOtherImages: other images of bfloat16 are told by a mean that a few pixels cannot move, also where one of the extremes is nearly the
// same; a pixel that is another is the input of the call that takes it. Neither is the rounding of so many terms: extremes are no sums.
func TestOtherImages(t *testing.T) {
	value := func(shape, hi, lo, mean, norm string) string {
		return strings.Replace(statistics("bfloat16", hi, lo, mean, norm), "[8, 8]", shape, 1)
	}
	side := func(image string, far float64) string {
		number := func(v float64) string { return fmt.Sprint(float32(v)) }
		calls := []string{entry("Functional.conv2d", 0, []string{image, value("[8, 3, 7, 7]", "0.2041015625", "-0.224609375", "-0.00048", "2.453125")}, value("[2, 8, 16, 16]", number(3.25+far), "-3.1875", "0.0022", number(53.25-far)))}
		for i := range 12 {
			calls = append(calls, entry("Functional.relu", i, []string{value("[2, 8, 16, 16]", number(3.25+far), "-3.1875", "0.0022", number(53.25-far))}, value("[2, 8, 16, 16]", number(3.25+far), "0.0", "0.4", number(37-far))))
		}
		return written(t, calls...)
	}
	const shape = "[2, 3, 32, 32]"
	golden := side(value(shape, "3.4375", "-3.796875", "-0.006317138671875", "78"), 0)
	for _, c := range []struct {
		name, image string
		far         float64
		premise     bool
		roots       []string
	}{
		{"other images", value(shape, "3.609375", "-3.75", "-0.01422119140625", "79"), 0.4, true, nil},
		{"a pixel", value(shape, "3.609375", "-3.796875", "-0.006317138671875", "78"), 0.4, false, []string{"Functional.conv2d.0.forward"}},
		{"rounding", value(shape, "3.453125", "-3.796875", "-0.006317138671875", "78"), 0.015625, false, nil},
	} {
		j := judged(t, side(c.image, c.far), golden)
		if (j.Verdict == verdict.Inconclusive) != c.premise || !slices.Equal(rootNames(j), c.roots) || j.Verdict == verdict.Good != (c.far < 0.1) {
			t.Errorf("%s: %s, roots %v, premises %+v", c.name, j.Verdict, rootNames(j), j.Premises)
		}
	}
}

// TestWholeNumbers: a product of whole numbers may be computed in float32 on one side and in int32 on the other; the same numbers are no
// difference of form, others are.
func TestWholeNumbers(t *testing.T) {
	side := func(dtype, most, mean, norm string) string {
		x := statistics(dtype, "127", "-48", mean, strings.Replace(norm, "4000", "400", 1))
		y := statistics(dtype, most, "-1547", mean, norm)
		return written(t, entry("Tensor.t", 0, []string{x}, x), entry("Torch.matmul", 0, []string{x, x}, y))
	}
	golden := side("int32", "1288", "null", "null")
	for most, want := range map[string][]string{"1288": nil, "1289": {"Torch.matmul.0.forward"}} {
		if j := judged(t, side("float32", most, "17.25", "4000"), golden); !slices.Equal(rootNames(j), want) || (j.Verdict == verdict.Good) != (want == nil) {
			t.Errorf("%s: %s, roots %v, expected %v", most, j.Verdict, rootNames(j), want)
		}
	}
}

// TestSumsOfOneChecksum: one tensor that has the same checksum and another norm proves that the recorders add up squares in another order.
// Then also what is updated in place later, whose checksum one recorder takes late, has the same norm as far as such sums go.
func TestSumsOfOneChecksum(t *testing.T) {
	const unit = 1.0 / (1 << 24)
	value := func(peak, norm float64, sum string) string {
		text := strings.Replace(statistics("float32", fmt.Sprint(float32(peak)), fmt.Sprint(float32(-peak/2)), "0.001953125", fmt.Sprint(float32(norm))), `"requires_grad"`, `"md5": "`+sum+`", "requires_grad"`, 1)
		return strings.Replace(text, "[8, 8]", "[64, 32]", 1)
	}
	side := func(off, weight float64, late bool) string {
		before, after := "000000a1", "000000a2"
		if late {
			before = after
		}
		x := value(3, 9, "00000001")
		calls := []string{entry("Functional.linear", 0, []string{x, value(2, 5, "00000002")}, value(4, 11*(1+off), "00000003"))}
		for i := range 8 {
			calls = append(calls, entry("Functional.relu", i, []string{value(4+float64(i), 11, fmt.Sprintf("0000001%d", i))}, value(5+float64(i), 12, fmt.Sprintf("0000001%d", i+1))))
		}
		return written(t, append(calls, entry("Tensor.add_", 0, []string{value(1, 7*(1+weight), before), value(0.1, 0.5, "000000b1")}, value(1.01, 7.05, after)))...)
	}
	for _, c := range []struct {
		name        string
		off, weight float64
		verdict     verdict.Verdict
		roots       []string
	}{
		{"proven", 4 * unit, 2 * unit, verdict.Good, nil},
		{"not proven", 0, 2 * unit, verdict.Suspect, []string{"Tensor.add_.0.forward"}},
		{"further than sums", 4 * unit, 1e-3, verdict.Suspect, []string{"Tensor.add_.0.forward"}},
	} {
		if j := judged(t, side(c.off, c.weight, false), side(0, 0, true)); j.Verdict != c.verdict || !slices.Equal(rootNames(j), c.roots) {
			t.Errorf("%s: %s, roots %v, expected %s and %v", c.name, j.Verdict, rootNames(j), c.verdict, c.roots)
		}
	}
}

// TestNormOfFewDigits: rounding a bfloat16 otherwise leaves the norm of many where it is, but for its own last digits. A product of the same that has a
// norm three steps smaller, as where a channel of 32 is zero, is not rounding; two steps are, behind noise nothing is said, and of few elements or of a
// function that is taken from a polynomial neither.
func TestNormOfFewDigits(t *testing.T) {
	value := func(shape, norm string) string {
		return strings.Replace(statistics("bfloat16", "0.5", "-0.46875", "0.001", norm), "[8, 8]", shape, 1)
	}
	side := func(function, shape, norm string, noise bool) string {
		x := value("[64, 32]", "11")
		first := value("[64, 32]", "12")
		if noise {
			first = strings.Replace(first, "-0.46875", "-0.470703125", 1)
		}
		return written(t, entry("Functional.linear", 0, []string{x, value("[32, 32]", "3")}, first), entry("Functional."+function, 1, []string{x, value("[32, 32]", "2")}, value(shape, norm)))
	}
	for _, c := range []struct {
		name, function, shape, norm string
		noise                       bool
		roots                       []string
	}{
		{"three steps", "linear", "[64, 32]", "7.34375", false, []string{"Functional.linear.1.forward"}},
		{"two steps", "linear", "[64, 32]", "7.375", false, nil},
		{"behind noise", "linear", "[64, 32]", "7.34375", true, nil},
		{"few elements", "linear", "[8, 8]", "7.34375", false, nil},
		{"a polynomial", "gelu", "[64, 32]", "7.34375", false, nil},
	} {
		if got := rootNames(judged(t, side(c.function, c.shape, c.norm, c.noise), side(c.function, c.shape, "7.4375", false))); !slices.Equal(got, c.roots) {
			t.Errorf("%s: roots %v, expected %v", c.name, got, c.roots)
		}
	}
}
