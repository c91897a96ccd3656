package repl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"precision/dump"
	"precision/repl/array"
	"precision/repl/workspace"
)

// once reports whether a remark about the data folder is a new one.
func (s *session) once(text string) bool {
	certain := s.reported[text]
	s.reported[text] = true
	return !certain
}

// graphsOf are the graphs of a debug id. What was wrong with them is told the
// first time.
func (s *session) graphsOf(id *workspace.DebugID) *workspace.Graphs {
	g := id.Graphs()
	for _, w := range g.Warnings {
		if s.once(w.Error()) {
			s.Warn("error", w)
		}
	}
	return g
}

// dumpsOf are the dumps of a debug id. Which run was chosen of several is told
// the first time.
func (s *session) dumpsOf(id *workspace.DebugID) *workspace.Dumps {
	d := id.Dumps()
	if d.Runs > 1 && s.once(s.T("run.chosen", id.Name, d.Runs, d.Run)) {
		s.Info("run.chosen", id.Name, d.Runs, d.Run)
	}
	return d
}

// eachDump calls do for the dump files of the newest runs of all debug ids.
func (s *session) eachDump(do func(e *dump.Entry)) {
	for _, id := range s.data.IDs() {
		s.dumpsOf(id)
	}
	s.data.EachDump(do)
}

// findTensors finds tensors by what a user typed, as Workspace.Find does; what is
// wrong with an HDF5 file is told.
func (s *session) findTensors(text string) []workspace.TensorRef {
	refs, err, ok := workspace.FileTensors(text)
	if err != nil {
		s.Warn("error", err)
	}
	if ok {
		return refs
	}
	s.eachDump(func(*dump.Entry) {})
	s.h5Sides()
	return s.data.Find(text)
}

// h5Sides are the PyTorch dumps of the data folder. Which file was chosen, and
// what is wrong with it, is told the first time.
func (s *session) h5Sides() []*workspace.H5Side {
	sides := s.data.H5Sides()
	for _, d := range sides {
		if dir := filepath.Dir(d.File); d.Files > 1 && s.once(s.T("h5.chosen", dir, d.Files, d.File)) {
			s.Info("h5.chosen", dir, d.Files, d.File)
		}
		if d.Err != nil && s.once(d.Err.Error()) {
			s.Warn("error", d.Err)
		}
	}
	return sides
}

// noGraphs says what to capture when there is no graph.
func (s *session) noGraphs() int {
	return s.Lack("none.graph", s.data.Path("npu", "debug_0", "graph"))
}

// noDumps says what to capture when there is no dump.
func (s *session) noDumps() int {
	return s.Lack("none.dump", s.data.Path("npu", "debug_0", "dump"))
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

// watched is the size of the tensors from which on reading them shows its
// progress, in bytes: what takes longer than a blink.
const watched = 128 << 20

// watch shows the progress of reading a tensor, or several at once, on a terminal
// if they are large. done wipes it.
func (s *session) watch(ctx context.Context, label string, arrays ...*array.Array) (watching context.Context, done func()) {
	var size int64
	for _, a := range arrays {
		size += a.Type.Bytes(a.Len())
	}
	bar := s.Bar(label)
	if bar == nil || size < watched {
		return ctx, func() {}
	}
	return array.WithProgress(ctx, func(done, total int64) {
		bar.Set(int(float64(done)/float64(total)*float64(size>>20)), int(size>>20)) // in MB
	}), bar.Done
}

// measure takes the statistics of a tensor and shows its progress.
func (s *session) measure(ctx context.Context, label string, a *array.Array) (array.Stats, error) {
	watching, done := s.watch(ctx, label, a)
	defer done()
	return a.Measure(watching, s.set.Workers)
}
