package oracle

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/msprobe"
	"precision/graph"
	"precision/internal/must"
	"precision/testdata/workshop/dumptest"
)

// TestRefusals: why nothing is known of an output is said where it is so, and of nothing else.
func TestRefusals(t *testing.T) {
	dumps := func(change func(folder string)) func() []Finding {
		return func() []Finding {
			job, _ := network(t, 1, false, nil)
			folder := job.Devices[0].Folder.Dir
			if change != nil {
				change(folder)
			}
			f, err := dump.Scan(folder, dump.Options{Rules: true})
			if err != nil {
				t.Fatal(err)
			}
			job.Devices = []Device{DeviceOf(f)}
			found, err := job.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return append(found, job.Missing(func(op *graph.Op) bool { return op.Type != "NetOutput" }, func(op *graph.Op) bool { return op.Type == "Add" })...)
		}
	}
	of := func(folder, name string) string {
		files, _ := filepath.Glob(filepath.Join(folder, "*."+name+".*"))
		if len(files) != 1 {
			t.Fatal(name, files)
		}
		return files[0]
	}
	steps := func(ranks ...string) func() []Finding {
		return func() []Finding {
			r := newRecorder(t)
			top := filepath.Dir(filepath.Dir(r.dir))
			for _, at := range ranks {
				r.dir = filepath.Join(top, at)
				if err := os.MkdirAll(r.dir, 0o700); err != nil {
					t.Fatal(err)
				}
				r.write()
			}
			list, err := msprobe.Find(top)
			if err != nil {
				t.Fatal(err)
			}
			found, _, err := RecordingJob{Recordings: list, Workers: 1}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
	}
	ranks := func(n int) func() []Finding {
		return func() []Finding {
			job, _ := network(t, n, false, nil)
			found, err := job.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
	}
	for _, c := range []struct {
		kind      result.Kind
		is, isNot func() []Finding
	}{
		{OneRank, ranks(1), ranks(2)},
		{NotInGraph, dumps(func(folder string) {
			other := dumptest.Dump{OpName: "other", Time: 1, Outputs: []dumptest.Tensor{{Type: dumptest.Float32, Format: dumptest.ND, Shape: []int64{1}, Origin: []int64{1}, Data: dumptest.Floats([]float32{1})}}}
			if err := other.Write(filepath.Join(folder, "Relu.other.9.7.1614717261785599")); err != nil {
				t.Fatal(err)
			}
		}), dumps(nil)},
		{NoDump, dumps(func(folder string) { os.Remove(of(folder, "relu")) }), dumps(nil)},
		{NoKernel, dumps(func(folder string) { os.Remove(of(folder, "relu")); os.Remove(of(folder, "add")) }), dumps(func(folder string) { os.Remove(of(folder, "add")) })},
		{BadDump, dumps(func(folder string) { os.Truncate(of(folder, "relu"), 20) }), dumps(nil)},
		{NoProcess, steps("step0/rank0", "step0/rank1", "step1/rank0"), steps("step0/rank0", "step0/rank1", "step1/rank0", "step1/rank1")},
	} {
		for want, data := range map[bool]func() []Finding{true: c.is, false: c.isNot} {
			found := data()
			if got := slices.ContainsFunc(found, func(f Finding) bool {
				return slices.ContainsFunc(f.Reasons, func(r result.Reason) bool { return r.Kind == c.kind })
			}); got != want {
				t.Errorf("%s is said: %v, of %+v", c.kind, got, found)
			}
		}
	}
}

// TestReshapeBeyond: a part of a tensor taken for a shape of more elements is refused, and does not go on behind the part.
func TestReshapeBeyond(t *testing.T) {
	whole := &operand{shape: []int64{8}, f32: []float32{1, 2, 3, 4, 5, 6, 7, 8}}
	for _, c := range []struct {
		shape   []int64
		refused bool
	}{{[]int64{2, 2}, false}, {[]int64{6}, true}, {[]int64{3}, true}, {[]int64{4, 4}, true}} {
		_, err := must.Of(func() Values { return reshape(slab1(whole, 0, 1, 4), c.shape) })
		if (err != nil) != c.refused {
			t.Errorf("4 elements as %v: %v", c.shape, err)
		}
	}
}
