package compat

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"precision/graph"
	"precision/internal/must"
)

// BatchRun is one comparison of a batch: a data folder of a model and the rule
// file of its graph.
type BatchRun struct {
	Device, Model, Step string
	// Dir is the data folder, Rules the rule file.
	Dir, Rules string
	// Warning tells when the names agree but for their times.
	Warning string
}

// Name is the result's file name without the time: <device>_<model>_<step>.
func (b BatchRun) Name() string { return b.Device + "_" + b.Model + "_" + b.Step }

// FindBatch pairs the models below a dump folder, <time>/<device>/<model>/<id>/
// <step>, with the graphs of the rule files in a folder. Of the steps of a
// model the last is taken. A model's folder has the name of its graph, or a
// name whose second number is the same.
func FindBatch(ctx context.Context, dumps, rules string) []BatchRun {
	// The folder may be given as "." or by a link such as latest.
	full, err := filepath.Abs(dumps)
	if err != nil {
		full = dumps
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	base := filepath.Base(full)
	Refuse(!digits.MatchString(base), CodePath, "%s: the last folder is %q, expected a time of digits", dumps, base)
	graphs := batchGraphs(ctx, rules)
	var runs []BatchRun
	for _, device := range subFolders(dumps) {
		for _, model := range subFolders(filepath.Join(dumps, device)) {
			for _, r := range batchModel(filepath.Join(dumps, device), model, graphs) {
				r.Device = device
				runs = append(runs, r)
			}
		}
	}
	Refuse(len(runs) == 0, CodePath, "%s: no model has a graph in %s", dumps, rules)
	return runs
}

var (
	digits  = regexp.MustCompile(`^[0-9]+$`)
	numbers = regexp.MustCompile(`[0-9]+`)
)

// batchGraphs maps graph names to rule files; files later in name order win.
func batchGraphs(ctx context.Context, dir string) map[string]string {
	var files []string
	for _, e := range entries(dir) {
		if strings.HasSuffix(e.Name(), ".json") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	Refuse(len(files) == 0, CodePath, "%s: no .json file", dir)
	graphs := map[string]string{}
	for _, f := range files {
		m := ReadGraph(ctx, f)
		if m.NoGraphs {
			must.Do(&graph.Error{Path: f, Offset: -1, Msg: graph.Messagef(`no "graph" in the model`)})
		}
		for _, g := range m.Graphs {
			if g.Name != "" {
				graphs[g.Name] = f
			}
		}
	}
	return graphs
}

// batchModel finds the last step of every id of a model and its rule file.
func batchModel(device, model string, graphs map[string]string) (runs []BatchRun) {
	rules, warning := batchRules(model, graphs)
	for _, id := range subFolders(filepath.Join(device, model)) {
		dir := filepath.Join(device, model, id)
		step := ""
		for _, e := range entries(dir) {
			if e.IsDir() && (step == "" || laterStep(e.Name(), step)) {
				step = e.Name()
			}
		}
		Refuse(step == "", CodePath, "%s: no step", dir)
		if rules != "" {
			runs = append(runs, BatchRun{Model: model, Step: step, Dir: filepath.Join(dir, step), Rules: rules, Warning: warning})
		}
	}
	return runs
}

// laterStep compares steps as numbers where they are: 10 comes after 9.
func laterStep(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	if errX == nil && errY == nil {
		return x > y
	}
	return a > b
}

// batchRules is the rule file of the graph with the model's name, or of the
// graph that differs from it in its time alone.
func batchRules(model string, graphs map[string]string) (file, warning string) {
	if f, ok := graphs[model]; ok {
		return f, ""
	}
	mine := numbers.FindAllString(model, -1)
	Refuse(len(mine) != 2, CodePath, "model %q: no graph of that name, and %d numbers in it, expected a time and a graph id", model, len(mine))
	var names []string
	for name := range graphs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if theirs := numbers.FindAllString(name, -1); len(theirs) == 2 && theirs[1] == mine[1] {
			return graphs[name], "model " + strconv.Quote(model) + " is taken for graph " + strconv.Quote(name) + ": their times differ"
		}
	}
	return "", ""
}

// subFolders lists the folders in dir, which must hold nothing else.
func subFolders(dir string) (names []string) {
	for _, e := range entries(dir) {
		Refuse(!e.IsDir(), CodePath, "%s: not a folder", filepath.Join(dir, e.Name()))
		names = append(names, e.Name())
	}
	return names
}

// entries lists a folder in name order.
func entries(dir string) []os.DirEntry {
	list, err := os.ReadDir(dir)
	Refuse(err != nil, CodePath, "%w", err)
	return list
}
