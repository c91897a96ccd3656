package main

import (
	"context"
	"flag"
	"math"
	"path/filepath"
	"time"

	"precision/compare/job"
	"precision/compare/job/face"
	"precision/compare/report"
	"precision/internal/build"
	"precision/internal/whole"
	"precision/run"
	"precision/run/explain"
)

// jobFlags are the options of a comparison of a whole job.
type jobFlags struct {
	run.Job
	all, dryRun, fresh, verify bool
	shard                      string
}

// define lists the options; text gives the help of each.
func (f *jobFlags) define(set *flag.FlagSet, text func(name string) string) {
	set.BoolVar(&f.all, "all", false, text("all"))
	set.StringVar(&f.Ranks, "ranks", "", text("ranks"))
	set.StringVar(&f.Steps, "steps", "", text("steps"))
	set.StringVar(&f.Models, "models", "", text("models"))
	set.IntVar(&f.PerHost, "per-host", 0, text("per-host"))
	set.BoolVar(&f.dryRun, "dry-run", false, text("dry-run"))
	set.BoolVar(&f.fresh, "fresh", false, text("fresh"))
	set.BoolVar(&f.verify, "verify", false, text("verify"))
	set.StringVar(&f.shard, "shard", "", text("shard"))
	set.StringVar(&f.Unshard, "unshard", "", text("unshard"))
}

// jobOnly are the options that go with -all alone, singleOnly those that do not go with it.
var (
	jobOnly    = []string{"ranks", "steps", "models", "per-host", "dry-run", "fresh", "verify", "shard", "unshard"}
	singleOnly = []string{"left-time", "right-time", "second", "baseline", "json", "junit", "sarif", "graph-json", "node-data", "detail", "fail-below"}
)

// given refuses options that do not go together.
func (f *jobFlags) given(set map[string]bool) {
	misusedIf(f.dryRun && set["events"], "err.events.dry")
	list, key := jobOnly, "err.job.only"
	if f.all {
		list, key = singleOnly, "err.job.not"
	}
	for _, name := range list {
		misusedIf(set[name], key, name)
	}
}

// runJob compares all ranks and steps.
func (f *compareFlags) runJob(ctx context.Context, e env, c *run.Compare, show summaryText) (int, error) {
	r := f.job.Job
	r.Left, r.Right, r.Graph, r.Quant, r.Closed, r.Options, r.Check, r.Mapping = f.Left, f.Right, f.Graph, f.Quant, f.Closed, c.Options, c.Check, f.mapping
	r.Profile, r.Threshold, r.Parquet, r.HTML, r.After, r.State, r.Version = c.Profile, c.Threshold, c.Parquet, c.HTML, c.After, e.state, build.Version()
	listen, stop := e.listener(show)
	s := run.Settings(f.out, show.lang, listen)
	s.Fresh, s.Verify = f.job.fresh, f.job.verify
	if f.job.shard != "" {
		var err error
		s.Shard, s.Shards, err = job.ParseShard(f.job.shard)
		misusedIf(err != nil, "err.shard", f.job.shard)
		misusedIf(r.Parquet != "", "err.shard.parquet")
		misusedIf(r.HTML != "", "err.shard.html")
	}
	plan, err := r.Plan(ctx)
	switch {
	case err != nil:
		return exitError, err
	case f.job.dryRun:
		return f.dryRun(ctx, plan, show)
	}
	show.write(face.Plan(show.lang, plan, mostPairs, nil))
	result, err := r.Run(ctx, plan, s, listen)
	stop()
	switch {
	case err != nil:
		return exitError, err
	case result == nil:
		show.line(show.lang.T("batch.result"), f.out)
		return exitOK, nil
	}
	return jobStatus(result, &f.judge, show, f.out), nil
}

// mostPairs is how many pairs are told before a job begins; -dry-run tells all.
const mostPairs = 4

// dryRun says what a job would do, and how long it would take.
func (f *compareFlags) dryRun(ctx context.Context, plan *job.Plan, show summaryText) (int, error) {
	const measured = 2 * time.Second
	var known *job.Rate
	if rate, err := plan.Measure(ctx, measured); err == nil {
		known = &rate
	}
	show.write(face.Plan(show.lang, plan, math.MaxInt, known))
	if ctx.Err() != nil {
		return exitInterrupted, explain.Say("err.interrupted.plain")
	}
	return exitOK, nil
}

// jobStatus says what became of a job, and what to exit with.
func jobStatus(r *job.Result, f *judgeFlags, show summaryText, out string) int {
	show.write(face.Result(show.lang, r))
	trips := f.Gate.Stops(r.Standing())
	show.write(report.Text{Lang: show.lang}.Trips(nil, trips))
	show.line(show.lang.T("batch.result"), filepath.Join(out, job.ResultFile))
	switch {
	case len(trips) > 0:
		return exitBelow
	case r.Counts["failed"] == len(r.Digests):
		return exitNoMatch
	}
	return statusOf(f.status, r.Standing().Verdict)
}

// mergeCommand joins the shards of a job.
func mergeCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("merge")
	var f judgeFlags
	out := set.String("out", "", text("out"))
	set.StringVar(&f.Parquet, "parquet", "", e.optionText("compare")("parquet"))
	set.Var((*run.Gate)(&f.Gate), "gate", text("gate"))
	set.BoolVar(&f.status, "exit-status", false, e.optionText("compare")("exit-status"))
	dirs := e.words("merge", set, args)
	misusedIf(len(dirs) == 0 || *out == "", "err.merge.need")
	show := e.show(e.language())
	listen, stop := e.listener(show)
	misused(whole.Apart([]string{f.Parquet}, dirs...))
	result, err := job.Merge(ctx, dirs, run.Settings(*out, show.lang, listen))
	if err == nil && f.Parquet != "" {
		err = run.WriteParts(ctx, f.Parquet, result, *out, listen)
	}
	stop()
	if err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, explain.Say("err.merge.interrupted")
		}
		return exitError, err
	}
	return jobStatus(result, &f, show, *out), nil
}
