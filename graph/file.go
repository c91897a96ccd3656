package graph

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// File is a graph file that GE wrote, with what its name and place tell.
type File struct {
	Path    string
	Number  int    // running number in the process, text and ONNX-style files count apart; -1 when the name has none
	Stage   string // "Build", "PreRunBegin", …; "" for other names
	ONNX    bool   // ONNX-style
	PID     int    // process and device from the folder name, -1 when it does not tell
	Device  int
	ModTime time.Time
}

// ParseFileName takes the name of a graph file apart: ge_proto_00000062_graph_1_Build.txt, ge_onnx_….pbtxt, and the
// JSON converted from it, ge_proto_….txt.json; and those of torchair, dynamo_original_<graph>_rank_0_pid_5_ts_….txt. false
// for other names.
func ParseFileName(name string) (File, bool) {
	f := File{Path: name, Number: -1, PID: -1, Device: -1}
	if rest, ok := strings.CutPrefix(filepath.Base(name), dynamo); ok {
		return f.torchair(rest)
	}
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
	rest = strings.TrimPrefix(rest, "aclop_")
	if after, ok := strings.CutPrefix(rest, "graph_"); ok {
		id, stage, _ := strings.Cut(after, "_")
		if n, err := strconv.Atoi(id); err == nil && n >= 0 {
			rest = stage
		}
	}
	f.Stage = rest
	return f, true
}

// dynamo begins the names of the graphs that torchair hands to GE: the original, with the names of FX nodes, and the
// optimized one.
const dynamo = "dynamo_"

// torchair reads what follows in such a name.
func (f File) torchair(rest string) (File, bool) {
	rest, ok := strings.CutSuffix(rest, ".txt")
	stage, rest, more := strings.Cut(rest, "_")
	if !ok || !more || stage != "original" && stage != "optimized" {
		return f, false
	}
	f.Stage = dynamo + stage
	for _, x := range []struct {
		word string
		to   *int
	}{{"_rank_", &f.Device}, {"_pid_", &f.PID}} {
		if i := strings.LastIndex(rest, x.word); i >= 0 {
			digits, _, _ := strings.Cut(rest[i+len(x.word):], "_")
			if n, err := strconv.Atoi(digits); err == nil && n >= 0 {
				*x.to = n
			}
		}
	}
	return f, true
}

// BuildFiles picks the files to match dumps with: the final graphs (stage Build), in text form where there is one, else
// JSON, else ONNX-style. Without any, graphs after Build, those of torchair, then offline models and other JSON files.
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
		func(f File) bool { return f.Stage == dynamo+"original" },
		func(f File) bool { return f.Stage == dynamo+"optimized" },
		func(f File) bool { return f.Number < 0 },
	} {
		if out := stage(want); len(out) > 0 {
			return out
		}
	}
	return nil
}

func isBuild(stage string) bool { return stage == "Build" || strings.HasSuffix(stage, "_Build") }
