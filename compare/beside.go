package compare

import (
	"path/filepath"

	"precision/dump"
	"precision/graph"
)

// mostAbove is how many folders above the dumps are looked at: time, device,
// model, model id and step are made by a run, dump and the run itself by hand.
const mostAbove = 8

// GraphBeside looks for the graph of dumps when none was named: in a folder
// graph beside them or beside a folder above, and among the files of these
// folders that have a graph's name. The nearest folder with a graph that the dumps
// can belong to wins; ok is false if there is none, and found is then the nearest that is
// no graph of theirs, if any.
func GraphBeside(dumps *dump.Folder, in Inputs) (found graph.DumpMatch, ok bool) {
	dir := absolute(dumps.Dir)
	for range mostAbove {
		above := filepath.Dir(dir)
		var candidates []graph.Candidate
		if folder := filepath.Join(dir, "graph"); isDir(folder) {
			candidates, _, _ = in.Graphs(folder)
		}
		if dir != absolute(dumps.Dir) { // that one may hold a hundred thousand dumps
			candidates = append(candidates, in.GraphsIn(dir)...)
		}
		if matches := GraphsOf(dumps, candidates); len(matches) > 0 {
			return matches[0], true
		}
		if len(candidates) > 0 && found.Model == nil {
			found.Candidate = candidates[0]
		}
		if above == dir {
			break
		}
		dir = above
	}
	return found, false
}
