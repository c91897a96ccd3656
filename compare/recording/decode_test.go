package recording_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
)

// TestNextToken: what a model that writes text is given next are the tokens that were sampled. They are other data, however alike they look, where all
// before agrees; in another table than that of the first lookup, or in a prompt, a few other numbers are the root.
func TestNextToken(t *testing.T) {
	ids := func(shape, top string) string {
		return strings.Replace(statistics("int64", top, "31", "null", "null"), "[8, 8]", shape, 1)
	}
	run := func(next, top string, table, off float64) string {
		pass := func(n int, shape, top string, table, off float64) []string {
			given := off
			if off < 1e-3 { // of the product
				given = 0
			}
			rows := sized(3, given)
			if n > 0 && off > 0 { // one row, at one end
				rows = statistics("float32", "3.3", "-1.5", "0.334", "15.3")
			}
			return []string{entry("Functional.embedding", 2*n, []string{ids(shape, top), sized(table, 0)}, rows), entry("Functional.embedding", 2*n+1, []string{ids(shape, "93"), sized(11, 0)}, sized(4, 0)),
				entry("Functional.linear", n, []string{rows, sized(5, 0)}, sized(6, off))}
		}
		list := pass(0, "[2, 6]", "93", 2, off)
		differs := 0.0
		if top != "83" {
			differs = 0.1
		}
		return written(t, append(list, pass(1, next, top, table, differs)...)...)
	}
	for _, c := range []struct {
		name, next string
		table, off float64
		premise    bool
	}{
		{"one of two tokens", "[2, 1]", 2, 0, true},
		{"tokens in a row", "[2]", 2, 0, true},
		{"a prompt", "[2, 6]", 2, 0, false},
		{"as many in a row as at first", "[12]", 2, 0, false},
		{"of another table", "[2, 1]", 7, 0, false},
		{"behind an error", "[2, 1]", 2, 0.1, false},
		{"behind rounding", "[2, 1]", 2, 2e-7, true},
	} {
		j := judged(t, run(c.next, "84", c.table, c.off), run(c.next, "83", c.table, 0))
		told := j.Verdict == verdict.Inconclusive && len(j.Roots) == 0 && len(j.Premises) == 1 && j.Premises[0].Kind == verdict.PremiseInputs && j.Premises[0].Reason.Kind == result.TokensSampled
		if told != c.premise || !told && len(j.Roots) == 0 {
			t.Errorf("%s: %s, roots %v, premises %v", c.name, j.Verdict, rootNames(j), j.Premises)
		}
	}
}

// TestUnseenRows: rows of attention that a mask leaves nothing to see are what the implementation makes of them. Where the sides have other ones, a
// result with the same extremes and another norm under a mask by rows is no proof of an error, and never good; with other extremes, or under a
// mask that is one for all rows, it is one.
func TestUnseenRows(t *testing.T) {
	const heads = "[2, 4, 8, 8]"
	shaped := func(text, shape string) string { return strings.Replace(text, "[8, 8]", shape, 1) }
	linear := func(n int, x, y float64) string {
		return entry("Functional.linear", n, []string{sized(x, 0), sized(3, 0)}, sized(y, 0))
	}
	const low = "-3.3895313892515355e+38"
	side := func(steps bool, result, rows string) string {
		var list []string
		for n := range 8 {
			list = append(list, linear(n+2, float64(20+2*n), float64(21+2*n)))
		}
		list = append(list, linear(0, 2, 4))
		out := shaped(result, heads)
		if !steps {
			mask := shaped(statistics("bool", "true", "false", "null", "null"), rows)
			list = append(list, fmt.Sprintf(`"Functional.scaled_dot_product_attention.0.forward": {"input_args": [%s, %s, %s], "input_kwargs": {"attn_mask": %s}, "output": [%s]}`,
				shaped(sized(2, 0), heads), shaped(sized(3, 0), heads), shaped(sized(4, 0), heads), mask, out))
			return written(t, append(list, linear(1, 6, 8))...)
		}
		mask := shaped(statistics("float32", "0", low, "-1e38", "Infinity"), rows)
		weights := shaped(statistics("float32", "0.6", "0", "0.08", "3"), heads)
		list = append(list, entry("Torch.matmul", 0, []string{shaped(sized(2, 0), heads), shaped(sized(3, 0), heads)}, shaped(sized(11, 0), heads)),
			entry("Tensor.__add__", 0, []string{shaped(sized(11, 0), heads), mask}, shaped(statistics("float32", "11", low, "-1e38", "Infinity"), heads)),
			entry("Functional.softmax", 0, []string{shaped(statistics("float32", "11", low, "-1e38", "Infinity"), heads)}, weights),
			entry("Torch.matmul", 1, []string{weights, shaped(sized(4, 0), heads)}, out))
		return written(t, append(list, linear(1, 6, 8))...)
	}
	of := func(top, norm string) string { return statistics("float32", top, "-3", "0.66", norm) }
	for _, c := range []struct {
		name, top, norm, rows string
		verdict               verdict.Verdict
	}{
		{"the same", "6", "30", "[2, 1, 8, 8]", verdict.Good},
		{"another norm", "6", "31", "[2, 1, 8, 8]", verdict.Inconclusive},
		{"other extremes", "6.5", "31", "[2, 1, 8, 8]", verdict.Bad},
		{"one mask for all rows", "6", "32", "[2, 1, 1, 8]", verdict.Bad},
	} {
		for _, golden := range []bool{false, true} {
			left, right := side(true, of(c.top, c.norm), c.rows), side(false, of("6", "30"), c.rows)
			if golden {
				left, right = side(false, of(c.top, c.norm), c.rows), side(true, of("6", "30"), c.rows)
			}
			j := judged(t, left, right)
			told := slices.ContainsFunc(j.Premises, func(p verdict.Premise) bool { return p.Broken && p.Reason.Kind == result.RowsUnseen })
			if j.Verdict != c.verdict && (c.verdict != verdict.Bad || j.Verdict != verdict.Suspect) || told != (c.verdict == verdict.Inconclusive) || told != (len(j.Roots) == 0 && c.norm != "30") {
				t.Errorf("%s, golden in steps %v: %s, roots %v, premises %v", c.name, golden, j.Verdict, rootNames(j), j.Premises)
			}
		}
	}
}

// eights is a tensor of rows of eight numbers.
func (f *folder) eights(typ dtype.Type, v []float64) string {
	return f.of(typ, []int64{int64(len(v)) / 8, 8}, v)
}

// short rounds to bfloat16.
func short(x float64) float64 {
	return float64(math.Float32frombits((math.Float32bits(float32(x)) + 0x8000) &^ 0xffff))
}

func numbersOf(n int, f func(i int) float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}

// TestFactorAlone: a factor that one side alone has, in bfloat16 and behind a cast that nobody recorded, is no rounding, of which it is as much as
// seven: nothing before differs, and nothing cancels in a product. Two roundings are.
func TestFactorAlone(t *testing.T) {
	side := func(factor float64) string {
		e, r := newFolder(t), rand.New(rand.NewPCG(1, 2))
		x := numbersOf(64, func(int) float64 { return r.NormFloat64() })
		for k := range 12 {
			y := numbersOf(64, func(i int) float64 { return x[i] * (1 + 0.1*r.Float64()) })
			e.calls = append(e.calls, entry("Functional.silu", k, []string{e.eights(dtype.Float32, x)}, e.eights(dtype.Float32, y)))
			x = y
		}
		cast := numbersOf(64, func(i int) float64 { return short(x[i]) })
		if factor != 1 {
			times := numbersOf(64, func(i int) float64 { return short(cast[i] * factor) })
			e.calls = append(e.calls, fmt.Sprintf(`"Tensor.__mul__.0.forward": {"input_args": [%s, {"type": "float", "value": %v}], "input_kwargs": {}, "output": [%s]}`, e.eights(dtype.BFloat16, cast), factor, e.eights(dtype.BFloat16, times)))
			cast = times
		}
		for k := range 4 {
			y := numbersOf(64, func(i int) float64 { return short(2 * cast[i]) })
			e.calls = append(e.calls, entry("Functional.linear", k, []string{e.eights(dtype.BFloat16, cast), e.eights(dtype.BFloat16, numbersOf(64, func(int) float64 { return 2 }))}, e.eights(dtype.BFloat16, y)))
			cast = y
		}
		return e.done()
	}
	golden := side(1)
	for factor, root := range map[float64]bool{1.027: true, 1.0001: false} {
		j := judged(t, side(factor), golden)
		if root != slices.Equal(rootNames(j), []string{"Tensor.__mul__.0.forward"}) || root != (len(j.Roots) > 0) {
			t.Errorf("a factor of %v: %s, roots %v", factor, j.Verdict, rootNames(j))
		}
	}
}

// TestRowsOfAChoice: where one token has two experts with nearly the same score, they change places in another type, and rows that are taken by the
// places of experts lie elsewhere. That is no error of what takes them, unless there are not as many rows, or other ones.
func TestRowsOfAChoice(t *testing.T) {
	const rows = 16
	side := func(typ dtype.Type, order []int, taken int, factor float64) string {
		e, r := newFolder(t), rand.New(rand.NewPCG(3, 4))
		round := func(x float64) float64 { return x }
		if typ == dtype.BFloat16 {
			round = short
		}
		draw := func(n int) []float64 { return numbersOf(n, func(int) float64 { return r.NormFloat64() }) }
		rounded := func(v []float64) string {
			return e.eights(typ, numbersOf(len(v), func(i int) float64 { return round(v[i]) }))
		}
		x := draw(8 * rows)
		for k := range 12 {
			y := numbersOf(len(x), func(i int) float64 { return x[i] * (1 + 0.1*r.Float64()) })
			e.calls = append(e.calls, entry("Functional.linear", k, []string{rounded(x), rounded(draw(64))}, rounded(y)))
			x = y
		}
		scores := draw(8 * rows)
		scores[0], scores[1] = 3, 3.0001
		places := e.of(dtype.Int64, []int64{rows}, numbersOf(rows, func(i int) float64 { return float64(order[i]) }))
		e.calls = append(e.calls, fmt.Sprintf(`"Torch.topk.0.forward": {"input_args": [%s, {"type": "int", "value": 1}], "input_kwargs": {}, "output": [%s, %s]}`, rounded(scores), rounded(numbersOf(8*rows, func(i int) float64 { return 3 })), places))
		all := draw(8 * rows)
		by := numbersOf(8*taken, func(i int) float64 { return factor * all[8*(order[i/8]%rows)+i%8] })
		e.calls = append(e.calls, entry("Functional.silu", 0, []string{rounded(by)}, rounded(numbersOf(len(by), func(i int) float64 { return by[i] / (1 + math.Exp(-by[i])) }))))
		return e.done()
	}
	straight, turned := make([]int, rows), make([]int, rows)
	for i := range rows {
		straight[i], turned[i] = i, i
	}
	turned[0], turned[1] = 1, 0
	for _, c := range []struct {
		name   string
		taken  int
		factor float64
		root   bool
	}{{"rows in their places", rows, 1, false}, {"fewer rows", rows / 2, 1, true}, {"other rows", rows, 1.2, true}} {
		j := judged(t, side(dtype.BFloat16, turned, c.taken, c.factor), side(dtype.Float32, straight, c.taken, 1))
		if c.root != slices.Equal(rootNames(j), []string{"Functional.silu.0.forward"}) || c.root != (len(j.Roots) > 0) {
			t.Errorf("%s: %s, roots %v", c.name, j.Verdict, rootNames(j))
		}
	}
}

// TestPassesInOrder: a pass over a next token whose positions are one too large gets what the pass after it gets on the other side. Its calls are those of
// its own pass all the same, and the first that takes the positions is the root; what is reordered among weights stays with these.
func TestPassesInOrder(t *testing.T) {
	side := func(off int) string {
		var list []string
		add, linear := 0, 0
		for pass := range 5 {
			at := pass
			if pass > 0 {
				at += off
			}
			count := func(n int) string {
				return strings.Replace(statistics("int64", fmt.Sprint(n), fmt.Sprint(n-2), "null", "null"), "[8, 8]", "[2, 1]", 1)
			}
			position := statistics("float32", fmt.Sprint(5+at), fmt.Sprint(3+at), fmt.Sprint(4+at), fmt.Sprint(8*(4+at))) // as the program makes them of these
			if pass > 0 && off > 0 {
				list = append(list, entry("Tensor.__add__", add, []string{count(4 + at)}, count(5+at)))
				add++
			}
			token := strings.Replace(statistics("int64", fmt.Sprint(70+3*pass), fmt.Sprint(9+2*pass), "null", "null"), "[8, 8]", "[2, 1]", 1)
			x, f := 10+float64(pass), 100+float64(at)
			list = append(list, entry("Functional.embedding", pass, []string{token, sized(2, 0)}, sized(x, 0)), entry("Tensor.__mul__", 2*pass, []string{position, sized(0.3, 0)}, sized(f, 0)),
				entry("Tensor.cos", pass, []string{sized(f, 0)}, sized(f/200, 0)))
			for layer := range 3 {
				list = append(list, entry("Functional.linear", linear, []string{sized(x, 0), sized(float64(30+layer), 0)}, sized(x+0.1, 0)))
				x += 0.2
				linear++
			}
			y := x * (1 + float64(at-pass)/20)
			list = append(list, entry("Tensor.__mul__", 2*pass+1, []string{sized(x-0.1, 0), sized(f/200, 0)}, sized(y, 0)), entry("Functional.linear", linear, []string{sized(y, 0), sized(40, 0)}, sized(y+0.3, 0)))
			linear++
		}
		return written(t, list...)
	}
	golden := side(0)
	if j := judged(t, side(1), golden); !slices.Equal(rootNames(j), []string{"Tensor.__mul__.2.forward"}) {
		t.Errorf("positions one too large: %s, roots %v", j.Verdict, rootNames(j))
	}
	if j := judged(t, side(0), golden); j.Verdict != verdict.Good {
		t.Errorf("the same: %s, roots %v", j.Verdict, rootNames(j))
	}
}
