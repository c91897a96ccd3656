package describe

import (
	"cmp"
	"precision/graph"
	"precision/internal/msg"
)

// Summary is an overview of a model in lines.
func Summary(lang msg.Lang, m *graph.Summary) string {
	s := &speaker{lang: lang}
	if m.Name == "" {
		s.add("head", m.Path, Source(lang, m.Source))
	} else {
		s.add("head.model", m.Path, Source(lang, m.Source), m.Name)
	}
	s.add("head.count", m.Ops, len(m.Graphs), m.Streams)
	s.end()
	for i := range m.Graphs {
		s.part(&m.Graphs[i])
	}
	s.line(0, "origin", m.Origins, m.Fused, m.Inserted, m.Unstated)
	if m.Dynamic > 0 {
		s.line(0, "dynamic", m.Dynamic)
	}
	s.field("types", s.counted(m.Types))
	s.field("dtypes", s.counted(m.DTypes))
	s.field("layouts", s.counted(m.Layouts))
	s.field("passes", s.counted(m.Passes))
	s.casts(m.Casts)
	s.options("options", graph.PrecisionOptions(m.Options))
	s.options("build", m.Build)
	for _, w := range m.Warnings {
		s.line(0, "warning", Warning(lang, w))
	}
	return s.b.String()
}

// part is the line of one graph of a model.
func (s *speaker) part(g *graph.GraphSummary) {
	s.indent(2)
	name := cmp.Or(g.Name, s.say("part.nameless"))
	s.add("part", name, g.Ops)
	if g.Session != "" {
		s.add("part.session", g.Session)
	}
	if g.Dynamic {
		s.add("part.dynamic")
	}
	if len(g.Calls) > 0 {
		s.add("part.calls", s.list(g.Calls))
	}
	s.end()
}

func (s *speaker) casts(list []*graph.Casts) {
	if len(list) > 0 {
		s.title("casts")
	}
	for _, c := range list {
		s.indent(2)
		s.add("casts.pair", s.orNone(c.From), s.orNone(c.To), len(c.Ops))
		if c.Rule != nil {
			s.add("casts.why", s.say("level."+c.Level().String()), Cast(s.lang, c.Rule))
		}
		s.end()
	}
}

func (s *speaker) options(title string, list []graph.Option) {
	if len(list) > 0 {
		s.title(title)
	}
	for _, o := range list {
		value := cmp.Or(o.Value, s.say("option.unset"))
		s.indent(2)
		s.add("option", o.Key, value)
		if o.Scope != "" {
			s.add("option.scope", s.say("scope."+o.Scope))
		}
		s.end()
	}
}

// How says how a graph was found.
func How(lang msg.Lang, how graph.MatchHow) string {
	return lang.T(map[graph.MatchHow]string{
		graph.MatchName: "how.name", graph.MatchAlias: "how.alias", graph.MatchTime: "how.time", graph.MatchOps: "how.ops",
	}[how])
}
