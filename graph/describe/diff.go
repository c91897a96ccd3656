package describe

import (
	"precision/graph"
	"precision/internal/each"
	"precision/internal/msg"
)

// Diff tells in lines what differs between two builds: what changes precision first.
func Diff(lang msg.Lang, d *graph.Diff) string {
	s := &speaker{lang: lang}
	if d.Empty() {
		s.line(0, "diff.none", d.Same)
		return s.b.String()
	}
	s.line(0, "field", "A", d.A.Path)
	s.line(0, "field", "B", d.B.Path)
	var precision, rest []*graph.OpChange
	for i := range d.Changed {
		if c := &d.Changed[i]; c.Precision() {
			precision = append(precision, c)
		} else {
			rest = append(rest, c)
		}
	}
	s.line(0, "diff.count", d.Same, len(precision), len(rest), len(d.Fused), len(d.Removed), len(d.Added))
	s.changes("diff.precision", precision)
	if len(d.Fused) > 0 {
		s.title("diff.fused")
	}
	for _, f := range d.Fused {
		s.b.WriteString("  " + s.list(f.Origins) + "\n")
		s.line(4, "field", "A", s.typedList(f.A))
		s.line(4, "field", "B", s.typedList(f.B))
	}
	s.refs("diff.removed", d.Removed)
	s.refs("diff.added", d.Added)
	s.changes("diff.rest", rest)
	return s.b.String()
}

// Change says what differs about an input or output of an operator, or that its type does.
func Change(lang msg.Lang, c graph.PortChange) string {
	s := &speaker{lang: lang}
	a, b := s.orNone(c.A), s.orNone(c.B)
	side := "output"
	if c.Input {
		side = "input"
	}
	switch {
	case c.Field == graph.FieldType:
		return s.say("change.type", a, b)
	case c.Field == graph.FieldCount:
		return s.say("change."+side+"s", a, b)
	}
	return s.say("change."+side+"."+string(c.Field), c.Index, a, b)
}

// changes tells of operators that both builds have.
func (s *speaker) changes(title string, list []*graph.OpChange) {
	if len(list) > 0 {
		s.title(title)
	}
	for _, c := range list {
		s.ref(&c.OpRef)
		if c.B.Name != c.Op.Name {
			s.add("diff.other", c.B.Name)
		}
		s.end()
		for _, p := range c.Changes {
			s.b.WriteString("    " + Change(s.lang, p) + "\n")
		}
	}
}

// refs tells of operators that one build has.
func (s *speaker) refs(title string, list []graph.OpRef) {
	if len(list) > 0 {
		s.title(title)
	}
	for i := range list {
		r := &list[i]
		s.ref(r)
		if from, to := graph.CastTypes(r.Op); r.Op.Type == "Cast" {
			s.add("diff.cast", s.orNone(from), s.orNone(to))
		}
		s.end()
	}
}

// ref names an operator and, where its name does not say them, the framework operators it
// stands for or lies between.
func (s *speaker) ref(r *graph.OpRef) {
	s.b.WriteString("  " + s.typed(r.Op))
	switch {
	case !r.Inserted:
		if named := len(r.Origins) == 1 && r.Origins[0] == r.Op.Name; !named && len(r.Origins) > 0 {
			s.add("diff.of", s.list(r.Origins))
		}
	case r.From != "" || r.To != "":
		s.add("diff.between", s.orNone(r.From), s.orNone(r.To))
	default:
		s.add("diff.inserted")
	}
}

func (s *speaker) typedList(ops []*graph.Op) string {
	names := each.Of(ops, s.typed)
	return s.list(names)
}
