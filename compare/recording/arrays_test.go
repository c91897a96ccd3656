package recording_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/npy"
)

// arrays writes arrays of one row by their names.
func arrays(t *testing.T, values map[string][]float32) string {
	t.Helper()
	dir := t.TempDir()
	for name, v := range values {
		raw := make([]byte, 0, 4*len(v))
		for _, x := range v {
			u := math.Float32bits(x)
			raw = append(raw, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
		}
		var b bytes.Buffer
		if err := npy.Write(&b, dtype.Float32, []int64{int64(len(v))}, raw); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".npy"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestArrays: a recording is compared with a folder of arrays by the names of its tensors,
// whatever is missing there; of calls of one kind none takes another's place.
func TestArrays(t *testing.T) {
	row := func(seed int) []float32 {
		v := make([]float32, 16)
		for i := range v {
			v[i] = float32(seed) + float32((i*7+seed*5)%16)/16
		}
		return v
	}
	tensor := func(v []float32) string {
		lo, hi, sum, squares := math.Inf(1), math.Inf(-1), 0.0, 0.0
		for _, x := range v {
			f := float64(x)
			lo, hi, sum, squares = min(lo, f), max(hi, f), sum+f, squares+f*f
		}
		text, err := json.Marshal(map[string]any{"type": "torch.Tensor", "dtype": "torch.float32", "shape": []int{len(v)},
			"Max": hi, "Min": lo, "Mean": float32(sum / float64(len(v))), "Norm": float32(math.Sqrt(squares))})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	all := map[string][]float32{}
	var calls []string
	for n := range 12 {
		name := fmt.Sprintf("Functional.gelu.%d.forward", n)
		in, out := row(n), row(n+1)
		calls = append(calls, fmt.Sprintf(`"%s": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, tensor(in), tensor(out)))
		all[name+".input.0"], all[name+".output.0"] = in, out
	}
	calls = append(calls, fmt.Sprintf(`"Module.fc.Linear.parameters_grad.0": {"weight": [%s]}`, tensor(row(40))))
	all["Module.fc.Linear.parameters_grad.0.weight"] = row(40)
	dir := t.TempDir()
	text := dumpOf("mix", calls)
	if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		edit  func(map[string][]float32)
		alone int
		roots []string
	}{
		{"all", func(map[string][]float32) {}, 0, nil},
		{"without some", func(m map[string][]float32) {
			for n := range 4 {
				delete(m, fmt.Sprintf("Functional.gelu.%d.forward.input.0", 2*n))
				delete(m, fmt.Sprintf("Functional.gelu.%d.forward.output.0", 2*n))
			}
		}, 4, nil},
		{"outputs", func(m map[string][]float32) {
			for n := range 12 {
				delete(m, fmt.Sprintf("Functional.gelu.%d.forward.input.0", n))
			}
		}, 0, nil},
		{"another", func(m map[string][]float32) {
			v := slices.Clone(row(12))
			v[3] = 30
			m["Functional.gelu.11.forward.output.0"] = v
		}, 0, []string{"Functional.gelu.11.forward"}},
	} {
		values := map[string][]float32{}
		maps.Copy(values, all)
		c.edit(values)
		j := judged(t, dir, arrays(t, values))
		if got := rootNames(j); !slices.Equal(got, c.roots) {
			t.Errorf("%s: roots %v, expected %v", c.name, got, c.roots)
		}
		alone, compared := 0, 0
		for i := range j.Table.Rows {
			r := &j.Table.Rows[i]
			switch {
			case r.Role == result.Whole:
				alone++
			case r.Recorded.How != result.ByName || r.Left.Names != r.Right.Names:
				t.Errorf("%s: %s is paired with %s by %s", c.name, r.Left.Names, r.Right.Names, r.Recorded.How)
			case r.Recorded.Both == 4:
				compared++
			}
		}
		if alone != c.alone || compared != len(values) {
			t.Errorf("%s: %d calls without a partner, expected %d; %d tensors compared, expected %d", c.name, alone, c.alone, compared, len(values))
		}
	}
}
