package oracle

import (
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/result"
)

// Of two recordings a call of the left side that does not follow from its arguments is wrong, and one
// of the right side that does not is a wrong golden one; that both follow says nothing of either.
func TestRecomputeCalls(t *testing.T) {
	var call callCase
	for _, c := range callCases(t) {
		if c.Name == "Functional.linear" && len(c.Outputs) == 1 && c.Outputs[0].Tensor.DType == "float32" {
			call = c
		}
	}
	spoil := func(place string, b []byte) {
		if strings.Contains(place, ".forward.output.") {
			b[3] ^= 0x42 // the exponent of the first element
		}
	}
	for _, c := range []struct {
		name        string
		left, right func(place string, b []byte)
		wrong       bool
		golden      result.GoldenWord
	}{
		{"as computed", nil, nil, false, result.GoldenUntried},
		{"the left side", spoil, nil, true, result.GoldenUntried},
		{"golden", nil, spoil, false, result.GoldenWrong},
		{"both", spoil, spoil, true, result.GoldenUntried},
	} {
		t.Run(c.name, func(t *testing.T) {
			var dirs []string
			name := ""
			for _, damage := range []func(string, []byte){c.left, c.right} {
				r := newRecorder(t)
				r.damage = damage
				name = r.add(&call)
				r.write()
				dirs = append(dirs, filepath.Dir(filepath.Dir(r.dir)))
			}
			table := &result.Table{Ops: []result.Operator{{Name: name}}, Rows: []result.Row{{Op: name, Right: result.Operand{Names: name}}}}
			for _, doubted := range []bool{true, false} {
				list, ok, err := RecomputeCalls(t.Context(), dirs[0], dirs[1], table, func(string) bool { return doubted }, 1, nil)
				if err != nil || !ok || len(list) != 1 {
					t.Fatal(list, ok, err)
				}
				if got := list[0]; !got.Known || got.Wrong != c.wrong || got.Op != name || doubted && got.Golden != c.golden || !doubted && got.Golden != result.GoldenUntried {
					t.Errorf("doubted %v: %+v", doubted, got)
				}
			}
		})
	}
	if _, ok, err := RecomputeCalls(t.Context(), t.TempDir(), t.TempDir(), &result.Table{}, nil, 1, nil); ok || err != nil {
		t.Error("an empty folder has calls: ", err)
	}
}
