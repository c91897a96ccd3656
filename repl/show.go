package repl

import (
	"fmt"
	"os"
	"slices"
)

// graphsOf are the graphs of a debug id. What was wrong with them is told the
// first time.
func (s *session) graphsOf(id *debugID) *graphs {
	g := id.graphs()
	if !id.toldGraphs {
		id.toldGraphs = true
		for _, w := range g.warnings {
			s.Warn("error", w)
		}
	}
	return g
}

// toldOfGraphs reports whether a warning was one about the graphs of a debug id.
func (s *session) toldOfGraphs(warning string) bool {
	return slices.ContainsFunc(s.ids(), func(id *debugID) bool {
		return id.toldGraphs && slices.ContainsFunc(id.graphs().warnings, func(err error) bool { return err.Error() == warning })
	})
}

// leafAt finds the folder of dumps at dir in the newest runs, nil if it is in none.
func (s *session) leafAt(dir string) (*debugID, *leaf) {
	for _, id := range s.ids() {
		for _, l := range s.dumpsOf(id).leaves {
			if l.dir == dir {
				return id, l
			}
		}
	}
	return nil, nil
}

// dumpsOf are the dumps of a debug id. Which run was chosen of several is told
// the first time.
func (s *session) dumpsOf(id *debugID) *dumps {
	d := id.dumps()
	if !id.toldDumps {
		id.toldDumps = true
		if d.runs > 1 {
			s.Info("run.chosen", id.name, d.runs, d.run)
		}
	}
	return d
}

// noGraphs says what to capture when there is no graph.
func (s *session) noGraphs() int {
	s.Fail("none.graph", s.data.path("npu", "debug_0", "graph"))
	return exitNothing
}

// noDumps says what to capture when there is no dump.
func (s *session) noDumps() int {
	s.Fail("none.dump", s.data.path("npu", "debug_0", "dump"))
	return exitNothing
}

// fileSize is the size of a file for people, "" if it cannot be found out.
func fileSize(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return bytesText(info.Size())
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
