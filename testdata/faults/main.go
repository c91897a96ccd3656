// Faults measures what the verdict finds: it has networks computed with known
// faults, compares and checks them, and counts by kind of fault who was named.
//
//	go run ./testdata/faults -tools DIR [-runs FILE] [-only TEXT]
//
//	go run ./testdata/faults -computed 3 -precision BINARY
//
// measures the networks of testdata/workshop/computed, as many of each architecture: clean ones
// and each kind of fault, by what the program at BINARY says with and without a check.
//
// DIR holds computed_resnet50.py and computed_transformer.py, which need numpy. A
// line of the runs file is a class (clean, single, double, below), a generator
// and its options. The table of docs/verdict.md is what this prints.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"precision/compare"
	"precision/compare/metric"
	"precision/compare/oracle"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/graph/read"
	"precision/testdata/workshop/computed"
)

func main() {
	tools := flag.String("tools", "../shared/tools", "folder of the generators")
	runs := flag.String("runs", "testdata/faults/runs.txt", "what to generate")
	only := flag.String("only", "", "lines that contain this text")
	python := flag.String("python", "/usr/bin/python3", "a Python with numpy")
	seeds := flag.Int("computed", 0, "networks of each architecture of testdata/workshop/computed")
	first := flag.Int("seed", 1, "the first seed of these")
	other := flag.Bool("other", false, "draw sizes, types, masks and more of them by the seed")
	binary := flag.String("precision", "precision", "the program that they are measured with")
	flag.Parse()
	if *seeds > 0 {
		if err := computedNetworks(*binary, *first, *seeds, *only, *other); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := run(*tools, *runs, *only, *python); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// computedNetworks measures the networks of testdata/workshop/computed.
func computedNetworks(binary string, first, seeds int, only string, other bool) error {
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

// tally counts networks of a kind of fault.
type tally struct {
	networks                     int
	cosine, verdict, both, check int // named exactly
	alarms, checkAlarms          int // somebody innocent was named
}

func run(tools, runs, only, python string) error {
	file, err := os.Open(runs)
	if err != nil {
		return err
	}
	defer file.Close()
	table := map[string]*tally{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' || !strings.Contains(line, only) {
			continue
		}
		n, err := measure(tools, python, line)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", line, err)
			continue
		}
		kind := n.kind
		if table[kind] == nil {
			table[kind] = &tally{}
		}
		n.count(table[kind])
		if !n.exact(n.both) {
			fmt.Fprintf(os.Stderr, "%s: roots %v, expected %v\n", line, slices.Sorted(maps.Keys(n.both)), slices.Sorted(maps.Keys(n.want)))
		}
	}
	fmt.Println("| fault | networks | first cosine < 0.98 | verdict | check alone | verdict with -check | false alarms (verdict, check) |")
	fmt.Println("|---|---|---|---|---|---|---|")
	var sum tally
	for _, kind := range slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b))
	}) {
		t := table[kind]
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %d, %d |\n", kind, t.networks, t.cosine, t.verdict, t.check, t.both, t.alarms, t.checkAlarms)
		sum.networks += t.networks
		sum.cosine += t.cosine
		sum.verdict += t.verdict
		sum.check += t.check
		sum.both += t.both
		sum.alarms += t.alarms
		sum.checkAlarms += t.checkAlarms
	}
	fmt.Printf("| **all** | %d | %d | %d | %d | %d | %d, %d |\n", sum.networks, sum.cosine, sum.verdict, sum.check, sum.both, sum.alarms, sum.checkAlarms)
	return nil
}

// order puts clean networks first and double faults last.
func order(kind string) int {
	switch kind {
	case "none":
		return 0
	case "two faults":
		return 2
	}
	return 1
}

// network is what was said of a network, as the operators that were named.
type network struct {
	kind                         string
	want                         map[string]bool
	cosine, verdict, both, check map[string]bool
}

func (n *network) exact(named map[string]bool) bool { return maps.Equal(named, n.want) }

func (n *network) count(t *tally) {
	t.networks++
	for _, c := range []struct {
		named map[string]bool
		into  *int
	}{{n.cosine, &t.cosine}, {n.verdict, &t.verdict}, {n.both, &t.both}, {n.check, &t.check}} {
		if n.exact(c.named) {
			*c.into++
		}
	}
	innocent := func(named map[string]bool) int {
		for op := range named {
			if !n.want[op] {
				return 1
			}
		}
		return 0
	}
	t.alarms += innocent(n.verdict)
	t.checkAlarms += innocent(n.check)
}

// measure makes a network and has it compared and checked.
func measure(tools, python, line string) (*network, error) {
	words := strings.Fields(line)
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out, err := exec.Command(python, append([]string{filepath.Join(tools, words[1]), dir}, words[2:]...)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	var answer struct {
		Faults []struct {
			Op      string
			Kind    string
			Exceeds bool     `json:"exceeds_bound"`
			Accept  []string `json:"accept"`
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "answer.json"))
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		return nil, err
	}
	n := &network{kind: "none", want: map[string]bool{}}
	mild := map[string]bool{}
	for _, f := range answer.Faults {
		n.kind = f.Kind
		if f.Exceeds {
			n.want[f.Op] = true
			mild[f.Op] = slices.Contains(f.Accept, "suspect")
		}
	}
	if len(answer.Faults) > 1 {
		n.kind = "two faults"
	}
	ctx := context.Background()
	graph := filepath.Join(dir, "graph.txt")
	session, err := compare.Job{Left: filepath.Join(dir, "npu", "debug_0", "dump"), Right: filepath.Join(dir, "golden"), Graph: graph}.Open(ctx)
	if err != nil {
		return nil, err
	}
	found, err := session.Run(ctx)
	if err != nil {
		return nil, err
	}
	model, err := read.Open(ctx, graph)
	if err != nil {
		return nil, err
	}
	beside := &oracle.Golden{Dumps: session.Folders.Left, Folder: session.Folders.Right, Rules: session.Folders.Rules, Follow: verdict.Doubted(found.Table, verdict.Options{})}
	findings, err := oracle.Job{Devices: []oracle.Device{oracle.DeviceOf(session.Folders.Left)}, Graph: model, Golden: beside}.Run(ctx)
	if err != nil {
		return nil, err
	}
	judged := verdict.Judge(found.Table, verdict.Options{})
	n.cosine = firstBelow(judged)
	n.verdict = n.named(judged)
	n.check = map[string]bool{}
	for i := range findings {
		if f := &findings[i]; f.Verdict == oracle.Wrong || f.Verdict == oracle.Suspect && mild[f.Op] {
			n.check[f.Op] = true
		}
	}
	found.Table.Check(oracle.Checks(findings))
	n.both = n.named(verdict.Judge(found.Table, verdict.Options{}))
	// A saturation may be named as suspect in place of a root.
	for op := range mild {
		if mild[op] {
			for _, named := range []map[string]bool{n.verdict, n.both} {
				if o := judged.Find(op); o != nil && o.State == verdict.StateSuspect {
					named[op] = true
				}
			}
		}
	}
	return n, nil
}

// firstBelow is the operator with the first output below a cosine of 0.98, which
// is how tables of cosines are read.
func firstBelow(j *verdict.Judged) map[string]bool {
	for i := range j.Operators {
		for k := range j.Operators[i].Outputs {
			t := &j.Operators[i].Outputs[k]
			r := j.Row(t)
			if v := r.Result().Values[metric.CosineSimilarity]; r.Compared && r.Role == result.Output && v.OK() && !(v.Float() >= 0.98) {
				return map[string]bool{j.Operators[i].Op.Name: true}
			}
		}
	}
	return map[string]bool{}
}

// named are the operators that the roots name: a region counts as the broken
// operator if it holds it.
func (n *network) named(j *verdict.Judged) map[string]bool {
	named := map[string]bool{}
	for _, r := range j.Roots {
		op := j.Operators[r.Operator].Op.Name
		for _, other := range r.Region {
			if n.want[other] && !n.want[op] {
				op = other
			}
		}
		named[op] = true
	}
	return named
}
