package main

import (
	"flag"
	"os"
	"runtime"
	"testing"
	"time"

	"precision/testdata/workshop/scratch"
	"precision/testdata/workshop/soak"
)

var (
	soakSeed = flag.Uint64("soak.seed", 1, "the first seed of the campaigns")
	soakN    = flag.Int("soak.n", 8, "how many mutants there are, and a quarter as many kills and full disks")
	soakOnly = flag.String("soak.only", "", "only the commands whose names begin like this: msaccucmp batch")
)

// asProgram, in the environment, makes the test binary the program itself.
const asProgram = "MSACCUCMP_AS_PROGRAM"

// TestMain lets campaigns start the test binary again as the program.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(scratch.Main(m))
}

// TestMutants damages one input at a time of all recorded command lines, kills
// conversions and fills their disk.
func TestMutants(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("campaigns need a system with signals and ulimit")
	}
	program := soak.Program{Path: os.Args[0], Env: []string{asProgram + "=1", "GOMAXPROCS=2"}, Longest: 60 * time.Second, Memory: 512 << 20, Statuses: soak.DropInStatuses}
	c, err := soak.NewCampaign(map[string]soak.Program{"msaccucmp": program}, "../..", t.TempDir(), *soakOnly)
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(*soakN)
	for seed := *soakSeed; seed < *soakSeed+n; seed++ {
		trials := []func(uint64) (string, error){c.Mutant}
		if seed < *soakSeed+max(1, n/4) {
			trials = append(trials, c.Kill, c.Full)
		}
		for _, trial := range trials {
			if what, err := trial(seed); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
