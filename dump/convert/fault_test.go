package convert

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/internal/plainfile"
	"precision/internal/whole"
)

var errDisk = errors.New("input/output error")

// Whichever step of writing fails, the arrays that were written are whole, the
// others are told with the error, and nothing is left behind.
func TestFaultAtEveryStep(t *testing.T) {
	defer whole.Inject(nil)
	x := tensor{t: dtype.Float16, f: layout.NCHW, shape: []int64{1, 20, 1, 2}, data: numbers(40)}
	dir := t.TempDir()
	in := putFile(t, filepath.Join(dir, plainName), made{op: "a", outputs: []tensor{x, x, x}}.bytes())
	for _, kind := range []Type{Npy, Bin, PT} {
		for at := 0; ; at++ {
			out := filepath.Join(t.TempDir(), "out")
			steps, failed := 0, whole.Step("")
			whole.Inject(func(step whole.Step, _ string, bytes int) (int, error) {
				if steps++; steps-1 == at {
					failed = step
					return bytes / 2, errDisk
				}
				return bytes, nil
			})
			r, err := Convert(t.Context(), []string{in}, Options{Type: kind, Out: out, Single: true})
			whole.Inject(nil)
			if failed == "" {
				if err != nil || len(r.Files[0].Written) != 3 {
					t.Fatalf("%v without a fault: %+v, %v", kind, r.Files[0], err)
				}
				break
			}
			written := map[string]bool{}
			if r != nil && len(r.Files) > 0 {
				for _, w := range r.Files[0].Written {
					written[filepath.Base(w.Path)] = true
				}
				told := false
				for _, f := range r.Files[0].Failures {
					told = told || f.Err != nil && strings.Contains(f.Err.Error(), errDisk.Error()) && f.Code == CodeWrite
				}
				if !told && err == nil && len(r.Errors) == 0 {
					t.Errorf("%v, step %d fails (%s): nobody tells, %+v", kind, at, failed, r.Files[0])
				}
			} else if err == nil {
				t.Errorf("%v, step %d fails (%s): nobody tells", kind, at, failed)
			}
			for _, name := range listing(t, out) {
				if !written[name] && !strings.HasSuffix(name, ".csv") && !strings.HasSuffix(name, ".txt") {
					t.Errorf("%v, step %d fails (%s): %s is there, but was not written", kind, at, failed, name)
				}
			}
		}
	}
}

// A dump that cannot be read on gives a failure of each of its tensors, and no array.
func TestFaultInReading(t *testing.T) {
	defer plainfile.Inject(nil)
	x := tensor{t: dtype.Float16, f: layout.NCHW, shape: []int64{1, 20, 1, 2000}, data: numbers(40000)}
	in := putFile(t, filepath.Join(t.TempDir(), plainName), made{op: "a", outputs: []tensor{x, x}}.bytes())
	for name, fault := range map[string]error{"an error": errDisk, "a file that became shorter": nil} {
		for _, at := range []int64{0, 5, 100, 60000, 100000} {
			out := filepath.Join(t.TempDir(), "out")
			plainfile.Inject(func(_ string, from int64, wanted int) (int, error) {
				if from+int64(wanted) <= at {
					return wanted, nil
				}
				return int(max(0, min(int64(wanted), at-from))), fault
			})
			r, err := Convert(t.Context(), []string{in}, Options{Type: Npy, Out: out, Single: true})
			plainfile.Inject(nil)
			if err == nil && len(r.Files[0].Failures) == 0 && len(r.Errors) == 0 {
				t.Errorf("%s at %d: nobody tells, %+v", name, at, r.Files[0])
			}
			var written []string
			if r != nil && len(r.Files) > 0 {
				for _, w := range r.Files[0].Written {
					written = append(written, w.Path)
				}
			}
			if got := listing(t, out); len(got) != len(written) || at < 80000 && len(got) > 0 {
				t.Errorf("%s at %d: there are %v, written %v", name, at, got, written)
			}
		}
	}
}
