package array

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
)

const torchFiles = "../../dump/torch/testdata/read/"

// Files of torch.save are opened with all their tensors, views and byte orders
// followed, and written as arrays of their own.
func TestTorch(t *testing.T) {
	for file, want := range map[string][]string{
		"transposed.pt":     {"transposed.pt: 0 4 8 1 5 9 2 6 10 3 7 11"},
		"expanded.pt":       {"expanded.pt: 2 2 2 7 7 7"},
		"big.pt":            {"big.pt: 1 -2 70000"},
		"float8_e4m3fn.pt":  {"float8_e4m3fn.pt: 1 -448 0.001953125"},
		"legacy.pt":         {"legacy.pt.a: 0 2 4 1 3 5", "legacy.pt.b: 3 4", "legacy.pt.c: -5"},
		"calls_system.pt":   nil,
		"../../load.py":     nil,
		"outside.pt":        nil,
		"unknown_format.pt": nil,
	} {
		arrays, bad, err := Open(torchFiles + file)
		var got []string
		for _, a := range arrays {
			v, err := a.FirstText(100)
			if err != nil {
				t.Errorf("%s: %v", file, err)
			}
			got = append(got, a.Name+": "+strings.Join(v, " "))
			var b bytes.Buffer
			if err := a.WriteNpy(context.Background(), &b); err != nil {
				t.Errorf("%s: %v", file, err)
			} else if !slices.Equal(numbersOf(t, a), numbersOf(t, newFile(t, b.Bytes()))) {
				t.Errorf("%s: other numbers in the array", file)
			}
			a.Close()
		}
		if !slices.Equal(got, want) || (err == nil) != (want != nil) || len(bad) > 0 {
			t.Errorf("%s: %q, %v, %v; want %q", file, got, bad, err, want)
		}
	}
}

func newFile(t *testing.T, b []byte) *Array { return file(t, b) }

// A tensor that is to be conjugated is told, and not shown as something else.
func TestTorchPending(t *testing.T) {
	arrays, bad, err := Open(torchFiles + "conj.pt")
	if err != nil || len(arrays) != 0 || len(bad) != 1 || !strings.Contains(bad[0].Error(), "conjugated") {
		t.Error(arrays, bad, err)
	}
}

// Keys of a dict are no paths and no control sequences.
func TestPartName(t *testing.T) {
	for name, want := range map[string]string{
		"model.weight": "model.weight", "../../x": ".._.._x", "a\x1b[31m\n": "a_[31m_", "中": "中", strings.Repeat("k", 121): "tensor.7",
	} {
		if got := partName(name, 7); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}
