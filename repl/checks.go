package repl

import (
	"fmt"
	"strconv"
	"strings"

	"precision/graph"
)

// fusions shows which fusion passes took effect, graph by graph. It is an error
// if the file that tells cannot be read.
func (s *session) fusions() (code int) {
	path := s.data.fusion()
	if path == "" {
		s.say("fusion.none", s.data.path("fusion"))
		return exitOK
	}
	stats, err := graph.OpenFusionResult(path)
	if err != nil {
		s.fail("error", err)
		return exitError
	}
	shown, in := 0, s.scr.inside()
	for _, g := range stats {
		table := func(title string, passes []graph.PassStats) string {
			var rows [][]string
			for _, p := range passes {
				if p.Effect > 0 {
					rows = append(rows, []string{clean(p.Name), strconv.FormatInt(p.Effect, 10), strconv.FormatInt(p.Match, 10)})
				}
			}
			if len(rows) == 0 {
				return ""
			}
			return in.table(title, []string{"Fusion Name", "Effect times", "Match times"}, rows)
		}
		id := g.GraphID
		if id == "" {
			id = "NONE"
		}
		body := in.columns(table("Graph Fusion [GraphID: "+id+"]", g.Graph), table("UB Fusion [GraphID: "+id+"]", g.UB))
		if body != "" {
			shown++
			s.print(s.scr.panel("GraphID:"+clean(id), body))
		}
	}
	if shown == 0 {
		s.say("fusion.idle", path)
	}
	return exitOK
}

// casts shows the casts that can cost precision. first is an operator of the
// first dangerous ones, "" without any.
func (s *session) casts() (first string) {
	rules := s.set.Casts
	if rules == nil {
		rules = graph.DefaultCastRules
	}
	found, graphs := false, 0
	for _, id := range s.ids() {
		for _, f := range s.graphsOf(id).files {
			graphs++
			for _, c := range f.index.Model.Casts(rules) {
				if c.Rule == nil {
					continue
				}
				found = true
				pair := "[" + clean(c.From) + " -> " + clean(c.To) + "]"
				switch c.Level() {
				case graph.LevelDanger:
					pair = s.scr.red(pair)
					if first == "" {
						first = c.Ops[0].Name
					}
				case graph.LevelWarning:
					pair = s.scr.yellow(pair)
				}
				names := make([]string, 0, 10)
				for _, op := range c.Ops[:min(len(c.Ops), 10)] {
					names = append(names, clean(op.Name))
				}
				if more := len(c.Ops) - len(names); more > 0 {
					names = append(names, s.t("cast.more", more))
				}
				s.print(fmt.Sprintf("%s %s%s %s\n", id.name, s.scr.green("[Cast]"), pair, s.why(c.Rule)))
				s.print("  " + strings.Join(names, ", ") + "\n")
			}
		}
	}
	switch {
	case graphs == 0:
		s.say("none.graph", s.data.path("npu", "debug_0", "graph"))
	case !found:
		s.say("cast.none")
	}
	return first
}

// why says in the language of the session what a cast can do.
func (s *session) why(r *graph.CastRule) string {
	if key := "cast." + r.From + "." + r.To; s.lang.Has(key) {
		return s.t(key)
	}
	return r.Why
}

// similarity compares the graphs of the first run with those of every other,
// operator by operator.
func (s *session) similarity(limit int) {
	ids := s.ids()
	if len(ids) < 2 {
		s.say("sim.one")
		return
	}
	first := s.firstID()
	for _, id := range ids {
		if id != first {
			s.similar(first, id, limit)
		}
	}
}

// similar compares the graphs of two runs operator by operator.
func (s *session) similar(a, b *debugID, limit int) {
	all := func(id *debugID) (list []*graph.Graph) {
		for _, f := range s.graphsOf(id).files {
			list = append(list, f.index.Model.Graphs...)
		}
		return list
	}
	pairs := graph.PairGraphs(all(a), all(b))
	if len(pairs) == 0 {
		s.say("sim.nopair", a.name, b.name)
		return
	}
	for _, p := range pairs {
		r := graph.Similar(p[0], p[1])
		for _, side := range []struct {
			ops []*graph.Op
			id  *debugID
		}{{r.OnlyA, a}, {r.OnlyB, b}} {
			for i, op := range side.ops {
				if i == 2*limit {
					s.warn("sim.moreonly", len(side.ops)-i, side.id.name)
					break
				}
				s.warn("sim.only", op.Type, op.Name, side.id.name)
			}
		}
		for i := range r.Different {
			if i == limit {
				s.say("sim.more", len(r.Different)-i)
				break
			}
			c := &r.Different[i]
			var t strings.Builder
			fmt.Fprintf(&t, "%s  %s %s\n", clean(a.name), s.scr.green("["+c.A.Type+"]"), clean(c.A.Name))
			fmt.Fprintf(&t, "%s  %s %s\n", clean(b.name), s.scr.green("["+c.B.Type+"]"), clean(c.B.Name))
			for _, ch := range c.Changes {
				fmt.Fprintf(&t, " - %s\n", s.scr.yellow(ch.String()))
			}
			s.print(s.scr.panel(clean(c.A.Name), t.String()))
		}
		s.say("sim.count", p[0].Name, a.name, p[1].Name, b.name, r.Similar, r.Compared)
	}
}
