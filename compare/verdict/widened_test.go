package verdict

import (
	"testing"
	"time"

	"precision/compare/result"
	"precision/dump/dtype"
)

// TestWidenedIsQuick: a call is not held against all calls before it whose tensors end where its own does, as what is
// clipped to 0 and 1 does: ten thousand lookups among a hundred thousand took minutes.
func TestWidenedIsQuick(t *testing.T) {
	row := func(op string, typ dtype.Type, norm float64) *result.Row {
		summary := func(norm float64) *result.Summary {
			return &result.Summary{Class: "torch.Tensor", Known: result.KnownMax | result.KnownMin | result.KnownMean | result.KnownNorm, Stats: result.Stats{Max: 1, Mean: 0.5, Norm: norm}}
		}
		side := result.Operand{DType: typ, Shape: []int64{8, 8}}
		return &result.Row{Op: op, Left: side, Right: side, Recorded: &result.Recorded{Left: summary(norm), Right: summary(5), Both: 15, Same: 7}}
	}
	op := Operator{Op: &result.Operator{Name: "sigmoid"}}
	w := &recordedWalk{judge: &judge{operators: []Operator{op}, place: map[string]int{"sigmoid": 0}, table: &result.Table{}}, narrow: map[extremes][]*result.Row{}}
	r := row("other", dtype.Float32, 5.001)
	e, _ := extremesOf(r)
	for range 100_000 {
		w.narrow[e] = append(w.narrow[e], row("sigmoid", dtype.BFloat16, 9))
	}
	start := time.Now()
	for range 10_000 {
		if w.widened(&op, r) > 0 {
			t.Fatal("a tensor of another norm is taken for it")
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("%v", took)
	}
	w.narrow[e] = append(w.narrow[e], row("sigmoid", dtype.BFloat16, 5))
	if w.widened(&op, r) == 0 {
		t.Error("a tensor with the same ends, mean and norm is not found")
	}
}
