package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"precision/internal/must"
	"regexp"
	"strings"
)

const (
	// mostInputs is how many inputs the corpus of a target gets, longestInput how
	// long their files are.
	mostInputs, longestInput = 16, 4096
	// mostCandidates bounds how many inputs are tried.
	mostCandidates = 250
)

// byFuzzing are the names that fuzzing gives to inputs; others were given by people
// to findings, and stay.
var byFuzzing = regexp.MustCompile(`^[0-9a-f]{16}$`)

// corpus fills testdata/fuzz of every target from what fuzzing kept: the few short
// inputs that reach the most statements of the package beyond the seeds in the
// code. Every target gets at least one.
func corpus(ctx context.Context, targets []*target, o options, work string) error {
	programs := map[string]string{}
	for _, g := range targets {
		if programs[g.folder] == "" {
			program := filepath.Join(work, "cover-"+strings.ReplaceAll(g.folder, "/", "-")+".test")
			cmd := exec.CommandContext(ctx, "go", "test", "-c", "-cover", "-o", program, "./"+g.folder)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
			}
			programs[g.folder] = program
		}
		if err := g.choose(ctx, programs[g.folder], o.cache, work); err != nil {
			return fmt.Errorf("%s %s: %w", g.folder, g.name, err)
		}
	}
	return nil
}

func (g *target) choose(ctx context.Context, program, cache, work string) (err error) {
	defer must.Catch(&err)
	folder := filepath.Join(g.folder, "testdata", "fuzz", g.name)
	must.Do(os.MkdirAll(folder, 0o755))
	reached := must.Get(g.reach(ctx, program, "seed#", work))
	type candidate struct {
		name  string
		size  int
		adds  map[string]bool
		taken bool
	}
	var list []*candidate
	seen := map[string]bool{}
	named := 0
	for _, dir := range []string{folder, filepath.Join(cache, "corpus", g.folder, g.name)} {
		entries, _ := os.ReadDir(dir) // there may be none
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil || seen[e.Name()] {
				continue
			}
			seen[e.Name()] = true
			if fixed := dir == folder && !byFuzzing.MatchString(e.Name()); fixed || len(text) <= longestInput && len(list) < mostCandidates {
				must.Do(os.WriteFile(filepath.Join(folder, e.Name()), text, 0o644))
				adds := must.Get(g.reach(ctx, program, e.Name()+"$", work))
				if fixed {
					named++
					for block := range adds {
						reached[block] = true
					}
					continue
				}
				list = append(list, &candidate{name: e.Name(), size: len(text), adds: adds})
			}
		}
	}
	taken, tried := 0, len(list)
	for taken < mostInputs {
		var best *candidate
		for _, c := range list {
			for block := range c.adds {
				if reached[block] {
					delete(c.adds, block)
				}
			}
			if c.taken {
				continue
			}
			if best == nil || len(c.adds) > len(best.adds) || len(c.adds) == len(best.adds) && (c.size < best.size || c.size == best.size && c.name < best.name) {
				best = c
			}
		}
		if best == nil || len(best.adds) == 0 && taken+named > 0 {
			break
		}
		best.taken = true
		taken++
		for block := range best.adds {
			reached[block] = true
		}
	}
	for _, c := range list {
		if !c.taken {
			must.Do(os.Remove(filepath.Join(folder, c.name)))
		}
	}
	fmt.Printf("%-28s %-18s %3d findings, %3d of %3d inputs kept\n", g.folder, g.name, named, taken, tried)
	return nil
}

// reach runs the inputs of a target whose names begin as told and returns the
// statements they reach.
func (g *target) reach(ctx context.Context, program, input, work string) (map[string]bool, error) {
	profile := filepath.Join(work, "cover.txt")
	cmd := exec.CommandContext(ctx, program, "-test.run=^"+g.name+"$/^"+regexp.QuoteMeta(strings.TrimSuffix(input, "$"))+strings.Repeat("$", strings.Count(input, "$")), "-test.coverprofile="+profile)
	cmd.Dir = g.folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", input, err, out)
	}
	f, err := os.Open(profile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	reached := map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() { // file:from,to statements count
		if block, count := cutLast(lines.Text()); count != "0" {
			reached[block] = true
		}
	}
	return reached, lines.Err()
}

func cutLast(line string) (before, after string) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 {
		return line, "0"
	}
	return line[:i], line[i+1:]
}
