package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"precision/compare/oracle"
	"precision/dump"
	"precision/graph/read"
)

// checkDump is the folder of a computed network, with npu/debug_0/dump, golden and
// graph.txt in it.
func checkDump(b *testing.B) string {
	dir := os.Getenv("CHECK_DUMP")
	if dir == "" {
		b.Skip("CHECK_DUMP names no computed network")
	}
	return dir
}

// BenchmarkCheck checks a network, and gives the time as a multiple of what
// comparing the same dumps takes in the same run.
func BenchmarkCheck(b *testing.B) {
	dir := checkDump(b)
	side := []string{"-lt", filepath.Join(dir, "npu", "debug_0", "dump"), "-g", filepath.Join(dir, "graph.txt"), "-out", b.TempDir()}
	timed := func(args ...string) time.Duration {
		var out, errs bytes.Buffer
		began := time.Now()
		if code := execute(context.Background(), env{stdout: &out, stderr: &errs}, append(args, side...)); code != exitOK {
			b.Fatalf("%v: exit %d: %s", args, code, &errs)
		}
		return time.Since(began)
	}
	for _, how := range [][]string{{"check"}, {"check", "-full"}} {
		name := "sampled"
		if len(how) > 1 {
			name = "full"
		}
		b.Run(name, func(b *testing.B) {
			var check, compare time.Duration
			for b.Loop() {
				compare += timed("compare", "-rt", filepath.Join(dir, "golden"))
				check += timed(how...)
			}
			b.ReportMetric(float64(check.Milliseconds())/float64(b.N), "ms/check")
			b.ReportMetric(float64(check)/float64(compare), "x-compare")
		})
	}
}

// BenchmarkCheckTypes checks the operators of a network type by type.
func BenchmarkCheckTypes(b *testing.B) {
	dir := checkDump(b)
	found, _, err := dump.Resolve(filepath.Join(dir, "npu", "debug_0", "dump"))
	if err != nil {
		b.Fatal(err)
	}
	folder, err := dump.Scan(found, dump.Options{Rules: true})
	if err != nil {
		b.Fatal(err)
	}
	model, err := read.Open(context.Background(), filepath.Join(dir, "graph.txt"))
	if err != nil {
		b.Fatal(err)
	}
	typeOf := map[string]string{}
	var types []string
	for _, g := range model.Graphs {
		for _, op := range g.Ops {
			if folder.Op(op.Name) != nil {
				typeOf[op.Name] = op.Type
				types = append(types, op.Type)
			}
		}
	}
	slices.Sort(types)
	for _, typ := range slices.Compact(types) {
		b.Run(typ, func(b *testing.B) {
			job := oracle.Job{Devices: []oracle.Device{oracle.DeviceOf(folder)}, Graph: model, Workers: 1,
				Only: func(op string) bool { return typeOf[op] == typ }}
			var elements int64
			operators := 0
			for b.Loop() {
				findings, err := job.Run(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				operators = len(findings)
				for i := range findings {
					elements += findings[i].Looked
				}
			}
			b.ReportMetric(float64(elements)/b.Elapsed().Seconds()/1e6, "Melements/s")
			b.ReportMetric(float64(operators), "outputs")
		})
	}
}
