package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump"
	"precision/dump/dtype"
	"precision/internal/nd"
	"precision/testdata/workshop/dumptest"
)

// sliceFiles writes the slices of an operator and returns what is found of it.
func sliceFiles(t testing.TB, dir string, parts ...[]byte) *dump.Op {
	t.Helper()
	for i, b := range parts {
		name := fmt.Sprintf("Mul.m_lxslice%d.6.1.163000000000010%d.4.44.0.0", i, i)
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := dump.Scan(dir, dump.Options{})
	if err != nil || len(folder.Ops) != 1 || folder.Ops[0].Slicing == dump.Whole || len(folder.Ops[0].Files) != len(parts) {
		t.Fatalf("%+v, %v", folder, err)
	}
	return folder.Ops[0]
}

// Slices of a packed type are joined where they end with a byte; else they
// cannot be joined, which is said.
func TestJoinPacked(t *testing.T) {
	const int4 = int(dtype.Int4) // two elements a byte
	packed := func(shape []int64, data ...byte) dumptest.Dump {
		return dumptest.Dump{OpName: "m", Outputs: []dumptest.Tensor{{Type: int4, Format: dumptest.ND, Shape: shape, Data: data}}}
	}
	for _, c := range []struct {
		name  string
		axis  int
		parts []dumptest.Dump
		want  []byte
		fails string
	}{
		{"rows", 0, []dumptest.Dump{packed([]int64{2, 2}, 0x21, 0x43), packed([]int64{1, 2}, 0x65)}, []byte{0x21, 0x43, 0x65}, ""},
		{"columns", 1, []dumptest.Dump{packed([]int64{2, 2}, 0x21, 0x65), packed([]int64{2, 2}, 0x43, 0x07)}, []byte{0x21, 0x43, 0x65, 0x07}, ""},
		{"the last one is odd", 0, []dumptest.Dump{packed([]int64{2, 1}, 0x21), packed([]int64{1, 1}, 0x03)}, []byte{0x21, 0x03}, ""},
		{"odd columns", 1, []dumptest.Dump{packed([]int64{2, 1}, 0x21), packed([]int64{2, 1}, 0x43)}, nil, "whole bytes"},
	} {
		var files [][]byte
		for _, d := range c.parts {
			files = append(files, sliceBytes(d, len(c.parts), c.axis))
		}
		f, err := mergeSlices(sliceFiles(t, t.TempDir(), files...))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, expected %q", c.name, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		x := f.Outputs[0]
		got := make([]byte, x.Size)
		if _, err := f.ReadAt(got, x.Offset); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %x, %v, expected %x", c.name, got, err, c.want)
		}
		f.Close()
	}
}

// However two slices disagree, they are read as one or refused.
func FuzzSlices(f *testing.F) {
	floats := func(shape ...int64) dumptest.Dump {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		return dumptest.Dump{OpName: "m", Outputs: []dumptest.Tensor{{Type: dumptest.Float16, Format: dumptest.ND, Shape: shape, Data: make([]byte, 2*n)}}}
	}
	f.Add(sliceBytes(floats(2, 3), 2, 1), sliceBytes(floats(2, 1), 2, 1))
	f.Add(sliceBytes(floats(2, 3), 2, 0), sliceBytes(floats(0, 3), 2, 0))
	f.Add(sliceBytes(floats(2, 3), 2, 0), floats(2, 3).Bytes())
	f.Fuzz(func(t *testing.T, a, b []byte) {
		m, err := mergeSlices(sliceFiles(t, t.TempDir(), a, b))
		if err != nil {
			return
		}
		defer m.Close()
		for i := range m.Outputs {
			x := &m.Outputs[i]
			if x.Err != nil || x.Bytes() <= 0 || x.Bytes() > int64(len(a)+len(b)) {
				if x.Err == nil && x.Bytes() > int64(len(a)+len(b)) {
					t.Fatalf("%+v of files of %d and %d bytes", x, len(a), len(b))
				}
				continue
			}
			whole := make([]byte, x.Bytes())
			if n, err := m.ReadAt(whole, x.Offset); n < len(whole) {
				t.Fatalf("%+v: %d of %d bytes, %v", x, n, len(whole), err)
			}
		}
	})
}

// A text of numbers is an array of that many, or refused by file and line.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"1 2\n3 4\n", "# x\n1e999\n-inf\nnan", "", "1\n\n1 2\n", "0x1p3 1_0", "\x00"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "numbers.txt")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := openNumbers(path)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Fatal(err)
			}
			return
		}
		defer a.Close()
		if n, ok := nd.Count(a.Shape...); !ok || n != a.Count || n > int64(len(text)) {
			t.Fatalf("%v, %d elements, of %q", a.Shape, a.Count, text)
		}
	})
}
