package verdict

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// TestUnrecorded: rows of calls of which nothing is said, or of one side alone, end nothing and acquit nobody, whatever else
// there is.
func TestUnrecorded(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 26))
		table := result.Table{Meta: result.Meta{Recorded: true}}
		summary := func() *result.Summary {
			if rng.IntN(3) == 0 {
				return nil
			}
			return &result.Summary{Class: "torch.Tensor", Known: rng.Int32N(16), Stats: result.Stats{Max: rng.Float64(), Norm: rng.Float64()}}
		}
		api := []string{"linear", "copy_", "zeros_like", "softmax", "view", "topk"}
		for i := range 12 {
			name := "Torch." + api[rng.IntN(len(api))] + "." + strconv.Itoa(i) + []string{".forward", ".backward"}[rng.IntN(2)]
			op := result.Operator{Name: name, Type: api[rng.IntN(len(api))], Index: i, Order: i}
			for slot := range 1 + rng.IntN(3) {
				for _, role := range []result.Role{result.Input, result.Output, result.Whole} {
					r := result.Row{Op: name, Type: op.Type, Index: i, Role: role, Slot: slot, Facts: result.Facts{Order: i}}
					side := result.Operand{DType: []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Int64}[rng.IntN(3)], Shape: []int64{4}}
					if r.Left, r.Right = side, side; i > 0 && rng.IntN(2) == 0 {
						r.Facts.Producer = result.Port{Op: table.Ops[rng.IntN(i)].Name, Index: rng.IntN(3) - 1} // of some nobody knows which output
					}
					switch rng.IntN(4) {
					case 0:
					case 1:
						r.Compared, r.Metrics = true, &metric.Result{N: 4}
					default:
						r.Recorded = &result.Recorded{Place: "input." + strconv.Itoa(slot), Left: summary(), Right: summary(), Both: rng.Int32N(5), Argument: rng.IntN(5) == 0}
						r.Recorded.Same = rng.Int32N(r.Recorded.Both + 1)
					}
					table.Rows = append(table.Rows, r)
				}
			}
			table.Ops = append(table.Ops, op)
		}
		Judge(&table, Options{})
		bare := result.Table{Meta: table.Meta, Ops: table.Ops, Rows: append([]result.Row{}, table.Rows...)}
		for i := range bare.Rows {
			bare.Rows[i].Recorded, bare.Rows[i].Compared = nil, false
		}
		if j := Judge(&bare, Options{}); j.Verdict != Inconclusive || len(j.Roots) > 0 {
			t.Fatalf("seed %d: nothing is said of any call: %s, %d roots", seed, j.Verdict, len(j.Roots))
		}
	}
}
