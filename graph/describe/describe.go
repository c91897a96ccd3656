// Package describe says to people what packages graph and fusion found in a graph: an overview, an
// operator, the differences of two builds, the passes that fired, in two languages.
package describe

import (
	"cmp"
	"embed"
	"fmt"
	"strconv"
	"strings"

	"precision/graph"
	"precision/graph/fusion"
	"precision/internal/each"
	"precision/internal/msg"
)

//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Cast says what a cast that a rule is about can do, "" for a rule without a text.
func Cast(lang msg.Lang, r *graph.CastRule) string {
	if key := "graph.cast." + r.From + "." + r.To; lang.Has(key) {
		return lang.T(key)
	}
	return ""
}

// Note says where a peer of an operator was found.
func Note(lang msg.Lang, n graph.Note) string {
	args := each.Of(n.Args, func(a string) any { return a })
	return lang.T("graph.note."+string(n.Kind), args...)
}

// Source names the kind of file a graph was read from.
func Source(lang msg.Lang, s graph.Source) string { return lang.T("graph.source." + s.String()) }

// speaker gathers lines.
type speaker struct {
	lang msg.Lang
	b    strings.Builder
}

func (s *speaker) say(key string, args ...any) string { return s.lang.T("graph."+key, args...) }

// add adds a message to the line.
func (s *speaker) add(key string, args ...any) { s.b.WriteString(s.say(key, args...)) }

// end ends the line.
func (s *speaker) end() { s.b.WriteByte('\n') }

// line adds a message as a line, indented by some columns.
func (s *speaker) line(indent int, key string, args ...any) {
	s.indent(indent)
	s.add(key, args...)
	s.end()
}

func (s *speaker) indent(columns int) {
	for range columns {
		s.b.WriteByte(' ')
	}
}

// field adds a line of a label and a text, if there is one.
func (s *speaker) field(label, text string) {
	if text != "" {
		s.line(0, "field", s.say(label), text)
	}
}

// title adds a line that names those below it.
func (s *speaker) title(label string) { s.line(0, "title", s.say(label)) }

// list joins what is told in one breath.
func (s *speaker) list(names []string) string { return strings.Join(names, s.say("comma")) }

// counted lists names with how often they occur.
func (s *speaker) counted(counts []graph.Count) string {
	list := each.Of(counts, func(c graph.Count) string { return s.orNone(c.Name) + " " + strconv.Itoa(c.N) })
	return s.list(list)
}

func (s *speaker) orNone(name string) string {
	if name == "" {
		return s.say("none")
	}
	return name
}

// Fusion lists the fusion passes that took effect, or all if all is set, graph by graph.
func Fusion(lang msg.Lang, stats []fusion.Stats, all bool) string {
	s := &speaker{lang: lang}
	for _, g := range stats {
		id := cmp.Or(g.GraphID, s.say("fusion.noid"))
		s.line(0, "fusion", id)
		s.passes("fusion.graph", g.Graph, all)
		s.passes("fusion.ub", g.UB, all)
	}
	return s.b.String()
}

func (s *speaker) passes(key string, passes []fusion.PassStats, all bool) {
	for _, p := range passes {
		if p.Effect > 0 || all {
			s.line(2, key, p.Name, int(p.Effect), int(p.Match))
		}
	}
}

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
