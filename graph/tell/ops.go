package tell

import (
	"fmt"
	"strings"

	"precision/graph"
	"precision/internal/msg"
)

// Ops lists operators with the graph fusion passes that made them, and counts them.
func Ops(lang msg.Lang, ops []*graph.Op) string {
	s := &speaker{lang: lang}
	for _, op := range ops {
		fmt.Fprintf(&s.b, "[%s][%s] %s\n", op.Type, strings.Join(op.Passes(), ","), op.Name)
	}
	s.line(0, "ops", len(ops))
	return s.b.String()
}

// Types lists types with how many operators each has. It has no words.
func Types(counts []graph.Count) string {
	var b strings.Builder
	for _, c := range counts {
		fmt.Fprintf(&b, "%6d  %s\n", c.N, c.Name)
	}
	return b.String()
}

// Candidates lists the operators that someone may have meant with a name that none has.
func Candidates(lang msg.Lang, name string, ops []*graph.Op) string {
	s := &speaker{lang: lang}
	s.line(0, "maybe", name)
	for _, op := range ops {
		s.b.WriteString("  " + s.typed(op) + "\n")
	}
	return s.b.String()
}

// typed is an operator with its type.
func (s *speaker) typed(op *graph.Op) string { return "[" + op.Type + "] " + op.Name }
