package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"precision/cmd/msaccucmp/argparse"
	"precision/testdata/workshop/dumptest"
)

// Of runs in the same second with the same folder for results none loses its table
// to another, whatever is compared.
func TestSameSecond(t *testing.T) {
	dir := t.TempDir()
	array := filepath.Join(dir, "a.npy")
	if err := dumptest.WriteNpy(array, "<f4", []int64{2}, dumptest.Floats([]float32{1, 2})); err != nil {
		t.Fatal(err)
	}
	putOverflow(t, filepath.Join(dir, "dumps"), "a")
	network, err := filepath.Abs("../../testdata/cases/net_one_to_one/in")
	if err != nil {
		t.Fatal(err)
	}
	const recordings = "../../compare/torch/testdata"
	const second = "20260102030405"
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local) }
	for _, c := range []struct {
		name string // of the result
		args []string
		runs int
	}{
		{"result_" + second + ".csv", []string{"compare", "-m", network + "/npu", "-g", network + "/golden", "-f", network + "/graph.json"}, 8},
		{"mapping_" + second + ".csv", []string{"compare", "-m", network + "/npu", "-g", network + "/golden", "-f", network + "/graph.json", "-map"}, 8},
		{"result_" + second + ".csv", []string{"compare", "-m", recordings + "/full_npu.h5", "-g", recordings + "/full_gpu.h5", "-p", "1"}, 8},
		{"file_result_" + second + ".txt", []string{"file_compare", "-m", array, "-g", array}, 8},
		{"overflow_summary_" + second + ".txt", []string{"overflow", "-d", filepath.Join(dir, "dumps")}, 3},
	} {
		out := t.TempDir()
		args := append(c.args, "-out", out)
		var all sync.WaitGroup
		for range c.runs {
			all.Go(func() {
				values, err := argparse.Msaccucmp(args).Parse(args)
				if err != nil {
					t.Error(err)
					return
				}
				var log strings.Builder
				f := &face{stdout: io.Discard, log: &logger{w: &log, now: now}, now: now}
				code := 0
				switch values.Command {
				case "compare":
					code, err = coded(func() int { return f.compare(t.Context(), values) })
				case "file_compare":
					code, err = coded(func() int { return f.fileCompare(t.Context(), values) })
				case "overflow":
					code, err = coded(func() int { return f.overflow(t.Context(), values) })
				}
				if code != exitOK {
					t.Errorf("%q: exit %d, %v\n%s", args, code, err, log.String())
				}
			})
		}
		all.Wait()
		ext := filepath.Ext(c.name)
		stem := strings.TrimSuffix(c.name, ext)
		found, _ := filepath.Glob(filepath.Join(out, stem+"*"+ext))
		if len(found) != c.runs {
			t.Errorf("%s: %d files of %d runs: %q", c.name, len(found), c.runs, found)
		}
		if _, err := os.Stat(filepath.Join(out, c.name)); err != nil {
			t.Error(err)
		}
	}
}
