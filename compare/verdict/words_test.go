package verdict

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump/dtype"
)

// randomCase is a network with checks in the language of the cases: operators that differ,
// inherit, or were not compared, and what recomputing them may say.
func randomCase(r *rand.Rand) (network, checks string) {
	var b, c strings.Builder
	types := []string{"Relu", "Conv2D", "Add", "SoftmaxV2", "Exp", "TransData", "LayerNorm"}
	b.WriteString("op data Data feed\nop w Const const\n")
	n := 2 + r.IntN(10)
	off := []float64{0, 0} // distance of what an operator gives
	names := []string{"data", "w"}
	var rows strings.Builder
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		var in []string
		worst := 0.0
		for range 1 + r.IntN(2) {
			at := max(0, len(names)-1-r.IntN(4))
			slot := len(in)
			in = append(in, names[at])
			worst = max(worst, off[at])
			switch {
			case r.IntN(4) == 0:
				fmt.Fprintf(&rows, "in %s %d none=no-right-tensor\n", name, slot)
			case r.IntN(12) == 0: // what arrives is not what was sent
				fmt.Fprintf(&rows, "in %s %d dist=%g\n", name, slot, 0.5)
			case off[at] == 0:
				fmt.Fprintf(&rows, "in %s %d same\n", name, slot)
			default:
				fmt.Fprintf(&rows, "in %s %d dist=%g\n", name, slot, off[at])
			}
		}
		mine := max(worst, 3e-4)
		switch r.IntN(5) {
		case 0:
			mine = []float64{0.01, 0.1, 0.3, 0.9}[r.IntN(4)]
		case 1:
			mine = max(mine/3, 3e-4)
		}
		fmt.Fprintf(&b, "op %s %s %s", name, types[r.IntN(len(types))], strings.Join(in, ","))
		if i == n-1 || r.IntN(8) == 0 {
			b.WriteString(" final")
		}
		b.WriteByte('\n')
		switch r.IntN(8) {
		case 0:
			fmt.Fprintf(&rows, "out %s 0 none=no-right-tensor\n", name)
		case 1:
			fmt.Fprintf(&rows, "out %s 0 dist=%g nan=%d\n", name, mine, r.IntN(2))
		default:
			fmt.Fprintf(&rows, "out %s 0 dist=%g\n", name, mine)
		}
		names, off = append(names, name), append(off, mine)
		switch r.IntN(8) {
		case 0:
			fmt.Fprintf(&c, "check %s wrong\n", name)
		case 1:
			fmt.Fprintf(&c, "check %s unknown\n", name)
		case 2:
		case 3:
			fmt.Fprintf(&c, "check %s ok\n", name)
		case 4:
			fmt.Fprintf(&c, "check %s ok golden=differs\n", name)
		case 5:
			fmt.Fprintf(&c, "check %s ok golden=wrong\n", name)
		default:
			fmt.Fprintf(&c, "check %s ok golden=follows\n", name)
		}
	}
	return b.String() + rows.String(), c.String()
}

// Nothing is bad or suspect without a root or a region that is named, and asking for a
// check makes no root vanish but one that it explains by another.
func TestCheckNamesNoLess(t *testing.T) {
	bad, acquitted, blamed := 0, 0, 0
	for seed := range uint64(2000) {
		network, checks := randomCase(rand.New(rand.NewPCG(seed, 26)))
		table, opts := parseNetwork(t, "random", network)
		plain := Judge(table, opts)
		table, opts = parseNetwork(t, "random", network+checks)
		with := Judge(table, opts)
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: %s\n%s%s----\n%s----\n%s", seed, fmt.Sprintf(format, args...), network, checks, describe(plain), describe(with))
		}
		rootAt := func(j *Judged, name string) *Root {
			for i := range j.Roots {
				if j.Operators[j.Roots[i].Operator].Op.Name == name {
					return &j.Roots[i]
				}
			}
			return nil
		}
		for _, j := range []*Judged{plain, with} {
			if (j.Verdict == Bad || j.Verdict == Suspect) && len(j.Roots) == 0 {
				fail("%s without a root", j.Verdict)
			}
			for i := range j.Operators {
				if op := &j.Operators[i]; op.State == StateInherited && len(op.From) == 0 && !slices.ContainsFunc(j.Premises, func(p Premise) bool { return p.Broken }) {
					fail("%s inherits from nothing", op.Op.Name)
				}
			}
			for i := range j.Roots {
				r := &j.Roots[i]
				if measured := len(r.Uncompared) == 0; r.Certainty == Certain && !measured && !r.Recomputed {
					fail("certain, with inputs that were not compared: %v", r.Uncompared)
				}
			}
		}
		if with.Verdict < plain.Verdict && plain.Verdict == Bad {
			fail("%s with a check, %s without", with.Verdict, plain.Verdict)
		}
		if plain.Verdict == Bad {
			bad++
		}
		for i := range plain.Roots {
			name := plain.Operators[plain.Roots[i].Operator].Op.Name
			if rootAt(with, name) != nil {
				blamed++
				continue
			}
			op := with.Find(name)
			word, _ := op.checkWord()
			switch {
			case slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return t.checkWord() == checkFollows }) &&
				(len(op.From) > 0 || op.State == StateGood || op.State == StateSuspect):
				acquitted++ // both sides were recomputed: what its inputs make it
			case len(op.From) > 0 && slices.ContainsFunc(op.From, func(k int) bool { return !wasRoot(plain, with, k) }):
				acquitted++ // it inherits from a root that a check alone sees
			default:
				fail("%s was a root and is none, though the check says %d", name, word)
			}
		}
	}
	if bad < 500 || acquitted < 50 || blamed < 500 {
		t.Errorf("%d bad networks, %d roots acquitted and %d not: these networks test nothing", bad, acquitted, blamed)
	}
}

// wasRoot tells whether a root of one judgement is one of another, too.
func wasRoot(other, j *Judged, root int) bool {
	name := j.Operators[j.Roots[root].Operator].Op.Name
	return slices.ContainsFunc(other.Roots, func(r Root) bool { return other.Operators[r.Operator].Op.Name == name })
}

// A call is certain to be a root only if what its recordings say of each input is the same.
func TestCertainCall(t *testing.T) {
	summary := func(norm float64) *result.Summary {
		return &result.Summary{Class: "torch.Tensor", Known: result.KnownMax | result.KnownMin | result.KnownMean | result.KnownNorm,
			Stats: result.Stats{Max: norm / 2, Min: -norm / 2, Mean: norm / 10, Norm: norm}}
	}
	for _, measured := range []bool{true, false} {
		const name = "Functional.linear.0.forward"
		row := func(role result.Role, slot int, left, right float64, both, same int32) result.Row {
			operand := result.Operand{DType: dtype.Float32, Shape: []int64{16}}
			r := result.Row{Op: name, Type: "linear", Role: role, Slot: slot, Left: operand, Right: operand, Shape: []int64{16},
				Recorded: &result.Recorded{Left: summary(left), Right: summary(right), Both: both, Same: same}}
			return r
		}
		table := &result.Table{Meta: result.Meta{Recorded: true, Pairing: result.Pairing{How: result.Aligned}},
			Ops: []result.Operator{{Name: name, Type: "linear", Outputs: 1, Dumped: true}}}
		table.Rows = []result.Row{row(result.Input, 0, 4, 4, 4, 4), row(result.Input, 1, 4, 4, 4, 4), row(result.Output, 0, 4, 9, 4, 0)}
		if !measured {
			table.Rows[1].Recorded.Both, table.Rows[1].Recorded.Same = 0, 0
		}
		j := Judge(table, Options{})
		if len(j.Roots) != 1 || (j.Roots[0].Certainty == Certain) != measured || (len(j.Roots[0].Uncompared) == 0) != measured {
			t.Errorf("told %t: %+v", measured, j.Roots)
		}
	}
}

// What a check says of a call is heard: one that is wrong is a root even where golden has the same,
// and one whose golden side does not follow is told as that. No check takes a root away.
func TestCheckedCall(t *testing.T) {
	summary := func(norm float64) *result.Summary {
		return &result.Summary{Class: "torch.Tensor", Known: result.KnownMax | result.KnownMin | result.KnownMean | result.KnownNorm,
			Stats: result.Stats{Max: norm / 2, Min: -norm / 2, Mean: norm / 10, Norm: norm}}
	}
	const first, second = "Functional.linear.0.forward", "Functional.relu.0.forward"
	for _, c := range []struct {
		name          string
		first, second float64 // norms on the left; golden has 4
		check         result.Check
		roots         string
	}{
		{"same", 4, 4, result.Check{Op: first, Known: true}, ""},
		{"wrong on both sides", 4, 4, result.Check{Op: first, Known: true, Wrong: true, Ratio: 9}, first + " wrong certain"},
		{"differs and follows", 9, 9, result.Check{Op: first, Known: true}, first + " differs certain"},
		{"wrong", 9, 9, result.Check{Op: first, Known: true, Wrong: true, Ratio: 9}, first + " wrong certain"},
		{"golden", 9, 9, result.Check{Op: first, Known: true, Golden: result.GoldenWrong}, first + " golden certain"},
		{"behind", 9, 9, result.Check{Op: second, Known: true, Wrong: true, Ratio: 9}, first + " differs certain, " + second + " wrong certain"},
		{"unknown", 9, 9, result.Check{Op: first}, first + " differs certain"},
	} {
		row := func(op string, role result.Role, left float64) result.Row {
			operand := result.Operand{DType: dtype.Float32, Shape: []int64{16}}
			r := result.Row{Op: op, Type: "linear", Role: role, Left: operand, Right: operand, Shape: []int64{16},
				Recorded: &result.Recorded{Left: summary(left), Right: summary(4), Both: 4}}
			if left == 4 {
				r.Recorded.Same = 4
			}
			return r
		}
		table := &result.Table{Meta: result.Meta{Recorded: true, Pairing: result.Pairing{How: result.Aligned}}, Checks: []result.Check{c.check},
			Ops: []result.Operator{{Name: first, Type: "linear", Outputs: 1, Dumped: true}, {Name: second, Type: "linear", Outputs: 1, Order: 1, Dumped: true}}}
		table.Rows = []result.Row{row(first, result.Input, 4), row(first, result.Output, c.first), row(second, result.Input, c.first), row(second, result.Output, c.second)}
		table.Rows[2].Facts.Producer = result.Port{Op: first}
		j := Judge(table, Options{})
		var roots []string
		for _, r := range j.Roots {
			roots = append(roots, fmt.Sprint(j.Operators[r.Operator].Op.Name, " ", r.Kind, " ", r.Certainty))
		}
		if got := strings.Join(roots, ", "); got != c.roots || (j.Verdict == Good) != (got == "") {
			t.Errorf("%s: %s, roots %q, expected %q", c.name, j.Verdict, got, c.roots)
		}
	}
}
