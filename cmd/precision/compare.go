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

	"precision/compare/engine"
	"precision/compare/job/face"
	"precision/compare/metric"
	"precision/compare/report"
	"precision/internal/msg"
	"precision/internal/progress"
	"precision/internal/sh"
	"precision/run"
	"precision/run/explain"
)

// compareFlags are the options of the compare command.
type compareFlags struct {
	engine.Job
	out, numerics, metrics, format, mapping string

	judge judgeFlags
	job   jobFlags
}

// define lists the options; text gives the help of each.
func (f *compareFlags) define(set *flag.FlagSet, text func(name string) string) {
	set.StringVar(&f.Left, "lt", "", text("lt"))
	set.StringVar(&f.Right, "rt", "", text("rt"))
	set.StringVar(&f.Graph, "g", "", text("g"))
	set.StringVar(&f.Quant, "q", "", text("q"))
	set.StringVar(&f.Closed, "cf", "", text("cf"))
	set.StringVar(&f.LeftTime, "left-time", "", text("left-time"))
	set.StringVar(&f.RightTime, "right-time", "", text("right-time"))
	set.StringVar(&f.out, "out", ".", text("out"))
	set.StringVar(&f.numerics, "numerics", "exact", text("numerics"))
	set.StringVar(&f.metrics, "metrics", "all", text("metrics"))
	set.StringVar(&f.format, "format", "csv", text("format"))
	set.StringVar(&f.mapping, "map", "", text("map"))
	f.judge.define(set, text)
	f.job.define(set, text)
	set.Int64Var(&f.MaxElements, "max", 0, text("max"))
	set.BoolVar(&f.Overflow, "overflow", false, text("overflow"))
	set.IntVar(&f.Workers, "workers", 0, text("workers"))
}

func compareCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("compare")
	var f compareFlags
	f.define(set, text)
	words := e.words("compare", set, args)
	if len(words) == 2 && f.Left == "" && f.Right == "" {
		f.Left, f.Right, words = words[0], words[1], nil
	}
	misusedIf(len(words) > 1 && f.Left+f.Right == "", "err.compare.sides", len(words))
	if f.Left+f.Right != "" {
		none(words)
	}
	misusedIf(f.Left == "" || f.Right == "", "err.compare.need")
	f.judge.given(set)
	f.job.given(f.judge.set)
	return f.run(ctx, e)
}

// parseMetrics reads a comma list of metric names and numbers.
func parseMetrics(list string) (out []metric.Metric) {
	if strings.EqualFold(list, "all") {
		return nil
	}
	for _, name := range strings.Split(list, ",") {
		m, ok := metric.Parse(strings.TrimSpace(name))
		var all []string
		for m := range metric.Metric(metric.Count) {
			all = append(all, m.String())
		}
		misusedIf(!ok, "err.metric", name, metric.Count-1, strings.Join(all, ", "))
		out = append(out, m)
	}
	return out
}

// request is what the options ask for.
func (f *compareFlags) request(e env) (r run.Compare) {
	r.Job = f.Job
	r.Mapping, r.Second, r.Check, r.Must, r.Msprobe = f.mapping, f.judge.second, f.judge.check, true, f.format == "msprobe"
	r.Judging = f.judge.judging(e)
	misusedIf(f.Workers < 0, "err.workers", f.Workers)
	misusedIf(f.MaxElements < 0, "err.max", f.MaxElements)
	r.Metrics = parseMetrics(f.metrics)
	ok := false
	r.Numerics, ok = map[string]metric.Numerics{"exact": metric.Exact, "reference": metric.Reference}[f.numerics]
	misusedIf(!ok, "err.numerics", f.numerics)
	misusedIf(f.format != "csv" && !r.Msprobe, "err.format", f.format)
	name := map[bool]string{false: "result", true: "compare_result"}[r.Msprobe]
	r.Table = filepath.Join(f.out, name+"_"+time.Now().Format("20060102150405")+".csv")
	r.Lang = e.language()
	return r
}

func (f *compareFlags) run(ctx context.Context, e env) (int, error) {
	r := f.request(e)
	e.events = f.judge.events
	show := e.show(r.Lang)
	if f.job.all {
		return f.runJob(ctx, e, &r, show)
	}
	listen, stop := e.listener(show)
	done, err := r.Run(ctx, listen)
	stop()
	return f.judge.finished(done, err, &r.Judging, func() {
		show.judged(report.Text{Lang: show.lang, Warned: !done.Calls}, done.Judged, done.Trips, done.Path)
		if b := done.Baseline; b != nil && len(b.Regressions)+len(b.Improved)+b.New > 0 {
			show.line(show.lang.T("batch.renew"), f.renew())
		}
	})
}

// renew is the command line that makes this comparison the new baseline.
func (f *compareFlags) renew() string {
	words := []string{"precision", "compare"}
	for _, o := range [][2]string{{"-lt", f.Left}, {"-rt", f.Right}, {"-g", f.Graph}, {"-q", f.Quant}, {"-cf", f.Closed},
		{"-left-time", f.LeftTime}, {"-right-time", f.RightTime}, {"-json", f.judge.Baseline}} {
		if o[1] != "" {
			words = append(words, o[0], o[1])
		}
	}
	return sh.Line(words...)
}

// show is where the summary goes: to stdout, or nowhere if that is for events.
func (e env) show(lang msg.Lang) summaryText {
	if e.events {
		return summaryText{io.Discard, lang}
	}
	return summaryText{e.stdout, lang}
}

// listener shows what happens in a run: warnings, and a bar for its progress, which stop wipes; or its events as they are.
func (e env) listener(show summaryText) (listen run.Listener, stop func()) {
	if e.events {
		return run.Lines(e.stdout), func() {}
	}
	bar := func(stage string) *progress.Bar { return progress.New(os.Stderr, stage) }
	return run.Bars(bar, func(ev run.Event) {
		if ev.How != 0 {
			show.graph(ev.Path, ev.How)
		}
		e.printWarnings(ev.Warnings)
		show.notes(e.stderr, ev.Notes)
		if ev.Note != nil {
			fmt.Fprintln(e.stderr, show.lang.T("cli.note", face.Note(show.lang, *ev.Note)))
		}
	})
}

// mostWarnings is how many warnings are printed: a folder full of other files
// gives one for each, and the first few tell what they are.
const mostWarnings = 20

// printWarnings prints warnings; of too many the first ones, a count, and the
// last ones: what is said about the graph comes last and matters most.
func (e env) printWarnings(warnings []error) {
	left := len(warnings) - mostWarnings
	for i, w := range warnings {
		switch {
		case left > 1 && i == mostWarnings/2:
			e.warn(e.language().T("check.more", left))
		case left > 1 && i > mostWarnings/2 && i < mostWarnings/2+left:
		default:
			e.warn(explain.Error(e.language(), w))
		}
	}
}
