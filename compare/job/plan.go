package job

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"

	"precision/compare/engine"
	"precision/compare/recording"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/order"
	"precision/internal/plainfile"
)

// Plan is what a job comes to before anything is compared.
type Plan struct {
	Request
	// Parts are the comparisons, by step, rank and model; Meetings the operators
	// that ranks ran together.
	Parts    []Part
	Meetings []Meeting
	// Alone are recordings without a partner.
	Alone []Alone
	// Chosen says which ranks, steps and models were asked for, as options say it; empty for
	// all.
	Chosen string

	// extra are recordings that are not compared, but take part in meetings: those
	// of ranks that were not chosen or have no golden one.
	extra   []Part
	after   *After
	options string // what the hash of the request is
	judged  profileSays
	in      *inputs
	named   func() map[string]unit // the units by name
}

// index makes what finds units by their names.
func (p *Plan) index() {
	p.named = sync.OnceValue(func() map[string]unit {
		all := map[string]unit{}
		for _, u := range p.units() {
			all[u.name] = u
		}
		return all
	})
}

// mostFolders bounds the search for recordings: 10 000 ranks with three steps have 30 000
// folders of dumps, and as many above each.
const mostFolders = 1 << 20

// Plan finds the recordings and brings them together. Errors are those of a side as a whole; what is wrong
// with one recording is in Plan.Alone.
func (r Request) Plan(ctx context.Context) (_ *Plan, err error) {
	defer must.Catch(&err)
	p := &Plan{Request: r, Chosen: r.chosen(), options: r.Hash(), judged: r.judgedBy(), after: r.expected(), in: &inputs{ctx: ctx}}
	p.index()
	if recording.Is(r.Left) {
		p.findCalls()
	} else {
		p.findDumps()
	}
	order.Stable(p.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Model, b.Model), cmp.Compare(a.ModelID, b.ModelID), cmp.Compare(a.Left, b.Left))
	})
	p.look(ctx)
	if len(p.Parts) > 0 && !slices.ContainsFunc(p.Parts, func(x Part) bool { return x.strange == nil }) {
		return nil, p.Parts[0].strange // the graph is that of none
	}
	p.lone()
	p.hosts()
	named(p.Parts)
	p.missing()
	p.meet()
	order.Stable(p.Alone, func(a, b Alone) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Why, b.Why), cmp.Compare(a.Path, b.Path))
	})
	if len(p.Parts) == 0 {
		return p, &NothingError{Left: r.Left, Right: r.Right, Alone: p.Alone}
	}
	return p, nil
}

// NothingError: no recording of one side has a partner on the other.
type NothingError struct {
	Left, Right string
	Alone       []Alone
}

func (e *NothingError) Error() string {
	text := fmt.Sprintf("%s and %s: no rank and step that both sides have", e.Left, e.Right)
	if len(e.Alone) > 0 {
		a := e.Alone[0]
		text += fmt.Sprintf("; the first of %d without a partner is rank %s, step %s, %s", len(e.Alone), number(a.Rank), number(a.Step), cmp.Or(a.Says, a.Path))
	}
	return text
}

// look sees what each part has to read, several at a time. A part that cannot be read is
// taken out.
func (p *Plan) look(ctx context.Context) {
	var goldens once[string, stamp]
	graph := p.graphStamp()
	failed := make([]error, len(p.Parts))
	each.Number(ctx, len(p.Parts), 2*runtime.GOMAXPROCS(0), nil, func() func(int) { // they wait for the disk
		return func(i int) { failed[i] = must.Try(func() { p.lookAt(&p.Parts[i], &goldens, graph) }) }
	})
	must.Do(context.Cause(ctx))
	var parts []Part
	for i := range p.Parts {
		switch x := &p.Parts[i]; {
		case failed[i] != nil && x.Right != "":
			p.Alone = append(p.Alone, Alone{Why: AloneUnread, Path: x.Left, Step: x.Step, Rank: x.Rank, Says: failed[i].Error()})
		case failed[i] != nil:
		case x.Right == "":
			p.extra = append(p.extra, *x)
		default:
			parts = append(parts, *x)
		}
	}
	p.Parts = parts
}

// depthOf is how far below its folder a recording goes: msprobe keeps tensors in a
// folder of their own.
func (p *Part) depth() int {
	switch {
	case p.Calls && p.Rank < 0:
		return 2 // maybe the ranks of a step
	case p.Calls:
		return 1
	}
	return 0
}

func (p *Plan) lookAt(x *Part, goldens *once[string, stamp], graph stamp) {
	left, right := must.Get(stampOf(x.Left, x.depth())), stamp{}
	if x.Right != "" {
		right = must.Get(goldens.of(x.Right, func() (stamp, error) {
			s, err := stampOf(x.Right, x.depth())
			s.size = nil
			return s, err
		}))
	}
	x.Files, x.Bytes = left.files+right.files, left.bytes+right.bytes
	x.Stamp, x.seen = both(left.sum, right.sum, graph.sum), both(left.own, right.own, graph.own)
	if x.Calls {
		return
	}
	folder := must.Get(p.in.Scan(x.Left, true))
	if p.Graph != "" && !plainfile.IsFolder(p.Graph) {
		if m, err := p.in.Graph(p.Graph); err == nil {
			_, x.strange = engine.Belongs(p.Graph, folder, engine.NamesOf(m))
		}
	}
	for _, op := range folder.Ops {
		e := op.Newest()
		if folder.Device() && isShared(e.Name.OpType) {
			x.shared = append(x.shared, sharedOp{Key: op.Key, Type: e.Name.OpType, Bytes: left.size[e.Name.File]})
		}
	}
}

// graphStamp is the stamp of the graphs that were named.
func (p *Plan) graphStamp() stamp {
	var list, own [][]byte
	for _, path := range []string{p.Graph, p.Quant, p.Closed} {
		info, err := os.Stat(path)
		switch {
		case path == "" || err != nil:
		case info.IsDir():
			s, _ := stampOf(path, 3)
			list, own = append(list, s.sum), append(own, s.own)
		default:
			list = append(list, fmt.Appendf(nil, "%d %d", info.Size(), info.ModTime().UnixNano()))
			own = append(own, plainfile.Identity(info))
		}
	}
	return stamp{sum: []byte(both(list...)), own: []byte(both(own...))}
}

// GraphOf is the graph that a part will be compared by, and how it was found; empty
// without one.
func (p *Plan) GraphOf(x *Part) (path, how string) {
	if x.Calls || p.Graph != "" && !plainfile.IsFolder(p.Graph) {
		return p.Graph, "given"
	}
	folder, err := p.in.Scan(x.Left, true)
	if err != nil || !folder.Device() {
		return "", ""
	}
	if p.Graph == "" {
		if m, ok := engine.GraphBeside(folder, p.in); ok {
			return m.Candidate.Model.Path, m.How.String()
		}
		return "", ""
	}
	candidates, _, err := p.in.Graphs(p.Graph)
	if err != nil {
		return "", ""
	}
	if m := engine.GraphsOf(folder, candidates); len(m) > 0 {
		return m[0].Candidate.Model.Path, m[0].How.String()
	}
	return "", ""
}

// Bytes is what all units read.
func (p *Plan) Bytes() (n int64) {
	for i := range p.Parts {
		n += p.Parts[i].Bytes
	}
	for i := range p.Meetings {
		n += p.Meetings[i].Bytes
	}
	return n
}

// PlanSchema is the form of plan.json.
const PlanSchema = "precision/plan/1"

// planSays is plan.json.
type planSays struct {
	Schema   string      `json:"schema"`
	Version  string      `json:"version"`
	Options  string      `json:"options"`
	Profile  profileSays `json:"profile"`
	Left     string      `json:"left"`
	Right    string      `json:"right"`
	Graph    string      `json:"graph,omitempty"`
	Parts    []Part      `json:"parts"`
	Meetings []Meeting   `json:"meetings"`
	Alone    []Alone     `json:"alone"`
	Chosen   string      `json:"chosen,omitempty"`
	After    *After      `json:"after,omitempty"`
}

// WriteJSON writes the plan. Two plans are the same if their bytes are.
func (p *Plan) WriteJSON(to io.Writer) error {
	return writeJSON(to, planSays{PlanSchema, p.Version, p.options, p.judged, p.Left, p.Right, p.Graph, nonNil(p.Parts), nonNil(p.Meetings), nonNil(p.Alone), p.Chosen, p.after})
}

// readPlan reads what WriteJSON wrote.
func readPlan(text []byte) (_ *Plan, err error) {
	defer must.Catch(&err)
	var s planSays
	must.Do(json.Unmarshal(text, &s))
	must.Not(s.Schema != PlanSchema, "schema: found %q, expected %q", s.Schema, PlanSchema)
	p := &Plan{Parts: s.Parts, Meetings: s.Meetings}
	must.Do(checkNames(p.units()))
	return &Plan{Request: Request{Left: s.Left, Right: s.Right, Graph: s.Graph, Version: s.Version}, Parts: s.Parts, Meetings: s.Meetings, Alone: s.Alone, Chosen: s.Chosen,
		options: s.Options, judged: s.Profile, after: s.After}, nil
}

// checkNames sees that units have names that may become parts of paths.
func checkNames(units []unit) error {
	return cmp.Or(each.Of(units, func(u unit) error { return plainfile.CheckName(u.name) })...)
}

// nonNil is a list that JSON has as [] where it is empty.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
