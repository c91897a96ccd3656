package repl

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"precision/console"
	"precision/graph"
	"precision/graph/describe"
	"precision/graph/fusion"
	"precision/repl/workspace"
)

// fusions shows which fusion passes took effect, graph by graph. It is an error
// if the file that tells cannot be read.
func (s *session) fusions() (code int) {
	path := s.data.FusionFile()
	if path == "" {
		s.Say("fusion.none", s.data.Path("fusion"))
		return exitOK
	}
	stats, err := fusion.OpenResult(path)
	if err != nil {
		return s.Fail("error", err)
	}
	shown, in := 0, s.Screen.Inside()
	for _, g := range stats {
		table := func(title string, passes []fusion.PassStats) string {
			var rows [][]string
			for _, p := range passes {
				if p.Effect > 0 {
					rows = append(rows, []string{console.Clean(p.Name), strconv.FormatInt(p.Effect, 10), strconv.FormatInt(p.Match, 10)})
				}
			}
			if len(rows) == 0 {
				return ""
			}
			return in.Table(title, []string{"Fusion Name", "Effect times", "Match times"}, rows)
		}
		id := cmp.Or(g.GraphID, "NONE")
		body := in.Columns(table("Graph Fusion [GraphID: "+id+"]", g.Graph), table("UB Fusion [GraphID: "+id+"]", g.UB))
		if body != "" {
			shown++
			s.Print(s.Screen.Panel("GraphID:"+console.Clean(id), body))
		}
	}
	if shown == 0 {
		s.Say("fusion.idle", path)
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
	for _, id := range s.data.IDs() {
		for _, f := range s.graphsOf(id).Files {
			graphs++
			for _, c := range f.Index.Model.Casts(rules) {
				if c.Rule == nil {
					continue
				}
				found = true
				pair := "[" + console.Clean(c.From) + " -> " + console.Clean(c.To) + "]"
				switch c.Level() {
				case graph.LevelDanger:
					pair = s.Screen.Red(pair)
					if first == "" {
						first = c.Ops[0].Name
					}
				case graph.LevelWarning:
					pair = s.Screen.Yellow(pair)
				}
				names := make([]string, 0, 10)
				for _, op := range c.Ops[:min(len(c.Ops), 10)] {
					names = append(names, console.Clean(op.Name))
				}
				if more := len(c.Ops) - len(names); more > 0 {
					names = append(names, s.T("cast.more", more))
				}
				s.Print(fmt.Sprintf("%s %s%s %s\n", id.Name, s.Screen.Green("[Cast]"), pair, describe.Cast(s.Lang, c.Rule)))
				s.Print("  " + strings.Join(names, s.T("report.and")) + "\n")
			}
		}
	}
	switch {
	case graphs == 0:
		s.Say("none.graph", s.data.Path("npu", "debug_0", "graph"))
	case !found:
		s.Say("cast.none")
	}
	return first
}

// similarity compares the graphs of the first run with those of every other,
// operator by operator.
func (s *session) similarity(limit int) {
	ids := s.data.IDs()
	if len(ids) < 2 {
		s.Say("sim.one")
		return
	}
	first := s.data.FirstID()
	for _, id := range ids {
		if id != first {
			s.similar(first, id, limit)
		}
	}
}

// similar compares the graphs of two runs operator by operator.
func (s *session) similar(a, b *workspace.DebugID, limit int) {
	all := func(id *workspace.DebugID) (list []*graph.Graph) {
		for _, f := range s.graphsOf(id).Files {
			list = append(list, f.Index.Model.Graphs...)
		}
		return list
	}
	pairs := graph.PairGraphs(all(a), all(b))
	if len(pairs) == 0 {
		s.Say("sim.nopair", a.Name, b.Name)
		return
	}
	for _, p := range pairs {
		r := graph.Similar(p[0], p[1])
		for _, side := range []struct {
			ops []*graph.Op
			id  *workspace.DebugID
		}{{r.OnlyA, a}, {r.OnlyB, b}} {
			for i, op := range side.ops {
				if i == 2*limit {
					s.Warn("sim.moreonly", len(side.ops)-i, side.id.Name)
					break
				}
				s.Warn("sim.only", op.Type, op.Name, side.id.Name)
			}
		}
		for i := range r.Different {
			if i == limit {
				s.Say("sim.more", len(r.Different)-i)
				break
			}
			c := &r.Different[i]
			var t strings.Builder
			fmt.Fprintf(&t, "%s  %s %s\n", console.Clean(a.Name), s.Screen.Green("["+c.Op.Type+"]"), console.Clean(c.Op.Name))
			fmt.Fprintf(&t, "%s  %s %s\n", console.Clean(b.Name), s.Screen.Green("["+c.B.Type+"]"), console.Clean(c.B.Name))
			for _, ch := range c.Changes {
				fmt.Fprintf(&t, " - %s\n", s.Screen.Yellow(console.Clean(describe.Change(s.Lang, ch))))
			}
			s.Print(s.Screen.Panel(console.Clean(c.Op.Name), t.String()))
		}
		s.Say("sim.count", p[0].Name, a.Name, p[1].Name, b.Name, r.Similar, r.Compared)
	}
}
