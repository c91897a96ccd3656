package computed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"precision/internal/must"
	"slices"
)

// Run runs the program: its exit status and what it prints.
type Run func(args ...string) (code int, stdout, stderr string)

// Outcome is what the program says of a recording.
type Outcome struct {
	Verdict string  `json:"verdict"`
	Roots   []Named `json:"roots"`
}

// Named is an operator that a verdict names as a root, or one of a region.
type Named struct {
	Op     string   `json:"op"`
	Kind   string   `json:"kind"`
	Region []string `json:"region"`
}

// Ask has the recording in a folder compared.
func Ask(run Run, dir string, args ...string) (Outcome, error) {
	var s Outcome
	out := filepath.Join(dir, "verdict.json")
	line := append([]string{"compare", "-lt", filepath.Join(dir, filepath.FromSlash(DumpDir)), "-rt", filepath.Join(dir, GoldenDir),
		"-g", filepath.Join(dir, GraphFile), "-out", filepath.Join(dir, "out"), "-json", out}, args...)
	code, _, stderr := run(line...)
	text, err := os.ReadFile(out)
	if err != nil {
		return s, fmt.Errorf("exit status %d, %s: %w", code, stderr, err)
	}
	defer os.Remove(out)
	return s, json.Unmarshal(text, &s)
}

// Named tells whether a verdict names one of the culprits, and whether it names
// anybody else.
func (a Answer) Named(s Outcome) (named, others bool) {
	for _, r := range s.Roots {
		hit := false
		for _, f := range a.Faults {
			hit = hit || r.Op == f.Op || slices.Contains(r.Region, f.Op)
			if f.Kind == "element" || f.Kind == "weight" { // what takes it is named
				hit = hit || slices.ContainsFunc(append(slices.Clone(r.Region), r.Op), func(op string) bool { return slices.Contains(f.Accept, op) })
			}
		}
		named = named || hit
		others = others || !hit
	}
	return named, others
}

// Right tells whether a verdict is the expected one: a clean network is good and
// nobody is accused; a broken premise is named and nobody accused; else a culprit is
// named.
func (a Answer) Right(s Outcome) bool {
	named, others := a.Named(s)
	switch a.Expected {
	case "good":
		return s.Verdict == "good" && len(s.Roots) == 0
	case "inconclusive":
		return s.Verdict == "inconclusive" && !named && !others
	}
	return named && s.Verdict != "good"
}

// Less tells what a verdict with a check lacks of the one without: it names nobody who is to blame where the other does, or
// is good where the other is not, or names somebody where the other says that nobody can be named.
func (a Answer) Less(plain, checked Outcome) bool {
	named, _ := a.Named(plain)
	with, _ := a.Named(checked)
	return named && !with || checked.Verdict == "good" && plain.Verdict != "good" || plain.Verdict == "inconclusive" && len(plain.Roots) == 0 && len(checked.Roots) > 0
}

// Golden counts the culprits, and those of them whose golden array is what a verdict calls wrong.
func (a Answer) Golden(s Outcome) (called, of int) {
	if a.Class != "golden" {
		return 0, 0
	}
	for _, f := range a.Faults {
		of++
		for _, r := range s.Roots {
			if r.Op == f.Op && r.Kind == "golden" {
				called++
				break
			}
		}
	}
	return called, of
}

// Tally counts right verdicts: without a check, with one, with both right, and those
// that accuse an innocent operator in either; golden arrays that a check calls wrong, of so many; and
// networks of which a check names less ([Answer.Less]).
type Tally struct{ Networks, Compare, Check, Both, Alarms, CheckAlarms, Golden, Goldens, Less int }

// Score is a table of tallies by kind of fault and by network.
type Score struct {
	Kinds, Archs map[string]*Tally
	// Report, if not nil, is told of every verdict that is not right.
	Report func(text string)
}

// Measure makes a network and asks with and without a check. Options that the network
// cannot have are left out.
func (s *Score) Measure(run Run, o Options, dir string) (err error) {
	defer must.Catch(&err)
	n, err := New(o)
	if err != nil {
		return nil // not every network can be wrong in every way
	}
	a := must.Get(n.Write(dir))
	defer os.RemoveAll(dir)
	plain := must.Get(Ask(run, dir))
	checked := must.Get(Ask(run, dir, "-check"))
	kind := "none"
	if len(a.Faults) > 0 {
		kind = a.Class + " " + a.Faults[0].Kind
	}
	if s.Kinds == nil {
		s.Kinds, s.Archs = map[string]*Tally{}, map[string]*Tally{}
	}
	for _, at := range []struct {
		table map[string]*Tally
		key   string
	}{{s.Kinds, kind}, {s.Archs, o.Arch}} {
		if at.table[at.key] == nil {
			at.table[at.key] = &Tally{}
		}
		t := at.table[at.key]
		t.Networks++
		count := func(right bool, into *int) {
			if right {
				*into++
			}
		}
		_, others := a.Named(plain)
		_, checkOthers := a.Named(checked)
		count(a.Right(plain), &t.Compare)
		count(a.Right(checked), &t.Check)
		count(a.Right(plain) && a.Right(checked), &t.Both)
		count(others, &t.Alarms)
		count(checkOthers, &t.CheckAlarms)
		count(a.Less(plain, checked), &t.Less)
		called, of := a.Golden(checked)
		t.Golden, t.Goldens = t.Golden+called, t.Goldens+of
	}
	if s.Report != nil && a.Less(plain, checked) {
		s.Report(fmt.Sprintf("less: %s, seed %d, %s: %s, %v without a check; %s, %v", o.Arch, o.Seed, kind, plain.Verdict, plain.Roots, checked.Verdict, checked.Roots))
	}
	if called, of := a.Golden(checked); s.Report != nil && called < of {
		s.Report(fmt.Sprintf("golden: %s, seed %d, %s: %v; expected golden %v", o.Arch, o.Seed, kind, checked.Roots, a.Faults))
	}
	for how, said := range map[string]Outcome{"compare": plain, "compare -check": checked} {
		if s.Report != nil && !a.Right(said) {
			s.Report(fmt.Sprintf("%s: %s, seed %d, %s: %s, %v; expected %s of %v", how, o.Arch, o.Seed, kind, said.Verdict, said.Roots, a.Expected, a.Faults))
		}
	}
	return nil
}

// Table prints tallies as a table of Markdown, with the sum.
func Table(w io.Writer, title string, tallies map[string]*Tally) {
	fmt.Fprintf(w, "| %s | networks | compare | compare -check | both | others accused (compare, check) | called golden | check names less |\n|---|---|---|---|---|---|---|---|\n", title)
	line := func(key string, t *Tally) {
		golden := "–"
		if t.Goldens > 0 {
			golden = fmt.Sprintf("%d of %d", t.Golden, t.Goldens)
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d, %d | %s | %d |\n", key, t.Networks, t.Compare, t.Check, t.Both, t.Alarms, t.CheckAlarms, golden, t.Less)
	}
	var sum Tally
	rank := func(kind string) int {
		if kind == "none" {
			return 0
		}
		return 1
	}
	for _, key := range slices.SortedFunc(maps.Keys(tallies), func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) }) {
		t := tallies[key]
		line(key, t)
		sum.Networks, sum.Compare, sum.Check, sum.Both = sum.Networks+t.Networks, sum.Compare+t.Compare, sum.Check+t.Check, sum.Both+t.Both
		sum.Alarms, sum.CheckAlarms, sum.Less = sum.Alarms+t.Alarms, sum.CheckAlarms+t.CheckAlarms, sum.Less+t.Less
		sum.Golden, sum.Goldens = sum.Golden+t.Golden, sum.Goldens+t.Goldens
	}
	line("**all**", &sum)
}

// Cases are the options that a network of a seed is measured with: clean, and each way
// of being wrong.
func Cases(arch string, seed uint64) []Options {
	base := Options{Arch: arch, Seed: seed, Fused16: seed%3 == 1, DirtyPadding: seed%3 == 2}
	list := []Options{base}
	if seed%4 == 0 {
		list[0].Size = 2
	}
	for _, kind := range Faults {
		o := base
		o.Fault = kind
		list = append(list, o)
	}
	for _, kind := range Migrations {
		o := base
		o.Migration = kind
		list = append(list, o)
	}
	for _, kind := range Goldens {
		o := base
		o.Golden = kind
		list = append(list, o)
	}
	for _, kind := range Premises {
		o := base
		o.Premise = kind
		list = append(list, o)
	}
	return list
}
