// Faults measures what the verdict finds in the networks of testdata/workshop/computed, as many of each architecture: clean
// ones and each kind of fault, by what the program at BINARY says with and without a check. It counts by kind of fault who
// was named: the second table of docs/verdict.md is what this prints.
//
//	go run ./testdata/faults -computed 3 -precision BINARY
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"precision/testdata/workshop/computed"
)

func main() {
	only := flag.String("only", "", "networks whose options contain this text")
	seeds := flag.Int("computed", 1, "networks of each architecture")
	first := flag.Int("seed", 1, "the first seed of these")
	other := flag.Bool("other", false, "draw sizes, types, masks and more of them by the seed")
	binary := flag.String("precision", "precision", "the program that they are measured with")
	flag.Parse()
	if err := measure(*binary, *first, *seeds, *only, *other); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(binary string, first, seeds int, only string, other bool) error {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	run := func(args ...string) (int, string, string) {
		var out, errs strings.Builder
		c := exec.Command(binary, args...)
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); c.ProcessState == nil {
			return -1, "", err.Error()
		}
		return c.ProcessState.ExitCode(), out.String(), errs.String()
	}
	score := computed.Score{Report: func(text string) { fmt.Fprintln(os.Stderr, text) }}
	for _, arch := range computed.Archs() {
		for seed := first; seed < first+seeds; seed++ {
			for i, o := range computed.Cases(arch, uint64(seed)) {
				o.Other = other
				if !strings.Contains(fmt.Sprintf("%+v", o), only) {
					continue
				}
				if err := score.Measure(run, o, filepath.Join(dir, fmt.Sprint(arch, seed, "-", i))); err != nil {
					return err
				}
			}
		}
	}
	computed.Table(os.Stdout, "what is wrong", score.Kinds)
	fmt.Println()
	computed.Table(os.Stdout, "network", score.Archs)
	return nil
}
