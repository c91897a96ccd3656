package oracle

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"precision/dump/dtype"
)

// PyTorch makes a tensor of the gradient of an operand that was repeated before it sums that up, rounded to the type of the result.
// Nobody is accused of these roundings, which a few large summands make large, and a column that is another one is found.
func TestGradientOfRepeated(t *testing.T) {
	const rows, columns = 2048, 64
	for _, typ := range []struct {
		dtype.Type
		name string
	}{{dtype.BFloat16, "bfloat16"}, {dtype.Float16, "float16"}, {dtype.Float32, "float32"}} {
		for _, c := range []struct {
			name  string
			scale float64 // of gradients; small ones are subnormal in float16
			turn  float64 // of a column of the result
			want  Verdict
		}{{"clean", 1, 1, OK}, {"small", 1e-4, 1, OK}, {"other", 1, -1, Suspect}} {
			rng, p := rand.New(rand.NewPCG(1, 2)), precisionFor(typ.Type)
			value := func(x []float64, shape ...int64) caseValue {
				v := caseValue{}
				v.Tensor = &struct {
					DType string
					Shape []int64
					Hex   string
				}{typ.name, shape, hex.EncodeToString(encoded(typ.Type, x))}
				return v
			}
			draw := func(n int, scale float64) []float64 {
				x := make([]float64, n)
				for i := range x {
					x[i] = p.Round(scale * math.Exp(1.5*rng.NormFloat64()) * math.Copysign(1, rng.Float64()-0.5))
				}
				return x
			}
			x, w, g := draw(rows*columns, 1), draw(columns, 1), draw(rows*columns, c.scale)
			y, dx, dw := make([]float64, len(x)), make([]float64, len(x)), make([]float64, columns)
			for i := range x {
				k := i % columns
				y[i], dx[i] = p.Round(x[i]*w[k]), p.Round(g[i]*w[k])
				dw[k] += p.Round(g[i] * x[i])
			}
			at := 0 // the column that is the largest
			for k := range dw {
				if math.Abs(dw[k]) > math.Abs(dw[at]) {
					at = k
				}
			}
			dw[at] *= c.turn
			for k := range dw {
				dw[k] = p.Round(dw[k])
			}
			r := newRecorder(t)
			r.add(&callCase{Name: "Torch.mul", Args: []caseValue{value(x, rows, columns), value(w, columns)}, Outputs: []caseValue{value(y, rows, columns)},
				Gradients: []caseValue{value(g, rows, columns)}, Back: []caseValue{value(dx, rows, columns), value(dw, columns)}})
			for _, f := range r.check() {
				want := OK
				if f.Index == 1 {
					want = c.want
				}
				if f.Verdict != want && (want == OK || f.Verdict != Wrong) {
					t.Errorf("%s, %s: %s output %d is %v %v, expected %v", typ.name, c.name, f.Op, f.Index, f.Verdict, f.Reasons, want)
				}
			}
		}
	}
}
