package run

import (
	"cmp"
	"context"
	"io"

	"precision/compare/engine"
	"precision/compare/look"
	"precision/compare/recording"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/sides"
	"precision/compare/verdict"
	"precision/dump/checkpoint"
	"precision/dump/msprobe"
	"precision/internal/gc"
	"precision/internal/interrupt"
	"precision/internal/must"
	"precision/internal/whole"
	"precision/run/explain"
)

// Compare is a request to compare two sides.
type Compare struct {
	// Request names the sides and the options; whether they are recordings of calls is found out.
	sides.Request
	// Guessed tells that nobody named the graph: if it does not fit, operators are matched by name.
	Guessed bool
	// Mapping is a mapping file of msprobe for recordings of calls.
	Mapping string
	// Second is a second run of the left side.
	Second string
	// Check has operators recomputed, where that can be done; Must makes it an error where it cannot.
	Check, Must bool
	// Table is where the table goes; empty is not written. Msprobe gives it the columns of msprobe.
	Table   string
	Msprobe bool
	Judging
}

// Compared is what came of it.
type Compared struct {
	*verdict.Judged
	// Path is where the table is.
	Path string
	// Trips are what the gate stopped at.
	Trips []verdict.Trip
	// Calls tells that recordings of calls were compared.
	Calls bool
}

// Nothing tells whether no tensor could be compared.
func (c *Compared) Nothing() bool {
	return c.Tensors[verdict.Good]+c.Tensors[verdict.Suspect]+c.Tensors[verdict.Bad] == 0
}

// Run compares the sides. The result is there with an error, too, where only a file could not be written.
func (c *Compare) Run(ctx context.Context, tell Listener) (*Compared, error) {
	done, err := c.run(ctx, tell)
	switch {
	case err == nil || done != nil || ctx.Err() != nil:
	case c.Stored:
		return nil, cmp.Or(settings(c.Left, c.Right), err)
	default:
		return nil, cmp.Or(NoRun(c.Left, c.Right), err)
	}
	return done, err
}

// NoRun tells of the first of some paths that is a checkpoint, which holds weights and no run, or the configuration of a recorder.
func NoRun(paths ...string) error {
	for _, path := range paths {
		if kind, file := checkpoint.Of(path); kind != "" {
			return explain.Say("err.checkpoint", file, kind)
		}
	}
	return settings(paths...)
}

// settings tells of the first of some paths that is the configuration of a recorder.
func settings(paths ...string) error {
	for _, path := range paths {
		if file := msprobe.Settings(path); file != "" {
			return explain.Say("err.settings", file)
		}
	}
	return nil
}

func (c *Compare) run(ctx context.Context, tell Listener) (_ *Compared, err error) {
	defer must.Catch(&err)
	must.Do(c.apart(c.Left, c.Right, c.Graph, c.Quant, c.Closed, c.Mapping, c.Second))
	opts := must.Get(c.Standards(nil))
	c.Tolerance = opts.Profile.ToleranceFor
	c.settle(&opts)
	opened, err := c.open(ctx, tell)
	explain.Refuse(err != nil && ctx.Err() != nil, "err.interrupted.early")
	must.Do(err)
	defer opened.Close()
	table, path, err := c.rows(ctx, opened, tell)
	must.Do(err)
	j, err := c.judge(ctx, opened, table, &opts, tell)
	var unseen string
	if err == nil {
		unseen = c.lookAt(ctx, j, opened.Again, opened.Before)
	}
	explain.Refuse(ctx.Err() != nil, "err.interrupted.late", path)
	must.Do(err)
	if c.Msprobe {
		path = must.Get(whole.FillNew(c.Table, 0o600, func(w io.Writer) error { return report.Msprobe{Lang: c.Lang}.Write(w, j) }))
	}
	done := &Compared{j, path, j.Trips(c.Gate), c.Calls}
	c.keep(done)
	return done, c.finish(done, unseen, tell)
}

// finish writes the files and tells the verdict.
func (o *Judging) finish(done *Compared, unseen string, tell Listener) error {
	written, err := o.Write(done.Judged, o.Gate.Strict, unseen, done.Path)
	for _, path := range written {
		tell(Event{Action: File, Path: path})
	}
	var roots []string
	for i := range done.Roots {
		roots = append(roots, done.Operators[done.Roots[i].Operator].Op.Name)
	}
	tell(Event{Action: Verdict, Verdict: done.Verdict.String(), Roots: roots, Path: done.Path})
	return err
}

// settle finds out what is compared, refuses what does not go with it, and bounds the memory.
func (c *Compare) settle(opts *verdict.Options) {
	dumps := false
	if c.Inputs != nil { // which has listed the folder already
		folder, err := c.Inputs.Scan(c.Left, true)
		dumps = err == nil && folder.Device()
	}
	c.Calls = !dumps && recording.Are(c.Left, c.Right)
	c.Stored = !dumps && !c.Calls && checkpoint.Are(c.Left, c.Right)
	explain.Refuse(c.Stored && (c.Graph != "" && !c.Guessed || c.Quant != "" || c.Closed != "" || c.Second != "" || c.Check && c.Must || c.Msprobe), "err.stored.options")
	explain.Refuse(c.Calls && (c.Graph != "" || c.Quant != "" || c.Closed != "" || c.Second != ""), "err.calls.options")
	explain.Refuse(!c.Calls && c.Msprobe, "err.format.calls")
	if c.Stored && c.Mapping != "" {
		c.With.Mapping = must.Get(msprobe.ReadNames(c.Mapping))
	}
	explain.Refuse(!c.Calls && !c.Stored && c.Mapping != "", "err.map.sides", c.Mapping)
	if !c.Calls {
		return
	}
	// What is live of a comparison is about 1.5 times the two files.
	gc.Within(max(recording.Bytes(c.Left, c.Right)*8/5, 64<<20))
	if opts.After != nil {
		c.With.Pairs = recording.Known(opts.After.Table)
		if at := recording.Places(c.Left); len(at) == 1 {
			opts.Part = at[0]
		}
	}
	if c.With.Maps = opts.Profile.Maps; c.Mapping != "" {
		c.With.Mapping = must.Get(msprobe.ReadMapping(c.Mapping))
	}
}

// open opens the sides.
func (c *Compare) open(ctx context.Context, tell Listener) (o *sides.Opened, err error) {
	defer must.Catch(&err)
	o, err = c.Request.Open(ctx)
	if err != nil && c.Guessed && ctx.Err() == nil {
		if c.Closed == "" {
			tell(Event{Action: Warning, Warnings: []error{explain.Say("err.nograph", err)}})
		}
		c.Graph, c.Closed = "", ""
		o, err = c.Request.Open(ctx)
	}
	must.Do(err)
	e := Event{Action: Opened, Left: c.Left, Right: c.Right}
	if s := o.Session; s != nil {
		e.Session, e.Left, e.Right, e.Warnings, e.Notes = s, s.Folders.Left.Dir, s.Folders.Right.Dir, s.Warnings, s.Notes
	}
	tell(e)
	return o, nil
}

// rows compares and writes the table.
func (c *Compare) rows(ctx context.Context, o *sides.Opened, tell Listener) (t *result.Table, path string, err error) {
	defer must.Catch(&err)
	opt, known := o.Options, 0
	opt.Progress = tell.progress(Comparing)
	if o.Session != nil {
		known = len(o.Session.Notes)
	}
	var emit []func(*result.Row) error
	var file *report.File
	if !c.Msprobe && c.Table != "" {
		file = must.Get(report.Create(c.Table, o.Columns))
		defer file.Discard()
		emit = append(emit, file.Row)
	}
	out, err := engine.Run(ctx, o.Source, opt, emit...)
	if err == nil && file != nil {
		path, err = file.CommitNew()
	}
	explain.Refuse(err != nil && ctx.Err() != nil, map[bool]string{false: "err.interrupted", true: "err.interrupted.calls"}[c.Calls], out.Done, out.Groups)
	must.Do(err)
	t = out.Table
	if why := t.Meta.Pairing.Why; !c.Calls && len(why) > known {
		tell(Event{Action: Warning, Notes: why[known:]})
	}
	tell(Event{Action: Table, Path: path, Rows: len(t.Rows), Compared: t.Compared()})
	return t, path, nil
}

// judge recomputes and judges what was compared.
func (c *Compare) judge(ctx context.Context, o *sides.Opened, t *result.Table, opts *verdict.Options, tell Listener) (_ *verdict.Judged, err error) {
	defer must.Catch(&err)
	must.Do(c.fits(t, *opts))
	if c.Check {
		t.Check(must.Get(c.recompute(ctx, o, t, *opts, tell)))
	}
	if c.Second != "" {
		opts.Second = c.secondRun(ctx)
	}
	return interrupt.Await(ctx, func() (*verdict.Judged, error) { return look.Judge(ctx, o.Session, t, *opts) })
}

// recompute asks the oracle about what was compared.
func (c *Compare) recompute(ctx context.Context, o *sides.Opened, t *result.Table, opts verdict.Options, tell Listener) ([]result.Check, error) {
	workers := o.Options.Workers
	if o.Session != nil {
		workers = o.Session.Folders.Workers
	}
	list, ok, err := c.Request.Recompute(ctx, o, t, verdict.Doubted(t, opts), workers, tell.progress(Checking))
	switch {
	case err != nil || ok || !c.Must || c.Stored:
		return list, err
	case c.Calls:
		return nil, explain.Say("err.check.calls", c.Left)
	}
	return nil, explain.Say("err.needgraph")
}

// secondRun compares the left side with a second run on the NPU.
func (c *Compare) secondRun(ctx context.Context) *result.Table {
	job := c.Job
	job.Right, job.Quant, job.Closed = c.Second, "", ""
	run, err := job.Open(ctx)
	explain.Refuse(err != nil, "err.option", "-second", err)
	right := run.Folders.Right
	explain.Refuse(!right.Device(), "err.second", c.Second, right.Kind)
	out := must.Get(run.Run(ctx))
	explain.Refuse(out.Table.Meta.Pairing.OfItself(), "err.second.same", c.Second)
	return out.Table
}
