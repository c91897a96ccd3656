package tell

import (
	"cmp"
	"precision/graph/fusion"
	"precision/internal/msg"
)

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
