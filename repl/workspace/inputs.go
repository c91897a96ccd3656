package workspace

import (
	"context"
	"path/filepath"
	"strings"

	"precision/dump"
	"precision/graph"
	"precision/graph/fusion"
	"precision/graph/read"
	"precision/internal/order"
)

// A comparison asks Scan, Graph and Graphs for its folders and graphs (see
// engine.Inputs), so that it gets what is known already.

// Scan lists the recordings in a folder, see dump.Scan; rules tells that a graph says
// which operators there are.
func (w *Workspace) Scan(dir string, rules bool) (*dump.Folder, error) {
	if _, l := w.LeafAt(dir); l != nil && rules && len(l.Folder().Ops) > 0 {
		return l.Folder(), nil
	}
	if !rules && dir == w.GoldenDir() {
		if f := w.GoldenArrays(); f != nil && f.Dir == dir {
			return f, nil
		}
	}
	return w.scan(dir, rules)
}

// Graph reads a graph, see read.Open.
func (w *Workspace) Graph(path string) (*graph.Model, error) {
	for _, id := range w.IDs() {
		if !strings.HasPrefix(path, id.GraphDir()+string(filepath.Separator)) {
			continue
		}
		for _, f := range id.Graphs().Files {
			if f.Path == path {
				return f.Index.Model, nil
			}
		}
	}
	return read.Open(context.Background(), path)
}

// Graphs reads the final graphs below a folder, see read.OpenFolder.
func (w *Workspace) Graphs(dir string) ([]graph.Candidate, []graph.Warning, error) {
	for _, id := range w.IDs() {
		if dir != id.GraphDir() {
			continue
		}
		var found []graph.Candidate
		for _, f := range id.Graphs().Files {
			found = append(found, graph.Candidate{File: f.File, Model: f.Index.Model})
		}
		var unread []graph.Warning
		for _, err := range id.Graphs().Warnings {
			if e, ok := err.(*graph.Error); ok {
				unread = append(unread, graph.Warning{Path: e.Path, Line: e.Line, Offset: e.Offset, Msg: e.Msg})
			}
		}
		order.Stable(found, func(a, b graph.Candidate) int { return strings.Compare(a.File.Path, b.File.Path) })
		return found, unread, nil
	}
	return read.OpenFolder(context.Background(), dir)
}

// GraphsIn reads the graphs among the files of a folder, see read.OpenNamed.
func (w *Workspace) GraphsIn(dir string) []graph.Candidate {
	return read.OpenNamed(context.Background(), dir)
}

// Rules derives the fusion structure of a graph, see fusion.New.
func (w *Workspace) Rules(m *graph.Model) (*fusion.Rules, error) { return fusion.New(m) }
