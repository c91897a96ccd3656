package oracle_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"precision/compare/engine"
	"precision/compare/look"
	"precision/compare/oracle"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/testdata/workshop/computed"
)

// compared is a computed network after compare and compare -check.
type compared struct {
	answer      computed.Answer
	plain, with *verdict.Judged
}

func compareComputed(t *testing.T, o computed.Options) (c compared, ok bool) {
	t.Helper()
	n, err := computed.New(o)
	if err != nil {
		return c, false // not every network can be wrong in every way
	}
	dir := t.TempDir()
	if c.answer, err = n.Write(dir); err != nil {
		t.Fatal(err)
	}
	c.plain, c.with = comparedIn(t, filepath.Join(dir, filepath.FromSlash(computed.DumpDir)), filepath.Join(dir, computed.GoldenDir), filepath.Join(dir, computed.GraphFile))
	return c, true
}

// comparedIn judges what compare, and compare -check, make of dumps and golden arrays.
func comparedIn(t *testing.T, left, right, graph string) (plain, with *verdict.Judged) {
	t.Helper()
	ctx := context.Background()
	run, err := engine.Job{Left: left, Right: right, Graph: graph}.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	found, err := run.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	table := *found.Table
	beside := &oracle.Golden{Dumps: run.Folders.Left, Folder: run.Folders.Right, Rules: run.Folders.Rules, Follow: verdict.Doubted(found.Table, verdict.Options{})}
	checks, err := oracle.Recompute(ctx, beside, run.Graph, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	table.Check(checks)
	if plain, err = look.Judge(ctx, run, found.Table, verdict.Options{}); err != nil {
		t.Fatal(err)
	}
	return plain, verdict.Judge(&table, verdict.Options{})
}

// kindOf is the kind of the root that names an operator; empty where none does.
func kindOf(j *verdict.Judged, op string) (verdict.RootKind, *verdict.Root) {
	for i := range j.Roots {
		if r := &j.Roots[i]; j.Operators[r.Operator].Op.Name == op {
			return r.Kind, r
		}
	}
	return "", nil
}

// What the framework computed otherwise is named, by compare and no less with a check,
// which tells it from a golden array that is wrong and accuses no one else.
func TestFrameworkComputedSomethingElse(t *testing.T) {
	wants := map[verdict.RootKind][]computed.Options{}
	for _, arch := range []string{"mobilenet", "unet", "lm"} {
		for _, kind := range computed.Migrations {
			wants[verdict.RootDiffers] = append(wants[verdict.RootDiffers], computed.Options{Arch: arch, Seed: 3, Migration: kind})
		}
		for _, kind := range computed.Goldens {
			wants[verdict.RootGolden] = append(wants[verdict.RootGolden], computed.Options{Arch: arch, Seed: 1, Golden: kind})
		}
	}
	for _, kind := range []string{"wrong", "stale"} { // of an operator that cannot be recomputed
		wants[verdict.RootGolden] = append(wants[verdict.RootGolden], computed.Options{Arch: "quantised", Seed: 12, Golden: kind})
	}
	for want, list := range wants {
		made := 0
		for _, o := range list {
			c, ok := compareComputed(t, o)
			if !ok {
				continue
			}
			made++
			name := fmt.Sprintf("%s %s%s: %+v", o.Arch, o.Migration, o.Golden, c.answer.Faults)
			culprits, named := map[string]bool{}, 0
			for _, f := range c.answer.Faults {
				culprits[f.Op] = true
				if kind, r := kindOf(c.with, f.Op); kind != want || !r.Followed {
					t.Errorf("%s: with a check %s is %q, expected %q", name, f.Op, kind, want)
				}
				if _, r := kindOf(c.plain, f.Op); r != nil {
					named++
				}
			}
			if named == 0 {
				t.Errorf("%s: nobody is named without a check", name)
			}
			for _, r := range c.with.Roots {
				if op := c.with.Operators[r.Operator].Op.Name; !culprits[op] {
					t.Errorf("%s: accuses %s", name, op)
				}
			}
			if c.with.Verdict < c.plain.Verdict {
				t.Errorf("%s: %s with a check, %s without", name, c.with.Verdict, c.plain.Verdict)
			}
		}
		if made < len(list)*3/4 {
			t.Errorf("%d of %d networks were made", made, len(list))
		}
	}
}

// A check never takes back what a comparison says without one: it names the culprit, too, is not good where
// the other is not, and accuses nobody where the recordings are of different things.
func TestCheckNamesNoLess(t *testing.T) {
	for _, arch := range computed.Archs() {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			cases := computed.Cases(arch, 730117)
			if arch == "detection" { // NaN that is thrown away, in other places on either side
				cases = append(cases, computed.Options{Arch: arch, Seed: 77001, Other: true, Premise: "mixed"})
			}
			for _, o := range cases {
				if !slices.Contains([]string{"mixed", "step", "weights", "weight"}, o.Premise) && o.Migration != "bias" && o.Migration != "attribute" {
					continue // what a kernel does wrong a check sees by itself
				}
				c, ok := compareComputed(t, o)
				if !ok {
					continue
				}
				if plain, with := outcomeOf(c.plain), outcomeOf(c.with); c.answer.Less(plain, with) {
					t.Errorf("%+v: %+v without a check, %+v", c.answer.Faults, plain, with)
				}
			}
		})
	}
}

// What runs between a quantiser and its dequantiser has no golden tensor, and is not good for that: an error that what went into
// the quantiser does not explain is told, with the operators that it may be, and a check names the kernel.
func TestBetweenQuantisers(t *testing.T) {
	for _, o := range []computed.Options{{Seed: 730117, Fault: "tail"}, {Seed: 730117, Migration: "bias"}, {Seed: 730117, Migration: "attribute"},
		{Seed: 91827365, Migration: "bias"}, {Seed: 880005}, {Seed: 880009}, {Seed: 880013}} {
		o.Arch, o.Fused16 = "quantised", o.Seed%3 == 1
		c, ok := compareComputed(t, o)
		if !ok {
			t.Fatalf("%+v cannot be made", o)
		}
		for how, j := range map[string]*verdict.Judged{"compare": c.plain, "compare -check": c.with} {
			if !c.answer.Right(outcomeOf(j)) {
				t.Errorf("%s: %+v: %+v", how, c.answer, outcomeOf(j))
			}
		}
		if o.Fault != "" && (len(c.with.Roots) != 1 || c.with.Roots[0].Kind != verdict.RootWrong || c.with.Coverage.Expected != c.plain.Coverage.Expected) {
			t.Errorf("%+v: with a check %+v, %+v expected", c.answer.Faults, c.with.Roots, c.with.Coverage)
		}
	}
}

// outcomeOf is a verdict as the score of computed networks takes it.
func outcomeOf(j *verdict.Judged) computed.Outcome {
	s := computed.Outcome{Verdict: j.Verdict.String(), Roots: make([]computed.Named, 0, len(j.Roots))}
	for i := range j.Roots {
		r := &j.Roots[i]
		s.Roots = append(s.Roots, computed.Named{Op: j.Operators[r.Operator].Op.Name, Kind: string(r.Kind), Region: r.Region})
	}
	return s
}

// Another attribute is found and named with both values.
func TestAttributeIsFound(t *testing.T) {
	found := map[string]bool{}
	for _, o := range []computed.Options{{Arch: "unet", Seed: 1}, {Arch: "lm", Seed: 1}, {Arch: "lm", Seed: 2}, {Arch: "lm", Seed: 4}, {Arch: "mobilenet", Seed: 4},
		{Arch: "training", Seed: 884349741}} { // behind choices that differ
		o.Migration = "attribute"
		c, ok := compareComputed(t, o)
		if !ok {
			continue
		}
		f := c.answer.Faults[0]
		_, r := kindOf(c.with, f.Op)
		if r == nil {
			t.Errorf("%s, %+v: not named", o.Arch, f)
			continue
		}
		why := c.with.Why(r)
		at := slices.IndexFunc(why, func(w result.Reason) bool { return w.Kind == result.GoldenAttribute })
		if at < 0 {
			t.Errorf("%s, %+v: %v", o.Arch, f, why)
			continue
		}
		found[why[at].Args[0]] = true
		t.Log(f.How, why[at].Args)
	}
	if len(found) < 3 {
		t.Errorf("only %v", found)
	}
}

// What is said of why golden differs is said of the networks it is true of, and of none of which it is not.
func TestGoldenReasons(t *testing.T) {
	migration := func(arch, kind string, seed uint64) computed.Options {
		return computed.Options{Arch: arch, Seed: seed, Migration: kind}
	}
	golden := func(kind string) computed.Options {
		return computed.Options{Arch: "mobilenet", Seed: 1, Golden: kind}
	}
	scaled, bare, others := migration("unet", "weight", 2), migration("mobilenet", "bias", 2), migration("mobilenet", "bias", 1)
	for kind, c := range map[result.Kind][2]computed.Options{
		result.GoldenAttribute: {migration("mobilenet", "attribute", 1), others},
		result.GoldenWithout:   {bare, others},
		result.GoldenScaled:    {scaled, bare},
		result.GoldenUsed:      {bare, golden("stale")},
		result.GoldenUnused:    {golden("stale"), bare},
		result.GoldenEquals:    {golden("exchanged"), golden("stale")},
		result.GoldenPlaces:    {golden("stale"), bare},
	} {
		for i, o := range c {
			found, ok := compareComputed(t, o)
			if !ok || len(found.with.Roots) == 0 {
				t.Fatalf("%s: no network, or no root: %+v", kind, o)
			}
			named := false
			for k := range found.with.Roots {
				named = named || slices.ContainsFunc(found.with.Why(&found.with.Roots[k]), func(w result.Reason) bool { return w.Kind == kind })
			}
			if named != (i == 0) {
				t.Errorf("%s is said of %+v: %v", kind, found.answer.Faults, named)
			}
		}
	}
}

// A factor near 0 explains no golden array though it takes off what is large, as a mask.
func TestNoFactorOfMasks(t *testing.T) {
	const seed = 33550336
	c, ok := compareComputed(t, computed.Options{Arch: "lm", Seed: seed, Golden: "exchanged", Fused16: seed%3 == 1, DirtyPadding: seed%3 == 2})
	if !ok || len(c.with.Roots) != 2 {
		t.Fatalf("%+v", c)
	}
	for i := range c.with.Roots {
		for _, why := range c.with.Why(&c.with.Roots[i]) {
			if why.Kind == result.GoldenScaled {
				t.Errorf("%s: %v", c.with.Operators[c.with.Roots[i].Operator].Op.Name, why)
			}
		}
	}
}

// A clean network stays clean, and nothing of its golden side is recomputed.
func TestCleanGolden(t *testing.T) {
	for _, arch := range []string{"lstm", "mobilenet", "unet", "recommender"} {
		c, ok := compareComputed(t, computed.Options{Arch: arch, Seed: 7})
		if !ok {
			t.Fatal(arch)
		}
		if c.with.Verdict != verdict.Good || len(c.with.Roots) > 0 {
			t.Errorf("%s: %s, %d roots", arch, c.with.Verdict, len(c.with.Roots))
		}
	}
}
