package compare

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"precision/dump"
	"precision/graph"
	"precision/graph/read"
)

// mostAbove is how many folders above the dumps are looked at: time, device,
// model, model id and step are made by a run, dump and the run itself by hand.
const mostAbove = 8

// graphBeside looks for the graph of dumps when none was named: in a folder
// graph beside them or beside a folder above, and among the files of these
// folders that have a graph's name. The nearest folder with a graph that the dumps
// can belong to wins; ok is false if there is none.
func graphBeside(ctx context.Context, dumps *dump.Folder, in Inputs) (found graph.DumpMatch, ok bool) {
	dir := absolute(dumps.Dir)
	for range mostAbove {
		above := filepath.Dir(dir)
		var candidates []graph.Candidate
		if folder := filepath.Join(dir, "graph"); isDir(folder) {
			candidates, _, _ = in.Graphs(folder)
		}
		if dir != absolute(dumps.Dir) { // that one may hold a hundred thousand dumps
			candidates = append(candidates, graphsIn(ctx, dir)...)
		}
		if matches := GraphsOf(dumps, candidates); len(matches) > 0 {
			return matches[0], true
		}
		if above == dir {
			break
		}
		dir = above
	}
	return found, false
}

// graphsIn are the graphs among the files of a folder, by their names.
func graphsIn(ctx context.Context, dir string) []graph.Candidate {
	files, err := read.FindFilesIn(dir, func(path string) ([]fs.DirEntry, error) {
		entries, err := os.ReadDir(path)
		var named []fs.DirEntry
		for _, e := range entries {
			if _, ok := graph.ParseFileName(e.Name()); ok && !e.IsDir() {
				named = append(named, e)
			}
		}
		return named, err
	})
	if err != nil {
		return nil
	}
	var list []graph.Candidate
	for _, f := range graph.BuildFiles(files) {
		if m, err := read.Open(ctx, f.Path); err == nil {
			list = append(list, graph.Candidate{File: f, Model: m})
		}
	}
	return list
}
