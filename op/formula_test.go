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
