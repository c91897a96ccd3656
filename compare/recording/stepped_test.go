package recording_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/verdict"
)

// TestStepsOfNoise: a number next to a half is rounded up on one device and down on another, a whole step for its last digit. As many may be as lie so near;
// more, or one by two steps, are the fault of who rounds. It is no other where a wrong tensor comes in before, of which a norm leaves rounding alone.
func TestStepsOfNoise(t *testing.T) {
	const n = 256
	side := func(noise float32, wrong, by int, fault float32) string {
		values := map[string][]float32{}
		tensor := func(file string, row []float32) string {
			values[file] = row
			sum, squares := 0.0, 0.0
			for _, v := range row {
				sum, squares = sum+float64(v), squares+float64(v)*float64(v)
			}
			text := statistics("float32", fmt.Sprint(slices.Max(row)), fmt.Sprint(slices.Min(row)), fmt.Sprint(float32(sum/n)), fmt.Sprint(float32(math.Sqrt(squares))))
			return strings.Replace(strings.Replace(text, "[8, 8]", fmt.Sprintf("[%d]", n), 1), `"type"`, `"data_name": "`+file+`.npy", "type"`, 1)
		}
		x, y, z, gathered := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range x {
			gathered[i] = float32(i%7) + fault
			x[i] = float32(i%19)*0.37 - 3.1
			y[i] = x[i] * 4
			if i == 100 {
				x[i], y[i] = 0.625, 2.5000002 // which noise moves to a half, and that is even
			}
			y[i] *= 1 + noise*float32(i%3-1)
			z[i] = float32(math.RoundToEven(float64(y[i])))
			if i%16 == 5 && i/16 < wrong {
				z[i] += float32(by)
			}
		}
		if noise != 0 {
			y[100], z[100] = 2.5, 2
		}
		dir := written(t, entry("Tensor.gather", 0, []string{tensor("x", x)}, tensor("g", gathered)), entry("Functional.layer_norm", 0, []string{tensor("g", gathered)}, tensor("y", y)), entry("Torch.round", 0, []string{tensor("y", y)}, tensor("z", z)))
		if err := os.Rename(arrays(t, values), filepath.Join(dir, "dump_tensor_data")); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	golden := side(0, 0, 0, 0)
	for _, c := range []struct {
		name      string
		wrong, by int
		fault     float32
		want      []string
	}{
		{"one by noise", 0, 0, 0, nil},
		{"many", 9, 1, 0, []string{"Torch.round.0.forward"}},
		{"by two", 1, 2, 0, []string{"Torch.round.0.forward"}},
		{"one by noise, behind a root", 0, 0, 2, []string{"Tensor.gather.0.forward"}},
		{"many, behind a root", 9, 1, 2, []string{"Tensor.gather.0.forward", "Torch.round.0.forward"}},
	} {
		if j := judged(t, side(1e-7, c.wrong, c.by, c.fault), golden); !slices.Equal(rootNames(j), c.want) || (j.Verdict == verdict.Good) != (c.want == nil) {
			t.Errorf("%s: %s, roots %v, expected %v", c.name, j.Verdict, rootNames(j), c.want)
		}
	}
}
