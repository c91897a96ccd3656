package run

import (
	"context"
	"io"
	"slices"

	"precision/compare/engine"
	"precision/compare/look"
	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/report/checked"
	"precision/compare/report/parquet"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump"
	"precision/dump/mindspore"
	"precision/dump/monitor"
	"precision/dump/msprobe"
	"precision/graph"
	"precision/graph/fusion"
	"precision/graph/read"
	"precision/internal/each"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/whole"
	"precision/run/explain"
)

// Check is a request to recompute what was recorded from its own inputs.
type Check struct {
	// Path is a folder of dumps, or of recordings of calls; Graph the graph of the dumps or a folder of
	// graphs; Golden the framework's arrays, which tell inherited errors from local ones.
	Path, Graph, Golden string
	// Devices and Model, if set, are what there is at Path and Graph.
	Devices []oracle.Device
	Model   *graph.Model
	Full    bool
	Workers int
	// Only, if not nil, chooses operators by their names.
	Only func(name string) bool
	Gate verdict.Gate
	// Table, JSON, Parquet, HTML and, for model-explorer, Explorer and NodeData are where the findings go; empty are not written.
	Table, JSON, Parquet, HTML, Explorer, NodeData string
	// State is the folder that keeps the last result.
	State string
	Lang  msg.Lang

	// again checks some operators again, and keeps their elements.
	again   func(only func(name string) bool) ([]oracle.Finding, error)
	calls   []msprobe.Recording
	kernels []mindspore.Recording
	watched bool // it is what monitors of a training recorded
}

// Checked is what a check found, with how much of what was to be checked.
type Checked struct {
	Findings []oracle.Finding
	Coverage oracle.Coverage
	// Path is where the table is.
	Path string
	// Trips are what the gate stopped at.
	Trips []verdict.Trip
}

// Validate finds out what is checked and reports what is missing for it: dumps need a graph, recordings of calls do not.
func (c *Check) Validate() error {
	if c.Path == "" {
		return explain.Say("err.check.need")
	}
	if c.Graph == "" {
		if list, err := msprobe.Find(c.Path); err == nil && list != nil {
			c.calls = list
		} else if list, err := mindspore.Find(c.Path); err == nil {
			c.kernels = list
		} else {
			c.watched = monitor.Is(c.Path)
		}
	}
	if err := NoRun(c.Path, c.Golden); err != nil && (c.calls == nil || !plainfile.IsFolder(c.Path)) && c.kernels == nil && !c.watched {
		return err
	}
	switch nothing := c.calls == nil && c.kernels == nil && !c.watched; {
	case c.Graph != "":
	case (nothing || !plainfile.IsFolder(c.Path)) && monitor.Conclusion(c.Path) != "":
		claims, _ := monitor.Claims(c.Path)
		return explain.Say("err.check.concluded", c.Path, monitor.Conclusion(c.Path), monitor.Named(claims))
	case nothing:
		return explain.Say("err.check.calls", c.Path)
	case c.Golden != "":
		return explain.Say("err.check.noright")
	}
	return whole.Apart([]string{c.JSON, c.Parquet, c.HTML, c.Explorer, c.NodeData}, c.Path, c.Golden, c.Graph)
}

// Run checks what [Check.Validate] found, or the Devices. Of a check that was interrupted the findings so far are
// there with the error.
func (c *Check) Run(ctx context.Context, tell Listener) (*Checked, error) {
	var done Checked
	var err error
	switch {
	case c.watched:
		err = must.Try(func() { c.monitors(&done) })
	case c.calls != nil || c.kernels != nil:
		err = c.recordings(ctx, &done, tell)
	default:
		err = c.dumps(ctx, &done, tell)
	}
	if err == nil && c.Table != "" {
		err = c.write(&done, tell)
	}
	return &done, err
}

// monitors checks what was recorded of a training step by step.
func (c *Check) monitors(done *Checked) {
	data := must.Get(monitor.Read(c.Path))
	done.Findings = oracle.CheckMonitors(data)
	bad := c.quote(done.Findings)
	if c.Only != nil {
		done.Findings = slices.DeleteFunc(done.Findings, func(f oracle.Finding) bool { return !c.Only(f.Op) })
	}
	for _, err := range data.Bad {
		bad = append(bad, result.DamageOf(c.Path, c.Path, result.Because(result.FileDamaged, err.Error()), err))
	}
	c.again = func(func(string) bool) ([]oracle.Finding, error) { return nil, nil }
	done.cover(bad, nil, each.Of(data.Series, func(s *monitor.Series) oracle.Place { return oracle.Place{Step: -1, Rank: s.Rank} }))
}

// cover sums up what was checked, of recordings of some steps and ranks.
func (d *Checked) cover(bad []result.Damage, leaves map[string]bool, places []oracle.Place) {
	d.Coverage = oracle.CoverageOf(d.Findings, bad, leaves)
	d.Coverage.Gaps = oracle.GapsIn(places)
}

// quote adds to findings what msprobe's tools concluded at the path, and gives the files that cannot be read.
func (c *Check) quote(findings []oracle.Finding) (bad []result.Damage) {
	claims, failed := monitor.Claims(c.Path)
	oracle.Quote(findings, claims)
	for _, err := range failed {
		bad = append(bad, result.DamageOf(c.Path, c.Path, result.Because(result.FileDamaged, err.Error()), err))
	}
	return bad
}

func (c *Check) recordings(ctx context.Context, done *Checked, tell Listener) (err error) {
	job := oracle.RecordingJob{Recordings: c.calls, Kernels: c.kernels, Full: c.Full, Workers: c.Workers, Only: c.Only, Progress: tell.progress(Checking)}
	var bad []result.Damage
	done.Findings, bad, err = job.Run(ctx)
	bad = append(bad, c.quote(done.Findings)...)
	c.again = func(only func(name string) bool) ([]oracle.Finding, error) {
		job.Only, job.Keep, job.Progress = only, true, nil
		list, _, err := job.Run(ctx)
		return list, err
	}
	done.cover(bad, nil, append(each.Of(c.calls, func(r msprobe.Recording) oracle.Place { return oracle.Place{Step: r.Step, Rank: r.Rank} }),
		each.Of(c.kernels, func(r mindspore.Recording) oracle.Place { return oracle.Place{Step: r.Step, Rank: r.Rank} })...))
	return err
}

func (c *Check) dumps(ctx context.Context, done *Checked, tell Listener) (err error) {
	defer must.Catch(&err)
	if c.Devices == nil {
		c.open(ctx, tell)
	}
	job := oracle.Job{Devices: c.Devices, Graph: c.Model, Full: c.Full, Workers: c.Workers, Only: c.Only, Progress: tell.progress(Checking)}
	if c.Golden != "" {
		job.Golden = openGolden(c.Golden, c.Model)
	}
	done.Findings, err = job.Run(ctx)
	c.again = func(only func(name string) bool) ([]oracle.Finding, error) {
		job.Only, job.Keep, job.Progress = only, true, nil
		return job.Run(ctx)
	}
	if c.Only == nil {
		done.Findings = append(done.Findings, job.Missing(engine.Computes, func(op *graph.Op) bool { return verdict.Passthrough(op.Type) })...)
	}
	var bad []result.Damage
	if c.Only == nil {
		bad = job.Unread()
	}
	done.cover(bad, job.Leaves(), each.Of(c.Devices, func(d oracle.Device) oracle.Place { return oracle.Place{Step: d.Step, Rank: d.Rank} }))
	return err
}

// write writes the findings and holds them against the gate.
func (c *Check) write(done *Checked, listen Listener) (err error) {
	defer must.Catch(&err)
	say := func(r result.Reason) string { return checked.Reason(c.Lang, r) }
	var looks []byte
	if c.HTML != "" || c.JSON != "" {
		looks = must.Get(c.looks(done.Findings))
	}
	standing := checked.Standing(done.Findings, done.Coverage)
	done.Trips = c.Gate.Stops(standing)
	done.Path = must.Get(whole.FillNew(c.Table, 0o600, func(w io.Writer) error { return oracle.WriteCSV(w, done.Findings, say) }))
	listen(Event{Action: Table, Path: done.Path, Rows: len(done.Findings)})
	word := standing.Verdict.String()
	defer listen(Event{Action: Verdict, Verdict: word, Path: done.Path})
	asJSON := func(w io.Writer) error {
		return oracle.WriteJSON(w, done.Findings, oracle.Whole{Verdict: word, Coverage: done.Coverage, Premises: checked.Premises(done.Findings), Full: c.Full, Looks: looks}, say)
	}
	Last{Left: c.Path, Right: c.Golden, Graph: c.Graph}.Keep(c.State, asJSON) // that it could not be kept takes nothing from the check
	for _, form := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{c.JSON, asJSON},
		{c.Parquet, func(w io.Writer) error { return parquet.WriteCheck(w, done.Findings, word, say) }},
		{c.HTML, func(w io.Writer) error {
			return checked.Write(w, done.Findings, done.Coverage, checked.Options{Lang: c.Lang, Left: c.Path, Graph: c.Graph, Looks: looks})
		}},
		{c.Explorer, func(w io.Writer) error { return checked.WriteGraph(w, c.Path, done.Findings, c.Model) }},
		{c.NodeData, func(w io.Writer) error { return checked.WriteNodes(w, done.Findings) }},
	} {
		if form.path == "" {
			continue
		}
		must.Do(writeWhole(form.path, form.write))
		listen(Event{Action: File, Path: form.path})
	}
	return nil
}

// looks looks at the elements of the first outputs that are wrong, and of suspect ones: they are computed once more. An operator of
// which that takes more than a moment has no picture.
func (c *Check) looks(findings []oracle.Finding) ([]byte, error) {
	type output struct {
		op          string
		rank, index int
	}
	chosen, names := map[output]*oracle.Finding{}, map[string]bool{}
	for _, v := range []oracle.Verdict{oracle.Wrong, oracle.Suspect} {
		for i := range findings {
			if f := &findings[i]; f.Verdict == v && (names[f.Op] || len(names) < look.Operators) {
				chosen[output{f.Op, f.Rank, f.Index}], names[f.Op] = f, true
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	again, err := c.again(func(name string) bool { return names[name] })
	var list []result.Look
	for i := range again {
		kept := &again[i]
		if f := chosen[output{kept.Op, kept.Rank, kept.Index}]; f != nil && kept.Got != nil {
			row := result.Row{Op: checked.Name(f), Role: result.Output, Slot: f.Index, Shape: f.Shape, Left: result.Operand{DType: f.DType}}
			list = append(list, look.Draw(&row, engine.Seen{Left: kept.Got, Right: kept.Want}))
		}
	}
	return report.Looks(list), err
}

// open lists the data folders at or below the path, one for every device and step that was recorded, and reads
// their graph.
func (c *Check) open(ctx context.Context, tell Listener) {
	one, several, err := dump.Resolve(c.Path)
	if len(several) == 0 {
		explain.Refuse(err != nil, "err.option", "-lt", err)
		several = []string{one}
	}
	e := Event{Action: Opened, Left: c.Path, Right: c.Golden}
	var failed error
	for _, dir := range several {
		folder, err := dump.Scan(dir, dump.Options{Rules: true})
		if err == nil && !folder.Device() {
			err = explain.Say("err.check.kind", dir, folder.Kind)
		}
		if err != nil {
			failed = err
			continue
		}
		for _, w := range folder.Warnings {
			e.Warnings = append(e.Warnings, w)
		}
		c.Devices = append(c.Devices, oracle.DeviceOf(folder))
	}
	explain.Refuse(len(c.Devices) == 0, "err.option", "-lt", failed)
	c.Model, e.How, err = openGraph(ctx, c.Graph, c.Devices[0].Folder)
	must.Do(err)
	e.Path = c.Model.Path
	tell(e)
}

// openGolden lists the framework's arrays.
func openGolden(path string, model *graph.Model) *oracle.Golden {
	dir, _, err := dump.Resolve(path)
	explain.Refuse(err != nil, "err.option", "-rt", err)
	folder, err := dump.Scan(dir, dump.Options{})
	explain.Refuse(err != nil, "err.option", "-rt", err)
	explain.Refuse(folder.Device(), "err.check.golden", dir)
	return &oracle.Golden{Folder: folder, Rules: must.Get(fusion.New(model))}
}

// openGraph reads the graph, or finds the one of a folder that the dumps belong to; how says by what.
func openGraph(ctx context.Context, path string, dumps *dump.Folder) (model *graph.Model, how graph.MatchHow, err error) {
	defer must.Catch(&err)
	if !plainfile.IsFolder(path) {
		if model, err = OpenGraph(ctx, path); err == nil {
			_, err = engine.Belongs(path, dumps, engine.NamesOf(model))
		}
		return model, how, err
	}
	candidates, unread, err := read.OpenFolder(ctx, path)
	must.Do(err)
	matches := engine.GraphsOf(dumps, candidates)
	if len(matches) == 0 {
		return nil, how, &engine.GraphFolderError{Dir: path, Dumps: dumps.Dir, Graphs: len(candidates), Unread: unread}
	}
	return matches[0].Candidate.Model, matches[0].How, nil
}

// OpenGraph reads a graph; a file that holds none is an error.
func OpenGraph(ctx context.Context, path string) (*graph.Model, error) {
	m, err := read.Open(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case m.NoGraphs:
		return nil, &graph.NotGraphError{Path: path, Is: graph.OtherJSON}
	case len(m.Graphs) == 0 && m.Source == graph.SourceText:
		return nil, &graph.NotGraphError{Path: path, Is: graph.OtherText}
	}
	return m, nil
}
