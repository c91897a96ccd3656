package op

import (
	"math"
	"testing"
)

// TestFormulas: the slope of every formula of one number is how its value changes.
func TestFormulas(t *testing.T) {
	for _, row := range All() {
		f := row.Formula
		if f == nil || len(f.Operands) != 1 {
			continue
		}
		at := make([]float64, len(f.Params))
		for i, p := range f.Params {
			at[i] = p.Default
		}
		of := f.Slope(at)
		for _, x := range []float64{-2.3, -0.7, 0.3, 0.85, 1.9, 7.1} {
			const h = 1e-6
			y, slope := of(x)
			lo, _ := of(x - h)
			hi, _ := of(x + h)
			if found := (hi - lo) / (2 * h); !math.IsNaN(y) && !math.IsNaN(found) && math.Abs(found-slope) > 1e-6*(1+math.Abs(slope)) {
				t.Errorf("%s at %g: slope %g, found %g", row.Names[0], x, slope, found)
			}
		}
	}
}

func TestBadFormulas(t *testing.T) {
	for _, text := range []string{"", "x)", "x)=", "x)=y", "x)=x+", "x)=where(x,1)", "x)=sin(x", "x:a)=x", "x)=1", "x)=x x", "x)=x..2"} {
		if _, err := Read(text); err == nil {
			t.Errorf("f(%s is a formula", text)
		}
	}
}

// What is exact by its row, or once its numbers are known, gives the same in columns as one by one.
func TestColumns(t *testing.T) {
	kinds := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -2.5, 6, 7, 65504, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0x1p-149}
	seen := 0
	for _, row := range All() {
		if row.Formula == nil {
			continue
		}
		numbers := map[int]float64{}
		at := make([]dual, len(row.Formula.Params))
		for i, p := range row.Formula.Params {
			if p.Number {
				numbers[i], at[i].y = p.Default, p.Default
			}
		}
		f := row.Formula.Fixed(numbers)
		if !f.Exact {
			continue
		}
		seen++
		x := make([][]float32, len(f.Operands))
		n := 2*chunk + len(kinds)*len(kinds)
		for k := range x {
			for i := range n {
				place := i
				for range k {
					place /= len(kinds)
				}
				x[k] = append(x[k], kinds[place%len(kinds)])
			}
		}
		y := make([]float32, n)
		f.Columns()(x, y)
		one := Compile[dual](row.Formula, slopes{})
		for i, got := range y {
			nan := false
			for k, o := range f.Operands {
				at[o] = dual{y: float64(x[k][i])}
				nan = nan || math.IsNaN(at[o].y)
			}
			// The larger of NaN and Inf is either.
			if want := float32(one(at).y); got != want && (got == got || want == want) && !nan {
				t.Fatalf("%s: %v gives %v, expected %v", row.Names[0], at, got, want)
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d exact formulas, expected more", seen)
	}
}

// A slope of 0 leaves nothing that rounds.
func TestFixed(t *testing.T) {
	f := Of("LeakyRelu").Formula
	if f.Exact || !f.Fixed(map[int]float64{1: 0}).Exact || f.Fixed(map[int]float64{1: 0.1}).Exact {
		t.Error("leaky rectifiers are exact if their slope is 0, and not otherwise")
	}
}
