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
	Op string `json:"op"`
	// Candidates are it and the operators that it might have been instead; Recorded are how many
	// of them were compared now by their elements.
	Candidates int          `json:"candidates"`
	Recorded   int          `json:"recorded"`
	Outcome    AfterOutcome `json:"outcome"`
	// Now are the roots of this table, as places in Judged.Roots, that are one of the candidates
	// or in one.
	Now []int `json:"-"`
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
	// AfterNothing: of its ranks and steps there is nothing in this one.
	AfterNothing AfterFault = "nothing"
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
	case AfterNothing:
		return "nothing of the ranks and steps of the earlier result is in this one"
	case AfterShapes:
		return fmt.Sprintf("the earlier result is not of this network: %s has the shape %s in it, and %s here", e.Tensor, result.ShapeText(e.Then), result.ShapeText(e.Now))
	}
	return fmt.Sprintf("the earlier result is not of this network: %d of %d operators are in it", e.Common, e.All)
}

// unprefixed is a name without the step and rank before it.
func unprefixed(name string) string {
	_, rest := result.Placed(name)
	return rest
}

// placeOf is the step and rank before a name.
func placeOf(name string) string {
	place, _ := result.Placed(name)
	return place
}

// keys say how the operators of an earlier table and of one are called so that the same ones have one name. A table of one
// rank and step, which has no names for them, is of the part that it is told to be, or of the only one that there is.
func keys(old, now *result.Table, part string) (then, at func(string) string) {
	same := func(name string) string { return name }
	switch then, at := onePart(old), onePart(now); {
	case then == at:
		return same, same
	case at && part != "":
		return same, func(name string) string { return part + name }
	}
	return unprefixed, unprefixed
}

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
// What is of ranks and steps that the earlier one does not have, as that of a job, counts neither way. part is as in [Options].
func FitAfter(old *Judged, now *result.Table, part string) error {
	if len(old.Roots) == 0 {
		return &AfterError{Fault: AfterRootless}
	}
	then, at := keys(old.Table, now, part)
	known, parts := map[string]bool{}, map[string]bool{}
	for name := range operatorsOf(old.Table) {
		known[then(name)], parts[placeOf(then(name))] = true, true
	}
	ops := map[string]*result.Operator{}
	for i := range now.Ops {
		ops[now.Ops[i].Name] = &now.Ops[i]
	}
	inside := map[string]bool{}
	for name := range ops {
		if known[at(name)] {
			for part := range within(ops, name) {
				inside[part] = true
			}
		}
	}
	all, common := 0, 0
	for name := range operatorsOf(now) {
		if !parts[placeOf(at(name))] {
			continue
		}
		if all++; inside[name] {
			common++
		}
	}
	if all == 0 {
		return &AfterError{Fault: AfterNothing}
	}
	if 2*common < all || common == 0 {
		return &AfterError{Fault: AfterOther, Common: common, All: all}
	}
	before := map[string]*result.Row{}
	for i := range old.Table.Rows {
		before[then(old.Table.Rows[i].Tensor())] = &old.Table.Rows[i]
	}
	for i := range now.Rows {
		r := &now.Rows[i]
		if o := before[at(r.Tensor())]; o != nil && o.Left.Shape != nil && r.Left.Shape != nil && !slices.Equal(o.Left.Shape, r.Left.Shape) {
			return &AfterError{Fault: AfterShapes, Tensor: r.Tensor(), Then: o.Left.Shape, Now: r.Left.Shape}
		}
	}
	return nil
}

// onePart tells whether the names of a table have no step and rank before them.
func onePart(t *result.Table) bool {
	return !slices.ContainsFunc(t.Ops, func(op result.Operator) bool { return placeOf(op.Name) != "" })
}

// goOn settles the roots of an earlier verdict by this one, and makes of both one verdict: what the
// earlier one found stays found until the elements of all that it may have been agree.
func (j *judge) goOn(out *Judged, old *Judged) {
	a := &After{Verdict: old.Verdict, Roots: out.became(old, j.opts.Part, false)}
	if t := old.Table.Meta.Time; !t.IsZero() {
		a.Time = t.Format("2006-01-02T15:04:05Z07:00")
	}
	out.After = a
	out.Verdict = a.Together(out.Verdict)
}

// Together is the verdict of both, where now is that of this table alone.
func (a *After) Together(now Verdict) Verdict {
	switch {
	case slices.ContainsFunc(a.Roots, func(r AfterRoot) bool { return r.Outcome != AfterAgrees }):
		return graver(now, a.Verdict)
	case now == Good:
		return Inconclusive // two recordings of the same two runs do not show the same
	}
	return now
}

// Became is what became of the roots of an earlier verdict in one rank and step of a job, named as in
// [Options].Part: of each as much as it may be there, nothing of those that are elsewhere.
func (j *Judged) Became(old *Judged, part string) []AfterRoot { return j.became(old, part, true) }

func (j *Judged) became(old *Judged, part string, ofJob bool) (list []AfterRoot) {
	then, key := keys(old.Table, j.Table, part)
	full, ops := map[string]*result.Operator{}, map[string]*result.Operator{}
	for i := range j.Table.Ops {
		op := &j.Table.Ops[i]
		full[op.Name], ops[key(op.Name)] = op, op
	}
	byElements, agrees := map[string]bool{}, map[string]bool{}
	for i := range j.Operators {
		op := &j.Operators[i]
		whole := len(op.Outputs) > 0
		for k := range op.Outputs {
			whole = whole && j.Row(&op.Outputs[k]).Compared
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
	for _, at := range old.Prominent() {
		if len(list) == mostAfter {
			break
		}
		root := &old.Roots[at]
		r := AfterRoot{Op: old.Operators[root.Operator].Op.Name, Outcome: AfterOpen}
		var candidates []string
		names := append([]string{r.Op}, root.Region...)
		taker := old.Taker(root)
		if taker != "" {
			names = append(names, taker)
		}
		for _, name := range names {
			place := placeOf(then(name))
			if name = then(name); !slices.Contains(candidates, name) && (!ofJob || place == "" || place == part) {
				candidates = append(candidates, name)
			}
		}
		if r.Candidates = len(candidates); r.Candidates == 0 {
			continue
		}
		for _, name := range candidates {
			if byElements[name] {
				r.Recorded++
			}
			parts := uses(name)
			for i := range j.Roots {
				op := &j.Operators[j.Roots[i].Operator]
				elements := len(op.Outputs)+len(op.Inputs) > 0 && j.Row(j.Worst(&j.Roots[i])).Compared || // statistics decide nothing anew
					j.Taker(&j.Roots[i]) != "" && j.Table.Rows[j.Roots[i].Begin.Row].Compared ||
					// A call in a module that one side alone makes has no elements on the other; the module has.
					byElements[name] && key(op.Op.Name) != name && slices.ContainsFunc(j.Roots[i].Causes, func(c Cause) bool { return c.Kind == Alone })
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
		list = append(list, r)
	}
	return list
}

// Taker is the call that takes what a root makes, or leaves out, where that is told by its input: of a call that one side
// alone has. It is empty for other roots.
func (j *Judged) Taker(r *Root) string {
	if r.Begin == nil || j.Table.Rows[r.Begin.Row].Op == j.Operators[r.Operator].Op.Name {
		return ""
	}
	return j.Table.Rows[r.Begin.Row].Op
}

// Join adds what became of a root in another rank and step of a job.
func (r *AfterRoot) Join(o AfterRoot) {
	outcome := AfterOpen
	switch {
	case r.Outcome == AfterDecided || o.Outcome == AfterDecided:
		outcome = AfterDecided
	case r.Outcome == AfterAgrees && o.Outcome == AfterAgrees:
		outcome = AfterAgrees
	}
	r.Outcome, r.Candidates, r.Recorded = outcome, r.Candidates+o.Candidates, r.Recorded+o.Recorded
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
