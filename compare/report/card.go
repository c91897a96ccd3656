package report

import (
	"strings"

	"precision/compare/verdict"
	"precision/internal/clean"
)

// Card is what there is to say of a root, piece by piece, for faces that lay it
// out themselves.
type Card struct {
	// Type and Name are those of the operator; Origin says what it was made
	// from, empty where that is the operator of its own name.
	Type, Name, Origin string
	// Causes are in words, with value and limit.
	Causes []string
	// Kind says what kind of wrong it is, empty where that is not known.
	Kind string
	// Certainty says how far it is proven, Begins what a root of recordings begins
	// with; Noise that a second run is off as
	// much (or is empty), Follows who inherits and what is reached.
	Certainty, Begins, Noise, Follows string
	// Stack are the lines of the program that led to a call, the innermost first; none
	// where they were not recorded.
	Stack []string
}

// Card says what there is to say of a root.
func (t Text) Card(j *verdict.Judged, r *verdict.Root) Card {
	s := t.speaker()
	op := &j.Operators[r.Operator]
	c := Card{Type: clean.Line(op.Op.Type), Name: clean.Line(op.Op.Name), Origin: clean.Line(s.origin(op.Op))}
	row := j.Row(j.Worst(r))
	for _, text := range s.causes(row, r.Causes) {
		c.Causes = append(c.Causes, clean.Line(text))
	}
	c.Kind = s.kind(j, r)
	c.Certainty = clean.Line(s.certain(op, r, t.most()))
	var begins []string
	for _, l := range s.begins(j, op, r) {
		begins = append(begins, l.Segments[0].Text)
	}
	c.Begins = clean.Line(strings.Join(begins, s.say("also")))
	for _, frame := range callers(j, op) {
		c.Stack = append(c.Stack, clean.Line(frame))
	}
	if r.Noise {
		c.Noise = s.say("root.noise")
	}
	c.Follows = clean.Line(s.follows(j, r, t.most()))
	return c
}

// Ground says what the verdict rests on: coverage, profile, pairing, recordings,
// bits, baseline and warnings; and what stands out beside the roots.
func (t Text) Ground(j *verdict.Judged) []Line { return append(t.beside(j), t.ground(j)...) }
