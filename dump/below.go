package dump

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Limits of a search for recordings.
const (
	belowDepth   = 10
	belowFolders = 20000
)

// Below shows a folder and those below it to visit, until visit has found a recording in one: what is below that
// belongs to it. Folders called as in skip, and hidden ones, are passed by. It is an error if path is no folder,
// or if there are too many below it.
func Below(path string, skip []string, visit func(dir string, entries []fs.DirEntry) (found bool)) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: not a folder", path)
	}
	visited := 0
	var down func(dir string, depth int) error
	down = func(dir string, depth int) error {
		if visited++; visited > belowFolders {
			return fmt.Errorf("%s: more than %d folders", path, belowFolders)
		}
		entries := List(dir)
		if visit(dir, entries) || depth == belowDepth {
			return nil
		}
		for _, folder := range Subfolders(entries) {
			if slices.Contains(skip, folder) || folder[0] == '.' {
				continue
			}
			if err := down(filepath.Join(dir, folder), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return down(path, 0)
}
