package manifest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/internal/must"
)

// found is a file the walk met, and what became of it.
type found struct {
	Entry
	full string
	info fs.FileInfo
	// err is why there is no hash of it, lost why the journal lacks it.
	err, lost error
	reused    bool
}

// walker lists the files of a folder in the order of [comparePaths]. Links are
// followed; one that leads into a folder around it is told and left out.
type walker struct {
	ctx   context.Context
	visit func(found)
	skip  map[string]bool // by absolute path
	// around are the folders on the way down to here.
	around []fs.FileInfo
}

// folder lists a folder, and is the error of one that cannot be read.
func (w *walker) folder(rel, full string, info fs.FileInfo) error {
	must.Do(w.ctx.Err())
	if slices.ContainsFunc(w.around, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
		return &fs.PathError{Op: "walk", Path: full, Err: errors.New("is a link to a folder around it")}
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return err
	}
	w.around = append(w.around, info)
	for _, e := range entries {
		f := found{Entry: Entry{Path: strings.TrimPrefix(rel+"/"+e.Name(), "/")}, full: filepath.Join(full, e.Name())}
		if whole, err := filepath.Abs(f.full); err == nil && w.skip[whole] {
			continue
		}
		f.info, f.err = os.Stat(f.full)
		switch {
		case f.err != nil:
		case f.info.IsDir():
			if f.err = w.folder(f.Path, f.full, f.info); f.err == nil {
				continue
			}
		case !f.info.Mode().IsRegular():
			f.err = &fs.PathError{Op: "open", Path: f.full, Err: errors.New("is a device, pipe or socket, expected a file")}
		}
		w.visit(f)
	}
	w.around = w.around[:len(w.around)-1]
	return nil
}
