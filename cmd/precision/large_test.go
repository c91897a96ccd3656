package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"precision/compare/engine"
	"precision/compare/verdict"
	"precision/graph/read"
	"precision/internal/gc"
	"precision/testdata/workshop/soak"
)

// writeLarge writes a network of so many operators, some of them recorded, and
// returns the folder of it and the path of its graph.
func writeLarge(tb testing.TB, ops, recorded int) (dir, graph string) {
	tb.Helper()
	dir = tb.TempDir()
	graph = filepath.Join(dir, "ge_proto_00000001_graph_1_Build.txt")
	f, err := os.Create(graph)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	l := soak.Large{Ops: ops}
	if err := l.Graph(f); err != nil {
		tb.Fatal(err)
	}
	if err := l.Record(filepath.Join(dir, "npu"), filepath.Join(dir, "golden"), recorded); err != nil {
		tb.Fatal(err)
	}
	return dir, graph
}

// live is how many bytes of the heap are in use.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What an operator of a large graph takes of memory has a bound: as a model, and
// compared and judged. Twice the bound is what it was before the two were looked
// at; what is measured is some three quarters of it.
func TestMemoryOfAnOperator(t *testing.T) {
	const ops = 40_000
	dir, graph := writeLarge(t, ops, 200)
	before := live()
	within := func(what string, bound int64) {
		t.Helper()
		if each := (live() - before) / ops; each > bound {
			t.Errorf("%s: %d bytes an operator, expected at most %d", what, each, bound)
		} else {
			t.Logf("%s: %d bytes an operator", what, each)
		}
	}
	m, err := read.Open(context.Background(), graph)
	if err != nil {
		t.Fatal(err)
	}
	within("model", 700)
	runtime.KeepAlive(m)
	m = nil
	s, err := engine.Job{Left: filepath.Join(dir, "npu"), Right: filepath.Join(dir, "golden"), Graph: graph}.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	within("model and rules", 1100)
	out, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	within("compared", 2150)
	j := verdict.Judge(out.Table, verdict.Options{})
	within("compared and judged", 2350)
	if len(j.Operators) != ops || len(out.Table.Rows) < ops {
		t.Errorf("%d operators and %d rows of %d", len(j.Operators), len(out.Table.Rows), ops)
	}
	runtime.KeepAlive(s)
}

// BenchmarkLarge: the whole program on large networks, with the most memory it held
// and the processor time it took. docs/performance.md has the figures.
func BenchmarkLarge(b *testing.B) {
	for _, c := range []struct {
		name          string
		ops, recorded int
	}{{"200k_operators", 200_000, 1000}, {"1M_operators", 1_000_000, 1000}, {"100k_files_a_side", 100_000, 100_000}} {
		b.Run(c.name, func(b *testing.B) {
			dir, graph := writeLarge(b, c.ops, c.recorded)
			npu, golden := filepath.Join(dir, "npu"), filepath.Join(dir, "golden")
			// Where no graph lies beside them.
			bare := filepath.Join(b.TempDir(), "bare")
			for _, side := range []string{npu, golden} {
				if err := os.MkdirAll(bare, 0o700); err != nil {
					b.Fatal(err)
				}
				if err := os.Symlink(side, filepath.Join(bare, filepath.Base(side))); err != nil {
					b.Skip(err)
				}
			}
			p := under()
			p.Longest, p.Memory = 30*time.Minute, 0
			for _, run := range []struct {
				name string
				args []string
			}{
				{"summary", []string{"graph", graph}},
				{"compare", []string{"compare", "-lt", npu, "-rt", golden, "-g", graph, "-out", dir}},
				{"names", []string{"compare", "-lt", filepath.Join(bare, "npu"), "-rt", filepath.Join(bare, "golden"), "-out", dir}},
				// In this process, where -cpuprofile and -memprofile see it.
				{"inside", []string{"compare", "-lt", npu, "-rt", golden, "-g", graph, "-out", dir}},
			} {
				if c.recorded < c.ops && run.name == "names" {
					continue
				}
				b.Run(run.name, func(b *testing.B) {
					if run.name == "inside" {
						gc.Relax() // as the program does
					}
					for run.name == "inside" && b.Loop() {
						if code, _, stderr := precision(b, run.args...); code > exitBelow {
							b.Fatalf("exit %d: %s", code, stderr)
						}
					}
					if run.name == "inside" {
						return
					}
					for b.Loop() {
						memory, cpu, err := p.Cost(run.args...)
						if err != nil {
							b.Fatal(err)
						}
						b.ReportMetric(float64(memory>>20), "MB")
						b.ReportMetric(cpu.Seconds(), "CPU-s")
					}
				})
			}
			if info, err := os.Stat(graph); err == nil {
				fmt.Printf("%s: a graph of %d MB\n", c.name, info.Size()/1e6)
			}
		})
	}
}
