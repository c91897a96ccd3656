package look

import (
	"math/rand/v2"
	"slices"
	"testing"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/compare/verdict"
)

// Every hint is found where it holds, and gone where one number or the other side makes it
// false.
func TestHints(t *testing.T) {
	const rows, columns = 12, 12
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		random := func() []float64 {
			v := make([]float64, rows*columns)
			for i := range v {
				v[i] = r.NormFloat64()
			}
			return v
		}
		base, other := random(), random()
		slices1 := func(order func(k int) int) []float64 {
			v := make([]float64, 0, len(base))
			for k := range rows {
				v = append(v, base[order(k)*columns:][:columns]...)
			}
			return v
		}
		flip, plus, padded := make([]float64, len(base)), make([]float64, len(base)), slices.Clone(base)
		for i := range base {
			flip[i] = base[i%columns*columns+i/columns]
			plus[i] = base[i] + other[i]
		}
		clear(padded[9*columns:])
		swapped := r.Perm(rows)
		for k := range swapped { // no turn of the whole
			if swapped[k] == k {
				swapped[k], swapped[(k+1)%rows] = swapped[(k+1)%rows], swapped[k]
			}
		}
		near := []known{{"n:output:0", elements{nil, other, slices.Clone(other), []int64{rows, columns}}}}
		for _, c := range []struct {
			kind          result.Kind
			left          []float64
			weight, given bool
		}{
			{result.HintTurned, slices1(func(k int) int { return (k + 5) % rows }), false, true},
			{result.HintOrder, slices1(func(k int) int { return swapped[k] }), false, true},
			{result.HintPadded, padded, false, true},
			{result.HintFlipped, flip, true, true},
			{result.HintSum, plus, false, false},
		} {
			e := elements{nil, c.left, base, []int64{rows, columns}}
			if h, is := hintOf("x:input:0", e, near, c.weight, c.given); !is || h.Kind != c.kind {
				t.Fatalf("seed %d: %v, %v; expected %s", seed, h, is, c.kind)
			}
			broken := slices.Clone(c.left)
			broken[len(broken)/3] += 1
			e.left = broken
			if h, is := hintOf("x:input:0", e, near, c.weight, c.given); is {
				t.Fatalf("seed %d: %v is told although one number is another", seed, h)
			}
		}
		weight := []known{{"b:input:1", elements{nil, random(), other, []int64{rows, columns}}}}
		e := elements{nil, slices.Clone(other), base, []int64{rows, columns}}
		if h, is := hintOf("a:input:1", e, weight, true, true); !is || h.Kind != result.HintOther || h.Args[1] != "b:input:1" {
			t.Fatalf("seed %d: another layer's weight is not told: %v", seed, h)
		}
		weight[0].left = other // loaded twice
		if h, is := hintOf("a:input:1", e, weight, true, true); !is || h.Kind != result.HintOther {
			t.Fatalf("seed %d: a weight that another layer has, too, is not told: %v", seed, h)
		}
		oblong := elements{nil, make([]float64, len(base)), base, []int64{2, 9, 8}} // pages of 9 rows
		for i := range base {
			oblong.left[i] = base[i/72*72+i%72%9*8+i%72/9]
		}
		if h, is := hintOf("a:input:1", oblong, nil, true, true); !is || h.Kind != result.HintFlipped {
			t.Fatalf("seed %d: a transposed matrix in its old shape is not told: %v", seed, h)
		}
		if h, is := hintOf("x:output:0", elements{nil, padded, base, []int64{rows, columns}}, near, false, false); is {
			t.Fatalf("seed %d: %v is told of an output that was not written", seed, h)
		}
		if h, is := hintOf("x:input:0", elements{nil, base, base, []int64{rows, columns}}, near, false, true); is {
			t.Fatalf("seed %d: %v is told of what agrees", seed, h)
		}
	}
}

// A residual addition that one side recorded behind and the other before is told beside the root, with
// the verdict as it was; and nothing is told of what agrees.
func TestComparedSum(t *testing.T) {
	shape := []int64{8, 16}
	for _, wrong := range []bool{true, false} {
		x, y := numbers(1, 128), numbers(2, 128)
		z := slices.Clone(y)
		if wrong {
			for i := range z {
				z[i] += x[i]
			}
		}
		left := chain{{"Relu", x, x}, {"MatMul", x, z}}
		right := chain{{"Relu", x, x}, {"MatMul", x, y}}
		j, again := judgedChain(t, left.record(t, "left", shape), right.record(t, "right", shape))
		before := j.Verdict
		if err := Compared(t.Context(), again, j); err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(j.Premises, func(p verdict.Premise) bool {
			return p.Kind == verdict.PremiseCompared && !p.Broken && p.Reason.Kind == result.HintSum && p.Reason.Args[0] == "left"
		})
		if told != wrong || j.Verdict != before || len(j.Table.Meta.Hints) != len(j.Premises) {
			t.Errorf("wrong %t: %s, was %s, premises %v", wrong, j.Verdict, before, j.Premises)
		}
		if again := verdict.Judge(j.Table, verdict.Options{}); len(again.Premises) != len(j.Premises) {
			t.Errorf("judged again: %v, was %v", again.Premises, j.Premises)
		}
	}
}

// judgedChain judges two sides, which can be looked at again.
func judgedChain(t *testing.T, left, right string) (*verdict.Judged, Again) {
	t.Helper()
	s, err := engine.Job{Left: left, Right: right}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(out.Table, verdict.Options{}), Folders(s)
}
