package verdict

import (
	"fmt"
	"slices"
	"strings"

	"precision/compare/result"
)

// After is what a recording of a few calls, with their elements, makes of an earlier verdict on
// all calls, most of them by statistics.
type After struct {
	// Time is when the earlier comparison began, as RFC 3339, and Verdict what it came to.
	Time    string
	Verdict Verdict
	// Roots are its roots, the foremost first.
	Roots []AfterRoot
}

// AfterRoot is an earlier root.
type AfterRoot struct {
	Op string
	// Candidates are it and the operators that it might have been instead; Recorded are how many
	// of them were compared now by their elements.
	Candidates, Recorded int
	Outcome              AfterOutcome
	// Now are the roots of this table, as places in Judged.Roots, that are one of the candidates
	// or in one.
	Now []int
}

// AfterOutcome is what became of an earlier root.
type AfterOutcome string

// What becomes of one.
const (
	// AfterDecided: elements show where the error begins.
	AfterDecided AfterOutcome = "decided"
	// AfterAgrees: the elements of all candidates agree.
	AfterAgrees AfterOutcome = "agrees"
	// AfterOpen: candidates were not recorded, or nothing of them begins an error.
	AfterOpen AfterOutcome = "open"
)

// mostAfter bounds the earlier roots that are told of.
const mostAfter = 100

// AfterFault says why nothing goes on from an earlier table. Its text is its name in messages.
type AfterFault string

// Why nothing goes on from a table.
const (
	// AfterRootless: it names no root.
	AfterRootless AfterFault = "rootless"
	// AfterOther: it is of other operators.
	AfterOther AfterFault = "other"
	// AfterShapes: a tensor has another shape in it.
	AfterShapes AfterFault = "shapes"
)

// AfterError tells that nothing goes on from an earlier table.
type AfterError struct {
	Fault AfterFault
	// Common of All operators of this table are in the earlier one, or in its modules.
	Common, All int
	// Tensor has the shape Then in the earlier table and Now.
	Tensor    string
	Then, Now []int64
}

func (e *AfterError) Error() string {
	switch e.Fault {
	case AfterRootless:
		return "the earlier result names no root"
	case AfterShapes:
		return fmt.Sprintf("the earlier result is not of this network: %s has the shape %s in it, and %s here", e.Tensor, result.ShapeText(e.Then), result.ShapeText(e.Now))
	}
	return fmt.Sprintf("the earlier result is not of this network: %d of %d operators are in it", e.Common, e.All)
}

// unprefixed is a name without the step and rank before it, which a comparison of one pair of
// recordings leaves out.
func unprefixed(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// within lists an operator and everything that it takes part in being made of: the calls in a
// module, and in the modules in it.
func within(ops map[string]*result.Operator, name string) map[string]bool {
	seen := map[string]bool{name: true}
	for list := []string{name}; len(list) > 0; {
		op := ops[list[len(list)-1]]
		list = list[:len(list)-1]
		if op == nil || !strings.HasPrefix(unprefixed(op.Name), "Module.") && !strings.HasPrefix(unprefixed(op.Name), "Cell.") {
			continue
		}
		for _, u := range op.Uses {
			if !seen[u] {
				seen[u] = true
				list = append(list, u)
			}
		}
	}
	return seen
}

// FitAfter tells whether an earlier table, judged, is one to go on from: it names roots, and most of what
// is in this one is in it, in its shapes. A module that it has may have been opened since.
func FitAfter(old *Judged, now *result.Table) error {
	if len(old.Roots) == 0 {
		return &AfterError{Fault: AfterRootless}
	}
	one := onePart(old.Table) || onePart(now)
	key := func(name string) string {
		if one {
			return unprefixed(name)
		}
		return name
	}
	known := map[string]bool{}
	for name := range operatorsOf(old.Table) {
		known[key(name)] = true
	}
	ops := map[string]*result.Operator{}
	for i := range now.Ops {
		ops[now.Ops[i].Name] = &now.Ops[i]
	}
	inside := map[string]bool{}
	for name := range ops {
		if known[key(name)] {
			for part := range within(ops, name) {
				inside[part] = true
			}
		}
	}
	mine, common := operatorsOf(now), 0
	for name := range mine {
		if inside[name] {
			common++
		}
	}
	if 2*common < len(mine) || common == 0 {
		return &AfterError{Fault: AfterOther, Common: common, All: len(mine)}
	}
	before := map[string]*result.Row{}
	for i := range old.Table.Rows {
		before[key(old.Table.Rows[i].Tensor())] = &old.Table.Rows[i]
	}
	for i := range now.Rows {
		r := &now.Rows[i]
		if o := before[key(r.Tensor())]; o != nil && o.Left.Shape != nil && r.Left.Shape != nil && !slices.Equal(o.Left.Shape, r.Left.Shape) {
			return &AfterError{Fault: AfterShapes, Tensor: r.Tensor(), Then: o.Left.Shape, Now: r.Left.Shape}
		}
	}
	return nil
}

// onePart tells whether the names of a table have no step and rank before them.
func onePart(t *result.Table) bool {
	return !slices.ContainsFunc(t.Ops, func(op result.Operator) bool { return strings.Contains(op.Name, "/") })
}

// goOn settles the roots of an earlier verdict by this one, and makes of both one verdict: what the
// earlier one found stays found until the elements of all that it may have been agree.
func (j *judge) goOn(out *Judged, old *Judged) {
	a := &After{Verdict: old.Verdict}
	if t := old.Table.Meta.Time; !t.IsZero() {
		a.Time = t.Format("2006-01-02T15:04:05Z07:00")
	}
	one := onePart(old.Table) || onePart(j.table)
	key := func(name string) string {
		if one {
			return unprefixed(name)
		}
		return name
	}
	full, ops := map[string]*result.Operator{}, map[string]*result.Operator{}
	for i := range j.table.Ops {
		op := &j.table.Ops[i]
		full[op.Name], ops[key(op.Name)] = op, op
	}
	byElements, agrees := map[string]bool{}, map[string]bool{}
	for i := range out.Operators {
		op := &out.Operators[i]
		whole := len(op.Outputs) > 0
		for k := range op.Outputs {
			whole = whole && out.Row(&op.Outputs[k]).Compared
		}
		byElements[key(op.Op.Name)] = whole
		agrees[key(op.Op.Name)] = !slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return t.Verdict != Good })
	}
	uses := func(name string) map[string]bool { // of names as they are compared here
		keyed := map[string]bool{}
		if op := ops[name]; op != nil {
			for part := range within(full, op.Name) {
				keyed[key(part)] = true
			}
		}
		keyed[name] = true
		return keyed
	}
	settled := map[AfterOutcome]int{}
	for _, at := range old.Prominent() {
		if len(a.Roots) == mostAfter {
			break
		}
		root := &old.Roots[at]
		r := AfterRoot{Op: old.Operators[root.Operator].Op.Name, Outcome: AfterOpen}
		candidates := []string{key(r.Op)}
		for _, name := range root.Region {
			if !slices.Contains(candidates, key(name)) {
				candidates = append(candidates, key(name))
			}
		}
		r.Candidates = len(candidates)
		for _, name := range candidates {
			if byElements[name] {
				r.Recorded++
			}
			parts := uses(name)
			for i := range out.Roots {
				op := &out.Operators[out.Roots[i].Operator]
				elements := out.Row(&op.Outputs[out.Roots[i].Output]).Compared // statistics decide nothing anew
				if elements && parts[key(op.Op.Name)] && !slices.Contains(r.Now, i) {
					r.Now = append(r.Now, i)
				}
			}
		}
		switch {
		case len(r.Now) > 0:
			r.Outcome = AfterDecided
		case r.Recorded == r.Candidates && !slices.ContainsFunc(candidates, func(name string) bool { return !agrees[name] }):
			r.Outcome = AfterAgrees
		}
		slices.Sort(r.Now)
		settled[r.Outcome]++
		a.Roots = append(a.Roots, r)
	}
	out.After = a
	switch {
	case settled[AfterDecided]+settled[AfterOpen] > 0:
		out.Verdict = graver(out.Verdict, old.Verdict)
	case out.Verdict == Good:
		out.Verdict = Inconclusive // two recordings of the same two runs do not show the same
	}
}

// graver is the worse of two verdicts; where nothing could be judged, the other.
func graver(a, b Verdict) Verdict {
	for _, v := range []Verdict{Bad, Suspect, Inconclusive} {
		if a == v || b == v {
			return v
		}
	}
	return a
}
