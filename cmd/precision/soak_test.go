package main

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"precision/internal/soak"
)

var (
	soakSeed = flag.Uint64("soak.seed", 1, "the first seed of the campaigns")
	soakN    = flag.Int("soak.n", 60, "how many mutants there are, and a tenth as many kills")
)

// asProgram, in the environment, makes the test binary the program itself.
const asProgram = "PRECISION_AS_PROGRAM"

// under is the program as campaigns run it.
func under() soak.Program {
	return soak.Program{Path: os.Args[0], Env: []string{asProgram + "=1", "GOMAXPROCS=2"}, Longest: 60 * time.Second, Memory: 512 << 20}
}

func sampleNetwork(t *testing.T) (*soak.Network, string) {
	t.Helper()
	work := t.TempDir()
	sample, err := filepath.Abs("../../testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	n, err := soak.OpenNetwork(under(), filepath.Join(sample, "npu"), filepath.Join(sample, "golden"), filepath.Join(sample, filepath.Base(sampleGraph)), work)
	if err != nil {
		t.Fatal(err)
	}
	return n, work
}

// TestMutants damages the files of the sample network one at a time; -soak.seed
// runs one again that failed, with -soak.n 1.
func TestMutants(t *testing.T) {
	n, work := sampleNetwork(t)
	for seed := *soakSeed; seed < *soakSeed+uint64(*soakN); seed++ {
		if err := n.Mutant(under(), seed, work); err != nil {
			t.Error(err)
		}
	}
}

// TestKilled kills comparisons at any moment.
func TestKilled(t *testing.T) {
	n, work := sampleNetwork(t)
	for seed := *soakSeed; seed < *soakSeed+uint64(max(1, *soakN/10)); seed++ {
		if err := n.Kill(under(), seed, work); err != nil {
			t.Error(err)
		}
	}
}

// TestEndsAtOnce asks the program to end at any moment of its work on a large graph:
// it does within a second, and leaves nothing half done.
func TestEndsAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM")
	}
	dir, graph := writeLarge(t, 60_000, 50)
	p, out := under(), filepath.Join(dir, "out")
	compare := []string{"compare", "-lt", filepath.Join(dir, "npu"), "-rt", filepath.Join(dir, "golden"), "-out", out}
	for _, args := range [][]string{
		{"graph", graph},
		{"graph", graph, "-json", filepath.Join(out, "graph.json")},
		{"graph", graph, "-svg", filepath.Join(out, "graph.svg")},
		append(compare, "-g", dir), // which of the graphs in the folder it is
	} {
		if err := p.EndsAtOnce(*soakSeed, max(1, *soakN/60), out, args...); err != nil {
			t.Error(err)
		}
	}
}

// TestDiskFull lets files grow to a limit only.
func TestDiskFull(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no ulimit")
	}
	n, work := sampleNetwork(t)
	for _, blocks := range []int{0, 1, 2, 3, 7, 15, 22, 40, 1000} {
		if err := n.Full(under(), blocks, work); err != nil {
			t.Error(err)
		}
	}
}

// TestMetamorphic says the same of a random network in whatever form it is.
func TestMetamorphic(t *testing.T) {
	run := func(args ...string) (int, string, string) { return precision(t, args...) }
	for seed := *soakSeed; seed < *soakSeed+uint64(max(1, *soakN/5)); seed++ {
		if err := soak.Metamorphic(run, seed, t.TempDir()); err != nil {
			t.Error(err)
		}
	}
}
