package graph

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"precision/internal/order"
)

// Candidate is a graph file a dump folder may belong to.
type Candidate struct {
	File  File
	Model *Model
}

// DumpFolder is what matching needs to know about a folder of dump files.
type DumpFolder struct {
	Model  string    // name of the folder on the model level, <time>/<device>/<model>/<model id>/<iteration>
	Device int       // -1 when unknown
	Time   time.Time // of the dump, zero when unknown
	Ops    []DumpOp  // one for each operator dumped
}

// DumpOp is an operator as a dump file's name gives it, slashes and dots as underscores.
type DumpOp struct{ Type, Name string }

// MatchHow says why a graph was taken for a dump folder.
type MatchHow uint8

const (
	MatchName  MatchHow = iota + 1 // the folder has the graph's name, or that of the offline model's file
	MatchAlias                     // the same but for _NPU or a trailing _0
	MatchTime                      // equal graph id and made within a minute
	MatchOps                       // more than half of the dumped operators are in the graph
)

func (h MatchHow) String() string {
	return [...]string{"", "name", "similar name", "graph id and time", "operators"}[min(h, MatchOps)]
}

// DumpMatch is a graph that fits a dump folder.
type DumpMatch struct {
	Candidate
	Graph *Graph
	How   MatchHow
	Found int // dumped operators that the model has
	Of    int // dumped operators
}

// MatchDump returns the graphs that fit a dump folder, the best first: by name, then by graph id and time, then by the
// operators they share. Of several files with one graph the one of the folder's device counts, then the newest made
// before the dump.
func MatchDump(d DumpFolder, candidates []Candidate) (out []DumpMatch) {
	for _, c := range candidates {
		m := DumpMatch{Candidate: c, Of: len(d.Ops)}
		byGraph := map[*Graph]int{}
		have := map[DumpOp]*Graph{}
		for _, g := range c.Model.Graphs {
			for _, o := range g.Ops {
				have[DumpOp{o.Type, DumpName(o.Name)}] = g
			}
		}
		for _, o := range d.Ops {
			if g := have[DumpOp{o.Type, DumpName(o.Name)}]; g != nil {
				m.Found++
				byGraph[g]++
			}
		}
		for _, g := range c.Model.Graphs {
			if how := matchName(d.Model, g.Name); how != 0 && (m.How == 0 || how < m.How) {
				m.How, m.Graph = how, g
			}
		}
		if c.Model.Source == SourceOM || c.Model.Source == SourceOM2 {
			base := strings.TrimSuffix(filepath.Base(c.Model.Path), filepath.Ext(c.Model.Path))
			if how := matchName(d.Model, base); how == MatchName && len(c.Model.Graphs) > 0 {
				m.How, m.Graph = how, c.Model.Graphs[0]
			}
		}
		if m.How == 0 && 2*m.Found > m.Of && m.Of > 0 {
			m.How = MatchOps
			for _, g := range c.Model.Graphs {
				if m.Graph == nil || byGraph[g] > byGraph[m.Graph] {
					m.Graph = g
				}
			}
		}
		if m.How != 0 {
			out = append(out, m)
		}
	}
	order.Stable(out, func(a, b DumpMatch) int { return compareMatches(d, a, b) })
	return out
}

func compareMatches(d DumpFolder, a, b DumpMatch) int {
	elsewhere := func(m DumpMatch) bool { return d.Device >= 0 && m.File.Device != d.Device }
	return cmp.Or(cmp.Compare(a.How, b.How), cmp.Compare(b.Found, a.Found), order.FalseFirst(elsewhere(a), elsewhere(b)),
		order.FalseFirst(!before(a, d), !before(b, d)), b.File.ModTime.Compare(a.File.ModTime))
}

func before(m DumpMatch, d DumpFolder) bool { return d.Time.IsZero() || !m.File.ModTime.After(d.Time) }

// matchName tells how a folder name fits the name of a graph.
func matchName(folder, graph string) MatchHow {
	if folder == "" || graph == "" {
		return 0
	}
	// Folder names have the characters of paths replaced.
	graph, folder = DumpName(graph), DumpName(folder)
	plain := func(s string) string { return strings.Replace(s, "_NPU", "", 1) }
	switch {
	case folder == graph:
		return MatchName
	case plain(folder) == plain(graph), folder == graph+"_0", plain(folder) == plain(graph)+"_0":
		return MatchAlias
	}
	ta, ida, okA := madeAt(folder)
	tb, idb, okB := madeAt(graph)
	if okA && okB && ida == idb && ta.Sub(tb).Abs() <= time.Minute {
		return MatchTime
	}
	return 0
}

// madeAt takes time and graph id from a name such as ge_default_20230713074125_11.
func madeAt(name string) (at time.Time, id int, ok bool) {
	parts := strings.Split(name, "_")
	id, err := strconv.Atoi(parts[len(parts)-1])
	if err != nil {
		return at, 0, false
	}
	for _, p := range parts[:len(parts)-1] {
		if len(p) == 14 {
			if at, err := time.Parse("20060102150405", p); err == nil {
				return at, id, true
			}
		}
	}
	return at, 0, false
}
