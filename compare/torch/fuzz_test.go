package torch

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"precision/compare/engine"
	"precision/compare/metric"
	"precision/compare/report"
)

// Damaged files give an error or rows with reasons, whichever side they are on.
func FuzzCompare(f *testing.F) {
	for _, name := range []string{"load_npu.h5", "load_gpu.h5", "full_npu.h5", "full_gpu.h5", "misnamed.h5"} {
		b, err := os.ReadFile(data(name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x.h5")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range [][2]string{{path, data("full_gpu.h5")}, {data("full_npu.h5"), path}, {path, path}} {
			opt := engine.Options{Numerics: metric.Reference, Metrics: few, MaxElements: 1 << 16, Workers: 1}
			_, tab, err := pairs(context.Background(), c[0], c[1], opt)
			if err != nil {
				continue
			}
			for i := range tab.Rows {
				if r := &tab.Rows[i]; !r.Compared && len(r.Reasons) == 0 {
					t.Errorf("a row without values and without a reason: %+v", r)
				}
				report.Cells(Columns(&opt), &tab.Rows[i])
			}
		}
	})
}
