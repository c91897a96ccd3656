package array

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"precision/dump/torch"
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

// A few bytes that show 2^40 elements: what is shown again and again is read once; where that does not help the
// elements are not read one by one.
func TestTorchShowsMoreThanIsStored(t *testing.T) {
	for file, want := range map[string]Stats{
		"expanded.pt":    {Count: 1 << 40, Max: 2.5, Min: 2.5, Mean: 2.5},
		"overlapping.pt": {},
	} {
		arrays, bad, err := Open("testdata/" + file)
		if err != nil || len(bad) > 0 || len(arrays) != 1 {
			t.Fatal(file, bad, err)
		}
		a := arrays[0]
		defer a.Close()
		var excess *torch.ExcessError
		got, err := a.Measure(context.Background(), 2)
		if got != want || want.Count == 0 && !errors.As(err, &excess) || want.Count > 0 && err != nil {
			t.Errorf("%s: %+v, %v", file, got, err)
		}
		if v, err := a.FirstText(2); err != nil || len(v) != 2 {
			t.Errorf("%s: %q, %v", file, v, err)
		}
		if _, err := Compare(context.Background(), a, a, Options{}); !errors.As(err, &excess) || excess.Shown != 1<<40 {
			t.Errorf("%s: compared: %v", file, err)
		}
		if err := a.WriteText(context.Background(), io.Discard); !errors.As(err, &excess) {
			t.Errorf("%s: written as text: %v", file, err)
		}
		if err := a.WriteNpy(context.Background(), io.Discard); !errors.As(err, &excess) {
			t.Errorf("%s: written as an array: %v", file, err)
		}
	}
	arrays, _, err := Open(torchFiles + "expanded.pt")
	if err != nil {
		t.Fatal(err)
	}
	defer arrays[0].Close()
	if got, err := arrays[0].Measure(context.Background(), 1); err != nil || got != (Stats{Count: 6, Max: 7, Min: 2, Mean: 4.5}) {
		t.Errorf("each element counts as often as it is shown: %+v, %v", got, err)
	}
}
