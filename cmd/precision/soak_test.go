package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"precision/testdata/workshop/soak"
)

var (
	soakSeed = flag.Uint64("soak.seed", 1, "the first seed of the campaigns")
	soakN    = flag.Int("soak.n", 20, "how many mutants there are, and a tenth as many kills, full disks and random networks")
	soakOnly = flag.String("soak.only", "", "only the commands whose names begin like this: precision compare")
)

// asProgram, in the environment, makes the test binary the program itself.
const asProgram = "PRECISION_AS_PROGRAM"

// asScript puts the program into a folder under its name: a script that starts the test binary.
func asScript(t *testing.T, dir string) {
	t.Helper()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asProgram, os.Args[0])
	if err := os.WriteFile(filepath.Join(dir, "precision"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// under is the program as campaigns run it.
func under() soak.Program {
	return soak.Program{Path: os.Args[0], Env: []string{asProgram + "=1", "GOMAXPROCS=2"}, Longest: 60 * time.Second, Memory: 512 << 20, Statuses: soak.Statuses}
}

// campaign has the commands of precision, which the test binary is.
func campaign(t *testing.T) *soak.Campaign {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("campaigns need a system with signals and ulimit")
	}
	c, err := soak.NewCampaign(map[string]soak.Program{"precision": under()}, "../..", t.TempDir(), *soakOnly)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// trials makes one in so many trials of a kind, and tells those that fail; -soak.seed
// and -soak.n=1 make one of them again.
func trials(t *testing.T, one int, trial func(seed uint64) (string, error)) {
	t.Helper()
	for seed := *soakSeed; seed < *soakSeed+uint64(max(1, *soakN/one)); seed++ {
		if what, err := trial(seed); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestMutants damages one input at a time of all commands.
func TestMutants(t *testing.T) { trials(t, 1, campaign(t).Mutant) }

// TestKilled kills commands at any moment.
func TestKilled(t *testing.T) { trials(t, 10, campaign(t).Kill) }

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
func TestDiskFull(t *testing.T) { trials(t, 4, campaign(t).Full) }

// TestMetamorphic says the same of a random network in whatever form it is.
func TestMetamorphic(t *testing.T) {
	run := func(args ...string) (int, string, string) { return precision(t, args...) }
	trials(t, 4, func(seed uint64) (string, error) { return "", soak.Metamorphic(run, seed, t.TempDir()) })
}
