package result

import "strings"

// Placed cuts from a name the step and rank before it, step0/rank1/, which a comparison of one pair of
// recordings leaves out.
func Placed(name string) (place, rest string) {
	numbered := false
	for rest = name; ; {
		part, after, more := strings.Cut(rest, "/")
		number := strings.HasPrefix(part, "step") || strings.HasPrefix(part, "rank")
		number = number && len(part) > 4 && strings.Trim(part[4:], "0123456789") == ""
		if !more || !number && part != "proc" && part != "graph" && part != "pynative" {
			break
		}
		rest, numbered = after, numbered || number
	}
	if !numbered { // the name of an operator in a graph
		return "", name
	}
	return name[:len(name)-len(rest)], rest
}

// Join adds the operators and rows of a table of one rank and step to this one, under names that begin with where they
// are from, as a comparison of all of them at once has them.
func (t *Table) Join(o *Table, prefix string) {
	named := func(name string) string {
		if name == "" {
			return ""
		}
		return prefix + name
	}
	index, order := 0, 0
	for i := range t.Ops {
		index, order = max(index, t.Ops[i].Index+1), max(order, t.Ops[i].Order+1)
	}
	for _, op := range o.Ops {
		op.Name, op.Index, op.Order = named(op.Name), op.Index+index, op.Order+order
		inputs, uses := op.Inputs, op.Uses
		op.Inputs, op.Uses = make([]Port, len(inputs)), make([]string, len(uses))
		for k, in := range inputs {
			in.Op = named(in.Op)
			op.Inputs[k] = in
		}
		for k, name := range uses {
			op.Uses[k] = named(name)
		}
		t.Ops = append(t.Ops, op)
	}
	for _, r := range o.Rows {
		r.Op, r.Index, r.Facts.Order = named(r.Op), r.Index+index, r.Facts.Order+order
		r.Facts.Producer.Op = named(r.Facts.Producer.Op)
		if r.Recorded != nil {
			summary := *r.Recorded
			summary.Golden.Op, summary.Before.Op = named(summary.Golden.Op), named(summary.Before.Op)
			r.Recorded = &summary
		}
		t.Rows = append(t.Rows, r)
	}
}
