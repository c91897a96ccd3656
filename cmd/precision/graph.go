package main

import (
	"context"
	"flag"
	"io"
	"strings"

	"precision/graph"
	"precision/graph/describe"
	"precision/graph/fusion"
	"precision/graph/write"
	"precision/internal/clean"
	"precision/internal/interrupt"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/whole"
	"precision/run"
	"precision/run/explain"
)

// graphFlags are the options of the graph command.
type graphFlags struct {
	json, dot, svg, root, diff, op string
	depth                          int
	list, attrs                    bool
	fusion                         string
	allPasses                      bool
	query                          graph.Query
	heat                           string
}

// define lists the options; text gives the help of each.
func (f *graphFlags) define(set *flag.FlagSet, text func(name string) string) {
	set.StringVar(&f.json, "json", "", text("json"))
	set.BoolVar(&f.list, "ls", false, text("ls"))
	set.StringVar(&f.query.Name, "name", "", text("name"))
	set.StringVar(&f.query.Type, "type", "", text("type"))
	set.StringVar(&f.query.Pass, "pass", "", text("pass"))
	set.StringVar(&f.query.Kernel, "kernel", "", text("kernel"))
	set.StringVar(&f.op, "op", "", text("op"))
	set.BoolVar(&f.attrs, "attrs", false, text("attrs"))
	set.StringVar(&f.fusion, "fusion", "", text("fusion"))
	set.BoolVar(&f.allPasses, "all", false, text("all"))
	set.StringVar(&f.diff, "diff", "", text("diff"))
	set.StringVar(&f.dot, "dot", "", text("dot"))
	set.StringVar(&f.svg, "svg", "", text("svg"))
	set.StringVar(&f.root, "root", "", text("root"))
	set.IntVar(&f.depth, "depth", 2, text("depth"))
	set.StringVar(&f.heat, "result", "", text("result"))
}

func graphCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("graph")
	var f graphFlags
	f.define(set, text)
	files := e.words("graph", set, args)
	misused(whole.Apart([]string{f.json, f.dot, f.svg}, append([]string{f.diff, f.fusion, f.heat}, files...)...)) // no output replaces an input
	if f.fusion != "" && len(files) == 0 {
		f.showFusion(clean.NewWriter(e.stdout), e.language())
		return exitOK, nil
	}
	misusedIf(len(files) != 1, "err.graph.files", len(files), strings.Join(files, ", "))
	m := must.Get(run.OpenGraph(ctx, files[0]))
	for _, w := range m.Warnings {
		e.warn(describe.Warning(e.language(), w))
	}
	return f.run(ctx, e, m)
}

func (f *graphFlags) run(ctx context.Context, e env, m *graph.Model) (int, error) {
	out, flush := folded(e)
	defer flush()
	done := false
	steps := []struct {
		wanted bool
		do     func() error
	}{
		{f.json != "", func() error {
			return whole.Fill(f.json, 0o600, func(w io.Writer) error { return write.JSON(ctx, w, m) })
		}},
		{f.list || !f.query.Empty(), func() error { f.listOps(out, e.language(), m); return nil }},
		{f.op != "", func() error { return f.showOp(ctx, out, e.language(), m) }},
		{f.fusion != "", func() error { f.showFusion(out, e.language()); return nil }},
		{f.diff != "", func() error { return f.showDiff(ctx, out, e.language(), m) }},
		{f.dot != "" || f.svg != "", func() error { return f.draw(ctx, e, m) }},
	}
	for _, s := range steps {
		if !s.wanted {
			continue
		}
		done = true
		must.Do(s.do())
	}
	if !done {
		summary := must.Get(interrupt.Await(ctx, func() (*graph.Summary, error) { return m.Summary(), nil }))
		io.WriteString(out, describe.Summary(e.language(), summary))
	}
	return exitOK, nil
}

// showFusion prints the statistics of fusion passes.
func (f *graphFlags) showFusion(w io.Writer, lang msg.Lang) {
	must.Get(io.WriteString(w, describe.Fusion(lang, must.Get(fusion.OpenResult(f.fusion)), f.allPasses)))
}

// listOps prints the operators that match, or without a query the number of
// each type.
func (f *graphFlags) listOps(w io.Writer, lang msg.Lang, m *graph.Model) {
	ops := m.Select(f.query)
	if f.query.Empty() {
		io.WriteString(w, describe.Types(graph.TypeCounts(ops)))
		return
	}
	io.WriteString(w, describe.Ops(lang, ops))
}

// showOp prints one operator, or the candidates when the name is not exact.
func (f *graphFlags) showOp(ctx context.Context, w io.Writer, lang msg.Lang, m *graph.Model) error {
	index, err := interrupt.Await(ctx, func() (*graph.Index, error) { return graph.NewIndex(m) })
	if err != nil {
		return err
	}
	ops, exact := index.Search(f.op, "")
	switch {
	case len(ops) == 0:
		return explain.Say("err.graph.none", m.Path, f.op)
	case !exact && len(ops) > 1:
		io.WriteString(w, describe.Candidates(lang, f.op, ops))
		return nil
	}
	for _, op := range ops {
		io.WriteString(w, describe.Node(lang, index.Node(op), f.attrs))
	}
	return nil
}
