package manifest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"precision/internal/order"
)

// found is a file the walk met.
type found struct {
	path string // relative, with slashes
	full string
	info fs.FileInfo // nil with err
	err  error
}

// walker lists the files of a folder in the order of [comparePaths]. Links are
// followed; one that leads into a folder around it is told and left out.
type walker struct {
	ctx   context.Context
	visit func(found) error
	skip  map[string]bool // by absolute path
	// around are the folders on the way down to here.
	around []fs.FileInfo
}

func (w *walker) folder(rel, full string, info fs.FileInfo) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	for _, a := range w.around {
		if os.SameFile(a, info) {
			return w.visit(found{path: rel, full: full, err: &fs.PathError{Op: "walk", Path: full, Err: errors.New("is a link to a folder around it")}})
		}
	}
	entries, err := os.ReadDir(full)
	switch {
	case err != nil && rel == "":
		return err
	case err != nil:
		return w.visit(found{path: rel, full: full, err: err})
	}
	w.around = append(w.around, info)
	defer func() { w.around = w.around[:len(w.around)-1] }()
	order.Stable(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		f := found{path: strings.TrimPrefix(rel+"/"+e.Name(), "/"), full: filepath.Join(full, e.Name())}
		if whole, err := filepath.Abs(f.full); err == nil && w.skip[whole] {
			continue
		}
		f.info, f.err = os.Stat(f.full)
		if f.err == nil && f.info.IsDir() {
			err = w.folder(f.path, f.full, f.info)
		} else {
			if f.err == nil && !f.info.Mode().IsRegular() {
				f.err = &fs.PathError{Op: "open", Path: f.full, Err: errors.New("is a device, pipe or socket, expected a file")}
			}
			err = w.visit(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
