package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// pairOf is the result of a pair of n elements with a relative distance and a
// number of NaN on the left side, consistent enough to be judged.
func pairOf(n int64, distance float64, nan int64) *metric.Result {
	cosine := 1 - min(distance*distance/2, 2)
	side := metric.SideFacts{Lo: -2, Hi: 2, Deviation: 1, RMS: 1}
	if n == 1 {
		side = metric.SideFacts{Lo: 1, Hi: 1, Mean: 1, RMS: 1}
	}
	none := metric.Element{Index: -1}
	f := metric.Facts{Known: true, N: n, Finite: n - nan, X: side, Y: side, FirstDisagree: none, FirstDiffer: none, Worst: none,
		BitEqual: distance == 0 && nan == 0, MaxAbs: 3 * distance, MaxRel: 4 * distance, Cosine: cosine, Distance: distance, Scale: 1, Unscaled: distance}
	if n == 1 {
		f.MaxAbs, f.MaxRel = distance, distance
	}
	if nan > 0 {
		f.X.NaN, f.NaN.X, f.Disagree = nan, nan, nan
		f.FirstDisagree = metric.Element{Index: n / 2, X: math.NaN(), Y: 1}
		cosine = math.NaN()
	}
	if distance > 0 || nan > 0 {
		f.Differ, f.Outside = n, n
		f.FirstDiffer, f.Worst = metric.Element{X: 1 + distance, Y: 1}, metric.Element{Index: n - 1, X: 1 + 3*distance, Y: 1}
	}
	res := &metric.Result{N: n, Disagree: nan, Facts: f}
	for m, v := range map[metric.Metric]float64{metric.CosineSimilarity: cosine, metric.RelativeEuclideanDistance: distance,
		metric.MaxAbsoluteError: f.MaxAbs, metric.MaxRelativeError: f.MaxRel, metric.RootMeanSquareError: distance} {
		res.Values[m], _ = metric.ValueOf(v)
	}
	res.Values[metric.StandardDeviation], _ = metric.ValueOf(side.Mean, side.Deviation, side.Mean, side.Deviation)
	return res
}

// randomNetwork is the table of a made-up network: operators in execution order
// that take outputs of those before, some broken, some without a dump.
func randomNetwork(r *rand.Rand) *result.Table {
	t := &result.Table{Meta: result.Meta{
		Left: result.Side{Dir: "npu", Kind: "npu"}, Right: result.Side{Dir: "golden", Kind: "numpy"},
		Graph: "graph.txt", GraphHow: "given", Pairing: result.Pairing{How: result.ByGraph},
		Numerics: "exact", Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}}
	if r.IntN(4) == 0 {
		t.Meta.Right.Kind = "npu"
	}
	if r.IntN(5) == 0 {
		t.Meta.Warnings = []string{randomText(r)}
	}
	types := []string{"Conv2D", "Relu", "MatMul", "Add", "SoftmaxV2", "TransData", "ArgMax", "Const", "Data", "NetOutput"}
	missing, broken := r.Float64()*r.Float64(), r.Float64()/4
	if r.IntN(3) == 0 {
		broken = 0
	}
	edges := r.IntN(5) > 0
	noise := map[result.Port]metric.Result{}
	for i := range 1 + r.IntN(30) {
		op := result.Operator{Name: fmt.Sprintf("op%d%s", i, randomText(r)), Type: types[r.IntN(len(types))], Index: i, Order: i,
			Framework: []string{randomText(r)}, Dumped: true, Outputs: 1 + r.IntN(2), Final: r.IntN(8) == 0}
		op.Inserted = op.Type == "TransData"
		op.Constant, op.Feed, op.NoKernel = op.Type == "Const", op.Type == "Data", op.Type == "NetOutput"
		inherited := 0.0
		for range min(i, r.IntN(3)) {
			from := &t.Ops[max(0, i-1-r.IntN(3))]
			port := result.Port{Op: from.Name, Index: r.IntN(from.Outputs)}
			op.Inputs = append(op.Inputs, port)
			if res, ok := noise[port]; ok {
				inherited = max(inherited, res.Facts.Distance)
			}
		}
		base := result.Row{Index: i, Sequence: int64(i), Op: op.Name, Type: op.Type, Shape: []int64{4, 5}, Facts: result.Facts{Order: i},
			Left: result.Operand{Names: op.Name, File: "npu/" + op.Name, DType: dtype.Float16}, Right: result.Operand{Names: "g", DType: dtype.Float32}}
		for slot, port := range op.Inputs {
			row := base
			row.Role, row.Slot, row.Facts.Producer = result.Input, slot, port
			if res, ok := noise[port]; ok && r.IntN(10) > 0 {
				row.Compared, row.Metrics = true, &res
			} else {
				row.Reasons = []result.Reason{result.Because(result.NoRightTensor, op.Name, row.Tensor())}
			}
			t.Rows = append(t.Rows, row)
		}
		if r.Float64() < missing {
			row := base
			row.Role, row.Slot, row.Shape = result.Whole, -1, nil
			row.Reasons = []result.Reason{result.Because(result.NoLeftDump, op.Name, op.Type)}
			t.Rows, op.Dumped = append(t.Rows, row), false
		} else {
			for slot := range op.Outputs {
				row := base
				row.Role, row.Slot = result.Output, slot
				n := []int64{1, 20, 20, 20, 0}[r.IntN(5)]
				if op.Type == "ArgMax" {
					row.Left.DType, row.Right.DType = dtype.Int32, dtype.Int32
				}
				distance, nan := math.Hypot(inherited, r.Float64()*3e-4), int64(0)
				if r.Float64() < broken {
					distance = []float64{0.05, 0.3, 2, math.NaN(), math.Inf(1)}[r.IntN(5)]
					nan = min(n, int64(r.IntN(2)))
				}
				row.Compared, row.Metrics = true, pairOf(n, distance, nan)
				if r.IntN(30) == 0 {
					row.Saturated = &result.Saturated{Count: 1, Result: *pairOf(n, inherited, 0)}
				}
				if r.IntN(12) == 0 { // as a row of an imported table
					row.Result().Facts = metric.Facts{}
				}
				noise[result.Port{Op: op.Name, Index: slot}] = *row.Metrics
				t.Rows = append(t.Rows, row)
			}
		}
		t.Ops = append(t.Ops, op)
	}
	if !edges {
		for i := range t.Ops {
			t.Ops[i].Inputs = nil
		}
		if r.IntN(2) == 0 {
			t.Ops = nil
		}
	}
	return t
}

// largeTable is the table of a long chain of operators, each with an input and an
// output.
func largeTable(rows int) *result.Table {
	r := rand.New(rand.NewPCG(1, 1))
	t := &result.Table{Meta: result.Meta{Left: result.Side{Dir: "npu", Kind: "npu"}, Right: result.Side{Dir: "golden", Kind: "numpy"},
		Graph: "graph.txt", Pairing: result.Pairing{How: result.ByGraph}, Numerics: "exact"}}
	for i := range rows / 2 {
		name := fmt.Sprintf("bert/encoder/layer_%d/attention/self/MatMul_%d", i/20, i)
		op := result.Operator{Name: name, Type: "MatMul", Index: i, Order: i, Framework: []string{name}, Dumped: true, Outputs: 1, Final: i == rows/2-1}
		row := result.Row{Index: i, Sequence: int64(i), Op: name, Type: op.Type, Shape: []int64{8, 128, 768}, Compared: true, Facts: result.Facts{Order: i},
			Left:  result.Operand{Names: name, File: "npu/debug_0/dump/MatMul." + name, DType: dtype.Float16},
			Right: result.Operand{Names: name, File: "golden/" + name + ".npy", DType: dtype.Float32}}
		in, out := row, row
		in.Role, in.Metrics = result.Input, pairOf(8*128*768, r.Float64()*1e-3, 0)
		out.Metrics = pairOf(8*128*768, r.Float64()*1e-3, 0)
		if i > 0 {
			op.Inputs = []result.Port{{Op: t.Ops[i-1].Name}}
			in.Facts.Producer = op.Inputs[0]
		}
		t.Ops = append(t.Ops, op)
		t.Rows = append(t.Rows, in, out)
	}
	return t
}
