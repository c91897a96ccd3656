package recording_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
)

// withSum adds a checksum to a tensor.
func withSum(tensor, sum string) string {
	return strings.Replace(tensor, `"requires_grad"`, `"md5": "`+sum+`", "requires_grad"`, 1)
}

// TestOtherProducts: a product by another function may take its factors with their axes in another order, or behind a text; another result of it is an
// error all the same.
func TestOtherProducts(t *testing.T) {
	const a, b = "0a0a0a0a", "0b0b0b0b"
	shaped := func(tensor, shape string) string { return strings.Replace(tensor, "[8, 8]", shape, 1) }
	text := `{"type": "str", "value": "bci,bcj->bij"}`
	out := func(off float64) string { return withSum(sized(7, off), fmt.Sprintf("0c%06.0f", off*1e5)) }
	before := entry("Functional.gelu", 0, []string{withSum(sized(2, 0), "0d0d0d0d")}, withSum(sized(3, 0), a))
	behind := func(off float64) string {
		return entry("Functional.relu", 0, []string{out(off)}, withSum(sized(8, off), fmt.Sprintf("0e%06.0f", off*1e5)))
	}
	for _, c := range []struct {
		name         string
		left, golden func(off float64) string
	}{
		{"a factor that is turned, behind a text",
			func(off float64) string {
				return entry("Torch.einsum", 0, []string{text, withSum(sized(3, 0), a), shaped(withSum(sized(4, 0), b), "[4, 16]")}, out(off))
			},
			func(float64) string {
				return entry("Torch.matmul", 0, []string{withSum(sized(3, 0), a), shaped(withSum(sized(4, 0), "0b0b0b0c"), "[16, 4]")}, out(0))
			}},
	} {
		for _, off := range []float64{0, 0.1} {
			j := judged(t, written(t, before, c.left(off), behind(off)), written(t, before, c.golden(0), behind(0)))
			if roots := rootNames(j); off == 0 && (len(roots) > 0 || j.Verdict != verdict.Good) || off > 0 && (len(roots) != 1 || strings.Contains(roots[0], "relu")) {
				t.Errorf("%s, off by %v: %s, roots %v, premises %+v", c.name, off, j.Verdict, roots, j.Premises)
			}
		}
	}
}

// TestSquareWeight: the weight of a linear layer is the second factor of a product with its axes in another order, which its elements show where its shape
// does not. Other elements are others.
func TestSquareWeight(t *testing.T) {
	side := func(linear bool, wrong float64) string {
		e, r := newFolder(t), rand.New(rand.NewPCG(3, 4))
		x, w := numbersOf(64, func(int) float64 { return short(r.NormFloat64()) }), numbersOf(64, func(int) float64 { return short(r.NormFloat64()) })
		w[20] += wrong
		turned := numbersOf(64, func(i int) float64 { return w[i%8*8+i/8] })
		y := numbersOf(64, func(i int) (sum float64) {
			for k := range 8 {
				sum += x[i/8*8+k] * w[k*8+i%8]
			}
			return short(sum)
		})
		of := func(v []float64) string { return e.eights(dtype.BFloat16, v) }
		if linear {
			e.forward("Tensor.t.0", []string{of(w)}, of(turned))
			e.forward("Functional.linear.0", []string{of(x), of(turned)}, of(y))
		} else {
			e.forward("Tensor.__matmul__.0", []string{of(x), of(w)}, of(y))
		}
		e.forward("Functional.relu.0", []string{of(y)}, of(numbersOf(64, func(i int) float64 { return max(0, y[i]) })))
		return e.done()
	}
	for wrong, roots := range map[float64]int{0: 0, 2: 1} {
		if j := judged(t, side(true, wrong), side(false, 0)); len(j.Roots) != roots || (j.Verdict == verdict.Good) != (roots == 0) {
			t.Errorf("off by %v: %s, roots %v", wrong, j.Verdict, rootNames(j))
		}
	}
}

// TestBetween: an input in bfloat16 that the golden side takes as it was made, and of which the ends are two steps off on the left, went through something
// that was not recorded, as a shorter type. By one step it may be rounding.
func TestBetween(t *testing.T) {
	of := func(top, low string) string { return statistics("bfloat16", top, low, "0.5", "12") }
	side := func(top string) string {
		return written(t, entry("Functional.avg_pool1d", 0, []string{coarse(3, 0.1)}, of("1.7265625", "-2.25")),
			entry("Functional.linear", 0, []string{of(top, "-2.25"), coarse(4, 0.2)}, coarse(5, 0.3)), entry("Functional.relu", 0, []string{coarse(5, 0.3)}, coarse(6, 0.4)))
	}
	for top, want := range map[string][]string{"1.7265625": nil, "1.734375": nil, "1.75": {"Functional.linear.0.forward"}} {
		if j := judged(t, side(top), side("1.7265625")); !slices.Equal(rootNames(j), want) {
			t.Errorf("%s: %s, roots %v, expected %v", top, j.Verdict, rootNames(j), want)
		}
	}
}

// TestRowsByChecksum: a call that gives another checksum and the same statistics for the same inputs, where calls before it gave the same bits, has its
// elements in another order if what takes them is off by more than rounding. Where the sides round otherwise anyway, or nothing is off, it
// is not accused.
func TestRowsByChecksum(t *testing.T) {
	side := func(order string, off float64, calls int) string {
		var list []string
		for k := range calls {
			list = append(list, entry("Functional.gelu", k, []string{withSum(sized(float64(20+k), 0), fmt.Sprintf("1000%04d", k))}, withSum(sized(float64(21+k), 0), fmt.Sprintf("1000%04d", k+1))))
		}
		rows := withSum(sized(3, 0), order)
		sum := fmt.Sprintf("2%s%03.0f", order[:4], off*1e3)
		return written(t, append(list, entry("Functional.linear", 0, []string{withSum(sized(2, 0), "30000000"), withSum(sized(4, 0), "30000001")}, rows),
			entry("Tensor.__mul__", 0, []string{rows, withSum(sized(5, 0), "30000002")}, withSum(sized(6, off), sum)))...)
	}
	for _, c := range []struct {
		order string
		off   float64
		calls int
		root  string
	}{
		{"40000001", 0.1, 8, "Functional.linear.0.forward"},
		{"40000001", 0, 8, ""},
		{"40000001", 0.1, 1, "Tensor.__mul__.0.forward"},
		{"40000000", 0.1, 8, "Tensor.__mul__.0.forward"},
	} {
		want := []string{c.root}
		if c.root == "" {
			want = nil
		}
		if j := judged(t, side(c.order, c.off, c.calls), side("40000000", 0, c.calls)); !slices.Equal(rootNames(j), want) {
			t.Errorf("%+v: %s, roots %v", c, j.Verdict, rootNames(j))
		}
	}
}

// TestShortFactors: factors of ten bits move the largest and the smallest of a result as all others. Where these are the same, and the norm is not, few
// elements are wrong.
func TestShortFactors(t *testing.T) {
	side := func(top, norm string) string {
		y := statistics("float32", top, "-2.235690116882324", "0.0793565884232521", norm)
		calls := []string{entry("Functional.conv2d", 0, []string{sized(2, 0), sized(3, 0)}, y)}
		for k := range 4 {
			x := y
			if k > 0 {
				x = statistics("float32", top, fmt.Sprint(-2-k), "0.07", norm)
			}
			calls = append(calls, entry("Functional.conv2d", k+1, []string{x, sized(float64(4+k), 0)}, statistics("float32", top, fmt.Sprint(-3-k), "0.07", norm)))
		}
		return written(t, calls...)
	}
	golden := side("2.2173898220062256", "45.71149826049805")
	for top, want := range map[string][]string{"2.2173898220062256": {"Functional.conv2d.0.forward"}, "2.217620": nil} {
		if j := judged(t, side(top, "45.708465576171875"), golden); !slices.Equal(rootNames(j), want) {
			t.Errorf("%s: %s, roots %v, expected %v", top, j.Verdict, rootNames(j), want)
		}
	}
}

// TestFedBefore: what a module was given it had before the calls that it is made of, and numbers beside ids are other data if both are others, however
// alike the numbers look. An input of a later call is none.
func TestFedBefore(t *testing.T) {
	parametrized := func(x, y string) []string {
		return []string{
			`"Module.enter.parametrizations.weight.0._WeightNorm.forward.0": {"input_args": [` + sized(3, 0) + `, ` + sized(4, 0) + `], "input_kwargs": {}, "output": [` + sized(5, 0) + `]}`,
			`"Module.enter.ParametrizedConv1d.forward.0": {"input_args": [` + x + `], "input_kwargs": {}, "output": [` + y + `]}`,
		}
	}
	const inside = `{"Module.enter.parametrizations.weight.0._WeightNorm.forward.0": "Module.enter.ParametrizedConv1d.forward.0", "Module.enter.ParametrizedConv1d.forward.0": null}`
	ids := func(sum string) string { return withSum(statistics("int64", "49", "0", "null", "null"), sum) }
	mixed := func(x, sum string, y float64) []string {
		hashed := func(v, off float64) string { return withSum(sized(v, off), fmt.Sprintf("51%03.0f%03.0f", v, off*1e3)) }
		x = withSum(x, fmt.Sprintf("52000%03.0f", y*1e3))
		return []string{entry("Functional.linear", 0, []string{x, hashed(3, 0)}, hashed(6, y)),
			entry("Functional.embedding", 0, []string{ids(sum), hashed(4, 0)}, hashed(7, 2*y)), entry("Tensor.__mul__", 0, []string{hashed(6, y), hashed(7, 2*y)}, hashed(8, 3*y))}
	}
	of := func(top, low, norm string) string { return statistics("float32", top, low, "0.1", norm) }
	x, other, alike := of("2.49", "-2.1", "13.1"), of("2.01", "-3.2", "14.8"), of("2.49", "-2.14", "13.3")
	for _, c := range []struct {
		name         string
		left, golden []string
		told         bool
	}{
		{"a module", parametrized(other, sized(6, 0.3)), parametrized(x, sized(6, 0)), true},
		{"numbers and ids", mixed(alike, "50000001", 0.1), mixed(x, "50000000", 0), true},
		{"numbers alone", mixed(alike, "50000000", 0.1), mixed(x, "50000000", 0), false},
	} {
		recorded := func(calls []string) string {
			return files(t, map[string]string{"dump.json": dumpOf("mix", calls), "construct.json": inside})
		}
		j := judged(t, recorded(c.left), recorded(c.golden))
		if told := len(j.Premises) == 1 && j.Premises[0].Kind == verdict.PremiseInputs; told != c.told || told != (len(j.Roots) == 0) {
			t.Errorf("%s: %s, premises %v, roots %v", c.name, j.Verdict, j.Premises, rootNames(j))
		}
	}
}

// TestProductsOfMany: of numbers that are multiplied the relative errors add up, and a logarithm has those of its smallest argument.
func TestProductsOfMany(t *testing.T) {
	of := func(top, low, mean, norm float64) string {
		return statistics("float32", fmt.Sprint(float32(top)), fmt.Sprint(float32(low)), fmt.Sprint(float32(mean)), fmt.Sprint(float32(norm)))
	}
	side := func(call string, noise, error float64) string {
		x := of(2, 0.001*(1+noise*200), 0.5, 6*(1+noise))
		y := of(3*(1+error), -6*(1+error), 0.3*(1+error), 20*(1+error))
		return written(t, entry("Functional.linear", 0, []string{sized(3, 0), sized(4, 0)}, x), entry("Torch."+call, 0, []string{x}, y), entry("Functional.relu", 0, []string{y}, sized(5, error)))
	}
	for _, c := range []struct {
		call  string
		error float64
		root  bool
	}{{"cumprod", 8e-6, false}, {"cumprod", 1e-4, true}, {"log", 6e-6, false}, {"log", 1e-3, true}, {"tanh", 1e-4, true}} {
		if j := judged(t, side(c.call, 3e-7, c.error), side(c.call, 0, 0)); (len(j.Roots) > 0) != c.root {
			t.Errorf("%s off by %v: %s, roots %v", c.call, c.error, j.Verdict, rootNames(j))
		}
	}
}

// TestNotReordered: a tensor that comes by a way that was not recorded, and of which the checksum alone differs, tells of a batch in another order
// only if no call before gave other elements for the same ones.
func TestNotReordered(t *testing.T) {
	side := func(rounded bool) string {
		sum := func(k int) string {
			if rounded {
				k += 100
			}
			return fmt.Sprintf("6000%04d", k)
		}
		return written(t, entry("Functional.linear", 0, []string{withSum(sized(2, 0), "60010000"), withSum(sized(3, 0), "60010001")}, withSum(sized(4, 0), sum(1))),
			entry("Tensor.__add__", 0, []string{withSum(sized(5, 0), sum(2)), withSum(sized(6, 0), "60010002")}, withSum(sized(7, 0), sum(3))),
			fmt.Sprintf(`"Tensor.__add__.0.backward": {"input": [%s], "output": [%s]}`, withSum(sized(8, 0), "60010003"), withSum(sized(8, 0), "60010003")))
	}
	j := judged(t, side(true), side(false))
	if slices.ContainsFunc(j.Table.Meta.Pairing.Why, func(r result.Reason) bool { return r.Kind == result.BatchReordered }) {
		t.Errorf("%s: %v", j.Verdict, j.Table.Meta.Pairing.Why)
	}
}

// TestDivision: quotients are not rounded correctly on every device, as products are.
func TestDivision(t *testing.T) {
	side := func(call string, off float64) string {
		return written(t, entry("Functional.linear", 0, []string{sized(2, 0), sized(3, 0)}, sized(4, 0)), entry("Tensor."+call, 0, []string{sized(4, 0), sized(5, 0)}, sized(6, off)),
			entry("Functional.relu", 0, []string{sized(6, off)}, sized(7, off)))
	}
	for call, roots := range map[string]int{"__truediv__": 0, "div": 0, "__mul__": 1} {
		if j := judged(t, side(call, 1.2e-7), side(call, 0)); len(j.Roots) != roots {
			t.Errorf("%s: %s, roots %v", call, j.Verdict, rootNames(j))
		}
	}
}

// TestDrawnByElements: elements tell weights that were drawn anew from those of a step that moved them by half of their size.
func TestDrawnByElements(t *testing.T) {
	side := func(seed uint64, step float64) string {
		e, r, other := newFolder(t), rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(9, 9))
		for k := range 5 {
			w := numbersOf(64, func(int) float64 { return r.NormFloat64() + step*other.NormFloat64() })
			x := numbersOf(64, func(i int) float64 { return float64(i%7 + k) })
			e.forward(fmt.Sprint("Functional.linear.", k), []string{e.eights(dtype.Float32, x), e.eights(dtype.Float32, w)}, e.eights(dtype.Float32, w))
		}
		return e.done()
	}
	golden := side(1, 0)
	for _, c := range []struct {
		left string
		kind verdict.PremiseKind
	}{{side(1, 0.5), verdict.PremiseStep}, {side(2, 0), verdict.PremiseWeights}} {
		if j := judged(t, c.left, golden); len(j.Premises) != 1 || j.Premises[0].Kind != c.kind {
			t.Errorf("%s, premises %v, expected %v", j.Verdict, j.Premises, c.kind)
		}
	}
}

// TestPlacesOfTies: which of two numbers is the larger may turn out otherwise where they are rounded otherwise, which in a coarse type happens to a few of
// many, whatever the statistics show. Other places for the same numbers are an error.
func TestPlacesOfTies(t *testing.T) {
	side := func(rounded, places string) string {
		x := withSum(coarse(3, 0.1), "7100000"+rounded)
		return written(t, entry("Functional.linear", 0, []string{withSum(coarse(1, 0.1), "70000000"), withSum(coarse(2, 0.1), "70000001")}, x),
			fmt.Sprintf(`"Tensor.max.0.forward": {"input_args": [%s, {"type": "int", "value": -1}], "input_kwargs": {}, "output": [%s, %s]}`, x, withSum(coarse(3, 0.2), "7300000"+rounded),
				withSum(statistics("int64", "3", "0", "null", "null"), "7200000"+places)))
	}
	for _, c := range []struct {
		rounded, places string
		roots           []string
	}{{"1", "1", nil}, {"0", "1", []string{"Tensor.max.0.forward"}}} {
		if j := judged(t, side(c.rounded, c.places), side("0", "0")); !slices.Equal(rootNames(j), c.roots) {
			t.Errorf("%+v: %s, roots %v", c, j.Verdict, rootNames(j))
		}
	}
}

// TestGivenElements: elements that were given to a network are rounded a few times at most, and no sum over all of them is: in bfloat16 a share of 0.02 is
// another number, as that of a type with three bits.
func TestGivenElements(t *testing.T) {
	side := func(off float64) string {
		e, r := newFolder(t), rand.New(rand.NewPCG(5, 6))
		x := numbersOf(512, func(i int) float64 { return short(r.NormFloat64() * (1 + off*float64(i%2*2-1))) })
		y := numbersOf(512, func(i int) float64 { return short(x[i] * x[(i+8)%512]) })
		e.forward("Functional.silu.0", []string{e.eights(dtype.BFloat16, x)}, e.eights(dtype.BFloat16, y))
		e.forward("Functional.relu.0", []string{e.eights(dtype.BFloat16, y)}, e.eights(dtype.BFloat16, numbersOf(512, func(i int) float64 { return max(0, y[i]) })))
		return e.done()
	}
	for off, roots := range map[float64][]string{0.002: nil, 0.022: {"Functional.silu.0.forward"}} {
		if j := judged(t, side(off), side(0)); !slices.Equal(rootNames(j), roots) {
			t.Errorf("off by %v: %s, roots %v", off, j.Verdict, rootNames(j))
		}
	}
}

// TestUnknownWay: a call that one side alone makes, and that comes to light where its result is taken, is also behind what differs before that and came by a
// way that was not recorded, as a spectrum. A call that comes later is not.
func TestUnknownWay(t *testing.T) {
	product := func(x, y float64) string {
		return fmt.Sprintf(`"Tensor.__mul__.0.forward": {"input_args": [%s, {"type": "float", "value": 1.05}], "input_kwargs": {}, "output": [%s]}`, sized(x, 0), sized(y, 0))
	}
	linear := entry("Functional.linear", 0, []string{sized(2, 0), sized(3, 0)}, sized(4, 0))
	rest := func(off, in, out float64) []string {
		return []string{entry("Torch.einsum", 0, []string{sized(7, off), sized(8, 0)}, sized(9, off)), entry("Functional.conv1d", 0, []string{sized(in, 0), sized(5, 0)}, sized(out, 0))}
	}
	golden := written(t, append([]string{linear}, rest(0, 4, 6)...)...)
	early := append([]string{linear, product(4, 4.2)}, rest(0.05, 4.2, 6.3)...)
	late := slices.Insert(append([]string{linear}, rest(0.05, 4.2, 6.3)...), 2, product(4, 4.2))
	for _, c := range []struct {
		name  string
		calls []string
		roots []string
	}{
		{"before", early, []string{"Tensor.__mul__.0.forward"}},
		{"behind", late, []string{"Torch.einsum.0.forward"}},
	} {
		if j := judged(t, written(t, c.calls...), golden); !slices.Equal(rootNames(j), c.roots) {
			t.Errorf("%s: %s, roots %v, expected %v", c.name, j.Verdict, rootNames(j), c.roots)
		}
	}
}
