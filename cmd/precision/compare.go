package main

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"precision/compare"
	"precision/compare/look"
	"precision/compare/metric"
	"precision/compare/recording"
	"precision/compare/report"
	"precision/compare/report/html"
	"precision/compare/verdict"
	"precision/internal/interrupt"
	"precision/internal/msg"
	"precision/internal/progress"
	"precision/repl/console"
	"precision/repl/explain"
)

// compareFlags are the options of the compare command.
type compareFlags struct {
	left, right, graph, out string
	quant, closed           string
	leftTime, rightTime     string
	numerics, metrics, lang string
	format, mapping         string
	max                     int64
	overflow                bool
	workers                 int
	judge                   judgeFlags
	job                     jobFlags
}

// define lists the options; text gives the help of each.
func (f *compareFlags) define(set *flag.FlagSet, text func(name string) string) {
	set.StringVar(&f.left, "lt", "", text("lt"))
	set.StringVar(&f.right, "rt", "", text("rt"))
	set.StringVar(&f.graph, "g", "", text("g"))
	set.StringVar(&f.quant, "q", "", text("q"))
	set.StringVar(&f.closed, "cf", "", text("cf"))
	set.StringVar(&f.leftTime, "left-time", "", text("left-time"))
	set.StringVar(&f.rightTime, "right-time", "", text("right-time"))
	set.StringVar(&f.out, "out", ".", text("out"))
	set.StringVar(&f.numerics, "numerics", "exact", text("numerics"))
	set.StringVar(&f.metrics, "metrics", "all", text("metrics"))
	set.StringVar(&f.format, "format", "csv", text("format"))
	set.StringVar(&f.mapping, "map", "", text("map"))
	f.judge.define(set, text)
	f.job.define(set, text)
	set.Int64Var(&f.max, "max", 0, text("max"))
	set.BoolVar(&f.overflow, "overflow", false, text("overflow"))
	set.StringVar(&f.lang, "lang", "", text("lang"))
	set.IntVar(&f.workers, "workers", 0, text("workers"))
}

func compareCommand(ctx context.Context, e env, args []string) (int, error) {
	set := flag.NewFlagSet("precision compare", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	var f compareFlags
	f.define(set, e.optionText("compare"))
	set.Usage = func() {}
	words, err := parseMixed(set, args)
	if err != nil {
		return helpOr(e, "compare", set, err)
	}
	if len(words) == 2 && f.left == "" && f.right == "" {
		f.left, f.right, words = words[0], words[1], nil
	}
	if len(words) > 0 {
		return exitUsage, explain.Say("err.argument", words[0])
	}
	if f.left == "" || f.right == "" {
		return exitUsage, explain.Say("err.compare.need")
	}
	if err := f.judge.given(set); err != nil {
		return exitUsage, err
	}
	if err := f.job.given(f.judge.set); err != nil {
		return exitUsage, err
	}
	code, err := f.run(ctx, e)
	if err != nil {
		if told := noRun(f.left, f.right); told != nil {
			err = told
		}
	}
	return code, err
}

// parseMetrics reads a comma list of metric names and numbers.
func parseMetrics(list string) ([]metric.Metric, error) {
	if strings.EqualFold(list, "all") {
		return nil, nil
	}
	var out []metric.Metric
	for _, name := range strings.Split(list, ",") {
		m, ok := metric.Parse(strings.TrimSpace(name))
		if !ok {
			var all []string
			for m := range metric.Metric(metric.Count) {
				all = append(all, m.String())
			}
			return nil, explain.Say("err.metric", name, metric.Count-1, strings.Join(all, ", "))
		}
		out = append(out, m)
	}
	return out, nil
}

func (f *compareFlags) run(ctx context.Context, e env) (int, error) {
	job := compare.Job{
		Left: f.left, Right: f.right,
		Graph: f.graph, Quant: f.quant, Closed: f.closed,
		LeftTime: f.leftTime, RightTime: f.rightTime,
		Options: compare.Options{MaxElements: f.max, Overflow: f.overflow, Workers: f.workers},
	}
	switch {
	case f.workers < 0:
		return exitUsage, explain.Say("err.workers", f.workers)
	case f.max < 0:
		return exitUsage, explain.Say("err.max", f.max)
	}
	var err error
	if job.Metrics, err = parseMetrics(f.metrics); err != nil {
		return exitUsage, err
	}
	switch f.numerics {
	case "exact":
		job.Numerics = metric.Exact
	case "reference":
		job.Numerics = metric.Reference
	default:
		return exitUsage, explain.Say("err.numerics", f.numerics)
	}
	if f.format != "csv" && f.format != "msprobe" {
		return exitUsage, explain.Say("err.format", f.format)
	}
	show := summaryText{e.stdout, e.language()}
	if f.lang != "" {
		var ok bool
		if show.lang, ok = msg.ParseLang(f.lang); !ok {
			return exitUsage, explain.Say("err.lang", f.lang)
		}
	}
	if err := f.judge.apart(f.left, f.right, f.graph, f.quant, f.closed, f.mapping); err != nil {
		return exitUsage, err
	}
	opts, err := f.judge.options(nil)
	if err != nil {
		return exitUsage, err
	}
	if f.job.all {
		if f.mapping != "" {
			return exitUsage, explain.Say("err.map.sides", f.mapping)
		}
		return f.runJob(ctx, e, job.Options, opts, show)
	}
	if recording.Are(f.left, f.right) {
		return f.recordings(ctx, e, job.Options, opts, show)
	}
	if f.format == "msprobe" {
		return exitUsage, explain.Say("err.format.calls")
	}
	if f.mapping != "" {
		return exitUsage, explain.Say("err.map.sides", f.mapping)
	}
	run, err := job.Open(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, explain.Say("err.interrupted.early")
		}
		return exitError, withOptions(err)
	}
	run.Folders.Tolerance = opts.Profile.ToleranceFor
	e.printWarnings(run.Warnings)
	show.notes(e.stderr, run.Notes)
	bar := progress.New(os.Stderr, "comparing")
	run.Folders.Progress = bar.Set
	table, err := report.Create(filepath.Join(f.out, "result_"+time.Now().Format("20060102150405")+".csv"), run.Folders.Columns())
	if err != nil {
		return exitError, err
	}
	defer table.Discard()
	out, err := run.Run(ctx, table.Row)
	bar.Done()
	path := ""
	if err == nil {
		path, err = table.CommitNew()
	}
	if err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, explain.Say("err.interrupted", out.Done, out.Groups)
		}
		return exitError, err
	}
	show.notes(e.stderr, out.Table.Meta.Pairing.Why[len(run.Notes):])
	if f.judge.check {
		out.Table.Checks, err = recompute(ctx, run, out.Table, opts)
	}
	if f.judge.second != "" && err == nil {
		opts.Second, err = secondRun(ctx, job, f.judge.second)
	}
	if err == nil {
		err = f.judge.fits(out.Table, opts)
	}
	var judged *verdict.Judged
	if err == nil {
		judged, err = interrupt.Await(ctx, func() (*verdict.Judged, error) { return look.Judge(ctx, run, out.Table, opts) })
	}
	if err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, explain.Say("err.interrupted.late", path)
		}
		return exitError, err
	}
	unseen := f.judge.lookAt(ctx, look.Folders(run), judged, look.Before(run))
	trips := judged.Trips(f.judge.gates())
	if !f.judge.toStdout() {
		show.judged(report.Text{Lang: show.lang, Warned: true}, judged, trips, path)
		if b := judged.Baseline; b != nil && len(b.Regressions)+len(b.Improved)+b.New > 0 {
			show.line(show.lang.T("batch.renew"), f.renew())
		}
	}
	if err := f.judge.write(e.stdout, judged, html.Options{Lang: show.lang, NoLooks: unseen}); err != nil {
		return exitError, err
	}
	return f.judge.status(judged, trips), nil
}

// renew is the command line that makes this comparison the new baseline.
func (f *compareFlags) renew() string {
	words := []string{"precision", "compare"}
	for _, o := range [][2]string{{"-lt", f.left}, {"-rt", f.right}, {"-g", f.graph}, {"-q", f.quant}, {"-cf", f.closed},
		{"-left-time", f.leftTime}, {"-right-time", f.rightTime}, {"-json", f.judge.baseline}} {
		if o[1] != "" {
			words = append(words, o[0], quoted(o[1]))
		}
	}
	return strings.Join(words, " ")
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if !strings.ContainsAny(word, console.SystemSpecial) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
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
