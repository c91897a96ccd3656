package mcp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"precision/compare/engine"
	"precision/compare/job"
	"precision/compare/job/face"
	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/report/checked"
	"precision/compare/result"
	"precision/compare/sides"
	"precision/compare/verdict"
	"precision/internal/clean"
	"precision/internal/each"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/run"
)

func (s *Server) addTools() {
	add(s, "compare", "Compare an NPU recording with its reference (golden arrays, a GPU or CPU recording, or another NPU run) and judge it: where the error begins and what is wrong there. "+
		"Takes folders of GE dumps, msprobe recordings, tensors, checkpoints. The answer names the table that the other tools ask about.", true, s.compare)
	add(s, "check", "Recompute a recording's operators from their own recorded inputs, without any reference, and tell which outputs these do not explain. Dumps of GE need their graph.", true, s.check)
	add(s, "verdict", "The verdict on a saved table, on one that compare or check made, or on the job.json of a whole job: roots with causes and proof, premises that do not hold, what is lost.", false, s.verdict)
	add(s, "operators", "List the operators of a table, or the outputs of a check, in execution order or worst first, with state and error.", false, s.operators)
	add(s, "why", "All about one operator: why it is bad or suspect, whether its inputs explain that, what feeds it, each of its tensors, what kind of wrong its numbers are, where the program calls it.", false, s.why)
	add(s, "tensor", "Look at one tensor of a table, element by element: metrics, statistics of both sides, the largest and first differences, how errors are spread. Or at the numbers in one file.", false, s.tensor)
	add(s, "graph", "What feeds an operator and what takes its outputs, some steps up and down, with the state of each: from a table, or from a file of a graph.", false, s.graph)
	add(s, "preflight", "Compare what two trainings began with, before the network is suspected: two manifests of their data (precision preflight manifest writes them), two configurations, or two training logs.", false, s.preflight)
	add(s, "advise", "What to do about the roots of a table: settings to paste, in the user's framework, and what to record next where a root is only a region.", false, s.advise)
}

// Root is an operator at which an error begins.
type Root struct {
	Operator  string   `json:"operator"`
	Type      string   `json:"type"`
	Framework []string `json:"framework,omitempty" jsonschema:"what the framework calls it"`
	Tensor    string   `json:"tensor,omitempty" jsonschema:"its worst output, or the input it begins with"`
	Kind      string   `json:"kind,omitempty" jsonschema:"wrong: recomputing it proves the device wrong; differs; golden: the reference is wrong; input; weight"`
	Causes    []string `json:"causes" jsonschema:"what was measured, and the limit"`
	Pattern   string   `json:"pattern,omitempty" jsonschema:"the kind of wrong, by name"`
	What      string   `json:"what,omitempty" jsonschema:"the kind of wrong in words, with size and place"`
	Certainty string   `json:"certainty" jsonschema:"certain, region (it or one of region), likely, order"`
	Proof     string   `json:"proof,omitempty" jsonschema:"why it is that certain, and what it begins with"`
	Follows   string   `json:"follows,omitempty"`
	Region    []string `json:"region,omitempty"`
	Inherited int      `json:"inherited" jsonschema:"bad operators that inherit its error"`
	Reaches   []string `json:"reaches,omitempty" jsonschema:"outputs of the network it arrives at"`
	Places    []string `json:"places,omitempty" jsonschema:"other ranks, steps and calls with the same fault"`
}

// Finding is an output that a check recomputed.
type Finding struct {
	Operator string         `json:"operator"`
	Type     string         `json:"type"`
	Output   int            `json:"output"`
	Verdict  string         `json:"verdict" jsonschema:"ok, suspect, wrong, unknown"`
	Ratio    *result.Number `json:"ratio" jsonschema:"largest error over its bound, null where there is none; up to 1 is rounding"`
	Expected *result.Number `json:"expected,omitempty"`
	Found    *result.Number `json:"found,omitempty"`
	Place    []int64        `json:"place,omitempty"`
	Beyond   int64          `json:"beyond" jsonschema:"elements beyond their bound"`
	Of       int64          `json:"of" jsonschema:"elements looked at"`
	Pattern  string         `json:"pattern,omitempty"`
	What     []string       `json:"what,omitempty" jsonschema:"what kind of wrong it is, with evidence"`
	Reasons  []string       `json:"reasons,omitempty"`
}

// Origin is an operator of a job at which errors begin.
type Origin struct {
	Operator   string        `json:"operator"`
	Type       string        `json:"type"`
	Verdict    string        `json:"verdict"`
	Cause      string        `json:"cause"`
	Value      result.Number `json:"value"`
	Limit      result.Number `json:"limit"`
	FirstStep  int           `json:"first_step"`
	Ranks      string        `json:"ranks" jsonschema:"that have it at the first step"`
	Scope      string        `json:"scope"`
	Collective bool          `json:"collective,omitempty" jsonschema:"a collective that itself went wrong"`
	Faults     []string      `json:"faults,omitempty"`
	Places     []string      `json:"places,omitempty"`
	Later      bool          `json:"later,omitempty" jsonschema:"errors appear at an earlier step, of which this may be a consequence"`
}

// Part is the comparison of one rank and step of a job.
type Part struct {
	Step    int      `json:"step"`
	Rank    int      `json:"rank"`
	Verdict string   `json:"verdict"`
	Table   string   `json:"table,omitempty" jsonschema:"to ask about with the other tools"`
	Roots   []string `json:"roots,omitempty"`
	Failed  string   `json:"failed,omitempty"`
}

// Premise is something a comparison takes for granted and that does not hold.
type Premise struct {
	Kind   string `json:"kind"`
	Broken bool   `json:"broken" jsonschema:"no operator can be judged before this is settled"`
	Text   string `json:"text"`
}

// Verdict is what a comparison, a check or a job comes to.
type Verdict struct {
	Table    string         `json:"table" jsonschema:"how the other tools name this result"`
	Kind     string         `json:"kind" jsonschema:"comparison, check or job"`
	Verdict  string         `json:"verdict" jsonschema:"good, suspect, bad or inconclusive"`
	Says     []string       `json:"says" jsonschema:"the same in sentences, and what it rests on"`
	Left     string         `json:"left,omitempty"`
	Right    string         `json:"right,omitempty"`
	Compared int            `json:"compared" jsonschema:"outputs compared or recomputed"`
	Expected int            `json:"expected" jsonschema:"outputs there are to compare or recompute"`
	Counts   map[string]int `json:"counts" jsonschema:"operators by state, outputs of a check by verdict, parts of a job by verdict"`
	Premises []Premise      `json:"premises,omitempty"`
	Damaged  []string       `json:"damaged,omitempty"`
	Roots    []Root         `json:"roots,omitempty"`
	Findings []Finding      `json:"findings,omitempty" jsonschema:"of a check: wrong outputs first, then suspect ones"`
	Origins  []Origin       `json:"origins,omitempty" jsonschema:"of a job: where errors begin, the earliest step first"`
	Parts    []Part         `json:"parts,omitempty" jsonschema:"of a job"`
	Files    []string       `json:"files,omitempty" jsonschema:"what was written"`
	Page
}

// text is a renderer with short lists.
var text = report.Text{Lang: msg.English, Most: 3}

// plainLines are lines without their colours.
func plainLines(lines []report.Line) (list []string) {
	for i := range lines {
		one := strings.TrimSpace(lines[i].Text())
		if lines[i].Label != "" {
			one = lines[i].Label + ": " + one
		}
		list = append(list, clean.Line(one))
	}
	return list
}

// summary says what a result comes to; cursor goes on in its roots, findings or origins.
func (s *Server) summary(x *table, cursor string) Verdict {
	v := Verdict{Table: x.name, Kind: x.kind, Counts: map[string]int{}, Says: []string{}}
	room := listBytes
	switch x.kind {
	case kindCheck:
		s.checkSummary(x, cursor, &v)
		return v
	case kindJob:
		s.jobSummary(x, cursor, &v)
		return v
	}
	j := x.judged
	m := &j.Table.Meta
	v.Verdict, v.Left, v.Right = j.Verdict.String(), clip(m.Left.Dir, 200), clip(m.Right.Dir, 200)
	v.Compared, v.Expected = j.Coverage.Compared, j.Coverage.Expected
	for state, n := range j.Counts {
		if n > 0 {
			v.Counts[verdict.State(state).String()] = n
		}
	}
	if cursor == "" {
		v.Says = clipped(plainLines(append([]report.Line{text.Headline(j)}, text.Ground(j)...)), 8, 320)
		for _, p := range j.Premises[:min(len(j.Premises), 5)] {
			v.Premises = append(v.Premises, Premise{string(p.Kind), p.Broken, clip(report.Sentence(msg.English, p.Reason), 400)})
		}
		v.damaged(j.Damaged)
		room -= min(room/2, sizeOf(v.Premises)+sizeOf(v.Damaged))
	}
	order := j.Prominent()
	v.Page, v.Roots = fill(cursor, listKey("roots", x.state), len(order), room, func(i int) Root { return rootOf(j, &j.Roots[order[i]]) })
	return v
}

// damaged tells of the files that could not be read in full.
func (v *Verdict) damaged(list []result.Damage) {
	v.Damaged = clipped(each.Of(list, func(d result.Damage) string { return report.DamageText(msg.English, &d) }), 4, 250)
}

func sizeOf[T any](list []T) int { return len(fmt.Sprint(list)) }

// rootOf is what there is to say of a root.
func rootOf(j *verdict.Judged, r *verdict.Root) Root {
	op, card := &j.Operators[r.Operator], text.Card(j, r)
	one := Root{Operator: clip(op.Op.Name, mostName), Type: op.Op.Type, Kind: string(r.Kind), Causes: append([]string{}, clipped(card.Causes, 4, 200)...), Pattern: j.Pattern(r).Kind, What: clip(card.Kind, 400),
		Certainty: r.Certainty.String(), Proof: clip(proofOf(&card), mostText), Follows: clip(strings.TrimSpace(card.Follows+" "+card.Noise), 300),
		Region: clipped(r.Region, 6, 160), Inherited: r.Inherited, Reaches: clipped(r.Reaches, 4, 160), Places: clipped(r.Places, 4, 160)}
	if list := op.Op.Framework; len(list) != 1 || list[0] != op.Op.Name {
		one.Framework = clipped(list, 4, 160)
	}
	if w := j.Worst(r); w != nil {
		one.Tensor = j.Row(w).Tensor()
	}
	return one
}

// proofOf is why a root is one: how far that is proven, what it begins with, and the line of the program.
func proofOf(c *report.Card) string {
	proof := slices.DeleteFunc([]string{c.Certainty, c.Begins}, func(s string) bool { return s == "" })
	return strings.Join(append(proof, c.Stack[:min(1, len(c.Stack))]...), "; ")
}

// findingOf is what there is to say of an output that a check recomputed.
func findingOf(f *oracle.Finding) Finding {
	one := Finding{Operator: clip(f.Op, mostName), Type: f.Type, Output: f.Index, Verdict: f.Verdict.String(), Ratio: known(f.Ratio), Place: f.Worst, Beyond: f.Beyond, Of: f.Looked, Pattern: f.Pattern}
	if f.Worst != nil {
		e, g := result.Number(f.Expected), result.Number(f.Found)
		one.Expected, one.Found = &e, &g
	}
	for i := range f.Patterns[:min(len(f.Patterns), 3)] {
		one.What = append(one.What, clip(patternText(&f.Patterns[i]), 300))
	}
	for _, r := range f.Reasons[:min(len(f.Reasons), 3)] {
		one.Reasons = append(one.Reasons, clip(checked.Reason(msg.English, r), 300))
	}
	return one
}

// worstFindings are wrong outputs and then suspect ones; without any, those that are not known.
func worstFindings(list []oracle.Finding) (order []int) {
	for _, want := range []oracle.Verdict{oracle.Wrong, oracle.Suspect} {
		for i := range list {
			if list[i].Verdict == want {
				order = append(order, i)
			}
		}
	}
	return order
}

func (s *Server) checkSummary(x *table, cursor string, v *Verdict) {
	c := x.checked
	for word, n := range checked.Counts(c.Findings) {
		v.Counts[word.String()] = n
	}
	v.Verdict = checked.Standing(c.Findings, c.Coverage).Verdict.String()
	v.Compared, v.Expected = c.Coverage.Judged, c.Coverage.Expected
	if cursor == "" {
		for _, p := range checked.Premises(c.Findings) {
			v.Premises = append(v.Premises, Premise{p.Kind, p.Broken, clip(checked.Reason(msg.English, p.Reason), 400)})
		}
		v.damaged(c.Coverage.Damaged)
		v.Says = clipped(plainLines(checked.Summary(msg.English, c.Findings, c.Coverage)), 6, 320)
	}
	order := worstFindings(c.Findings)
	v.Page, v.Findings = fill(cursor, listKey("findings", x.state), len(order), listBytes, func(i int) Finding { return findingOf(&c.Findings[order[i]]) })
}

func (s *Server) jobSummary(x *table, cursor string, v *Verdict) {
	r := x.job
	v.Verdict, v.Left, v.Right = r.Verdict, clip(r.Left, 200), clip(r.Right, 200)
	for word, n := range r.Counts {
		v.Counts[word] = n
	}
	for _, p := range r.Parts {
		v.Compared, v.Expected = v.Compared+p.Compared, v.Expected+p.Expected
	}
	room := listBytes
	if cursor == "" {
		var damaged []string
		for i := range r.Damaged {
			damaged = append(damaged, r.Damaged[i].Name+": "+report.Sentence(msg.English, r.Damaged[i].Reason))
		}
		v.Damaged = clipped(damaged, 4, 250)
		for _, l := range r.Lost {
			v.Says = append(v.Says, clip(report.LossText(msg.English, &l), 300))
		}
		v.Parts = s.parts(x)
		room -= min(room/2, 2*sizeOf(v.Parts))
	}
	met := map[string]*job.Met{}
	for i := range r.Collectives {
		c := &r.Collectives[i]
		if c.Met != nil && len(c.Faults) > 0 {
			met[fmt.Sprint(c.Step, c.Op)] = c.Met
		}
	}
	v.Page, v.Origins = fill(cursor, listKey("origins", x.state), len(r.Origins), room, func(i int) Origin {
		o := &r.Origins[i]
		one := Origin{Operator: clip(o.Op, mostName), Type: o.Type, Verdict: o.Verdict, Cause: o.Cause, Value: o.Value, Limit: o.Limit, FirstStep: o.First, Ranks: o.Ranks, Scope: o.Scope,
			Collective: o.Collective, Places: clipped(o.Places, 4, 160), Later: o.Later}
		if m := met[fmt.Sprint(o.First, o.Op)]; m != nil {
			for k := range m.Faults[:min(len(m.Faults), 4)] {
				one.Faults = append(one.Faults, clip(face.Fault(msg.English, &m.Faults[k]), 300))
			}
		}
		return one
	})
}

// mostParts is how many parts of a job are listed, those that are not good first.
const mostParts = 12

// parts are parts of a job with their tables, those that are not good first.
func (s *Server) parts(x *table) (list []Part) {
	dir := filepath.Dir(x.name)
	for _, good := range []bool{false, true} {
		for _, p := range x.job.Parts {
			if (p.Digest.Verdict == "good") != good || len(list) == mostParts {
				continue
			}
			one := Part{Step: p.Step, Rank: p.Rank, Verdict: p.Digest.Verdict, Failed: clip(p.Failed, 200)}
			if p.Table != "" {
				one.Table = filepath.Join(dir, job.TableFolder, p.Table+".json")
			}
			for _, r := range p.Roots[:min(len(p.Roots), 2)] {
				one.Roots = append(one.Roots, clip(r.Op, 160))
			}
			list = append(list, one)
		}
	}
	return list
}

// CompareIn is what to compare.
type CompareIn struct {
	Left    string `json:"left" jsonschema:"the recording under test: a folder, below those given at start"`
	Right   string `json:"right" jsonschema:"what it is held against"`
	Graph   string `json:"graph,omitempty" jsonschema:"the GE graph of dumps; found beside them if left out"`
	Profile string `json:"profile,omitempty" jsonschema:"limits to judge by: a built-in profile or a file; default if left out"`
	Check   bool   `json:"check,omitempty" jsonschema:"also recompute operators from their own inputs, which proves who is wrong; slower"`
	All     bool   `json:"all,omitempty" jsonschema:"a whole job, every rank and step; needs a server started with -out"`
}

func (s *Server) compare(ctx context.Context, req *sdk.CallToolRequest, in CompareIn) (v Verdict) {
	r := run.Compare{Request: sides.Request{Job: engine.Job{Left: s.f.tree(in.Left), Right: s.f.tree(in.Right)}}, Check: in.Check}
	if in.Graph != "" {
		r.Graph = s.f.tree(in.Graph)
	}
	r.Profile = s.profile(in.Profile)
	listen := progress(ctx, req)
	if in.All {
		return s.compareJob(ctx, &r, listen)
	}
	if s.Out != "" {
		r.Table = filepath.Join(s.Out, "result_"+stamp()+".csv")
		r.Beside = []string{".json"}
	}
	var files []string
	done := must.Get(r.Run(ctx, func(e run.Event) {
		if e.Path != "" && (e.Action == run.Table || e.Action == run.File) {
			files = append(files, e.Path)
		}
		listen(e)
	}))
	if path := done.Table.Meta.Graph; path != "" {
		err := must.Try(func() { s.f.path(path) })
		must.Not(err != nil, "the graph found beside the dumps: %w", err)
	}
	v = s.summary(s.tables.keep(ofJudged(done.Judged), "compare"), "")
	v.Files = files
	return v
}

// profile is a built-in profile, or a file below the folders.
func (s *Server) profile(name string) string {
	if name == "" || slices.Contains(verdict.BuiltinNames(), name) {
		return name
	}
	path, err := must.Of(func() string { return s.f.path(name) })
	must.Not(err != nil, "profile: built-in are %s; %w", strings.Join(verdict.BuiltinNames(), ", "), err)
	return path
}

func (s *Server) compareJob(ctx context.Context, c *run.Compare, listen run.Listener) (v Verdict) {
	must.Not(s.Out == "", "a whole job writes its tables: start the server with -out DIR")
	r := run.Job{Profile: c.Profile}
	r.Request = job.Request{Left: c.Left, Right: c.Right, Graph: c.Graph}
	if s.Build != nil {
		r.Version = s.Build()
	}
	plan := must.Get(r.Plan(ctx))
	out := filepath.Join(s.Out, "job_"+stamp())
	result := must.Get(r.Run(ctx, plan, run.Settings(out, msg.English, listen), listen))
	path := filepath.Join(out, job.ResultFile)
	v = s.summary(s.tables.open(ctx, path), "")
	v.Says = append(clipped(plainLines(face.Result(msg.English, result)), 10, 320), v.Says...)
	v.Files = []string{path, filepath.Join(out, job.PageFile)}
	return v
}

// CheckIn is what to check.
type CheckIn struct {
	Path   string `json:"path" jsonschema:"the recording: a folder, below those given at start"`
	Graph  string `json:"graph,omitempty" jsonschema:"the GE graph of dumps, or a folder of graphs; recordings of calls need none"`
	Golden string `json:"golden,omitempty" jsonschema:"golden arrays of dumps, to tell inherited errors from local ones"`
	Full   bool   `json:"full,omitempty" jsonschema:"recompute every element of large outputs"`
}

func (s *Server) check(ctx context.Context, req *sdk.CallToolRequest, in CheckIn) (v Verdict) {
	c := run.Check{Full: in.Full, Lang: msg.English}
	for _, p := range []struct {
		to   *string
		name string
	}{{&c.Path, in.Path}, {&c.Graph, in.Graph}, {&c.Golden, in.Golden}} {
		if p.name != "" {
			*p.to = s.f.tree(p.name)
		}
	}
	if s.Out != "" {
		at := filepath.Join(s.Out, "check_"+stamp())
		c.Table, c.JSON = at+".csv", at+".json"
	}
	must.Do(c.Validate())
	found := must.Get(c.Run(ctx, progress(ctx, req)))
	v = s.summary(s.tables.keep(ofChecked(found), "check"), "")
	v.Left = clip(c.Path, 200)
	if found.Path != "" {
		v.Files = []string{found.Path, c.JSON}
	}
	return v
}

// VerdictIn names a table.
type VerdictIn struct {
	Table  string `json:"table,omitempty" jsonschema:"a saved table (what -json wrote, a csv, a page, job.json), or what compare and check called theirs; the last one if left out"`
	Cursor string `json:"cursor,omitempty"`
}

func (s *Server) verdict(ctx context.Context, _ *sdk.CallToolRequest, in VerdictIn) Verdict {
	return s.summary(s.tables.open(ctx, in.Table), in.Cursor)
}
