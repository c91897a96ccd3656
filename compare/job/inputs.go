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
	folders once[folderOf]
	graphs  once[graphOf]
	named   once[[]graph.Candidate]
	rules   sync.Map // *graph.Model to func() (*fusion.Rules, error)
	ops     once[map[string]*graph.Op]
}

type folderOf struct {
	found    []graph.Candidate
	warnings []graph.Warning
	err      error
}

type graphOf struct {
	model *graph.Model
	err   error
}

var _ engine.Inputs = (*inputs)(nil)

// once keeps what was made for a path.
type once[T any] struct{ made sync.Map }

func (o *once[T]) of(path string, make func() T) T {
	f, _ := o.made.LoadOrStore(path, sync.OnceValue(make))
	return f.(func() T)()
}

// Scan lists the recordings in a folder. It is not kept: the folders of a job are
// many, and each is used once.
func (*inputs) Scan(dir string, rules bool) (*dump.Folder, error) {
	return dump.Scan(dir, dump.Options{Rules: rules})
}

func (in *inputs) Graph(path string) (*graph.Model, error) {
	g := in.graphs.of(path, func() graphOf {
		m, err := read.Open(in.ctx, path)
		return graphOf{m, err}
	})
	return g.model, g.err
}

func (in *inputs) Graphs(dir string) ([]graph.Candidate, []graph.Warning, error) {
	f := in.folders.of(dir, func() (f folderOf) {
		f.found, f.warnings, f.err = read.OpenFolder(in.ctx, dir)
		for _, c := range f.found {
			in.graphs.made.LoadOrStore(c.Model.Path, func() graphOf { return graphOf{c.Model, nil} })
		}
		return f
	})
	return f.found, f.warnings, f.err
}

func (in *inputs) GraphsIn(dir string) []graph.Candidate {
	return in.named.of(dir, func() []graph.Candidate { return read.OpenNamed(in.ctx, dir) })
}

func (in *inputs) Rules(m *graph.Model) (*fusion.Rules, error) {
	f, _ := in.rules.LoadOrStore(m, sync.OnceValues(func() (*fusion.Rules, error) { return fusion.New(m) }))
	return f.(func() (*fusion.Rules, error))()
}
