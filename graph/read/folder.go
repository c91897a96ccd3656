package read

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"precision/graph"
	"precision/internal/order"
)

// parseFolder reads process and device off a folder name pid_<pid>_deviceid_<n>, or <pid>_<n> below a folder graph.
func parseFolder(dir string) (pid, device int) {
	base := filepath.Base(dir)
	p, d, ok := "", "", false
	if rest, cut := strings.CutPrefix(base, "pid_"); cut {
		p, d, ok = strings.Cut(rest, "_deviceid_")
	} else if filepath.Base(filepath.Dir(dir)) == "graph" {
		p, d, ok = strings.Cut(base, "_")
	}
	if ok {
		a, errA := strconv.Atoi(p)
		b, errB := strconv.Atoi(d)
		if errA == nil && errB == nil {
			return a, b
		}
	}
	return -1, -1
}

const (
	maxFolderDepth = 6
	maxFolderFiles = 100000
)

// FindFiles returns the graph files below dir, sorted by path: those with GE's names, and offline models and JSON
// files with other names. It looks at most six levels deep.
func FindFiles(dir string) ([]graph.File, error) { return FindFilesIn(dir, os.ReadDir) }

// FindFilesIn is FindFiles with a function that lists a folder, as os.ReadDir does.
func FindFilesIn(dir string, list func(dir string) ([]fs.DirEntry, error)) (out []graph.File, err error) {
	top, err := list(dir)
	if err != nil {
		return nil, err
	}
	seen := 0
	var walk func(dir string, entries []fs.DirEntry, depth int)
	walk = func(dir string, entries []fs.DirEntry, depth int) {
		for _, e := range entries {
			if seen++; seen > maxFolderFiles {
				return
			}
			path := filepath.Join(dir, e.Name())
			if e.IsDir() {
				if depth < maxFolderDepth {
					below, _ := list(path) // an unreadable folder among readable ones
					walk(path, below, depth+1)
				}
				continue
			}
			f, ok := graph.ParseFileName(path)
			if ext := filepath.Ext(path); !ok && ext != ".om" && ext != ".json" {
				continue
			}
			st, err := os.Stat(path) // follows links, as graph folders may hold them
			if err != nil || !st.Mode().IsRegular() {
				continue
			}
			f.ModTime = st.ModTime()
			f.PID, f.Device = parseFolder(filepath.Dir(path))
			out = append(out, f)
		}
	}
	walk(dir, top, 1)
	order.Stable(out, func(a, b graph.File) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// unread is an error of a file among others.
func unread(path string, err error) graph.Warning {
	var not *graph.NotGraphError
	var fault *graph.Error
	switch {
	case errors.As(err, &not):
		return graph.Warning{Path: not.Path, Offset: -1, Msg: not.Message()}
	case errors.As(err, &fault):
		return graph.Warning{Path: fault.Path, Line: fault.Line, Offset: fault.Offset, Msg: fault.Msg}
	}
	return graph.Warning{Path: path, Offset: -1, Msg: graph.Messagef("%v", err)}
}

// OpenFolder reads the final graphs below dir. Files that cannot be read are reported as warnings.
func OpenFolder(ctx context.Context, dir string) ([]graph.Candidate, []graph.Warning, error) {
	files, err := FindFiles(dir)
	if err != nil {
		return nil, nil, err
	}
	var out []graph.Candidate
	var warnings []graph.Warning
	for _, f := range graph.BuildFiles(files) {
		m, err := Open(ctx, f.Path)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			warnings = append(warnings, unread(f.Path, err))
			continue
		}
		out = append(out, graph.Candidate{File: f, Model: m})
	}
	return out, warnings, nil
}

// OpenNamed reads the final graphs among the files of a folder that have a graph's name;
// the folders in it are left alone. A file that cannot be read is none.
func OpenNamed(ctx context.Context, dir string) (list []graph.Candidate) {
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
	for _, f := range graph.BuildFiles(files) {
		if m, err := Open(ctx, f.Path); err == nil {
			list = append(list, graph.Candidate{File: f, Model: m})
		}
	}
	return list
}
