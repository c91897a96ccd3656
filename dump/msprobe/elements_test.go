package msprobe_test

import (
	"fmt"
	"hash/crc32"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/dump/torch"
)

// What dump.json says of a tensor and what is in its file agree: type, shape,
// the CRC of the bytes in C order, and the largest and smallest element.
func TestFilesAgree(t *testing.T) {
	tops, _ := filepath.Glob("../../../shared/real/msprobe/*/*/step*")
	if len(tops) == 0 {
		t.Skip("no recordings here")
	}
	files, sums, extremes := 0, 0, 0
	for _, top := range tops {
		all, err := msprobe.Find(top)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, r := range all {
			s, err := msprobe.Open(r.Dump)
			if err != nil {
				t.Fatal(err)
			}
			for s.Scan() {
				c, ok := s.Result().(*msprobe.Call)
				if !ok {
					t.Error(s.Result())
					continue
				}
				for i := range c.Values {
					v := &c.Values[i]
					if !strings.HasSuffix(v.DataName, ".pt") {
						continue
					}
					path, err := r.File(v.DataName)
					if err != nil {
						t.Fatal(err)
					}
					raw, typ, err := elements(path, v)
					if err != nil {
						t.Errorf("%s: %v", path, err)
						continue
					}
					files++
					if v.MD5.Kind == msprobe.Text && len(v.MD5.S) == 8 {
						sums++
						if got := fmt.Sprintf("%08x", crc32.ChecksumIEEE(raw)); got != v.MD5.S {
							t.Errorf("%s: CRC %s, recorded %s", path, got, v.MD5.S)
						}
					}
					if v.Max.Kind != msprobe.Null && v.Max.Kind != msprobe.Absent && !typ.IsComplex() {
						extremes++
						checkExtremes(t, path, v, typ, raw)
					}
				}
			}
			s.Close()
		}
	}
	if files < 1400 || sums < 700 || extremes < 1200 {
		t.Errorf("%d files, %d checksums, %d extremes", files, sums, extremes)
	}
	t.Logf("%d files, %d checksums, %d extremes", files, sums, extremes)
}

// elements reads a file and holds it to its description.
func elements(path string, v *msprobe.Value) ([]byte, dtype.Type, error) {
	f, err := torch.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	x, err := f.Bare()
	if err != nil {
		return nil, 0, err
	}
	if x.Type != v.Elem || !slices.Equal(x.Shape, v.Shape) {
		return nil, 0, fmt.Errorf("%s %v, recorded %s %v", x.Type, x.Shape, v.Elem, v.Shape)
	}
	raw := make([]byte, x.Type.Bytes(x.Elements()))
	r, err := x.Reader(f)
	if err == nil {
		err = r.ReadTile(raw, 0, x.Elements())
	}
	return raw, x.Type, err
}

func checkExtremes(t *testing.T, path string, v *msprobe.Value, typ dtype.Type, raw []byte) {
	all := make([]float64, typ.Count(int64(len(raw))))
	dtype.Widen64(typ, all, raw)
	high, low := math.Inf(-1), math.Inf(1)
	for _, x := range all {
		if x != x {
			high, low = x, x
			break
		}
		high, low = max(high, x), min(low, x)
	}
	a, _ := v.Max.Value()
	b, _ := v.Min.Value()
	same := func(x, y float64) bool { return x == y || x != x && y != y }
	if !same(a, high) || !same(b, low) {
		t.Errorf("%s: from %v to %v, recorded %v to %v", path, low, high, v.Min, v.Max)
	}
}
