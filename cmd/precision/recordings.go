package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"precision/compare"
	"precision/compare/recording"
	"precision/compare/report"
	"precision/compare/report/html"
	"precision/compare/verdict"
	"precision/internal/gc"
	"precision/internal/progress"
)

// recordings compares two recordings of the calls of a program.
func (f *compareFlags) recordings(ctx context.Context, e env, opt compare.Options, judge verdict.Options, show summaryText) (int, error) {
	if f.graph != "" || f.quant != "" || f.closed != "" || f.judge.check || f.judge.second != "" {
		return exitUsage, errors.New("recordings of calls have no graph and no dumps: -g, -q, -cf, -check and -second do not go with them")
	}
	// What is live of a comparison is about 1.5 times the two files.
	gc.Within(max(recording.Bytes(f.left, f.right)*8/5, 64<<20))
	source, err := recording.Open(f.left, f.right)
	if err != nil {
		return exitError, err
	}
	opt.Tolerance = judge.Profile.ToleranceFor
	opt.EnsureDefaults()
	bar := progress.New(os.Stderr, "comparing")
	opt.Progress = bar.Set
	columns := recording.Columns(opt)
	table, err := report.Create(filepath.Join(f.out, "result_"+time.Now().Format("20060102150405")+".csv"), columns)
	if err != nil {
		return exitError, err
	}
	defer table.Discard()
	out, err := compare.Run(ctx, source, opt, table.Row)
	bar.Done()
	path := ""
	if err == nil {
		path, err = table.CommitNew()
	}
	if err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, fmt.Errorf("interrupted after %d of %d calls; no result was written", out.Done, out.Groups)
		}
		return exitError, err
	}
	judged := verdict.Judge(out.Table, judge)
	trips := judged.Trips(f.judge.gates())
	if !f.judge.toStdout() {
		show.judged(report.Text{Lang: show.lang}, judged, trips, path)
	}
	if err := f.judge.write(e.stdout, judged, html.Options{Lang: show.lang}); err != nil {
		return exitError, err
	}
	return f.judge.status(judged, trips), nil
}
