package convert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/layout"
)

// Bytes of any kind are converted or refused: no panic, nothing half written,
// and every failure has a reason.
func FuzzConvert(f *testing.F) {
	x := tensor{t: dtype.Float16, f: layout.NC1HWC0, shape: []int64{1, 2, 1, 2, 16}, orig: []int64{1, 20, 1, 2}, data: numbers(64)}
	f.Add(one(x).bytes(), uint8(0), int16(-1), true)
	f.Add(one(x).bytes(), uint8(1), int16(layout.NHWC), false)
	w := tensor{t: dtype.Int8, f: layout.NCHW, shape: []int64{4, 2, 1, 1}, group: 2, data: numbers(4)}
	f.Add(one(w).bytes(), uint8(2), int16(layout.FractalZ), false)
	z := tensor{t: dtype.Int8, f: layout.FractalZ, shape: []int64{1, 1, 16, 16}, orig: []int64{4, 2, 1, 1}, group: 2, data: numbers(128)}
	f.Add(one(z).bytes(), uint8(3), int16(layout.NHWC), false)
	n := tensor{t: dtype.Int4, f: layout.FractalNZ, shape: []int64{1, 1, 16, 16}, orig: []int64{3, 5}, data: numbers(64)}
	f.Add(made{op: "a/b", outputs: []tensor{n, {t: dtype.Uint1, shape: []int64{3}, data: []byte{1}}}, spaces: [][]byte{{1, 0}}}.bytes(), uint8(0), int16(layout.ND), false)
	dir := f.TempDir()
	out := filepath.Join(dir, "out")
	f.Fuzz(func(t *testing.T, b []byte, kind uint8, format int16, compat bool) {
		if len(b) > 1<<16 {
			return
		}
		in := putFile(t, filepath.Join(dir, plainName), b)
		os.RemoveAll(out)
		o := Options{Type: Type(kind % 4), Out: out, Compat: compat, Single: true}
		if format >= 0 {
			o.Format = formatOf(layout.Format(format))
		}
		r := run(t, o, in)
		for _, x := range r.Files[0].Failures {
			if x.Err == nil || x.Err.Error() == "" {
				t.Errorf("%s failed without a reason", x.Part)
			}
			if x.Code == 0 && !compat {
				t.Errorf("%s failed with code 0: %v", x.Part, x.Err)
			}
		}
		written := map[string]bool{}
		for _, x := range r.Files[0].Written {
			written[filepath.Base(x.Path)] = true
		}
		for _, name := range listing(t, out) {
			if !written[name] && !strings.HasSuffix(name, ".csv") {
				t.Errorf("%s is there, but was not written", name)
			}
		}
	})
}
