package read

import (
	"context"
	"io/fs"
	"os"

	"precision/graph"
)

// OpenNamed reads the final graphs among the files of a folder that have a graph's name;
// the folders in it are left alone. A file that cannot be read is none.
func OpenNamed(ctx context.Context, dir string) []graph.Candidate {
	files, err := FindFilesIn(dir, func(path string) ([]fs.DirEntry, error) {
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
		if m, err := Open(ctx, f.Path); err == nil {
			list = append(list, graph.Candidate{File: f, Model: m})
		}
	}
	return list
}
