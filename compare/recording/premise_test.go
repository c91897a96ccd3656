package recording_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
)

// TestPremises: two runs with other data or weights are told as such, and no call is
// accused. Of token ids statistics tell the largest and the smallest; where one of them
// is the same, it may be a few, and the call that takes them is named for its input. Where
// all that was recorded of them is the same, it is that call, and never for certain.
func TestPremises(t *testing.T) {
	seeds := 4
	if n, err := strconv.Atoi(os.Getenv("SEEDS")); err == nil {
		seeds = n
	}
	for _, level := range []string{"L1", "mix"} {
		for _, m := range machines {
			certain := map[string]int{}
			for seed := range uint64(seeds) {
				for _, other := range []string{"data", "weights", "step"} {
					left, right := m.left, m.right
					left.level, right.level, left.other = level, level, other
					golden := generate(seed, right, fault{})
					j := judged(t, generate(seed, left, fault{}).write(t), golden.write(t))
					if m.name == "xor" && other != "data" || m.name == "bfloat16" && other == "step" {
						continue // there is nothing but a checksum, or the step is smaller than what rounding moves
					}
					want := map[string]verdict.PremiseKind{"data": verdict.PremiseInputs, "weights": verdict.PremiseWeights, "step": verdict.PremiseStep}[other]
					switch {
					case j.Verdict == verdict.Inconclusive && len(j.Roots) == 0 && len(j.Premises) > 0 && j.Premises[0].Kind == want && j.Premises[0].Broken:
						certain[other]++
					case other == "data" && len(j.Roots) == 1 && (j.Roots[0].Kind == verdict.RootInput || j.Roots[0].Certainty == verdict.Likely && idsAlike(j)):
					default:
						t.Errorf("%s/%s, seed %d, other %s: %s, roots %v, premises %v", level, m.name, seed, other, j.Verdict, rootNames(j), j.Premises)
					}
				}
			}
			t.Logf("%s/%s: told %v of %d each", level, m.name, certain, seeds)
		}
	}
}

// idsAlike tells of the first root that it looks up ids of which everything that was recorded is the same on both sides.
func idsAlike(j *verdict.Judged) bool {
	op := j.Operators[j.Roots[0].Operator]
	ids := &j.Table.Rows[op.Inputs[0].Row]
	return op.Op.Type == "embedding" && ids.Recorded.Left.Print(ids.Left.Shape) == ids.Recorded.Right.Print(ids.Right.Shape)
}

// TestOtherStepInHalf: a step moves the extremes of some weights of bfloat16 by hardly more than a rounding, which nothing makes of
// weights of one type: most of them are others all the same. A few that are others are faults.
func TestOtherStepInHalf(t *testing.T) {
	weights := func(dtype string, offs ...float64) string {
		var list []string
		for i, off := range offs {
			x := 2 + float64(i)/7
			list = append(list, entry("Functional.linear", i, []string{sized(x, 0), strings.Replace(sized(1.3+float64(i)/5, off), "torch.float32", "torch."+dtype, 1)}, sized(x+5, off)))
		}
		return written(t, list...)
	}
	for _, c := range []struct {
		name, dtype string
		offs        []float64
		step        bool
	}{
		{"three far, three near", "bfloat16", []float64{0.03, 0.006, 0.02, 0.006, 0, 0.02, 0.006, 0}, true},
		{"three far", "bfloat16", []float64{0.09, 0, 0.05, 0, 0, 0.07, 0, 0}, false},
		{"two far, five near", "bfloat16", []float64{0.09, 0.006, 0.05, 0.006, 0.006, 0.006, 0.006, 0}, false},
		{"three far, three rounded to another type", "float16", []float64{0.09, 0.006, 0.05, 0.006, 0, 0.07, 0.006, 0}, false},
		{"one by two places, three by one", "bfloat16", []float64{0.016, 0.006, 0, 0.006, 0, 0, 0.006, 0, 0}, true},
		{"one by two places, two by one", "bfloat16", []float64{0.016, 0.006, 0, 0.006, 0, 0, 0, 0, 0}, false},
		{"four by one place", "bfloat16", []float64{0.006, 0.006, 0, 0.006, 0, 0, 0.006, 0, 0}, false},
		{"one by two places, others rounded on another way", "bfloat16", []float64{0.016, 0.006, 0.006, 0.006, 0.006, 0, 0.006, 0.006, 0}, false},
	} {
		j := judged(t, weights(c.dtype, c.offs...), weights("bfloat16", make([]float64, len(c.offs))...))
		told := j.Verdict == verdict.Inconclusive && len(j.Roots) == 0 && len(j.Premises) > 0 && j.Premises[0].Kind == verdict.PremiseStep
		if told != c.step || !told && len(j.Roots) == 0 {
			t.Errorf("%s: %s, roots %v, premises %v", c.name, j.Verdict, rootNames(j), j.Premises)
		}
	}
}

// TestOtherStepInElements: a step that moves one weight far and of most others single elements, by more than a rounding of them, is another
// step; where the others are only rounded on another way, or are the same, that weight is what is wrong.
func TestOtherStepInElements(t *testing.T) {
	side := func(far float64, near float32) string {
		values := map[string][]float32{}
		tensor := func(file string, row ...float32) string {
			values[file] = row
			text := strings.Replace(statistics("float32", fmt.Sprint(row[0]), fmt.Sprint(row[1]), "0.1", "9"), "[8, 8]", "[4]", 1)
			return strings.Replace(text, `"type"`, `"data_name": "`+file+`.npy", "type"`, 1)
		}
		var list []string
		for i := range 5 {
			n, w := strconv.Itoa(i), []float32{float32(i) + 1, -1, 2e-6 * near, 0.5}
			if i == 0 {
				w = []float32{float32(2 * far), float32(-far), float32(far), float32(1 - far)}
			}
			list = append(list, entry("Functional.linear", i, []string{tensor("x"+n, 1, -1, 1, 0.25), tensor("w"+n, w...)}, tensor("y"+n, 4*w[0], -3*w[0], w[0], 0)))
		}
		dir := written(t, list...)
		if err := os.Rename(arrays(t, values), filepath.Join(dir, "dump_tensor_data")); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	golden := side(0.5, 1)
	for near, step := range map[float32]bool{1: false, 1.0000001: false, 1.01: true} {
		j := judged(t, side(0.55, near), golden)
		told := j.Verdict == verdict.Inconclusive && len(j.Roots) == 0 && len(j.Premises) > 0 && j.Premises[0].Kind == verdict.PremiseStep
		if told != step || !told && !slices.Equal(rootNames(j), []string{"Functional.linear.0.forward"}) {
			t.Errorf("others %g times: %s, roots %v, premises %v", near, j.Verdict, rootNames(j), j.Premises)
		}
	}
}

// TestIdsByChecksum: ids of the same extremes are others if their checksum is and both extremes of what is looked up by them are, in
// the same table, also where a call later writes to ids like them, after which a checksum may have been taken.
func TestIdsByChecksum(t *testing.T) {
	hashed := func(tensor, sum string) string {
		return strings.Replace(tensor, `"requires_grad"`, `"md5": "`+sum+`", "requires_grad"`, 1)
	}
	run := func(sum, hi, lo string, table float64, later bool) string {
		ids, rows := hashed(statistics("int64", "95", "0", "null", "null"), sum), hashed(statistics("float32", hi, lo, "0.5", "9"), sum[:6]+hi[:1]+lo[1:2])
		table8 := fmt.Sprintf("%08x", uint32(table*100))
		calls := []string{entry("Functional.embedding", 0, []string{ids, hashed(sized(table, 0), table8)}, rows), entry("Functional.relu", 0, []string{rows}, rows)}
		if later {
			calls = append(calls, entry("Tensor.masked_fill_", 0, []string{ids}, hashed(statistics("int64", "95", "-1", "null", "null"), sum)))
		}
		return written(t, calls...)
	}
	for _, c := range []struct {
		name, sum, hi, lo string
		table             float64
		premise           bool
	}{
		{"both ends", "0000000a", "4.5", "-4.25", 2, true},
		{"one end", "0000000a", "4.5", "-3", 2, false},
		{"another table", "0000000a", "4.5", "-4.25", 2.5, false},
		{"the same ids", "0000000b", "4.5", "-4.25", 2, false},
	} {
		for _, later := range []bool{false, true} {
			j := judged(t, run(c.sum, c.hi, c.lo, c.table, later), run("0000000b", "3", "-3", 2, later))
			certain := j.Verdict == verdict.Inconclusive && len(j.Roots) == 0 && len(j.Premises) == 1 && j.Premises[0].Reason.Kind == result.InputsSummed
			if certain != c.premise || !certain && (len(j.Roots) == 0 || j.Table.Ops[j.Roots[0].Operator].Type != "embedding") {
				t.Errorf("%s, later %v: %s, roots %v, premises %v", c.name, later, j.Verdict, rootNames(j), j.Premises)
			}
		}
	}
}

// TestPaddedIds: of a padded batch one extreme of the token ids is that of the padding in every run. It is another batch if what is
// looked up by them has other extremes on both ends, in the same table, or a mean that a token moves a third as far, and a token or two if
// it has not.
func TestPaddedIds(t *testing.T) {
	ids := func(top string) string { return statistics("int64", top, "0", "null", "null") }
	run := func(top, hi, lo, mean string, table float64) string {
		rows := statistics("float32", hi, lo, mean, "9")
		return written(t, entry("Functional.embedding", 0, []string{ids(top), sized(table, 0)}, rows), entry("Functional.linear", 0, []string{rows, sized(1.3, 0)}, sized(6, map[bool]float64{true: 0.1}[top != "93"])))
	}
	for _, c := range []struct {
		name, hi, lo, mean string
		table              float64
		premise            bool
	}{{"both ends", "3.5", "-3.25", "0.5", 2, true}, {"both ends, one by little", "3.5", "-3.001", "0.5", 2, true}, {"one end", "3.5", "-3", "0.5", 2, false}, {"another table", "3.5", "-3.25", "0.5", 2.5, false},
		{"one end and the mean", "3.5", "-3", "0.2", 2, true}, {"one end and some of the mean", "3.5", "-3", "0.3", 2, false}} {
		j := judged(t, run("90", c.hi, c.lo, c.mean, c.table), run("93", "3", "-3", "0.5", 2))
		certain := j.Verdict == verdict.Inconclusive && len(j.Roots) == 0 && len(j.Premises) == 1 && j.Premises[0].Kind == verdict.PremiseInputs
		if certain != c.premise || !certain && (len(j.Roots) == 0 || j.Table.Ops[j.Roots[0].Operator].Type != "embedding") {
			t.Errorf("%s: %s, roots %v, premises %v", c.name, j.Verdict, rootNames(j), j.Premises)
		}
	}
}

// TestGradientBeforeItsCall: the gradients of a module's parameters are recorded before the backward call that they are made of, and do
// not excuse what goes into it. By its size a gradient may be what rounding makes of cancelling sums.
func TestGradientBeforeItsCall(t *testing.T) {
	half := func(v, off float64) string { return strings.Replace(sized(v, off), "float32", "bfloat16", 1) }
	back := func(module, in, out string) string {
		return fmt.Sprintf(`"Module.%s.Linear.backward.0": {"input": [%s], "output": [%s]}`, module, in, out)
	}
	run := func(off float64) string {
		noise := map[bool]float64{true: 0.008}[off != 0]
		calls := []string{}
		for i, m := range []string{"embed", "k", "o"} {
			calls = append(calls, fmt.Sprintf(`"Module.%s.Linear.forward.0": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, m, half(2+float64(i), noise*float64(min(i, 1))), half(3+float64(i), noise)))
		}
		calls = append(calls, back("o", half(0.7, noise), half(0.09, noise)),
			fmt.Sprintf(`"Module.k.Linear.parameters_grad.0": {"weight": [%s]}`, half(0.003, off)), back("k", half(0.0006, off), half(0.00007, off)))
		return written(t, calls...)
	}
	for off, want := range map[float64][]string{0.2: {"Module.k.Linear.backward.0"}, 0.02: nil} {
		if j := judged(t, run(off), run(0)); !slices.Equal(rootNames(j), want) {
			t.Errorf("off by %g: %s, roots %v, not %v", off, j.Verdict, rootNames(j), want)
		}
	}
}

// TestElementsOfOneSideAlone: what one side alone computes, in another order than what the other side takes as it is, is named by the elements of what takes
// it, though limits are met there; a batch norm behind it, which takes out what is the same in all of the batch, is not to blame for what becomes of that.
// Rounded otherwise it is nobody's fault.
func TestElementsOfOneSideAlone(t *testing.T) {
	x, flat := []float32{0.5, -0.25, 0.125, 0.75, -0.5, 0.25, 1, -1}, []float32{0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25}
	of := func(k float32, by func(i int) float32) []float32 {
		to := make([]float32, len(x))
		for i := range to {
			to[i] = k + by(i)
		}
		return to
	}
	y := of(0, func(i int) float32 { return x[i] / 2 })
	turned := of(0, func(i int) float32 { return x[len(x)-1-i] / 2 })
	rounded := of(0, func(i int) float32 { return y[i] * (1 + float32(i%3-1)*1e-7) })
	side := func(alone, taken []float32, off float32) string {
		values := map[string][]float32{}
		tensor := func(file string, row []float32) string {
			values[file] = row
			sum, squares := 0.0, 0.0
			for _, v := range row {
				sum, squares = sum+float64(v), squares+float64(v)*float64(v)
			}
			text := statistics("float32", fmt.Sprint(slices.Max(row)), fmt.Sprint(slices.Min(row)), fmt.Sprint(float32(sum/8)), fmt.Sprint(float32(math.Sqrt(squares))))
			return strings.Replace(strings.Replace(text, "[8, 8]", "[8]", 1), `"type"`, `"data_name": "`+file+`.npy", "type"`, 1)
		}
		mixed := of(0.5, func(i int) float32 { return x[i]/1000 + off*turned[i]/1000 })
		normed := of(0, func(i int) float32 { return 2*x[i] + 2*off*turned[i] })
		list := []string{entry("Functional.linear", 0, []string{tensor("x", x), tensor("w", flat)}, tensor("y", y))}
		if alone != nil {
			list = append(list, entry("Torch.flip", 0, []string{tensor("x", x)}, tensor("xt", alone)), entry("Functional.linear", 1, []string{tensor("xt", alone), tensor("w", flat)}, tensor("t", taken)))
		}
		list = append(list, entry("Torch.matmul", 0, []string{tensor("p", flat), tensor("taken", taken)}, tensor("m", mixed)), entry("Functional.batch_norm", 0, []string{tensor("m", mixed)}, tensor("n", normed)))
		for i := range 12 {
			list = append(list, entry("Functional.gelu", i, []string{sized(float64(i+2), 0)}, sized(float64(i+2)/2, 0)))
		}
		dir := written(t, list...)
		if err := os.Rename(arrays(t, values), filepath.Join(dir, "dump_tensor_data")); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	golden := side(nil, y, 0)
	shifted := of(0, func(i int) float32 { return turned[i]*2 + 1e-3 })
	for _, c := range []struct {
		name string
		left string
		want []string
	}{
		{"turned", side(shifted, of(0, func(i int) float32 { return turned[i] * (1 + 1e-7) }), 0.3), []string{"Functional.linear.1.forward"}},
		{"rounded", side(shifted, rounded, 0), nil},
	} {
		if j := judged(t, c.left, golden); !slices.Equal(rootNames(j), c.want) {
			t.Errorf("%s: %s, roots %v, expected %v", c.name, j.Verdict, rootNames(j), c.want)
		}
	}
}

// TestDataBesideLabels: labels that differ, of which a program asks the largest first, are no reason for it that the numbers which both runs are fed
// are others.
func TestDataBesideLabels(t *testing.T) {
	run := func(most int, hi, lo string, off float64) string {
		labels := statistics("int64", strconv.Itoa(most), "5", "null", "null")
		top := strings.Replace(statistics("int64", strconv.Itoa(most), strconv.Itoa(most), "null", "null"), "[8, 8]", "[]", 1)
		data := statistics("float32", hi, lo, "0.02", "28.7")
		return written(t, entry("Tensor.max", 0, []string{labels}, top), entry("Functional.conv1d", 0, []string{data, sized(1.3, 0)}, sized(6, off)), entry("Functional.gelu", 0, []string{sized(6, off)}, sized(5, off)))
	}
	j := judged(t, run(26, "2.98", "-2.72", 0.1), run(27, "3.75", "-3", 0))
	if len(j.Premises) != 1 || j.Premises[0].Kind != verdict.PremiseInputs || j.Verdict != verdict.Inconclusive {
		t.Errorf("%s, premises %+v, roots %v", j.Verdict, j.Premises, rootNames(j))
	}
	if j := judged(t, run(26, "3.75", "-3", 0), run(27, "3.75", "-3", 0)); !slices.Equal(rootNames(j), []string{"Tensor.max.0.forward"}) {
		t.Errorf("labels alone: %s, premises %+v, roots %v", j.Verdict, j.Premises, rootNames(j))
	}
}

// TestGrownOutOfRounding: an output of a network in float32 that limits call bad is not good because each call adds as much to what came in as all
// others do.
func TestGrownOutOfRounding(t *testing.T) {
	record := func(off float64) string {
		x, list := sized(2, 0), []string(nil)
		for i := range 12 {
			y := sized(3+float64(i), off)
			list, x, off = append(list, entry("Functional.linear", i, []string{x, sized(1.1+float64(i)/8, 0)}, y)), y, off*3.4
		}
		return written(t, list...)
	}
	for off, good := range map[float64]bool{2e-7: false, 1e-9: true} {
		if j := judged(t, record(off), record(0)); good != (j.Verdict == verdict.Good) {
			t.Errorf("%g: %s, roots %v", off, j.Verdict, rootNames(j))
		}
	}
}

// TestMadeByOneSide: indices that one side alone makes of what it chose, and that are taken in another shape, were not given to the network: who takes
// them is named, and the runs are comparable.
func TestMadeByOneSide(t *testing.T) {
	ids := func(hi, lo, shape string) string {
		return strings.Replace(statistics("int64", hi, lo, "null", "null"), "[8, 8]", shape, 1)
	}
	x := sized(2, 0)
	side := func(between []string, taken string, out float64) string {
		lines := append([]string{entry("Tensor.argmax", 0, []string{x}, ids("55", "3", "[64]"))}, between...)
		return written(t, append(lines, entry("Tensor.gather", 0, []string{x, "1", taken}, sized(out, 0)), entry("Functional.gelu", 0, []string{sized(out, 0)}, sized(out/2, 0)))...)
	}
	golden := side(nil, ids("55", "3", "[64, 1]"), 1.9)
	shifted := side([]string{entry("Tensor.__mod__", 0, []string{ids("55", "3", "[64]"), "56"}, ids("54", "0", "[64]"))}, ids("54", "0", "[64, 1]"), 1.2)
	if j := judged(t, shifted, golden); !slices.Equal(rootNames(j), []string{"Tensor.gather.0.forward"}) || j.Verdict != verdict.Bad {
		t.Errorf("made by one side: %s, roots %v, premises %+v", j.Verdict, rootNames(j), j.Premises)
	}
	if j := judged(t, side(nil, ids("54", "0", "[64, 1]"), 1.2), golden); len(rootNames(j)) > 0 || j.Verdict != verdict.Inconclusive {
		t.Errorf("given: %s, roots %v, premises %+v", j.Verdict, rootNames(j), j.Premises)
	}
}

// TestTargetsToo: ids of which one extreme is another may be a fault of one token; where what the loss compares with is another, too, the
// runs were given other data.
func TestTargetsToo(t *testing.T) {
	ids := func(hi int) string { return statistics("int64", fmt.Sprint(hi), "0", "null", "null") }
	side := func(hi, target int, off float64) string {
		rows := statistics("float32", fmt.Sprint(4*(1+10*off)), "-2", "0.25", "20")
		return written(t, entry("Functional.embedding", 0, []string{ids(hi), sized(3, 0)}, rows), entry("Functional.silu", 0, []string{rows}, sized(5, off)),
			entry("Functional.cross_entropy", 0, []string{sized(5, off), ids(target)}, sized(6, off)))
	}
	golden := side(93, 80, 0)
	for _, c := range []struct {
		target int
		roots  []string
	}{{81, nil}, {80, []string{"Functional.embedding.0.forward"}}} {
		j := judged(t, side(91, c.target, 0.01), golden)
		broken := slices.ContainsFunc(j.Premises, func(p verdict.Premise) bool { return p.Kind == verdict.PremiseInputs && p.Broken })
		if broken != (c.roots == nil) || !slices.Equal(rootNames(j), c.roots) {
			t.Errorf("targets up to %d: %s, %v, with the roots %v, expected %v", c.target, j.Verdict, j.Premises, rootNames(j), c.roots)
		}
	}
}

// TestDrawnAnew: weights drawn from other numbers have means that are standard deviations of a mean apart, however near their ends are; a step of
// training moves them by a hundredth of that, though ends may move as far.
func TestDrawnAnew(t *testing.T) {
	side := func(ends, mean float64) string {
		var calls []string
		for i := range 6 {
			peak := 3 + float64(i)/4
			weight := statistics("float32", fmt.Sprint(float32(peak*(1+ends))), fmt.Sprint(float32(-peak*(1+ends))), fmt.Sprint(float32(0.01+mean/8)), fmt.Sprint(float32(8)))
			calls = append(calls, entry("Functional.linear", i, []string{sized(1+float64(i), 0), weight}, sized(2+float64(i), ends)))
		}
		return written(t, calls...)
	}
	for _, c := range []struct {
		ends, mean float64 // the latter in standard deviations of the mean of 64 numbers of deviation 1
		kind       verdict.PremiseKind
	}{
		{0.07, 1, verdict.PremiseWeights},
		{0.07, 0.01, verdict.PremiseStep},
		{0.3, 0.01, verdict.PremiseStep},
		{0.3, 1, verdict.PremiseWeights},
	} {
		if j := judged(t, side(c.ends, c.mean), side(0, 0)); len(j.Premises) != 1 || j.Premises[0].Kind != c.kind || j.Verdict != verdict.Inconclusive {
			t.Errorf("ends %v, means %v apart: %s, premises %v, expected %v", c.ends, c.mean, j.Verdict, j.Premises, c.kind)
		}
	}
}
