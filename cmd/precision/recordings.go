package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"precision/compare"
	"precision/compare/recording"
	"precision/compare/report"
	"precision/compare/report/html"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/msprobe"
	"precision/internal/gc"
	"precision/internal/progress"
	"precision/internal/whole"
	"precision/repl/explain"
)

// table is the path of a result table.
func (f *compareFlags) table(name string) string {
	return filepath.Join(f.out, name+"_"+time.Now().Format("20060102150405")+".csv")
}

// recordings compares two recordings of the calls of a program.
func (f *compareFlags) recordings(ctx context.Context, e env, opt compare.Options, judge verdict.Options, show summaryText) (int, error) {
	if f.graph != "" || f.quant != "" || f.closed != "" || f.judge.second != "" {
		return exitUsage, explain.Say("err.calls.options")
	}
	// What is live of a comparison is about 1.5 times the two files.
	gc.Within(max(recording.Bytes(f.left, f.right)*8/5, 64<<20))
	with := recording.Options{Maps: judge.Profile.Maps}
	if f.mapping != "" {
		var err error
		if with.Mapping, err = msprobe.ReadMapping(f.mapping); err != nil {
			return exitError, err
		}
	}
	source, err := recording.Open(f.left, f.right, with)
	if err != nil {
		return exitError, err
	}
	opt.Tolerance = judge.Profile.ToleranceFor
	opt.EnsureDefaults()
	bar := progress.New(os.Stderr, "comparing")
	opt.Progress = bar.Set
	var emit []func(*result.Row) error
	var table *report.File
	if f.format == "csv" {
		table, err = report.Create(f.table("result"), recording.Columns(opt))
		if err != nil {
			return exitError, err
		}
		defer table.Discard()
		emit = append(emit, table.Row)
	}
	out, err := compare.Run(ctx, source, opt, emit...)
	bar.Done()
	path := ""
	if err == nil && table != nil {
		path, err = table.CommitNew()
	}
	if err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, explain.Say("err.interrupted.calls", out.Done, out.Groups)
		}
		return exitError, err
	}
	if err := f.judge.fits(out.Table, judge); err != nil {
		return exitError, err
	}
	if f.judge.check {
		if out.Table.Checks, err = recomputeCalls(ctx, f.left, f.right, out.Table, judge, opt.Workers); err != nil {
			if ctx.Err() != nil {
				return exitInterrupted, explain.Say("err.interrupted.late", path)
			}
			return exitError, err
		}
	}
	judged := verdict.Judge(out.Table, judge)
	unseen := f.judge.lookAt(ctx, recording.Again(f.left, f.right, with, opt), judged)
	if table == nil {
		if path, err = whole.FillNew(f.table("compare_result"), 0o600, func(w io.Writer) error { return report.Msprobe{Lang: show.lang}.Write(w, judged) }); err != nil {
			return exitError, err
		}
	}
	trips := judged.Trips(f.judge.gates())
	if !f.judge.toStdout() {
		show.judged(report.Text{Lang: show.lang}, judged, trips, path)
	}
	if err := f.judge.write(e.stdout, judged, html.Options{Lang: show.lang, NoLooks: unseen}); err != nil {
		return exitError, err
	}
	return f.judge.status(judged, trips), nil
}
