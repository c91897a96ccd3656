package verdict

import (
	"errors"
	"slices"
	"testing"

	"precision/compare/result"
)

// wrongAt is a table of n operators whose errors begin at one.
func wrongAt(n, at int) *result.Table {
	return chain(n, func(t *result.Table) {
		if at >= 0 {
			t.Rows[at] = with(t.Rows[at], cosineRow(20, 0.1))
		}
	})
}

// prefixed puts a text before the names of the operators of a table.
func prefixed(text string, t *result.Table) *result.Table {
	for i := range t.Ops {
		t.Ops[i].Name, t.Rows[i].Op = text+t.Ops[i].Name, text+t.Rows[i].Op
		for k := range t.Ops[i].Inputs {
			t.Ops[i].Inputs[k].Op = text + t.Ops[i].Inputs[k].Op
		}
	}
	return t
}

// TestAfter: what an earlier verdict left open is decided by elements, and stands until these agree.
func TestAfter(t *testing.T) {
	first := Judge(wrongAt(6, 3), Options{})
	if len(first.Roots) != 1 || first.Operators[first.Roots[0].Operator].Op.Name != "op3" {
		t.Fatal("the first verdict has not the root it should have")
	}
	region := Judge(wrongAt(6, 3), Options{})
	region.Roots[0].Certainty, region.Roots[0].Region = Region, []string{"op1", "op2"}
	for _, c := range []struct {
		name    string
		old     *Judged
		now     *result.Table
		verdict Verdict
		outcome AfterOutcome
		roots   []int
	}{
		{"the same root", first, wrongAt(6, 3), Bad, AfterDecided, []int{0}},
		{"another of the region", region, wrongAt(6, 1), Bad, AfterDecided, []int{0}},
		{"something else", first, wrongAt(6, 5), Bad, AfterAgrees, nil},
		{"all agree", region, wrongAt(6, -1), Inconclusive, AfterAgrees, nil},
		{"the root was not recorded", first, wrongAt(3, -1), Bad, AfterOpen, nil},
		{"a part of the region was not recorded", region, wrongAt(3, -1), Bad, AfterOpen, nil},
	} {
		j := Judge(c.now, Options{After: c.old})
		a := j.After
		if a == nil || len(a.Roots) != 1 || j.Verdict != c.verdict || a.Roots[0].Outcome != c.outcome || !slices.Equal(a.Roots[0].Now, c.roots) {
			t.Errorf("%s: %v %+v, expected %v, %s, %v", c.name, j.Verdict, a, c.verdict, c.outcome, c.roots)
		}
	}
	for _, c := range []struct {
		name string
		old  *Judged
		now  *result.Table
		want AfterFault
	}{
		{"the same", first, wrongAt(6, 3), ""},
		{"a part of it", first, wrongAt(2, -1), ""},
		{"no roots", Judge(wrongAt(6, -1), Options{}), wrongAt(6, 3), AfterRootless},
		{"other operators", first, prefixed("x", wrongAt(6, -1)), AfterOther},
		{"no operators", first, &result.Table{}, AfterNothing},
		{"another rank", Judge(prefixed("step0/rank0/", wrongAt(6, 3)), Options{}), prefixed("step0/rank1/", wrongAt(2, -1)), AfterNothing},
	} {
		err := FitAfter(c.old, c.now, "")
		var e *AfterError
		if errors.As(err, &e); err != nil != (c.want != "") || e != nil && e.Fault != c.want {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
	}
}

// TestAfterAlone: a call that one side alone makes inside a module that was recorded again decides what the module was suspected of;
// without elements of the module nothing is decided.
func TestAfterAlone(t *testing.T) {
	const module, call = "Module.up.Linear.forward.0", "Torch.arange.0.forward"
	recorded := func(compared bool, roots ...Root) *Judged {
		table := &result.Table{Ops: []result.Operator{{Name: module, Uses: []string{call}}, {Name: call}}, Rows: []result.Row{{Op: module, Compared: compared}}}
		return &Judged{Table: table, Roots: roots, Operators: []Operator{{Op: &table.Ops[0], Outputs: []Tensor{{Row: 0, Verdict: Bad}}}, {Op: &table.Ops[1]}}}
	}
	first := recorded(true, Root{Operator: 0})
	alone := Root{Operator: 1, Causes: []Cause{{Kind: Alone}}}
	for compared, want := range map[bool]AfterOutcome{true: AfterDecided, false: AfterOpen} {
		if list := recorded(compared, alone).Became(first, ""); len(list) != 1 || list[0].Outcome != want {
			t.Errorf("compared %v: %+v", compared, list)
		}
	}
}
