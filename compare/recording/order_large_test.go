package recording_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"precision/compare/verdict"
)

// large is a tensor of float32 of so many elements around 0.
func large(shape string, peak, mean, norm float64) string {
	f := func(x float64) string { return fmt.Sprintf("%.9e", float64(float32(x))) }
	return strings.Replace(statistics("float32", f(peak), f(-peak*0.75), f(mean), f(norm)), "[8, 8]", shape, 1)
}

// TestRoundoffsUnseen: what a product of a quarter million elements makes in another order has other last digits in some, and mostly the
// same statistics; a call that rounds correctly shows them, or the recorder adds up what it gives on other threads. Neither is its fault. What
// is further off is, and so is a roundoff where checksums prove that it got the same.
func TestRoundoffsUnseen(t *testing.T) {
	const roundoff = 1.0 / (1 << 24)
	side := func(peak, mean float64, sums ...string) string {
		x, y := large("[1024, 256]", 2.5, 0.004, 301), large("[1024, 256]", 5.25*(1+peak), 0.0013+mean*0.648, 332)
		if len(sums) > 0 {
			x, y = strings.Replace(x, `"Max"`, `"md5": "0000000a", "Max"`, 1), strings.Replace(y, `"Max"`, `"md5": "`+sums[0]+`", "Max"`, 1)
		}
		return written(t, entry("Functional.linear", 0, []string{large("[1024, 64]", 4, -0.002, 256), large("[256, 64]", 0.125, -0.0007, 9.2)}, x),
			entry("Tensor.__mul__", 0, []string{x, "1.5"}, y), entry("Functional.gelu", 0, []string{y}, large("[1024, 256]", 5.25*(1+peak), 0.2, 230)))
	}
	for _, c := range []struct {
		name        string
		left, right string
		want        []string
	}{
		{"the mean", side(0, 1e-9), side(0, 0), nil},
		{"a roundoff of the largest", side(2*roundoff, 0), side(0, 0), nil},
		{"more of the largest", side(64*roundoff, 0), side(0, 0), []string{"Tensor.__mul__.0.forward"}},
		{"more of the mean", side(0, 1e-5), side(0, 0), []string{"Tensor.__mul__.0.forward"}},
		{"a roundoff, proven", side(2*roundoff, 0, "0000000c"), side(0, 0, "0000000b"), []string{"Tensor.__mul__.0.forward"}},
	} {
		if j := judged(t, c.left, c.right); !slices.Equal(rootNames(j), c.want) || (j.Verdict == verdict.Good) != (c.want == nil) {
			t.Errorf("%s: %s, roots %v, expected %v", c.name, j.Verdict, rootNames(j), c.want)
		}
	}
}

// TestNormsAlone: a gradient whose extremes and mean are the same has the same elements, though its norm is hundreds of roundoffs off: that is
// of squares which other threads, or strides, add up in another order. Of few elements, or further off, or with another mean it is another.
func TestNormsAlone(t *testing.T) {
	const roundoff = 1.0 / (1 << 24)
	side := func(shape string, mean, norm float64) string {
		x := large(shape, 1.25, 0.01, 130)
		g := large(shape, 6e-5, 2.5e-7+mean*1.3e-5, 0.0067*(1+norm))
		return written(t, entry("Functional.silu", 0, []string{x}, large(shape, 1.2, 0.08, 97)),
			strings.Replace(entry("Functional.silu", 0, []string{g}, large(shape, 5.9e-5, 3.2e-7, 0.0049*(1+norm/8))), ".forward", ".backward", 1))
	}
	for _, c := range []struct {
		name, shape string
		mean, norm  float64
		good        bool
	}{
		{"in another order", "[2048, 128]", 0, 380 * roundoff, true},
		{"few elements", "[64, 64]", 0, 380 * roundoff, false},
		{"further off", "[2048, 128]", 0, 38000 * roundoff, false},
		{"with another mean", "[2048, 128]", 1e-5, 380 * roundoff, false},
	} {
		j := judged(t, side(c.shape, c.mean, c.norm), side(c.shape, 0, 0))
		if (j.Verdict == verdict.Good) != c.good || (len(j.Roots) == 0) != c.good {
			t.Errorf("%s: %s, roots %v, expected good %v", c.name, j.Verdict, rootNames(j), c.good)
		}
	}
}

// TestGradientsOfLongSums: the gradient of a convolution's weight adds up tens of thousands of products, one after the other: other threads may
// be as many roundoffs off as a forward product of that length, also where what came in is off in its last digit. Ten times that is a fault. Where
// the forward call has no partner, as one that unfolds images and multiplies, nobody knows how many there are.
func TestGradientsOfLongSums(t *testing.T) {
	const image, weight = "[8, 32, 64, 64]", "[32, 32, 3, 3]"
	side := func(mean, off float64, unfolded bool) string {
		var lines []string
		for i := range 12 { // as many as tell how much noise there is
			lines = append(lines, entry("Functional.gelu", i, []string{large("[64, 64]", 2+float64(i)/16, 0.1, 40)}, large("[64, 64]", 2+float64(i)/16, 0.2, 30)))
		}
		g, x, w := large(image, 3.3e-4, mean, 0.025), large(image, 5, 0.4, 900), large(weight, 0.06, 0.0001, 3.2)
		name, dx, dw := "Functional.conv2d", large(image, 7.5e-5, 7e-10, 0.0143), large(weight, 0.0166*(1+off), 1.9e-5, 0.3476)
		in, y := []string{x, w}, large(image, 3, 0.001, 580)
		if unfolded {
			const row = "[8, 288, 4096]"
			as := func(v, shape string) string {
				return regexp.MustCompile(`"shape": \[[^]]*\]`).ReplaceAllString(v, `"shape": `+shape)
			}
			name, dx, dw, g, y = "Tensor.__matmul__", large(row, 2.5e-5, 7e-11, 0.0143), as(dw, "[32, 288]"), as(g, "[8, 32, 4096]"), as(y, "[8, 32, 4096]")
			in = []string{as(w, "[32, 288]"), large(row, 5, 0.4, 2700)}
		}
		lines = append(lines, entry(name, 0, in, y))
		back := entry(name, 0, []string{g}, dx+", "+dw)
		return written(t, append(lines, strings.Replace(back, ".forward", ".backward", 1))...)
	}
	golden := side(2e-14, 0, false)
	for _, c := range []struct {
		unfolded bool
		off      float64
		want     []string
	}{
		{false, 3.5e-6, nil}, {false, 4e-5, []string{"Functional.conv2d.0.backward"}},
		{true, 1e-5, nil}, {true, 1e-4, []string{"Tensor.__matmul__.0.backward"}},
	} {
		for _, mean := range []float64{2e-14, 3e-14} {
			if j := judged(t, side(mean, c.off, c.unfolded), golden); !slices.Equal(rootNames(j), c.want) {
				t.Errorf("%g off, mean %g, unfolded %t: %s, roots %v, expected %v", c.off, mean, c.unfolded, j.Verdict, rootNames(j), c.want)
			}
		}
	}
}

// TestGradientsOfQueries: what attention hands back to queries is a difference of what values make of it, and many times smaller than that: so many times is it
// further off, of a module as of the function. A gradient of values that is as far off is a fault.
func TestGradientsOfQueries(t *testing.T) {
	const shape = "[8, 40, 64]"
	side := func(queries, values float64) string {
		var lines []string
		for i := range 12 { // as many as tell how much noise there is
			lines = append(lines, entry("Functional.gelu", i, []string{large("[64, 64]", 2+float64(i)/16, 0.1, 40)}, large("[64, 64]", 2+float64(i)/16, 0.2, 30)))
		}
		x, module := large(shape, 0.45, 0.01, 24.6), "Module.m.MultiheadAttention"
		call := func(direction string, in []string, out string) string {
			return strings.Replace(entry(module, 0, in, out), "0.forward", direction+".0", 1)
		}
		return written(t, append(lines, call("forward", []string{x, x, x}, large(shape, 0.39, 0.02, 18.6)),
			call("backward", []string{large(shape, 3.6e-3, 1e-5, 0.1455)}, large(shape, 6.1e-7*(1+queries), 1e-9, 1.49e-5)+", "+large(shape, 4.1e-6, 1e-9, 5.3e-5)+", "+large(shape, 1.7e-3*(1+values), 1e-6, 0.0214)))...)
	}
	golden := side(0, 0)
	for _, c := range []struct {
		queries, values float64
		want            []string
	}{{4e-5, 0, nil}, {0, 4e-4, []string{"Module.m.MultiheadAttention.backward.0"}}} {
		if j := judged(t, side(c.queries, c.values), golden); !slices.Equal(rootNames(j), c.want) {
			t.Errorf("%g and %g off: %s, roots %v, expected %v", c.queries, c.values, j.Verdict, rootNames(j), c.want)
		}
	}
}

// TestSumsOfChannels: norms over a batch add up all of a channel, the gradients of their weights and of offsets all rows, and layer_norm on a CPU
// keeps those in bfloat16; a gradient that is zero but for that, as of an offset in front of such a norm, is another on other threads.
func TestSumsOfChannels(t *testing.T) {
	const image = "[8, 32, 64, 64]"
	typed := func(typ, v string) string { return strings.ReplaceAll(v, "float32", typ) }
	back := func(text string) string { return strings.Replace(text, ".forward", ".backward", 1) }
	x, scale := large(image, 3, -0.016, 602), large("[32]", 1.2, 1, 5.7)
	row, half := large("[1024, 256]", 7, 0.008, 368), large("[256]", 1.2, 1, 16)
	for _, c := range []struct {
		name, call string
		side       func(off float64) []string
		room, far  float64
	}{
		{"statistics of a batch", "Functional.batch_norm.0.forward", func(off float64) []string {
			return []string{entry("Functional.batch_norm", 0, []string{x, "null", "null", scale, scale}, large(image, 4.9*(1+off), -0.0034, 1034))}
		}, 3e-6, 1e-4},
		{"an offset in front of it", "Functional.conv2d.0.backward", func(off float64) []string {
			return []string{entry("Functional.conv2d", 0, []string{large("[8, 3, 64, 64]", 4, 0, 314), large("[32, 3, 3, 3]", 0.2, 0, 3.3)}, x),
				back(entry("Functional.conv2d", 0, []string{large(image, 2e-4, 0, 0.0228)}, large("[32]", 1.1e-7*(1+off), 0, 2.4e-7*(1+off))))}
		}, 1, 100},
		{"rows in bfloat16", "Functional.layer_norm.0.backward", func(off float64) []string {
			return []string{typed("bfloat16", entry("Functional.layer_norm", 0, []string{row, "256", half, half}, large("[1024, 256]", 9, -0.0006, 510))),
				typed("bfloat16", back(entry("Functional.layer_norm", 0, []string{large("[1024, 256]", 5e-5, 8e-8, 0.0072)}, large("[256]", 0.0059*(1+off), 8e-5, 0.03))))}
		}, 0.11, 0.5},
		{"rows in float32", "Functional.layer_norm.0.backward", func(off float64) []string {
			return []string{entry("Functional.layer_norm", 0, []string{row, "256", half, half}, large("[1024, 256]", 9, -0.0006, 510)),
				back(entry("Functional.layer_norm", 0, []string{large("[1024, 256]", 5e-5, 8e-8, 0.0072)}, large("[256]", 0.0059*(1+off), 8e-5, 0.03)))}
		}, 1.8e-6, 1e-4},
	} {
		for off, want := range map[float64][]string{c.room: nil, c.far: {c.call}} {
			if j := judged(t, written(t, c.side(off)...), written(t, c.side(0)...)); !slices.Equal(rootNames(j), want) || (j.Verdict == verdict.Good) != (want == nil) {
				t.Errorf("%s, %g off: %s, roots %v, expected %v", c.name, off, j.Verdict, rootNames(j), want)
			}
		}
	}
}

// TestChoicesBehind: a slope that jumps gives a few gradients elsewhere, of which the norm of a million tells a millionth; what is added up of
// them is off by the root of that. Without such a slope it is not.
func TestChoicesBehind(t *testing.T) {
	const image = "[8, 32, 64, 64]"
	back := func(text string) string { return strings.Replace(text, ".forward", ".backward", 1) }
	side := func(act string, off, sum float64) string {
		var lines []string
		for i := range 12 {
			v := 2 + float64(i)/16
			lines = append(lines, entry("Functional.silu", i, []string{large("[64, 64]", v, 0.1, 40)}, large("[64, 64]", v, 0.2, 30)))
		}
		x, y, g := large(image, 2.8*(1+off), -0.016, 602), large(image, 2.8*(1+off), 0.4, 400), large(image, 2.1e-4, 1e-8, 0.03)
		lines = append(lines, entry("Functional.conv2d", 0, []string{large("[8, 3, 64, 64]", 4, 0, 314), large("[32, 3, 3, 3]", 0.2, 0, 3.3)}, x), entry(act, 12, []string{x}, y))
		h := large(image, 2.1e-4*(1+off), 1e-8, 0.0228*(1+off))
		lines = append(lines, back(entry(act, 12, []string{g}, h)),
			back(entry("Functional.conv2d", 0, []string{h}, large("[32, 3, 3, 3]", 0.0137*(1+sum), 6e-5, 0.117))))
		return written(t, lines...)
	}
	for _, c := range []struct {
		name, act string
		sum       float64
		want      []string
	}{
		{"relu", "Functional.relu", 1.5e-3, nil},
		{"relu, too far", "Functional.relu", 0.04, []string{"Functional.conv2d.0.backward"}},
		{"silu", "Functional.silu", 1.5e-3, []string{"Functional.conv2d.0.backward"}},
	} {
		if j := judged(t, side(c.act, 1.2e-6, c.sum), side(c.act, 0, 0)); !slices.Equal(rootNames(j), c.want) {
			t.Errorf("%s: %s, roots %v, expected %v", c.name, j.Verdict, rootNames(j), c.want)
		}
	}
}

// TestGradientsOfNothing: the gradient of an offset in front of a softmax is what rounding leaves. Where the sides compute it by other calls, a step of
// an optimizer gets another one, which is a millionth of a millionth of what other gradients are; one that is not so small is a difference.
func TestGradientsOfNothing(t *testing.T) {
	back := func(text string) string { return strings.Replace(text, ".forward", ".backward", 1) }
	small := func(v float64) string { return large("[64]", v/2, v/64, v) }
	side := func(alone bool, gradient float64) string {
		x, p := large("[64, 64]", 2, 0.1, 40), large("[64]", 0.3, 0.01, 0.95)
		lines := []string{entry("Functional.linear", 0, []string{x, large("[64, 64]", 0.12, 0, 4.6)}, large("[64, 64]", 1.5, 0.2, 30))}
		if alone {
			lines = append(lines, entry("Functional.linear", 1, []string{large("[64, 64]", 1.5, 0.2, 30), large("[64, 64]", 0.13, 0, 4.5), p}, large("[64, 64]", 1.4, 0.3, 33)))
		}
		lines = append(lines, back(entry("Functional.linear", 0, []string{large("[64, 64]", 0.002, 0, 0.05)}, large("[64, 64]", 0.004, 0, 0.06))))
		if alone {
			lines = append(lines, back(entry("Functional.linear", 1, []string{large("[64, 64]", 0.003, 0, 0.055)}, small(gradient))))
		}
		return written(t, append(lines, entry("Tensor.add_", 0, []string{p, small(gradient)}, large("[64]", 0.3, 0.01, 0.95)))...)
	}
	for gradient, want := range map[float64][]string{5e-10: nil, 5e-4: {"Tensor.add_.0.forward"}} {
		if j := judged(t, side(false, gradient), side(true, gradient*1.6)); !slices.Equal(rootNames(j), want) {
			t.Errorf("of size %g: %s, roots %v, expected %v", gradient, j.Verdict, rootNames(j), want)
		}
	}
}

// TestShorterBehindNorm: products of ten bits also show where what goes into them is off in its last digit, as behind a norm; more is a fault, and so
// is one of them alone.
func TestShorterBehindNorm(t *testing.T) {
	linear, modules := []string{"Functional.linear.0.", "Functional.linear.1.", "Functional.linear.2."}, []string{"Module.l.LSTM.", "Module.g.GRU.", "Module.m.MultiheadAttention."}
	side := func(calls []string, norm, off, last float64) string {
		lines := []string{entry("Functional.layer_norm", 0, []string{sized(2, 0), "8", sized(1, 0)}, sized(1.5, norm))}
		for i := range 3 {
			away := off
			if i == 2 {
				away += last
			}
			call := entry("x", 0, []string{sized(1.5, norm), sized(1.25+float64(i)/8, 0)}, sized(3+float64(i), away))
			lines = append(lines, strings.Replace(call, "x.0.forward", strings.TrimSuffix(calls[i]+"forward."+strings.Repeat("0", strings.Count(calls[i], "Module")), "."), 1))
		}
		return written(t, lines...)
	}
	for _, c := range []struct {
		name      string
		calls     []string
		off, last float64
		want      []string
	}{
		{"ten bits", linear, 1e-4, 0, nil},
		{"one of them further off", linear, 1e-4, 0.02, []string{"Functional.linear.2.forward"}},
		{"one alone", linear, 0, 1e-4, []string{"Functional.linear.2.forward"}},
		{"modules that multiply", modules, 1e-4, 0, nil},
		{"one of these further off", modules, 1e-4, 0.02, []string{"Module.m.MultiheadAttention.forward.0"}},
	} {
		if j := judged(t, side(c.calls, 1.2e-7, c.off, c.last), side(c.calls, 0, 0, 0)); !slices.Equal(rootNames(j), c.want) {
			t.Errorf("%s: %s, roots %v, expected %v", c.name, j.Verdict, rootNames(j), c.want)
		}
	}
}
