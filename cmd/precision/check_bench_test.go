package main

import (
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

// BenchmarkCheck checks a network, and gives processor time and memory of the whole program, the time also as a multiple of what
// comparing the same dumps takes in turn with it: of the medians.
func BenchmarkCheck(b *testing.B) {
	dir := checkDump(b)
	side := []string{"-lt", filepath.Join(dir, "npu", "debug_0", "dump"), "-g", filepath.Join(dir, "graph.txt"), "-out", b.TempDir()}
	p := under()
	for name, how := range map[string][]string{"sampled": {"check"}, "full": {"check", "-full"}} {
		b.Run(name, func(b *testing.B) {
			var compare, check []time.Duration
			most := int64(0)
			cost := func(args ...string) time.Duration {
				memory, cpu, err := p.Cost(append(args, side...)...)
				if err != nil {
					b.Fatal(err)
				}
				most = max(most, memory)
				return cpu
			}
			for b.Loop() {
				compare = append(compare, cost("compare", "-rt", filepath.Join(dir, "golden")))
				check = append(check, cost(how...))
			}
			slices.Sort(compare)
			slices.Sort(check)
			middle := len(check) / 2
			b.ReportMetric(float64(check[middle].Milliseconds()), "CPU-ms/check")
			b.ReportMetric(float64(check[middle])/float64(compare[middle]), "x-compare-CPU")
			b.ReportMetric(float64(most>>20), "MB")
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
	for op := range model.Ops() {
		if folder.Op(op.Name) != nil {
			typeOf[op.Name] = op.Type
			types = append(types, op.Type)
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
