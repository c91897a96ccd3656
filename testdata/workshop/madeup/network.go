// Package madeup makes tables of networks that never ran, for tests of what
// shows them: of any size, broken or not, with names that do harm.
package madeup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"precision/compare/look"
	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// Network is a made-up network: a chain of operators with branches. Every operator
// has two inputs and one output, so that there are three rows of each.
type Network struct {
	// Ops is the number of operators, Broken that of the one at which an error
	// begins, 0 for none.
	Ops, Broken int
	// Flat: no edges are known. Hostile: names that would do harm if a face
	// took them for anything but text.
	Flat, Hostile bool
	// Statistics: both sides are recordings of calls with statistics in place of arrays.
	Statistics bool
	// Alone: every ninth and tenth call of a recording has no partner, one of the left and one of the right side.
	Alone bool
}

// hostile are names that no face may obey.
var hostile = []string{
	`</script><img src=x onerror=alert(1)>`, `=cmd|' /C calc'!A0`, "\x00\x1b[31mred\x07", "a\u202eb\u2066c", `"><svg onload=alert(2)>`, `';alert(3);//`,
	"<!--", "]]>", `{{constructor.constructor('alert(4)')()}}`, "\u2028\u2029", `javascript:alert(5)`, "&lt;b&gt;", string([]byte{0xff, 0xfe}),
}

// Table is the compared network, laid out. The same network gives the same table.
func (n Network) Table() *result.Table {
	r := rand.New(rand.NewPCG(1, uint64(n.Ops)))
	name := func(i int) string {
		if n.Hostile {
			return fmt.Sprintf("%s%d", hostile[i%len(hostile)], i)
		}
		return fmt.Sprintf("encoder/layer_%d/attention/output/dense_%d/MatMul", i/12, i)
	}
	types := []string{"MatMulV2", "Add", "LayerNorm", "BatchMatMul", "Relu", "Mul", "Conv2D"}
	t := &result.Table{Meta: result.Meta{
		Left: result.Side{Dir: "/data/npu/debug_0/dump", Kind: "npu"}, Right: result.Side{Dir: "/data/golden", Kind: "numpy"}, Graph: "/data/graph.txt", GraphHow: "given",
		Pairing: result.Pairing{How: result.ByGraph}, Numerics: "exact", Time: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), Version: "1.0",
	}}
	for m := range metric.Metric(metric.Count) {
		t.Meta.Metrics = append(t.Meta.Metrics, m.String())
	}
	if n.Hostile {
		t.Meta.Left.Dir, t.Meta.Graph, t.Meta.Warnings = hostile[0], hostile[3], hostile
	}
	wrong := make([]bool, n.Ops)
	made := make([]result.Row, n.Ops) // the output of each
	for i := range n.Ops {
		op := result.Operator{Name: name(i), Type: types[i%12%len(types)], Index: i, Order: i, Framework: []string{name(i)}, Dumped: true, Outputs: 1, Final: i == n.Ops-1}
		if n.Hostile {
			op.Type, op.Framework = hostile[(i+3)%len(hostile)], hostile[:2]
		}
		from := []int{i - 1, max(i-1-r.IntN(6), 0)}
		wrong[i] = n.Broken > 0 && i == n.Broken
		for _, f := range from {
			if f >= 0 && f < i {
				wrong[i] = wrong[i] || wrong[f]
				if !n.Flat {
					op.Inputs = append(op.Inputs, result.Port{Op: name(f)})
				}
			}
		}
		t.Ops = append(t.Ops, op)
		for slot, f := range from {
			if f >= 0 && f < i {
				row := made[f]
				row.Index, row.Op, row.Type, row.Role, row.Slot, row.Left.Names, row.Right.Names = i, op.Name, op.Type, result.Input, slot, op.Name, op.Name
				row.Facts.Order, row.Facts.Producer = i, result.Port{Op: name(f)}
				t.Rows = append(t.Rows, row)
			}
		}
		row := n.row(r, &op, result.Output, 0, wrong[i])
		made[i] = row
		if i%17 == 16 && n.Ops > 17 {
			row.Compared, row.Shape, row.Metrics = false, nil, nil
			row.Reasons = []result.Reason{result.Because(result.NoRightTensor, op.Name, op.Name+":output:0")}
		}
		t.Rows = append(t.Rows, row)
	}
	if n.Statistics {
		n.record(t)
	}
	look.LayOut(t)
	return t
}

// record makes recordings of both sides: of every tensor the statistics alone, and the lines that made the call.
func (n Network) record(t *result.Table) {
	t.Meta.Metrics, t.Meta.Recorded, t.Meta.Graph, t.Meta.Pairing.How = nil, true, "", result.ByName
	t.Meta.Left.Kind, t.Meta.Right.Kind = "msprobe", "msprobe"
	t.Rows = slices.DeleteFunc(t.Rows, func(r result.Row) bool { return n.Alone && r.Index%10 >= 8 && r.Role == result.Input })
	for i := range t.Rows {
		r := &t.Rows[i]
		r.Recorded = &result.Recorded{Place: fmt.Sprintf("%s.%d", r.Role, r.Slot), How: result.ByName, Both: 4, Left: &result.Summary{Class: "torch.Tensor"}, Right: &result.Summary{Class: "torch.Tensor"},
			Source: fmt.Sprintf("/home/user/net/model.py:%d: x = self.%s(x)", 10+r.Index, r.Type), Stack: fmt.Sprintf("/home/user/net/model.py:%d: x = self.%[2]s(x)\n/home/user/net/train.py:7: loss = net(x)", 10+r.Index, r.Type)}
		if n.Hostile {
			r.Recorded.Source, r.Recorded.Stack = hostile[i%len(hostile)], strings.Join(hostile, "\n")
		}
		if r.Compared {
			of := func(s *metric.SideFacts) *result.Summary {
				return &result.Summary{Class: "torch.Tensor", Known: result.KnownMax | result.KnownMin | result.KnownMean | result.KnownNorm, Stats: result.Stats{Max: s.Hi, Min: s.Lo, Mean: s.Mean, Norm: s.RMS}}
			}
			r.Recorded.Left = of(&r.Metrics.Facts.X)
			r.Recorded.Right = of(&r.Metrics.Facts.X)
			if r.Metrics.Facts.Distance > 0.1 {
				r.Recorded.Right = of(&r.Metrics.Facts.Y)
			}
		}
		if *r.Recorded.Left == *r.Recorded.Right {
			r.Recorded.Same = r.Recorded.Both
		}
		if at := r.Index % 10; n.Alone && at >= 8 && r.Role == result.Output {
			n.lone(&t.Ops[r.Index], r, at == 8)
			continue
		}
		r.Compared, r.Metrics, r.Facts = false, nil, result.Facts{Order: r.Facts.Order, Producer: r.Facts.Producer}
	}
}

// lone takes the partner from a call. The first of either side gave the same.
func (n Network) lone(op *result.Operator, r *result.Row, left bool) {
	norm := 1 + float64(r.Index/10)
	op.Made, op.Gives = []int64{int64(norm)}, []result.Given{{Place: "output.0", Shape: []int64{4}, Known: result.KnownNorm, Stats: result.Stats{Norm: norm}}}
	row := result.Row{Index: r.Index, Op: r.Op, Type: r.Type, Role: result.Whole, Slot: -1}
	if left {
		row.Left.Names, row.Right.Names = r.Op, "*"
		row.Add(result.Because(result.NoRightCall, r.Op))
	} else {
		row.Left.Names, row.Right.Names = "*", r.Op
		row.Add(result.Because(result.NoLeftCall, r.Op))
	}
	*r = row
}

// row is a compared pair with numbers of as many digits as real ones have.
func (n Network) row(r *rand.Rand, op *result.Operator, role result.Role, slot int, wrong bool) result.Row {
	distance := 3e-4 * (1 + r.Float64()/5)
	if wrong {
		distance = 0.5 * (1 + r.Float64()/5)
	}
	shape := []int64{1, 64, int64(16 + r.IntN(200)), 64}
	count := shape[1] * shape[2] * shape[3]
	f32 := func(v float64) float64 { return float64(float32(v)) }
	side := func() metric.SideFacts {
		return metric.SideFacts{Zero: r.Int64N(99), Lo: f32(-3 - r.Float64()), Hi: f32(3 + r.Float64()), Mean: r.NormFloat64() / 100, Deviation: 1 + r.Float64()/10, RMS: 1 + r.Float64()/10}
	}
	f := metric.Facts{Known: true, N: count, Finite: count, X: side(), Y: side(), Differ: count - r.Int64N(99), MaxAbs: f32(8 * distance * (1 + r.Float64()/5)), MaxRel: 40 * distance * r.Float64(),
		MeanError: distance * r.NormFloat64() / 1000, Cosine: 1 - distance*distance/2, Distance: distance, Scale: 1 + distance/1000*r.NormFloat64(), Unscaled: distance * 0.99, Outside: count,
		FirstDisagree: metric.Element{Index: -1}, FirstDiffer: metric.Element{Index: r.Int64N(9), X: f32(r.Float64()), Y: f32(r.Float64())},
		Worst: metric.Element{Index: r.Int64N(count), X: f32(r.Float64()), Y: f32(r.Float64())}}
	res := metric.Result{N: count, Facts: f, FirstDisagree: metric.Element{Index: -1}}
	for m := range metric.Metric(metric.Count) {
		v := distance * (1 + r.Float64())
		switch m {
		case metric.CosineSimilarity:
			v = f.Cosine
		case metric.RelativeEuclideanDistance:
			v = f.Distance
		case metric.MaxAbsoluteError:
			v = f.MaxAbs
		}
		res.Values[m], _ = metric.ValueOf(v)
	}
	res.Values[metric.StandardDeviation], _ = metric.ValueOf(f.X.Mean, f.X.Deviation, f.Y.Mean, f.Y.Deviation)
	dir := fmt.Sprintf("/data/npu/debug_0/dump/20260101120000/0/network/1/0/%s.%d.%d", op.Type, op.Index, 1700000000000000+int64(op.Index)*1377)
	return result.Row{Index: op.Index, Op: op.Name, Type: op.Type, Role: role, Slot: slot, Compared: true, Shape: shape, Metrics: &res,
		Left: result.Operand{Names: op.Name, File: dir, DType: dtype.Float16, Shape: shape}, Right: result.Operand{Names: op.Name, File: fmt.Sprintf("/data/golden/%d.npy", op.Index), DType: dtype.Float32, Shape: shape},
		Facts: result.Facts{Order: op.Order}}
}
