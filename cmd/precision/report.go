package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"precision/compare/job"
	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/verdict"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/sh"
	"precision/run"
	"precision/run/explain"
)

// reportFlags are the options of the report command.
type reportFlags struct {
	judge  judgeFlags
	sort   string
	number int
}

// reportCommand judges a saved table and says what it comes to.
func reportCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("report")
	var f reportFlags
	f.judge.defineSaved(set, e.optionText("compare"))
	set.StringVar(&f.sort, "sort", "order", text("sort"))
	set.IntVar(&f.number, "n", 0, text("n"))
	path := e.resultOf(e.words("report", set, args), "err.report.files")
	f.judge.given(set)
	if err := report.SortOperators(nil, f.sort); err != nil {
		misused(explain.Say("err.option", "-sort", err))
	}
	misusedIf(f.number < 0, "err.number", f.number)
	result := path
	if plainfile.IsFolder(result) {
		result = filepath.Join(result, job.ResultFile)
	}
	schema := job.SchemaOf(result)
	misusedIf(schema == oracle.Schema || schema == job.Schema, "err.report.table", path, sh.Word(path))
	r := run.Report{Path: path, Judging: f.judge.judging(e)}
	r.Lang = e.language()
	e.events = f.judge.events
	show := e.show(r.Lang)
	tell, stop := e.listener(show)
	done, err := r.Run(ctx, tell)
	stop()
	return f.judge.finished(done, err, &r.Judging, func() { f.show(done, show) })
}

// show prints the verdict, and the operators if they were asked for.
func (f *reportFlags) show(done *run.Compared, show summaryText) {
	show.judged(report.Text{Lang: show.lang}, done.Judged, done.Trips, "")
	if f.number == 0 && !f.judge.set["sort"] {
		return
	}
	lines := report.OperatorLines(done.Judged)
	report.SortOperators(lines, f.sort)
	if f.number > 0 && f.number < len(lines) {
		lines = lines[:f.number]
	}
	fmt.Fprintf(show.w, "\n%s", report.RenderOperators(show.lang, lines, show.screen().Width, show.screen().Paint))
}

// schemaCommand prints the JSON Schema of what -json writes.
func schemaCommand(_ context.Context, e env, args []string) (int, error) {
	e.plain("schema", args, 0)
	must.Get(e.stdout.Write(report.JSONSchema))
	return exitOK, nil
}

// profileCommand prints a profile, by default the one in force when none is named.
func profileCommand(_ context.Context, e env, args []string) (int, error) {
	p := must.Get(verdict.OpenProfile(append(e.plain("profile", args, 1), "default")[0]))
	must.Get(io.WriteString(e.stdout, p.Source))
	return exitOK, nil
}
