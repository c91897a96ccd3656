package torch

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
)

// recorded are files that torch.save wrote.
const recorded = "../../../shared/real/msprobe/pt_layouts"

// expected is what a file of recorded holds.
type expected struct {
	DType         string
	Shape, Stride []int64
	StorageOffset int64 `json:"storage_offset"`
	Values        []any
	Sum           *float64
}

// flat are the numbers of Values: true as 1, a complex number as two.
func (e *expected) flat(t *testing.T) []float64 {
	var all []float64
	var put func(v any)
	put = func(v any) {
		switch v := v.(type) {
		case float64:
			all = append(all, v)
		case bool:
			all = append(all, map[bool]float64{true: 1}[v])
		case string:
			all = append(all, map[string]float64{"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1)}[v])
		case []any:
			for _, x := range v {
				put(x)
			}
		default:
			t.Fatalf("value %v", v)
		}
	}
	put(e.Values)
	return all
}

// numbers reads all elements of a tensor.
func numbers(t *testing.T, f *OpenFile, x *Tensor) []float64 {
	t.Helper()
	r, err := x.Reader(f)
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, x.Type.Bytes(x.Elements()))
	if err := r.ReadTile(raw, 0, x.Elements()); err != nil {
		t.Fatal(err)
	}
	if x.BigEndian {
		w := x.Type.Bits() / 8 / x.Type.Parts()
		for i := 0; w > 1 && i < len(raw); i += w {
			slices.Reverse(raw[i : i+w])
		}
	}
	v := make([]float64, x.Elements()*int64(x.Type.Parts()))
	if n := dtype.Widen64(x.Type, v, raw); n != len(v) {
		t.Fatalf("%d numbers of %d", n, len(v))
	}
	return v
}

func equal(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y
	})
}

func TestRecordedLayouts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(recorded, "expected.json"))
	if err != nil {
		t.Skip("no recordings here")
	}
	var files map[string]*expected
	if err := json.Unmarshal(text, &files); err != nil {
		t.Fatal(err)
	}
	if len(files) < 35 {
		t.Fatalf("%d files", len(files))
	}
	for file, want := range files {
		f, err := Open(filepath.Join(recorded, file))
		if file == "truncated.pt" {
			if err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("%s: %v", file, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		defer f.Close()
		switch file {
		case "none.pt":
			if _, err := f.Bare(); err == nil || len(f.Tensors) != 0 || !strings.Contains(err.Error(), "holds None") {
				t.Errorf("%s: %v", file, err)
			}
			continue
		case "dict_of_tensors.pt":
			checkDict(t, f)
			continue
		}
		x, err := f.Bare()
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		typ, ok := dtype.FromFramework(want.DType)
		if !ok || x.Type != typ || !slices.Equal(x.Shape, want.Shape) || !slices.Equal(x.Stride, want.Stride) ||
			x.Offset != want.StorageOffset {
			t.Errorf("%s: %+v, want %+v", file, x, want)
			continue
		}
		got := numbers(t, f, x)
		if want.Sum != nil {
			sum := 0.0
			for _, v := range got {
				sum += v
			}
			if sum != *want.Sum {
				t.Errorf("%s: sum %v, want %v", file, sum, *want.Sum)
			}
		} else if !equal(got, want.flat(t)) {
			t.Errorf("%s: %v, want %v", file, got, want.Values)
		}
	}
}

// The dict has a whole storage and one row of it.
func checkDict(t *testing.T, f *OpenFile) {
	if _, err := f.Bare(); err == nil || !strings.Contains(err.Error(), "a dict of 3") {
		t.Error(err)
	}
	if len(f.Tensors) != 2 || f.Tensors[0].Name != "a" || f.Tensors[1].Name != "s.0" {
		t.Fatalf("%+v", f.Tensors)
	}
	a, s := numbers(t, f, f.Tensors[0]), numbers(t, f, f.Tensors[1])
	if len(a) != 24 || !equal(a[:6], s) {
		t.Errorf("%v, %v", a, s)
	}
}

func TestMadeByOthers(t *testing.T) {
	for file, want := range map[string]string{
		"fortran_tensor_3d.pth": "tensor_fortran int64 [2 3 4] [1 2 6]",
		"test.pt":               "test int64 [2 4] [4 1]",
		"test_with_key.pt":      "model_state_dict.test int64 [2 4] [4 1]",
	} {
		f, err := Open(filepath.Join(recorded, "made_by_others", file))
		if errors.Is(err, os.ErrNotExist) {
			t.Skip("no recordings here")
		}
		if err != nil {
			t.Error(err)
			continue
		}
		defer f.Close()
		x := f.Tensors[0]
		if got := fmt.Sprint(x.Name, " ", x.Type, x.Shape, x.Stride); len(f.Tensors) != 1 || got != strings.Replace(want, "int64 [", "int64[", 1) && got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
		numbers(t, f, x)
	}
}

// Every tensor that a recorder wrote can be read.
func TestEveryRecordedTensor(t *testing.T) {
	n := 0
	err := filepath.WalkDir(filepath.Dir(recorded), func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".pt") || strings.Contains(path, "pt_layouts") {
			return err
		}
		f, err := Open(path)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer f.Close()
		x, err := f.Bare()
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		numbers(t, f, x)
		n++
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no recordings here")
	}
	if err != nil || n < 1500 {
		t.Errorf("%d files, %v", n, err)
	}
	t.Logf("%d files", n)
}
