package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tally does the work and counts it.
type tally struct {
	mutants, kills, full, networks, played, execs int

	cpu      time.Duration
	start    time.Time
	findings map[string]bool // by what is to be run to see it
}

func (t *tally) print() {
	fmt.Printf("soak: %d mutants, %d times three kills, %d full disks, %d random networks, %d pairs of the old tool, %d executions of fuzz targets, %d findings; %v of processor time (%.2f hours) in %v\n",
		t.mutants, t.kills, t.full, t.networks, t.played, t.execs, len(t.findings), t.cpu.Round(time.Second), t.cpu.Hours(), time.Since(t.start).Round(time.Second))
}

func (t *tally) end() error {
	t.print()
	if len(t.findings) > 0 {
		return fmt.Errorf("%d findings", len(t.findings))
	}
	return nil
}

// run runs a program in a folder and counts its processor time, children included.
func (t *tally) run(ctx context.Context, folder, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = folder
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if s := cmd.ProcessState; s != nil {
		t.cpu += s.UserTime() + s.SystemTime()
	}
	if ctx.Err() != nil { // ended by us
		err = nil
	}
	return string(out), err
}

func (t *tally) found(again, out string) {
	t.findings[again] = true
	fmt.Printf("FOUND: %s\n%s\n", again, out)
}

var (
	execs   = regexp.MustCompile(`execs: (\d+)`)
	written = regexp.MustCompile(`Failing input written to (\S+)`)
)

// minimize bounds how long an input is made smaller, in executions. Package testing does
// that with every input that reaches something new, and with a bound in time most of the
// time goes there, and to starting workers again that ran out of it: in 20 s on two cores
// FuzzSlices executed 2337 inputs and kept 18 at one second, 32 324 and 42 at this.
const minimize = "-test.fuzzminimizetime=50x"

// fuzz runs every target for a while.
func (t *tally) fuzz(ctx context.Context, targets []*target, o options) {
	for _, g := range targets {
		if ctx.Err() != nil {
			return
		}
		before := t.cpu
		args := []string{"-test.run=^$", "-test.fuzz=^" + g.name + "$", "-test.fuzztime=" + o.each.String(), minimize,
			"-test.fuzzcachedir=" + filepath.Join(o.cache, "corpus", g.folder)}
		if o.parallel > 0 {
			args = append(args, "-test.parallel="+strconv.Itoa(o.parallel))
		}
		out, err := t.run(ctx, g.folder, g.program, args...)
		n := 0
		if all := execs.FindAllStringSubmatch(out, -1); all != nil {
			n, _ = strconv.Atoi(all[len(all)-1][1])
		}
		t.execs += n
		fmt.Printf("%-28s %-18s %9d executions %7.1f s\n", g.folder, g.name, n, (t.cpu - before).Seconds())
		// The end of the time can fall into an execution; that is no finding.
		if err == nil || strings.Contains(out, "context deadline exceeded") && !written.MatchString(out) {
			continue
		}
		again := "go test -run=" + g.name + " ./" + g.folder
		if m := written.FindStringSubmatch(out); m != nil {
			if t.paused(ctx, g, m[1], out) {
				continue
			}
			again = "go test -run=" + g.name + "/" + filepath.Base(m[1]) + " ./" + g.folder
		}
		t.found(again, out)
	}
}

// paused tells whether a fuzz target failed only because the machine, or its processes,
// stood still for a while: package testing takes a worker that does not answer in time
// for one that hangs. The input then passes when it is run alone, and is removed.
func (t *tally) paused(ctx context.Context, g *target, input, out string) bool {
	if !strings.Contains(out, "fuzzing process hung or terminated unexpectedly") {
		return false
	}
	_, err := t.run(ctx, g.folder, g.program, "-test.run=^"+g.name+"$/^"+filepath.Base(input)+"$", "-test.timeout=1m")
	if err != nil || ctx.Err() != nil {
		return false
	}
	fmt.Printf("%-28s %-18s was paused: the input passes when it is run alone\n", g.folder, g.name)
	os.Remove(filepath.Join(g.folder, input))
	return true
}
