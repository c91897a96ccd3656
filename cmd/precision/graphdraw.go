package main

import (
	"context"
	"io"
	"math"

	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/graph"
	"precision/graph/describe"
	"precision/graph/draw"
	"precision/internal/interrupt"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/whole"
	"precision/run"
	"precision/run/explain"
)

// showDiff prints what differs between the graph and another build.
func (f *graphFlags) showDiff(ctx context.Context, w io.Writer, lang msg.Lang, m *graph.Model) error {
	other := must.Get(run.OpenGraph(ctx, f.diff))
	d := must.Get(interrupt.Await(ctx, func() (*graph.Diff, error) {
		return must.Of(func() *graph.Diff { return graph.Compare(must.Get(graph.NewIndex(m)), must.Get(graph.NewIndex(other))) })
	}))
	_, err := io.WriteString(w, describe.Diff(lang, d))
	return err
}

// draw writes the neighbourhood of an operator, or without one the beginning
// of the graph, as Graphviz text, as a picture, or both.
func (f *graphFlags) draw(ctx context.Context, e env, m *graph.Model) error {
	d := must.Get(interrupt.Await(ctx, func() (*draw.Drawing, error) { return f.drawing(m) }))
	style := draw.Style{Lang: e.language()}
	if f.heat != "" {
		cosine := worstCosine(f.heat)
		style.Heat = map[*graph.Op]float64{}
		for _, n := range d.Nodes {
			if v, ok := cosine[n.Op.Name]; ok {
				style.Heat[n.Op] = v
			}
		}
	}
	if d.Cut > 0 {
		e.warn(e.language().T("warn.draw.cut", len(d.Nodes), d.Cut))
	}
	if f.dot != "" {
		must.Do(whole.Fill(f.dot, 0o600, func(w io.Writer) error { return d.WriteDOT(w, style) }))
	}
	if f.svg != "" {
		return whole.Fill(f.svg, 0o600, func(w io.Writer) error { return d.WriteSVG(w, style) })
	}
	return nil
}

// drawing places the operators.
func (f *graphFlags) drawing(m *graph.Model) (*draw.Drawing, error) {
	index, err := graph.NewIndex(m)
	if err != nil {
		return nil, err
	}
	if f.root == "" {
		if len(m.Graphs) == 0 {
			return nil, explain.Say("err.draw.none", m.Path)
		}
		return draw.Whole(index, m.Graphs[0]), nil
	}
	ops, exact := index.Search(f.root, "")
	switch {
	case len(ops) == 0:
		return nil, explain.Say("err.graph.none", m.Path, f.root)
	case !exact && len(ops) > 1:
		return nil, explain.Say("err.draw.many", m.Path, len(ops), f.root, ops[0].Name)
	case f.depth < 0:
		return nil, explain.Say("err.draw.depth")
	}
	return draw.Neighborhood(index, ops[0], f.depth), nil
}

// worstCosine reads a result table: the lowest cosine similarity of each
// operator's outputs, NaN where one could not be computed.
func worstCosine(path string) map[string]float64 {
	table, _, err := report.OpenCSV(path)
	must.Do(err)
	worst := map[string]float64{}
	for i := range table.Rows {
		r := &table.Rows[i]
		if r.Role != result.Output {
			continue
		}
		v := r.Result().Values[metric.CosineSimilarity].Float()
		if old, seen := worst[r.Op]; !seen || math.IsNaN(v) || v < old {
			worst[r.Op] = v
		}
	}
	return worst
}
