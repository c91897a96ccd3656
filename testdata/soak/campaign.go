package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"precision/internal/must"
	"precision/testdata/workshop/recorded"
	"precision/testdata/workshop/soak"
)

// programs builds the programs for campaigns.
func programs(ctx context.Context, work string, names ...string) (map[string]soak.Program, error) {
	all := map[string]soak.Program{}
	for _, name := range names {
		statuses := soak.Statuses
		if name == "msaccucmp" {
			statuses = soak.DropInStatuses
		}
		path := filepath.Join(work, name)
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/"+name).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build ./cmd/%s: %w\n%s", name, err, out)
		}
		all[name] = soak.Program{Path: path, Env: []string{"LC_ALL=C", "GOMAXPROCS=2"}, Longest: time.Minute, Memory: 512 << 20, Statuses: statuses}
	}
	return all, nil
}

// campaign makes so many mutants, a tenth as many kills and full disks, and a
// fiftieth as many random networks, from a seed on, and plays a tenth as many recorded inputs of the old tool.
func (t *tally) campaign(ctx context.Context, o options, work string) (err error) {
	defer must.Catch(&err)
	under := must.Get(programs(ctx, work, "precision", "msaccucmp"))
	trials := must.Get(os.MkdirTemp(work, "trials-"))
	defer os.RemoveAll(trials)
	c := must.Get(soak.NewCampaign(under, ".", trials, o.only))
	networks := func(seed uint64) (string, error) {
		run := func(args ...string) (int, string, string) {
			cmd := exec.Command(under["precision"].Path, args...)
			cmd.Env = append(os.Environ(), under["precision"].Env...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			cmd.Run() // the exit status tells
			return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
		}
		return "networks", soak.Metamorphic(run, seed, trials)
	}
	plays := must.Get(recorded.Plays("testdata/played.jsonl"))
	// What the old tool made of random inputs, and what ours makes of them.
	played := func(seed uint64) (string, error) {
		p := plays[seed%uint64(len(plays))]
		dir, err := os.MkdirTemp(trials, "played-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
		args, err := recorded.Lay(dir, p.Seed)
		if err != nil {
			return "", err
		}
		cmd := exec.Command(under["msaccucmp"].Path, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), under["msaccucmp"].Env...)
		cmd.Run() // the exit status tells
		return fmt.Sprintf("msaccucmp %q", args), p.Check(cmd.ProcessState.ExitCode(), dir)
	}
	start := soak.CPU()
	for _, kind := range []struct {
		name  string
		one   int // in so many
		trial func(uint64) (string, error)
		count *int
	}{{"mutants", 1, c.Mutant, &t.mutants}, {"kills", 10, c.Kill, &t.kills}, {"full disks", 10, c.Full, &t.full}, {"networks", 50, networks, &t.networks}, {"played pairs", 10, played, &t.played}} {
		for seed := o.seed; seed < o.seed+uint64(max(1, o.mutants/kind.one)) && ctx.Err() == nil; seed++ {
			what, err := kind.trial(seed)
			*kind.count++
			if err != nil {
				t.found(fmt.Sprintf("go run ./testdata/soak -mutants 1 -seed %d (%s)", seed, kind.name), fmt.Sprintf("%s: %v", what, err))
			}
		}
	}
	t.cpu += soak.CPU() - start
	return nil
}
