package recording

import (
	"slices"
	"testing"
)

// Ranks are paired by number. Processes without one have other numbers in every run: only those
// of which there is no doubt are pairs.
func TestMatch(t *testing.T) {
	rank := func(n int) found { return found{rank: n, step: 0, file: "dump.json"} }
	process := func(n string) found { return found{rank: -1, step: 0, file: "dump.json", process: n} }
	later := func(r found) found { r.step = 1; return r }
	debug := process("7")
	debug.file = "debug.json"
	for name, c := range map[string]struct {
		left, right []found
		pairs, why  []string
	}{
		"single":          {[]found{rank(3)}, []found{process("9")}, []string{"step0/rank3 step0/proc9"}, nil},
		"ranks":           {[]found{rank(0), rank(1)}, []found{rank(1), rank(2)}, []string{"step0/rank1 step0/rank1"}, []string{"ranks-unpaired left step0/rank0", "ranks-unpaired right step0/rank2"}},
		"processes":       {[]found{process("7"), process("8")}, []found{process("17"), process("18")}, nil, []string{"processes-unpaired step0/proc7, step0/proc8 step0/proc17, step0/proc18"}},
		"an older one":    {[]found{process("7")}, []found{process("17"), process("18")}, nil, []string{"processes-unpaired step0/proc7 step0/proc17, step0/proc18"}},
		"the same run":    {[]found{process("7"), process("8")}, []found{process("7"), process("8")}, []string{"step0/proc7 step0/proc7", "step0/proc8 step0/proc8"}, nil},
		"one of each":     {[]found{rank(0), process("7")}, []found{rank(0), process("17")}, []string{"step0/rank0 step0/rank0", "step0/proc7 step0/proc17"}, nil},
		"another file":    {[]found{debug, process("7")}, []found{process("17"), rank(1)}, []string{"step0/proc7 step0/proc17"}, []string{"ranks-unpaired left step0/proc7/debug.json", "ranks-unpaired right step0/rank1"}},
		"one for all":     {[]found{rank(0), rank(1)}, []found{process("9")}, []string{"step0/rank0 step0/proc9", "step0/rank1 step0/proc9"}, nil},
		"one a step":      {[]found{rank(0), rank(1), later(rank(0))}, []found{process("9"), later(rank(0))}, []string{"step0/rank0 step0/proc9", "step0/rank1 step0/proc9", "step1/rank0 step1/rank0"}, nil},
		"another step":    {[]found{rank(0), rank(1)}, []found{later(process("9"))}, nil, []string{"ranks-unpaired left step0/rank0", "ranks-unpaired left step0/rank1", "ranks-unpaired right step1/proc9"}},
		"nothing in both": {[]found{rank(0)}, []found{rank(1), rank(2)}, nil, []string{"ranks-unpaired left step0/rank0", "ranks-unpaired right step0/rank1", "ranks-unpaired right step0/rank2"}},
	} {
		found, reasons, unpaired := match(c.left, c.right)
		var pairs, why []string
		for i := range found {
			pairs = append(pairs, found[i][0].name()+" "+found[i][1].name())
		}
		for _, r := range reasons {
			text := string(r.Kind)
			for _, a := range r.Args {
				text += " " + a
			}
			why = append(why, text)
		}
		used := map[string]bool{}
		for _, p := range found {
			used["left"+p[0].name()], used["right"+p[1].name()] = true, true
		}
		if n := len(c.left) + len(c.right) - len(used); n != unpaired {
			t.Errorf("%s: %d are left, not %d", name, n, unpaired)
		}
		if !slices.Equal(pairs, c.pairs) || !slices.Equal(why, c.why) {
			t.Errorf("%s: pairs %q, %q", name, pairs, why)
		}
	}
}
