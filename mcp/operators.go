package mcp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"precision/compare/metric"
	"precision/compare/pattern"
	"precision/compare/report"
	"precision/compare/report/checked"
	"precision/compare/report/patterns"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/internal/must"
)

// OperatorsIn says which operators to list.
type OperatorsIn struct {
	Table  string `json:"table,omitempty" jsonschema:"the table; the last one if left out"`
	Name   string `json:"name,omitempty" jsonschema:"only those with this in their names"`
	Type   string `json:"type,omitempty" jsonschema:"only those of this type"`
	State  string `json:"state,omitempty" jsonschema:"only those in this state: good, suspect, inherited, bad, uncompared, damaged; of a check ok, suspect, wrong, unknown"`
	Sort   string `json:"sort,omitempty" jsonschema:"order (of execution, as it is if left out), state, name, type, cosine, drop, distance, largest: the worst first"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many at most; as many as fit if left out"`
	Cursor string `json:"cursor,omitempty"`
}

// Operator is one in a list.
type Operator struct {
	Name     string         `json:"name"`
	Type     string         `json:"type"`
	Order    int            `json:"order" jsonschema:"its place in execution order"`
	State    string         `json:"state"`
	Root     bool           `json:"root,omitempty"`
	Cause    string         `json:"cause,omitempty" jsonschema:"the gravest of its outputs"`
	Cosine   *result.Number `json:"cosine,omitempty" jsonschema:"smallest cosine similarity of its outputs"`
	Distance *result.Number `json:"distance,omitempty" jsonschema:"largest relative Euclidean distance"`
	Largest  *result.Number `json:"largest,omitempty" jsonschema:"largest absolute error"`
	Ratio    *result.Number `json:"ratio,omitempty" jsonschema:"of a check: error over bound"`
	From     []string       `json:"from,omitempty" jsonschema:"roots it inherits from"`
}

// Operators is a list of them.
type Operators struct {
	Table     string     `json:"table"`
	Operators []Operator `json:"operators"`
	Page
}

func (s *Server) operators(ctx context.Context, _ *sdk.CallToolRequest, in OperatorsIn) (out Operators) {
	x := s.tables.open(ctx, in.Table)
	must.Not(in.Limit < 0, "limit: found %d, expected 1 or more", in.Limit)
	out.Table = x.name
	key := listKey("operators", x.state, in.Name, in.Type, in.State, in.Sort, in.Limit)
	low := strings.ToLower(in.Name)
	matches := func(i int, typ, state string) bool {
		return strings.Contains(x.low[i], low) && (in.Type == "" || strings.EqualFold(typ, in.Type)) && (in.State == "" || state == in.State)
	}
	states := []string{"ok", "suspect", "wrong", "unknown"}
	if x.kind != kindCheck {
		states = nil
		for state := range x.comparison().Counts {
			states = append(states, verdict.State(state).String())
		}
	}
	must.Not(in.State != "" && !slices.Contains(states, in.State), "state: found %q, expected one of %s", in.State, strings.Join(states, ", "))
	var items int
	var item func(int) Operator
	switch x.kind {
	case kindCheck:
		must.Not(in.Sort != "" && in.Sort != "order", "sort: the outputs of a check are in execution order")
		var list []int
		for i := range x.checked.Findings {
			if f := &x.checked.Findings[i]; matches(i, f.Type, f.Verdict.String()) {
				list = append(list, i)
			}
		}
		items, item = len(list), func(i int) Operator {
			f := &x.checked.Findings[list[i]]
			return Operator{Name: clip(result.TensorName(f.Op, result.Output, f.Index), mostName), Type: f.Type, Order: int(f.ID), State: f.Verdict.String(), Ratio: known(f.Ratio), Cause: f.Pattern}
		}
	default:
		var list []report.OperatorLine
		for _, l := range x.sortedBy(in.Sort) {
			if matches(l.Place, l.Operator.Op.Type, l.Operator.State.String()) {
				list = append(list, l)
			}
		}
		items, item = len(list), func(i int) Operator { return lineOf(x.judged, &list[i]) }
	}
	out.Page, out.Operators = fill(in.Cursor, key, items, listBytes, item)
	if in.Limit > 0 && len(out.Operators) > in.Limit {
		at := start(in.Cursor, key, items)
		out.Operators, out.Next = out.Operators[:in.Limit], cursorOf(key, at+in.Limit)
	}
	return out
}

func lineOf(j *verdict.Judged, l *report.OperatorLine) Operator {
	op := l.Operator
	return Operator{Name: clip(op.Op.Name, mostName), Type: op.Op.Type, Order: l.Place, State: op.State.String(), Root: l.Root, Cause: string(l.Cause),
		Cosine: known(l.Out), Distance: known(l.Distance), Largest: known(l.Largest), From: clipped(rootsOf(j, op), 3, 160)}
}

// rootsOf are the roots that an operator inherits from.
func rootsOf(j *verdict.Judged, op *verdict.Operator) (names []string) {
	for _, k := range op.From {
		names = append(names, j.Operators[j.Roots[k].Operator].Op.Name)
	}
	return names
}

// patternText says what kind of wrong something is, with its evidence.
func patternText(p *pattern.Finding) string {
	line := patterns.Kind(msg.English, string(p.Kind))
	if evidence := patterns.Evidence(msg.English, p); evidence != "" {
		line += ": " + evidence
	}
	if p.Explained > 0 {
		line += fmt.Sprintf(" (explains %.4g%% of the error)", 100*p.Explained)
	}
	return line
}

// WhyIn names an operator.
type WhyIn struct {
	Table    string `json:"table,omitempty" jsonschema:"the table; the last one if left out"`
	Operator string `json:"operator" jsonschema:"its name, that of the framework, or a part that no other name has"`
}

// Tensor is a tensor in a list.
type Tensor struct {
	Tensor     string                      `json:"tensor"`
	Verdict    string                      `json:"verdict"`
	Causes     []string                    `json:"causes,omitempty"`
	Shape      []int64                     `json:"shape" jsonschema:"null if nothing was compared"`
	Types      []string                    `json:"types,omitempty" jsonschema:"left and right element type"`
	Metrics    map[string]result.Number    `json:"metrics,omitempty" jsonschema:"those that were computed"`
	Statistics map[string][]*result.Number `json:"statistics,omitempty" jsonschema:"of recordings of statistics: those of the left and of the right side, null where one has none"`
	Producer   string                      `json:"producer,omitempty" jsonschema:"what feeds it"`
	Reasons    []string                    `json:"reasons,omitempty" jsonschema:"why there are no values, or what to know of them"`
}

// Recheck is what recomputing an output from the operator's own inputs said of it.
type Recheck struct {
	Output        int            `json:"output"`
	Verdict       string         `json:"verdict" jsonschema:"explained, suspect, wrong, unknown"`
	Ratio         *result.Number `json:"ratio" jsonschema:"error over bound"`
	Local         *result.Number `json:"local,omitempty" jsonschema:"error made here"`
	Inherited     *result.Number `json:"inherited,omitempty" jsonschema:"error that the inputs brought"`
	Amplification *result.Number `json:"amplification,omitempty"`
	Golden        string         `json:"golden,omitempty" jsonschema:"whether the golden output follows from golden inputs"`
	Why           []string       `json:"why,omitempty"`
}

// Why is all about one operator.
type Why struct {
	Table     string    `json:"table"`
	Operator  string    `json:"operator"`
	Type      string    `json:"type"`
	Framework []string  `json:"framework,omitempty"`
	Order     int       `json:"order"`
	State     string    `json:"state"`
	Root      *Root     `json:"root,omitempty" jsonschema:"set where an error begins here"`
	From      []string  `json:"from,omitempty" jsonschema:"roots whose error it inherits: ask why of these instead"`
	Outputs   []Tensor  `json:"outputs"`
	Inputs    []Tensor  `json:"inputs"`
	Feeds     []string  `json:"feeds,omitempty" jsonschema:"operators that take its outputs, with their states"`
	Patterns  []string  `json:"patterns,omitempty" jsonschema:"what kind of wrong its numbers are, the best explanation first"`
	Checks    []Recheck `json:"checks,omitempty" jsonschema:"of compare with check"`
	Findings  []Finding `json:"findings,omitempty" jsonschema:"of a check"`
	Source    string    `json:"source,omitempty" jsonschema:"the line of the program that makes the call, and those that lead there"`
	Reasons   []string  `json:"reasons,omitempty"`
}

// mostTensors bounds the inputs and outputs that why lists; an operator may have thousands.
const mostTensors = 6

func (s *Server) why(ctx context.Context, _ *sdk.CallToolRequest, in WhyIn) (out Why) {
	x := s.tables.open(ctx, in.Table)
	if x.kind != kindCheck {
		x.comparison()
	}
	at := x.operator(in.Operator)
	out = Why{Table: x.name, Outputs: []Tensor{}, Inputs: []Tensor{}}
	if x.kind == kindCheck {
		whyChecked(x, at, &out)
		return out
	}
	j := x.judged
	op := &j.Operators[at]
	out.Operator, out.Type, out.Order, out.State = clip(op.Op.Name, mostName), op.Op.Type, at, op.State.String()
	out.From = clipped(rootsOf(j, op), 6, 200)
	if list := op.Op.Framework; len(list) != 1 || list[0] != op.Op.Name {
		out.Framework = clipped(list, 6, 160)
	}
	for i := range j.Roots {
		if j.Roots[i].Operator == at {
			root := rootOf(j, &j.Roots[i])
			out.Root = &root
			break
		}
	}
	out.Outputs = tensorsOf(j, op.Outputs)
	out.Inputs = tensorsOf(j, op.Inputs)
	for _, k := range x.usersOf(at) {
		out.Feeds = append(out.Feeds, j.Operators[k].Op.Name+" ("+j.Operators[k].State.String()+")")
	}
	out.Feeds = clipped(out.Feeds, 6, 160)
	for i := range op.Outputs {
		t := &op.Outputs[i]
		row := j.Row(t)
		if l := x.look(row.Tensor()); l != nil {
			for _, p := range l.Patterns {
				out.Patterns = append(out.Patterns, patterns.Line(msg.English, p, op.Op.Type))
			}
		}
		if t.Check != nil && len(out.Checks) < 4 {
			out.Checks = append(out.Checks, recheckOf(t.Check))
		}
		if row.Recorded != nil && out.Source == "" && row.Recorded.Source != "" {
			out.Source = clip(clean.Text(strings.TrimSpace(row.Recorded.Source+"\n"+row.Recorded.Stack)), mostText)
		}
	}
	out.Patterns = clipped(out.Patterns, 4, 300)
	for _, row := range op.Whole {
		out.Reasons = append(out.Reasons, report.Sentences(msg.English, j.Table.Rows[row].Reasons))
	}
	out.Reasons = clipped(out.Reasons, 3, 300)
	return out
}

func whyChecked(x *table, at int, out *Why) {
	list := x.checked.Findings
	first := &list[at]
	out.Operator, out.Type, out.Order, out.State = clip(first.Op, mostName), first.Type, int(first.ID), first.Verdict.String()
	for i := at; i < len(list) && len(out.Findings) < mostTensors; i++ {
		f := &list[i]
		if f.Op != first.Op || f.Rank != first.Rank {
			break
		}
		out.Findings = append(out.Findings, findingOf(f))
		if s := f.Split; s != nil {
			out.Checks = append(out.Checks, Recheck{Output: f.Index, Verdict: f.Verdict.String(), Ratio: known(f.Ratio), Local: known(s.Local), Inherited: known(s.Inherited), Amplification: known(s.Amplification)})
		}
	}
}

func recheckOf(c *result.Check) Recheck {
	one := Recheck{Output: c.Output, Verdict: "explained", Ratio: known(c.Ratio), Local: known(c.Local), Inherited: known(c.Inherited), Amplification: known(c.Amplification), Golden: string(c.Golden)}
	switch {
	case !c.Known:
		one.Verdict, one.Ratio = "unknown", nil
	case c.Wrong:
		one.Verdict = "wrong"
	case c.Suspect:
		one.Verdict = "suspect"
	}
	for _, r := range c.Why {
		one.Why = append(one.Why, clip(checked.Reason(msg.English, r), 300))
	}
	one.Why = clipped(one.Why, 3, 300)
	return one
}

// tensorsOf are tensors of an operator, those that are not good first.
func tensorsOf(j *verdict.Judged, list []verdict.Tensor) []Tensor {
	out := []Tensor{}
	for _, good := range []bool{false, true} {
		for i := range list {
			t := &list[i]
			if (t.Verdict == verdict.Good) != good || len(out) == mostTensors {
				continue
			}
			r := j.Row(t)
			one := Tensor{Tensor: clip(r.Tensor(), mostName), Verdict: t.Verdict.String(), Shape: r.Shape, Metrics: metricsOf(r, foremost), Statistics: statisticsOf(r)}
			for k := range t.Causes {
				one.Causes = append(one.Causes, report.CauseText(msg.English, r, &t.Causes[k]))
			}
			one.Causes = clipped(one.Causes, 3, 200)
			if len(r.Reasons) > 0 {
				one.Reasons = clipped([]string{report.Sentences(msg.English, r.Reasons)}, 1, 300)
			}
			if r.Left.Shape != nil && r.Right.Shape != nil {
				one.Types = []string{r.Left.DType.String(), r.Right.DType.String()}
			}
			if p := r.Facts.Producer; p.Op != "" && r.Role == result.Input {
				one.Producer = result.TensorName(p.Op, result.Output, p.Index)
			}
			out = append(out, one)
		}
	}
	return out
}

// foremost are the metrics that a list of tensors shows.
func foremost(m metric.Metric) bool {
	return m == metric.CosineSimilarity || m == metric.MaxAbsoluteError || m == metric.RelativeEuclideanDistance || m == metric.MaxRelativeError
}

// statisticsOf are those that recordings hold in place of elements.
func statisticsOf(r *result.Row) map[string][]*result.Number {
	if r.Recorded == nil || r.Compared {
		return nil
	}
	out := map[string][]*result.Number{}
	for _, x := range result.Statistics {
		both := []*result.Number{nil, nil}
		for i, s := range []*result.Summary{r.Recorded.Left, r.Recorded.Right} {
			if v, known := x.In(s); known {
				n := rounded(v)
				both[i] = &n
			}
		}
		if both[0] != nil || both[1] != nil {
			out[strings.ToLower(x.Name)] = both
		}
	}
	return out
}

// metricsOf are the metrics of a row that were computed, those that are wanted.
func metricsOf(r *result.Row, wanted func(metric.Metric) bool) map[string]result.Number {
	if !r.Compared {
		return nil
	}
	out := map[string]result.Number{}
	for m := range metric.Metric(metric.Count) {
		v := r.Result().Values[m]
		switch {
		case !v.OK() || !wanted(m):
		case m == metric.StandardDeviation:
			for side, name := range []string{"", "Right"} {
				mean, deviation := v.Moments(metric.Side(side))
				out[m.String()+name+"Mean"], out[m.String()+name] = rounded(mean), rounded(deviation)
			}
		default:
			out[m.String()] = rounded(v.Float())
		}
	}
	return out
}

// rounded has nine digits, which tell float32 apart, so that answers stay short.
func rounded(v float64) result.Number {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return result.Number(v)
	}
	scale := math.Pow(10, 8-math.Floor(math.Log10(math.Abs(v))))
	if r := math.Round(v*scale) / scale; !math.IsNaN(r) && !math.IsInf(r, 0) {
		return result.Number(r)
	}
	return result.Number(v)
}
