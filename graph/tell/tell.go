// Package tell says to people what packages graph and fusion found in a graph: an overview, an
// operator, the differences of two builds, the passes that fired, in two languages.
package tell

import (
	"embed"
	"strconv"
	"strings"

	"precision/graph"
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
	args := make([]any, len(n.Args))
	for i, a := range n.Args {
		args[i] = a
	}
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
	list := make([]string, len(counts))
	for i, c := range counts {
		list[i] = s.orNone(c.Name) + " " + strconv.Itoa(c.N)
	}
	return s.list(list)
}

func (s *speaker) orNone(name string) string {
	if name == "" {
		return s.say("none")
	}
	return name
}
