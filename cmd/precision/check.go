package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"precision/compare"
	"precision/compare/oracle"
	"precision/compare/oracle/tell"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump"
	"precision/dump/mindspore"
	"precision/dump/msprobe"
	"precision/graph"
	"precision/graph/fusion"
	"precision/graph/read"
	"precision/internal/progress"
	"precision/internal/whole"
	"precision/repl"
	"precision/repl/explain"
)

// checkFlags are the options of the check command.
type checkFlags struct {
	mine, golden, graph, out, json string
	full                           bool
	gate                           repl.Gate
	workers                        int
}

// checked is what a check found, with how much of what was to be checked.
type checked struct {
	findings []oracle.Finding
	coverage oracle.Coverage
}

func checkCommand(ctx context.Context, e env, args []string) (int, error) {
	set := flag.NewFlagSet("precision check", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	text := e.optionText("check")
	var f checkFlags
	set.StringVar(&f.mine, "lt", "", text("lt"))
	set.StringVar(&f.graph, "g", "", text("g"))
	set.StringVar(&f.golden, "rt", "", text("rt"))
	set.BoolVar(&f.full, "full", false, text("full"))
	set.StringVar(&f.json, "json", "", text("json"))
	set.StringVar(&f.out, "out", ".", text("out"))
	set.Var(&f.gate, "gate", text("gate"))
	set.IntVar(&f.workers, "workers", 0, text("workers"))
	set.Usage = func() {}
	// The recording may stand before or behind the options.
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		f.mine, args = args[0], args[1:]
	}
	given := f.mine
	if err := set.Parse(args); err != nil {
		return helpOr(e, "check", set, err)
	}
	if f.mine == "" && set.NArg() == 1 {
		f.mine = set.Arg(0)
	} else if set.NArg() > 0 {
		return exitUsage, explain.Say("err.argument", set.Arg(0))
	} else if given != "" && f.mine != given {
		return exitUsage, explain.Say("err.check.two", given, f.mine)
	}
	if err := noRun(f.mine, f.golden); err != nil && (f.recorded() == nil || !isFolder(f.mine)) && f.kernels() == nil {
		return exitUsage, err
	}
	if err := f.complete(); err != nil {
		return exitUsage, err
	}
	if err := whole.Apart([]string{f.json}, f.mine, f.golden, f.graph); err != nil {
		return exitUsage, err
	}
	return f.run(ctx, e)
}

// complete reports what is missing: dumps need a graph, recordings of calls do not.
func (f *checkFlags) complete() error {
	switch {
	case f.mine == "":
		return explain.Say("err.check.need")
	case f.graph != "":
	case f.recorded() == nil && f.kernels() == nil:
		return explain.Say("err.check.calls", f.mine)
	case f.golden != "":
		return explain.Say("err.check.noright")
	}
	return nil
}

// recorded lists the recordings of calls, if that is what is checked.
func (f *checkFlags) recorded() []msprobe.Recording {
	if f.graph != "" {
		return nil
	}
	list, err := msprobe.Find(f.mine)
	if err != nil {
		return nil
	}
	return list
}

// kernels lists the recordings that MindSpore made itself, if that is what is checked.
func (f *checkFlags) kernels() []mindspore.Recording {
	if f.graph != "" || f.recorded() != nil {
		return nil
	}
	list, err := mindspore.Find(f.mine)
	if err != nil {
		return nil
	}
	return list
}

// findings are those of dumps with a graph or of a recording of calls. Only, if set,
// chooses operators by their names.
func (f *checkFlags) findings(ctx context.Context, e env, show checkText, only func(name string) bool) (checked, error) {
	if list, kernels := f.recorded(), f.kernels(); list != nil || kernels != nil {
		job := oracle.RecordingJob{Recordings: list, Kernels: kernels, Full: f.full, Workers: f.workers, Only: only}
		bar := progress.New(os.Stderr, "checking")
		job.Progress = bar.Set
		findings, bad, err := job.Run(ctx)
		bar.Done()
		cover := oracle.CoverageOf(findings, bad, nil)
		var places []oracle.Place
		for i := range list {
			places = append(places, oracle.Place{Step: list[i].Step, Rank: list[i].Rank})
		}
		for i := range kernels {
			places = append(places, oracle.Place{Step: kernels[i].Step, Rank: kernels[i].Rank})
		}
		cover.Gaps = oracle.GapsIn(places)
		return checked{findings, cover}, err
	}
	job, warnings, err := f.open(ctx, show)
	if err != nil {
		return checked{}, err
	}
	e.printWarnings(warnings)
	bar := progress.New(os.Stderr, "checking")
	job.Progress, job.Only = bar.Set, only
	findings, err := job.Run(ctx)
	bar.Done()
	if only == nil {
		findings = append(findings, job.Missing(func(op *graph.Op) bool { return compare.Computes(op) && !verdict.Still(op.Type) })...)
	}
	cover := oracle.CoverageOf(findings, nil, job.Leaves())
	var places []oracle.Place
	for i := range job.Devices {
		places = append(places, oracle.Place{Step: job.Devices[i].Step, Rank: job.Devices[i].Rank})
	}
	cover.Gaps = oracle.GapsIn(places)
	return checked{findings, cover}, err
}

func (f *checkFlags) run(ctx context.Context, e env) (int, error) {
	show := checkText{summaryText{e.stdout, e.language()}}
	found, err := f.findings(ctx, e, show, nil)
	findings := found.findings
	if err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, explain.Say("err.check.interrupted", len(findings))
		}
		return exitError, err
	}
	standing := tell.Standing(findings, found.coverage)
	say := func(r result.Reason) string { return tell.Reason(show.lang, r) }
	path := filepath.Join(f.out, "check_"+time.Now().Format("20060102150405")+".csv")
	path, err = whole.FillNew(path, 0o600, func(w io.Writer) error { return oracle.WriteCSV(w, findings, say) })
	if err != nil {
		return exitError, err
	}
	if f.json != "" {
		if err := writeWhole(f.json, func(w io.Writer) error {
			return oracle.WriteJSON(w, findings, oracle.Whole{Verdict: standing.Verdict.String(), Coverage: found.coverage, Premises: tell.Premises(findings), Full: f.full}, say)
		}); err != nil {
			return exitError, err
		}
	}
	trips := verdict.Gate(f.gate).Stops(standing)
	show.summary(found, trips, path)
	switch {
	case len(trips) > 0:
		return exitBelow, nil
	case found.coverage.Judged == 0:
		return exitNoMatch, nil
	}
	return exitOK, nil
}

// open finds the dumps, their graph and the golden arrays.
func (f *checkFlags) open(ctx context.Context, show checkText) (oracle.Job, []error, error) {
	devices, warnings, err := openDevices(f.mine)
	if err != nil {
		return oracle.Job{}, nil, err
	}
	model, err := f.openGraph(ctx, devices[0].Folder, show)
	if err != nil {
		return oracle.Job{}, nil, err
	}
	job := oracle.Job{Devices: devices, Graph: model, Full: f.full, Workers: f.workers}
	if f.golden != "" {
		job.Golden, err = openGolden(f.golden, model)
	}
	return job, warnings, err
}

// writeWhole writes a file that appears whole or not at all.
func writeWhole(path string, write func(w io.Writer) error) error {
	out, err := whole.Create(path, 0o600)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := write(out); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return out.Commit()
}

// openDevices lists the data folders at or below a path: one, or one for every
// device and step that was recorded.
func openDevices(path string) ([]oracle.Device, []error, error) {
	one, several, err := dump.Resolve(path)
	if len(several) == 0 {
		if err != nil {
			return nil, nil, explain.Say("err.option", "-lt", err)
		}
		several = []string{one}
	}
	var devices []oracle.Device
	var warnings []error
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
			warnings = append(warnings, w)
		}
		devices = append(devices, oracle.DeviceOf(folder))
	}
	if len(devices) == 0 {
		return nil, nil, explain.Say("err.option", "-lt", failed)
	}
	return devices, warnings, nil
}

// openGolden lists the framework's arrays.
func openGolden(path string, model *graph.Model) (*oracle.Golden, error) {
	dir, _, err := dump.Resolve(path)
	if err != nil {
		return nil, explain.Say("err.option", "-rt", err)
	}
	folder, err := dump.Scan(dir, dump.Options{})
	if err != nil {
		return nil, explain.Say("err.option", "-rt", err)
	}
	if folder.Device() {
		return nil, explain.Say("err.check.golden", dir)
	}
	rules, err := fusion.New(model)
	if err != nil {
		return nil, err
	}
	return &oracle.Golden{Folder: folder, Rules: rules}, nil
}

// openGraph reads the graph, or finds the one of a folder that the dumps belong
// to.
func (f *checkFlags) openGraph(ctx context.Context, dumps *dump.Folder, show checkText) (*graph.Model, error) {
	info, err := os.Stat(f.graph)
	if err != nil || !info.IsDir() {
		model, err := openModel(ctx, f.graph)
		if err == nil {
			_, err = compare.Belongs(f.graph, dumps, compare.NamesOf(model))
		}
		return model, err
	}
	candidates, unread, err := read.OpenFolder(ctx, f.graph)
	if err != nil {
		return nil, err
	}
	matches := compare.GraphsOf(dumps, candidates)
	if len(matches) == 0 {
		return nil, withOptions(&compare.GraphFolderError{Dir: f.graph, Dumps: dumps.Dir, Graphs: len(candidates), Unread: unread})
	}
	model := matches[0].Candidate.Model
	show.graph(model.Path, matches[0].How)
	return model, nil
}

// checkText writes the summary of a check.
type checkText struct{ summaryText }

// summary says what was found and where the table is.
func (t checkText) summary(found checked, trips []verdict.Trip, path string) {
	lines := append(tell.Summary(t.lang, found.findings, found.coverage), report.Text{Lang: t.lang}.Trips(nil, trips)...)
	lines = append(lines, report.Line{Label: t.lang.T("check.result"), Segments: []report.Segment{{Text: path}}})
	t.write(lines)
}
