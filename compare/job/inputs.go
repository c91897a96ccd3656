package job

import (
	"context"
	"sync"

	"precision/compare/engine"
	"precision/dump"
	"precision/graph"
	"precision/graph/fusion"
	"precision/graph/read"
)

// inputs reads each graph once, whatever the number of ranks that ran it. It is a
// [engine.Inputs].
type inputs struct {
	ctx     context.Context
	folders once[string, folderOf]
	graphs  once[string, *graph.Model]
	named   once[string, []graph.Candidate]
	rules   once[*graph.Model, *fusion.Rules]
	ops     once[string, map[string]*graph.Op]
}

type folderOf struct {
	found    []graph.Candidate
	warnings []graph.Warning
}

var _ engine.Inputs = (*inputs)(nil)

// once keeps what was made for a key, which is a path as a rule.
type once[K comparable, T any] struct{ made sync.Map }

func (o *once[K, T]) of(key K, make func() (T, error)) (T, error) {
	f, _ := o.made.LoadOrStore(key, sync.OnceValues(make))
	return f.(func() (T, error))()
}

// Scan lists the recordings in a folder. It is not kept: the folders of a job are
// many, and each is used once.
func (*inputs) Scan(dir string, rules bool) (*dump.Folder, error) {
	return dump.Scan(dir, dump.Options{Rules: rules})
}

func (in *inputs) Graph(path string) (*graph.Model, error) {
	return in.graphs.of(path, func() (*graph.Model, error) { return read.Open(in.ctx, path) })
}

func (in *inputs) Graphs(dir string) ([]graph.Candidate, []graph.Warning, error) {
	f, err := in.folders.of(dir, func() (f folderOf, err error) {
		f.found, f.warnings, err = read.OpenFolder(in.ctx, dir)
		for _, c := range f.found {
			in.graphs.made.LoadOrStore(c.Model.Path, func() (*graph.Model, error) { return c.Model, nil })
		}
		return f, err
	})
	return f.found, f.warnings, err
}

func (in *inputs) GraphsIn(dir string) []graph.Candidate {
	list, _ := in.named.of(dir, func() ([]graph.Candidate, error) { return read.OpenNamed(in.ctx, dir), nil })
	return list
}

func (in *inputs) Rules(m *graph.Model) (*fusion.Rules, error) {
	return in.rules.of(m, func() (*fusion.Rules, error) { return fusion.New(m) })
}
