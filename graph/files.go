package graph

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// File is a graph file that GE wrote, with what its name and place tell.
type File struct {
	Path    string
	Number  int    // running number in the process, text and ONNX-style files count apart; -1 when the name has none
	GraphID int    // GE graph id, -1 when the name does not tell
	Stage   string // "Build", "PreRunBegin", …; "" for other names
	Aclop   bool   // graph of a single operator
	ONNX    bool   // ONNX-style
	PID     int    // process and device from the folder name, -1 when it does not tell
	Device  int
	ModTime time.Time
	Size    int64
}

// ParseFileName takes the name of a graph file apart: ge_proto_00000062_graph_1_Build.txt, ge_onnx_….pbtxt, and the
// JSON converted from it, ge_proto_….txt.json. false for other names.
func ParseFileName(name string) (File, bool) {
	f := File{Path: name, Number: -1, GraphID: -1, PID: -1, Device: -1}
	rest, ok := strings.CutPrefix(filepath.Base(name), "ge_proto_")
	if ok {
		rest = strings.TrimSuffix(rest, ".json")
		if rest, ok = strings.CutSuffix(rest, ".txt"); !ok {
			return f, false
		}
	} else {
		if rest, ok = strings.CutPrefix(filepath.Base(name), "ge_onnx_"); !ok {
			return f, false
		}
		if rest, ok = strings.CutSuffix(rest, ".pbtxt"); !ok {
			return f, false
		}
		f.ONNX = true
	}
	number, rest, _ := strings.Cut(rest, "_")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return f, false
	}
	f.Number = n
	if after, ok := strings.CutPrefix(rest, "aclop_"); ok {
		f.Aclop, rest = true, after
	}
	if after, ok := strings.CutPrefix(rest, "graph_"); ok {
		id, stage, _ := strings.Cut(after, "_")
		if n, err := strconv.Atoi(id); err == nil && n >= 0 {
			f.GraphID, rest = n, stage
		}
	}
	f.Stage = rest
	return f, true
}

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
func FindFiles(dir string) ([]File, error) {
	var out []File
	seen := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if path == dir {
				return err
			}
			return nil // an unreadable folder among readable ones
		}
		if seen++; seen > maxFolderFiles {
			return filepath.SkipAll
		}
		if e.IsDir() {
			if rel, err := filepath.Rel(dir, path); err == nil && strings.Count(rel, string(filepath.Separator)) >= maxFolderDepth {
				return filepath.SkipDir
			}
			return nil
		}
		f, ok := ParseFileName(path)
		if ext := filepath.Ext(path); !ok && ext != ".om" && ext != ".json" {
			return nil
		}
		st, err := os.Stat(path) // follows links, as graph folders may hold them
		if err != nil || !st.Mode().IsRegular() {
			return nil
		}
		f.ModTime, f.Size = st.ModTime(), st.Size()
		f.PID, f.Device = parseFolder(filepath.Dir(path))
		out = append(out, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// BuildFiles picks the files to match dumps with: the final graphs (stage Build), in text form where there is one, else
// JSON, else ONNX-style. Without any, graphs after Build, then offline models and other JSON files.
func BuildFiles(files []File) []File {
	stage := func(want func(File) bool) []File {
		byGraph := map[string]File{}
		var keys []string
		for _, f := range files {
			if !want(f) {
				continue
			}
			key := strings.TrimSuffix(f.Path, ".json")
			old, ok := byGraph[key]
			if !ok {
				keys = append(keys, key)
			}
			if !ok || filepath.Ext(f.Path) == ".txt" || filepath.Ext(old.Path) != ".txt" {
				byGraph[key] = f
			}
		}
		var out []File
		for _, k := range keys {
			out = append(out, byGraph[k])
		}
		return out
	}
	for _, want := range []func(File) bool{
		func(f File) bool { return f.Number >= 0 && !f.ONNX && isBuild(f.Stage) },
		func(f File) bool { return f.Number >= 0 && f.ONNX && isBuild(f.Stage) },
		func(f File) bool { return f.Number >= 0 && strings.HasSuffix(f.Stage, "AfterBuild") },
		func(f File) bool { return f.Number < 0 },
	} {
		if out := stage(want); len(out) > 0 {
			return out
		}
	}
	return nil
}

func isBuild(stage string) bool { return stage == "Build" || strings.HasSuffix(stage, "_Build") }
