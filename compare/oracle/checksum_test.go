package oracle

import (
	"math/rand/v2"
	"testing"

	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// matrixCase is a product of matrices whose output change may spoil.
func matrixCase(t *testing.T, m, k, n int64, transposed bool, change func(y []float32)) (*checker, Values, *judge) {
	r := rand.New(rand.NewPCG(1, uint64(m*k*n)))
	p := precisionFor(dtype.Float16)
	random := func(count int64) []float32 {
		s := make([]float32, count)
		for i := range s {
			s[i] = float32(p.Round(r.NormFloat64()))
		}
		return s
	}
	a, b, y := random(m*k), random(k*n), make([]float32, m*n)
	for i := range m {
		for j := range n {
			sum := 0.0
			for l := range k {
				w := b[l*n+j]
				if transposed {
					w = b[j*k+l]
				}
				sum += float64(a[i*k+l]) * float64(w)
			}
			y[i*n+j] = float32(p.Round(sum))
		}
	}
	if change != nil {
		change(y)
	}
	second := []int64{k, n}
	if transposed {
		second = []int64{n, k}
	}
	c := &recordedCase{Type: "MatMulV2", Attrs: map[string]any{"transpose_x2": transposed}}
	tensor := func(v []float32, shape ...int64) dumptest.Tensor {
		return dumptest.Tensor{Type: int(dtype.Float16), Format: 2, Shape: shape, Origin: shape, Data: dumptest.Halves(v)}
	}
	nothing := &recordedTensor{Layout: "ND", Axes: "ND"}
	c.Inputs, c.Outputs = []*recordedTensor{nothing, nothing}, []*recordedTensor{nothing}
	reader := c.dump(t, func(d *dumptest.Dump) {
		d.Inputs = []dumptest.Tensor{tensor(a, m, k), tensor(b, second...)}
		d.Outputs = []dumptest.Tensor{tensor(y, m, n)}
	})
	call, _, err := newCall(c.op(t), reader, Environment{})
	if err != nil {
		t.Fatal(err)
	}
	readings, err := call.readings()
	if err != nil {
		t.Fatal(err)
	}
	return &checker{call: call, rec: call.outs[0]}, readings[0].Out[0], newJudge(dtype.Float16, false)
}

// TestRowSums sees faults of large products without recomputing them, and nothing
// in right ones.
func TestRowSums(t *testing.T) {
	const m, k, n = 24, 200, 96
	for _, transposed := range []bool{false, true} {
		for _, c := range []struct {
			name   string
			least  int64 // rows beyond their bound, of 24
			change func(y []float32)
		}{
			{"right", 0, nil},
			{"columns exchanged", 20, func(y []float32) {
				for i := range m {
					row := y[i*n : (i+1)*n]
					for j := range n / 2 {
						row[j], row[j+n/2] = row[j+n/2], row[j]
					}
				}
			}},
			{"factor 2", 20, func(y []float32) {
				for i := range y {
					y[i] *= 2
				}
			}},
			{"last columns zero", 15, func(y []float32) {
				for i := range m {
					clear(y[i*n+n-16 : (i+1)*n])
				}
			}},
		} {
			check, v, j := matrixCase(t, m, k, n, transposed, c.change)
			check.sumRows(v, j)
			if j.sums != m || j.sumsBeyond < c.least || c.least == 0 && j.sumsBeyond > 0 {
				t.Errorf("%s, transposed %v: %d of %d sums beyond their bound", c.name, transposed, j.sumsBeyond, j.sums)
			}
			if (j.beyond > 0) != (c.least > 0) {
				t.Errorf("%s: %d elements beyond their bound", c.name, j.beyond)
			}
		}
	}
}

// TestSampled finds a wrong block in a sample, and a single number out of range.
func TestSampled(t *testing.T) {
	for _, c := range []struct {
		name   string
		wrong  bool
		change func(y []float32)
	}{
		{"right", false, nil},
		{"a block of 16", true, func(y []float32) {
			for i := 32; i < 48; i++ {
				clear(y[i*96+64 : i*96+80])
			}
		}},
		{"a large number", true, func(y []float32) { y[1234] = 3000 }},
		{"last row", true, func(y []float32) { clear(y[63*96:]) }},
	} {
		check, v, j := matrixCase(t, 64, 100, 96, false, c.change)
		check.sampled(v, j)
		if (j.beyond > 0) != c.wrong || j.looked == 64*96 {
			t.Errorf("%s: %d beyond their bound of %d", c.name, j.beyond, j.looked)
		}
	}
}
