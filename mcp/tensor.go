package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/report/patterns"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/nd"
	"precision/repl/array"
	"precision/run"
)

// TensorIn names a tensor of a table, or one in a file.
type TensorIn struct {
	Table  string `json:"table,omitempty" jsonschema:"the table; the last one if left out"`
	Tensor string `json:"tensor,omitempty" jsonschema:"such as conv1:output:0, as answers of why name it"`
	Path   string `json:"path,omitempty" jsonschema:"a file to look into, in place of a tensor of a table"`
	Part   string `json:"part,omitempty" jsonschema:"of a file with several tensors: input.0, output.1"`
	Values int    `json:"values,omitempty" jsonschema:"how many of the first numbers of a file to show, at most 64; 8 if left out"`
}

// Element is an element of both sides.
type Element struct {
	Index int64         `json:"index" jsonschema:"its number in C order"`
	Place []int64       `json:"place,omitempty"`
	Left  result.Number `json:"left"`
	Right result.Number `json:"right"`
}

// Side is one side of a tensor.
type Side struct {
	File  string         `json:"file,omitempty"`
	Type  string         `json:"type,omitempty"`
	Shape []int64        `json:"shape" jsonschema:"as stored; null if there is none"`
	Max   *result.Number `json:"max,omitempty"`
	Min   *result.Number `json:"min,omitempty"`
	Mean  *result.Number `json:"mean,omitempty"`
	Norm  *result.Number `json:"norm,omitempty"`
	NaN   int64          `json:"nan" jsonschema:"elements that are NaN"`
	Inf   int64          `json:"inf"`
	Value string         `json:"value,omitempty" jsonschema:"of an argument that is no tensor"`
}

// Spread says how errors are spread over a tensor.
type Spread struct {
	Equal     int64           `json:"equal" jsonschema:"elements without an error"`
	Low       result.Number   `json:"histogram_low" jsonschema:"decimal logarithm of |left-right| at which the histogram begins"`
	High      result.Number   `json:"histogram_high"`
	Histogram []int64         `json:"histogram"`
	Axis      int             `json:"channel_axis"`
	Count     int64           `json:"channel_count"`
	Channels  []result.Number `json:"channels" jsonschema:"root mean square of the error along that axis; of a long one several share a number"`
}

// TensorLook is what a look at a tensor shows.
type TensorLook struct {
	Table    string                   `json:"table,omitempty"`
	Tensor   string                   `json:"tensor"`
	Verdict  string                   `json:"verdict,omitempty"`
	Causes   []string                 `json:"causes,omitempty"`
	Shape    []int64                  `json:"shape" jsonschema:"that was compared; null if nothing was"`
	Elements int64                    `json:"elements"`
	Differ   int64                    `json:"differ" jsonschema:"elements that are not equal"`
	Disagree int64                    `json:"disagree" jsonschema:"elements in which NaN and infinities disagree"`
	Metrics  map[string]result.Number `json:"metrics,omitempty"`
	Left     *Side                    `json:"left,omitempty"`
	Right    *Side                    `json:"right,omitempty"`
	Largest  []Element                `json:"largest,omitempty" jsonschema:"the largest differences"`
	First    []Element                `json:"first,omitempty" jsonschema:"the first differences"`
	Spread   *Spread                  `json:"spread,omitempty"`
	Patterns []string                 `json:"patterns,omitempty"`
	Reasons  []string                 `json:"reasons,omitempty"`
	Unseen   string                   `json:"unseen,omitempty" jsonschema:"why there was no look at the elements themselves"`
	Format   string                   `json:"format,omitempty" jsonschema:"of a file: the layout of a device dump"`
	Values   []string                 `json:"values,omitempty" jsonschema:"of a file: its first numbers"`
	Parts    []string                 `json:"parts,omitempty" jsonschema:"of a file: its tensors"`
}

// How much of a look goes into an answer.
const (
	mostElements = 6
	mostChannels = 48
)

func (s *Server) tensor(ctx context.Context, _ *sdk.CallToolRequest, in TensorIn) (out TensorLook) {
	if in.Path != "" {
		return s.file(ctx, in)
	}
	must.Not(in.Tensor == "", "needs the name of a tensor, such as conv1:output:0, or the path of a file")
	x := s.tables.open(ctx, in.Table)
	j := x.comparison()
	op := &j.Operators[x.operator(in.Tensor)]
	t := tensorOf(j, op, in.Tensor)
	r := j.Row(t)
	f := &r.Result().Facts
	out = TensorLook{Table: x.name, Tensor: clip(r.Tensor(), mostName), Verdict: t.Verdict.String(), Shape: r.Shape, Elements: f.N, Differ: f.Differ, Disagree: f.Disagree, Metrics: metricsOf(r, func(metric.Metric) bool { return true }),
		Left: sideOf(r, &r.Left, &f.X, true), Right: sideOf(r, &r.Right, &f.Y, false)}
	for k := range t.Causes {
		out.Causes = append(out.Causes, report.CauseText(msg.English, r, &t.Causes[k]))
	}
	out.Causes = clipped(out.Causes, 6, 200)
	if len(r.Reasons) > 0 {
		out.Reasons = clipped([]string{report.Sentences(msg.English, r.Reasons)}, 1, 600)
	}
	l := x.look(r.Tensor())
	if l == nil || len(l.Histogram) == 0 {
		seen, why := s.look(ctx, x, r)
		if out.Unseen = clip(why, 300); seen != nil {
			if l != nil {
				seen.Patterns = l.Patterns
			}
			l = seen
			x.keepLook(l)
		}
	}
	if l != nil {
		out.take(l, op.Op.Type)
	}
	if len(out.Largest) == 0 && f.Known {
		for _, e := range []struct {
			e  *metric.Element
			to *[]Element
		}{{&f.Worst, &out.Largest}, {&f.FirstDiffer, &out.First}} {
			if e.e.Index >= 0 && f.Differ > 0 {
				*e.to = append(*e.to, elementOf(e.e, r.Shape))
			}
		}
	}
	return out
}

// look looks at the elements of a row whose recordings are still there. why says what kept it from that.
func (s *Server) look(ctx context.Context, x *table, r *result.Row) (l *result.Look, why string) {
	m := &x.judged.Table.Meta
	if !r.Compared {
		return nil, ""
	}
	for _, path := range []string{m.Left.Dir, m.Right.Dir, m.Graph} {
		if path == "" {
			continue
		}
		if err := must.Try(func() { s.f.tree(path) }); err != nil {
			return nil, err.Error()
		}
	}
	if m.Left.Dir == "" || m.Right.Dir == "" {
		return nil, "the table does not name its folders"
	}
	l, err := run.Elements(ctx, x.judged, r.Tensor())
	switch {
	case err != nil:
		return nil, err.Error()
	case l == nil:
		return nil, "the recordings hold no elements of it, only statistics, or too many"
	}
	return l, ""
}

// take takes what is short enough of a look.
func (o *TensorLook) take(l *result.Look, typ string) {
	for _, e := range []struct {
		from []metric.Element
		to   *[]Element
	}{{l.Largest, &o.Largest}, {l.First, &o.First}} {
		for i := range e.from[:min(len(e.from), mostElements)] {
			*e.to = append(*e.to, elementOf(&e.from[i], l.Shape))
		}
	}
	for _, p := range l.Patterns {
		o.Patterns = append(o.Patterns, patterns.Line(msg.English, p, typ))
	}
	o.Patterns = clipped(o.Patterns, 4, 300)
	if len(l.Histogram) == 0 {
		return
	}
	o.Spread = &Spread{Equal: l.Equal, Low: result.Number(l.HistogramLow), High: result.Number(l.HistogramHigh), Histogram: l.Histogram, Axis: l.ChannelAxis, Count: l.ChannelCount, Channels: []result.Number{}}
	each := (len(l.Channels) + mostChannels - 1) / mostChannels
	for i := 0; i < len(l.Channels); i += max(each, 1) {
		most := 0.0
		for _, v := range l.Channels[i:min(i+each, len(l.Channels))] {
			if v > most || v != v {
				most = v
			}
		}
		o.Spread.Channels = append(o.Spread.Channels, rounded(most))
	}
}

// tensorOf is the tensor of an operator that a name means: in full, or the worst output if only the operator is named.
func tensorOf(j *verdict.Judged, op *verdict.Operator, name string) (worst *verdict.Tensor) {
	var names []string
	for _, list := range [][]verdict.Tensor{op.Outputs, op.Inputs} {
		for i := range list {
			own := j.Row(&list[i]).Tensor()
			if own == name {
				return &list[i]
			}
			names = append(names, own)
		}
	}
	if _, role, slot, err := result.ParseTensor(name); err == nil {
		list := op.Outputs
		if role == result.Input {
			list = op.Inputs
		}
		for i := range list {
			if list[i].Slot == slot {
				return &list[i]
			}
		}
		must.Not(true, "no tensor %q; %s has %s", name, op.Op.Name, strings.Join(clipped(names, mostNames, 160), ", "))
	}
	for i := range op.Outputs {
		if t := &op.Outputs[i]; worst == nil || t.Verdict > worst.Verdict {
			worst = t
		}
	}
	must.Not(worst == nil, "%s has no output; its tensors are %s", op.Op.Name, strings.Join(clipped(names, mostNames, 160), ", "))
	return worst
}

func elementOf(e *metric.Element, shape []int64) Element {
	one := Element{Index: e.Index, Left: result.Number(e.X + e.XRest), Right: result.Number(e.Y + e.YRest)}
	if len(shape) > 0 {
		one.Place = nd.Place(e.Index, shape)
	}
	return one
}

func sideOf(r *result.Row, o *result.Operand, f *metric.SideFacts, left bool) *Side {
	one := &Side{File: clip(o.File, 300), Shape: o.Shape}
	if o.Shape != nil {
		one.Type = o.DType.String()
	}
	if r.Compared && r.Result().Facts.Known {
		one.Max, one.Min, one.Mean, one.NaN, one.Inf = known(f.Hi), known(f.Lo), known(f.Mean), f.NaN, f.Inf
	}
	if r.Recorded == nil {
		return one
	}
	summary := r.Recorded.Right
	if left {
		summary = r.Recorded.Left
	}
	one.Value = clip(summary.Value, 200)
	for i, to := range []**result.Number{&one.Max, &one.Min, &one.Mean, &one.Norm} {
		if v, known := result.Statistics[i].In(summary); known {
			n := result.Number(v)
			*to = &n
		}
	}
	return one
}

// file looks at the numbers in a file.
func (s *Server) file(ctx context.Context, in TensorIn) (out TensorLook) {
	path := s.f.path(in.Path)
	must.Not(in.Values < 0 || in.Values > 64, "values: found %d, expected 1 to 64", in.Values)
	arrays, bad, err := array.Open(path)
	must.Do(err)
	if len(arrays) == 0 {
		must.Do(errors.Join(append(bad, fmt.Errorf("%s: no tensor that can be read", in.Path))...))
	}
	var chosen *array.Array
	var parts []string
	for _, a := range arrays {
		defer a.Close()
		parts = append(parts, a.Part)
		if chosen == nil && (in.Part == "" || a.Part == in.Part) {
			chosen = a
		}
	}
	must.Not(chosen == nil, "%s has no part %q; it has %s", in.Path, in.Part, strings.Join(clipped(parts, mostNames, 100), ", "))
	stats := must.Get(chosen.Measure(ctx, 0))
	n := cmp.Or(in.Values, 8)
	values := must.Get(chosen.FirstText(int64(n)))
	out = TensorLook{Tensor: clean.Line(chosen.Name), Shape: chosen.Shape, Elements: chosen.Len(), Format: chosen.Format, Values: clipped(values, 64, 60),
		Left: &Side{File: path, Type: chosen.Type.String(), Shape: chosen.Shape, Max: known(stats.Max), Min: known(stats.Min), Mean: known(stats.Mean), NaN: stats.NaN, Inf: stats.Inf}}
	if len(parts) > 1 {
		out.Parts = clipped(parts, mostNames, 100)
	}
	for _, err := range bad {
		out.Reasons = append(out.Reasons, clip(err.Error(), 200))
	}
	out.Reasons = clipped(out.Reasons, 3, 200)
	return out
}
