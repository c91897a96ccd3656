package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"precision/compare/advice"
	"precision/compare/report/steps"
	"precision/graph"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/preflight/report"
	"precision/preflight/trainlog"
	"precision/run"
)

// AdviseIn names a table.
type AdviseIn struct {
	Table  string `json:"table,omitempty" jsonschema:"the table; the last one if left out"`
	Graph  string `json:"graph,omitempty" jsonschema:"the graph of the left side, for fusion passes and sizes; that of the table if left out and still there"`
	Cursor string `json:"cursor,omitempty"`
}

// Step is something to try.
type Step struct {
	Step  string   `json:"step"`
	Lines []string `json:"lines" jsonschema:"to paste, each with where it goes in front"`
}

// RootAdvice is what to try about a root.
type RootAdvice struct {
	Operator string   `json:"operator"`
	Type     string   `json:"type"`
	Kinds    []string `json:"kinds" jsonschema:"causes and kinds of wrong it is for"`
	Steps    []Step   `json:"steps"`
	Region   []string `json:"region,omitempty"`
	Others   []string `json:"others,omitempty" jsonschema:"roots for which the same is to be tried"`
}

// Record is what to record next.
type Record struct {
	Operators []string `json:"operators"`
	Of        int      `json:"of" jsonschema:"operators in doubt"`
	Recorder  string   `json:"recorder"`
	Files     []string `json:"files,omitempty" jsonschema:"configurations of the recorder: name and content"`
}

// Advice is what to do next.
type Advice struct {
	Table  string       `json:"table"`
	Says   []string     `json:"says" jsonschema:"the advice in sentences"`
	Roots  []RootAdvice `json:"roots"`
	Record *Record      `json:"record,omitempty"`
	Page
}

func (s *Server) advise(ctx context.Context, _ *sdk.CallToolRequest, in AdviseIn) (out Advice) {
	out.Roots, out.Says = []RootAdvice{}, []string{}
	x := s.tables.open(ctx, in.Table)
	j := x.comparison()
	var index *graph.Index
	if path := cmp.Or(in.Graph, j.Table.Meta.Graph); path != "" {
		err := must.Try(func() { index = must.Get(graph.NewIndex(must.Get(run.OpenGraph(ctx, s.f.path(path))))) })
		if in.Graph != "" {
			must.Do(err)
		}
	}
	given := advice.For(j, advice.Options{Graph: index})
	out.Table = x.name
	room := listBytes
	if in.Cursor == "" {
		out.Says = said(steps.Text{Lang: msg.English, Most: 2}.Say(j, given, nil, 0), strings.TrimSpace, 16, 200)
		if p := given.Plan; p != nil {
			out.Record = &Record{Operators: clipped(p.Record, 12, 160), Of: len(p.InDoubt), Recorder: string(p.Recorder)}
			for _, f := range p.Files[:min(len(p.Files), 2)] {
				out.Record.Files = append(out.Record.Files, f.Name+":\n"+clip(f.Text, 700))
			}
		}
		room /= 2
	}
	out.Page, out.Roots = fill(in.Cursor, listKey("advice", x.state, in.Graph), len(given.Roots), room, func(i int) RootAdvice {
		r := &given.Roots[i]
		one := RootAdvice{Operator: r.Name, Type: r.Type, Kinds: append([]string{}, r.Kinds...), Steps: []Step{}, Region: clipped(r.Region, 6, 160), Others: clipped(r.Others, 6, 160)}
		for _, t := range r.Steps {
			step := Step{Step: string(t.Step), Lines: []string{}}
			for _, l := range t.Lines {
				step.Lines = append(step.Lines, string(l.Where)+": "+l.Text)
			}
			step.Lines = append([]string{}, clipped(step.Lines, 6, 240)...)
			one.Steps = append(one.Steps, step)
		}
		return one
	})
	return out
}

// said are the lines of a text that are not empty.
func said(text string, trim func(string) string, most, each int) (lines []string) {
	for line := range strings.Lines(text) {
		if line = trim(line); line != "" {
			lines = append(lines, clean.Line(line))
		}
	}
	return clipped(lines, most, each)
}

// PreflightIn names two files or folders.
type PreflightIn struct {
	A string `json:"a" jsonschema:"manifest, configuration or training log of one training"`
	B string `json:"b" jsonschema:"the same of the other"`
}

// Preflight is what differs.
type Preflight struct {
	Kind    string   `json:"kind" jsonschema:"manifest, config or log"`
	Differs bool     `json:"differs"`
	Says    []string `json:"says"`
	Report  any      `json:"report,omitempty" jsonschema:"all that differs, as preflight diff -json writes it, where it is short enough"`
}

func (s *Server) preflight(ctx context.Context, _ *sdk.CallToolRequest, in PreflightIn) (out Preflight) {
	p := run.Preflight{Floor: trainlog.DefaultFloor}
	p.A, p.B = s.f.tree(in.A), s.f.tree(in.B)
	done := must.Get(p.Run(ctx, func(run.Event) {}))
	out.Kind, out.Differs = string(done.Kind), done.Differs
	out.Says = said(report.Text{Lang: msg.English, Width: 100, Most: 12}.Of(done.Found), func(line string) string { return strings.TrimRight(line, " \r\n") }, 40, 160)
	var text bytes.Buffer
	if err := report.JSON(&text, done.Found); err == nil {
		var small bytes.Buffer
		if json.Compact(&small, text.Bytes()) == nil && small.Len() < listBytes/2 {
			out.Report = json.RawMessage(small.Bytes())
		}
	}
	return out
}
