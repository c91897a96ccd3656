package repl

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"precision/compare/engine"
	"precision/compare/look"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/graph"
	"precision/graph/describe"
	"precision/internal/each"
	"precision/internal/lazy"
	"precision/internal/progress"
	"precision/repl/workspace"
	"precision/run"
)

// vcCmd is the command vc: it compares a whole network.
type vcCmd struct {
	left, right, graph, closed string
	step                       string
	limit                      int
	check, html                bool
	mapping, profile           string
	gate                       run.Gate
}

var vcCommand = &command{
	name: "vc",
	make: func(s *session) action { return &vcCmd{step: s.set.Step, limit: s.set.Limit} },
}

func (v *vcCmd) define(o *options) {
	o.text(&v.left, "lt", "left", paths)
	o.text(&v.right, "rt", "right", paths)
	o.text(&v.graph, "g", "graph", paths)
	o.text(&v.closed, "cf", "close_fusion", paths)
	o.text(&v.mapping, "map", "mapping", paths)
	o.text(&v.step, "s", "step")
	o.count(&v.limit, "l", "limit")
	o.gate(&v.gate)
	o.on(&v.html, "html", "report")
	o.text(&v.profile, "profile", "profile", paths)
}

func (v *vcCmd) run(ctx context.Context, s *session, _ []string) int {
	_, code := v.compare(ctx, s)
	return code
}

// compareOf is a comparison of two sides with the settings of the session.
func (v *vcCmd) compareOf(s *session, j engine.Job) *run.Compare {
	j.Workers, j.Inputs = s.set.Workers, s.data
	c := &run.Compare{Mapping: v.mapping, Check: v.check, Judging: run.Judging{Profile: v.profile, State: s.cfg.State, Gate: verdict.Gate(v.gate),
		Files: run.Files{Beside: []string{".json"}, Lang: s.Lang}}}
	c.Job = j
	if s.set.CosSim != workspace.DefaultCosine {
		c.Threshold = &s.set.CosSim
	}
	if v.html {
		c.Pictures, c.Beside = look.Operators, append(c.Beside, ".html")
	}
	return c
}

// compare runs the comparisons and shows a summary. It returns the tables.
func (v *vcCmd) compare(ctx context.Context, s *session) ([]*judged, int) {
	var jobs []*run.Compare
	if v.left != "" || v.right != "" {
		if v.left == "" || v.right == "" {
			return nil, s.Fail("vc.sides", vcCommand.usage(s.Lang))
		}
		jobs = append(jobs, v.compareOf(s, engine.Job{Left: v.left, Right: v.right, Graph: v.graph, Closed: v.closed}))
	} else {
		var code int
		if jobs, code = v.plan(s); len(jobs) == 0 {
			return nil, code
		}
	}
	dir, stamp := s.newResultDir(time.Now())
	var tables []*judged
	var trips [][]verdict.Trip
	worst := exitOK
	for i, j := range jobs {
		name := "result_" + stamp
		if i > 0 {
			name += "_" + strconv.Itoa(i)
		}
		j.Table = filepath.Join(dir, name+".csv")
		t, code := s.one(ctx, j)
		if worst = max(worst, code); t != nil {
			tables = append(tables, &judged{t.Judged, t.Path})
			trips = append(trips, t.Trips)
		}
		if ctx.Err() != nil {
			os.Remove(dir) // which fails if there is a table in it
			return tables, exitInterrupted
		}
	}
	for i, t := range tables {
		s.Print(s.tableHead(t) + s.verdictText(t, v.limit))
		if len(trips[i]) > 0 {
			s.Print(s.verdictLines(report.Text{Lang: s.Lang}.Trips(t.Judged, trips[i])))
			worst = max(worst, exitBelow)
		}
	}
	return tables, worst
}

// newResultDir is the folder for the results of a comparison that starts at t,
// and its time stamp: a second later when the second is taken.
func (s *session) newResultDir(t time.Time) (dir, stamp string) {
	for {
		stamp = t.Format("20060102150405")
		dir = filepath.Join(s.data.ResultsDir(), stamp)
		if _, err := os.Stat(dir); err != nil {
			return dir, stamp
		}
		t = t.Add(time.Second)
	}
}

// one runs a comparison and writes its table.
func (s *session) one(ctx context.Context, c *run.Compare) (*run.Compared, int) {
	graph := c.Graph
	tell, stop := run.Bars(func(string) *progress.Bar { return s.Bar("vc") }, func(e run.Event) {
		if e.Action == run.Opened {
			s.opened(e, graph)
			return
		}
		s.warned(e)
		switch {
		case e.Action == run.Table && c.Calls:
			s.Say("vc.rows", e.Rows, e.Path)
		case e.Action == run.Table:
			s.Say("vc.done", e.Compared, e.Rows, e.Path)
		case e.Action == run.File && strings.HasSuffix(e.Path, ".html"):
			s.Say("page.done", e.Path)
		}
	})
	done, err := c.Run(ctx, tell)
	stop()
	switch {
	case err != nil:
		s.Fail("error", err)
		return done, map[bool]int{false: exitError, true: exitInterrupted}[ctx.Err() != nil]
	case done.Nothing():
		return done, s.Lack("vc.nothing")
	}
	return done, exitOK
}

// opened says what is compared with what, and by which graph; given is the graph that was asked for.
func (s *session) opened(e run.Event, given string) {
	for _, w := range e.Warnings {
		if !s.reported[w.Error()] { // both read the folder of graphs
			s.Warn("error", w)
		}
	}
	s.Say("vc.pair", e.Left, e.Right)
	s.warned(run.Event{Notes: e.Notes})
	switch {
	case e.Session == nil:
	case e.Session.Folders.How() == result.ByName:
		s.Say("vc.byname")
	case e.Session.Found != "":
		s.Say("vc.found", e.Session.Found, describe.How(s.Lang, e.Session.How))
	case given != "":
		s.Say("vc.graph", given)
	}
}

// warned says what there is to know.
func (s *session) warned(e run.Event) {
	for _, w := range e.Warnings {
		s.Warn("error", w)
	}
	for _, note := range e.Notes {
		s.Warn("error", report.Sentence(s.Lang, note))
	}
}

// plan finds what to compare in the data folder: the first run of the NPU with
// golden arrays, and with its second run.
func (v *vcCmd) plan(s *session) (jobs []*run.Compare, code int) {
	ids := s.data.IDs()
	if len(ids) == 0 {
		return nil, s.noDumps()
	}
	first := s.data.FirstID()
	if first.Name != "debug_0" {
		s.Info("vc.first", first.Name)
	}
	left := v.choose(s, first)
	if len(left) == 0 {
		if v.step != "" && len(s.dumpsOf(first).Leaves) > 0 {
			return nil, s.Lack("vc.nostep", s.dumpsOf(first).Run, v.step)
		}
		return nil, s.noDumps()
	}
	if s.data.HasGolden() {
		for _, l := range left {
			j := v.compareOf(s, engine.Job{Left: l.Dir, Right: s.data.GoldenDir(), Graph: v.graph})
			if j.Graph == "" && len(s.graphsOf(first).Files) > 0 {
				j.Graph, j.Guessed = filepath.Join(first.Dir, "graph"), true
			}
			jobs = append(jobs, j)
		}
	} else {
		s.Warn("vc.nogolden", s.data.GoldenDir())
	}
	for _, id := range ids {
		if id != first {
			jobs = append(jobs, v.pairRuns(s, first, id, left)...)
			break // the second run; others are compared with -lt and -rt
		}
	}
	if len(jobs) == 0 {
		return nil, s.Lack("vc.noright")
	}
	return jobs, exitOK
}

// choose takes for every model of the newest run one folder of dumps: that of
// the lowest device, and of the step asked for or the lowest.
func (v *vcCmd) choose(s *session, id *workspace.DebugID) (chosen []*workspace.Leaf) {
	byModel := map[string][]*workspace.Leaf{}
	var order []string
	for _, l := range s.dumpsOf(id).Leaves {
		if v.step != "" && l.Step != v.step || len(l.Folder().Ops) == 0 {
			continue
		}
		key := l.Model + "/" + l.ID
		if byModel[key] == nil {
			order = append(order, key)
		}
		byModel[key] = append(byModel[key], l)
	}
	for _, key := range order {
		list := byModel[key]
		slices.SortStableFunc(list, func(a, b *workspace.Leaf) int {
			return cmp.Or(compareNumbers(a.Device, b.Device), compareNumbers(a.Step, b.Step))
		})
		if len(list) > 1 {
			s.Info("vc.chosen", id.Name, len(list), list[0].Dir)
		}
		chosen = append(chosen, list[0])
	}
	return chosen
}

// compareNumbers orders texts that ought to be numbers by their value.
func compareNumbers(a, b string) int {
	x, errA := strconv.Atoi(a)
	y, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

// modelTime is the time in a model's name, as in ge_default_20210513160312_11.
var modelTime = lazy.Regexp(`_\d{12,17}`)

// pairRuns pairs the folders of two runs by model without its time, model id
// and step; those of one model in each run belong together whatever their ids.
func (v *vcCmd) pairRuns(s *session, a, b *workspace.DebugID, left []*workspace.Leaf) (jobs []*run.Compare) {
	right := v.choose(s, b)
	if len(right) == 0 {
		if d := s.dumpsOf(b); v.step != "" && len(d.Leaves) > 0 {
			s.Warn("vc.nostep", d.Run, v.step)
		} else {
			s.Warn("vc.norun", b.Name)
		}
		return nil
	}
	key := func(l *workspace.Leaf) string {
		return modelTime().ReplaceAllString(l.Model, "") + "/" + l.ID + "/" + l.Step
	}
	for _, l := range left {
		var match *workspace.Leaf
		for _, r := range right {
			if key(l) == key(r) {
				match = r
				break
			}
		}
		if match == nil && len(left) == 1 && len(right) == 1 {
			match = right[0]
		}
		if match == nil {
			s.Warn("vc.nopair", l.Dir, b.Name)
			continue
		}
		j := v.compareOf(s, engine.Job{Left: l.Dir, Right: match.Dir, Graph: v.graph, Closed: v.closed})
		if v.graph == "" {
			j.Graph, j.Closed = s.fusionGraphs(a, l, b, match)
			j.Guessed = j.Graph != ""
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// fusionGraphs are the graphs of the dumps in two runs if they merge operators
// in different ways: then names alone do not tell what belongs together.
func (s *session) fusionGraphs(a *workspace.DebugID, left *workspace.Leaf, b *workspace.DebugID, right *workspace.Leaf) (x, y string) {
	f, g := s.graphOf(a, left), s.graphOf(b, right)
	if f == nil || g == nil {
		return "", ""
	}
	if d := graph.Compare(f.Index, g.Index); len(d.Fused) > 0 {
		s.Info("vc.fused", len(d.Fused))
		return f.Path, g.Path
	}
	return "", ""
}

// graphOf is the graph of a debug id that a folder of dumps belongs to, nil if
// none does.
func (s *session) graphOf(id *workspace.DebugID, l *workspace.Leaf) *workspace.GraphFile {
	files := s.graphsOf(id).Files
	candidates := each.Of(files, func(f *workspace.GraphFile) graph.Candidate {
		return graph.Candidate{File: f.File, Model: f.Index.Model}
	})
	matches := engine.GraphsOf(l.Folder(), candidates)
	if len(matches) == 0 {
		return nil
	}
	for _, f := range files {
		if f.Index.Model == matches[0].Model {
			return f
		}
	}
	return nil
}
