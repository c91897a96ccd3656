package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"precision/compare"
	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/internal/msg"
	"precision/internal/progress"
)

// compareFlags are the options of the compare command.
type compareFlags struct {
	left, right, graph, out string
	quant, closed           string
	leftTime, rightTime     string
	numerics, metrics, lang string
	threshold, failBelow    float64
	max                     int64
	overflow                bool
	workers                 int
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
	set.Float64Var(&f.threshold, "threshold", 0.98, text("threshold"))
	set.Float64Var(&f.failBelow, "fail-below", 0, text("fail-below"))
	set.Int64Var(&f.max, "max", 0, text("max"))
	set.BoolVar(&f.overflow, "overflow", false, text("overflow"))
	set.StringVar(&f.lang, "lang", "", text("lang"))
	set.IntVar(&f.workers, "workers", 0, text("workers"))
}

func compareCommand(ctx context.Context, e env, args []string) (int, error) {
	set := flag.NewFlagSet("precision compare", flag.ContinueOnError)
	set.SetOutput(e.stderr)
	var f compareFlags
	f.define(set, e.optionText("compare"))
	set.Usage = func() {}
	if err := set.Parse(args); err != nil {
		return helpOr(e, "compare", set, err)
	}
	if set.NArg() > 0 {
		return exitUsage, fmt.Errorf("unexpected argument %q: every value needs its option", set.Arg(0))
	}
	if f.left == "" || f.right == "" {
		return exitUsage, errors.New("both sides are needed: -lt NPU_DIR -rt GOLDEN_DIR")
	}
	judged := false
	set.Visit(func(fl *flag.Flag) { judged = judged || fl.Name == "fail-below" })
	return f.run(ctx, e, judged)
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
			return nil, fmt.Errorf("there is no metric %q; the metrics 0 to %d are %s", name, metric.Count-1, strings.Join(all, ", "))
		}
		out = append(out, m)
	}
	return out, nil
}

func (f *compareFlags) run(ctx context.Context, e env, judged bool) (int, error) {
	job := compare.Job{
		Left: f.left, Right: f.right,
		Graph: f.graph, Quant: f.quant, Closed: f.closed,
		LeftTime: f.leftTime, RightTime: f.rightTime,
		Options: compare.Options{MaxElements: f.max, Overflow: f.overflow, Workers: f.workers},
	}
	var err error
	if job.Metrics, err = parseMetrics(f.metrics); err != nil {
		return exitUsage, err
	}
	if judged && job.Metrics != nil && !slices.Contains(job.Metrics, metric.CosineSimilarity) {
		return exitUsage, fmt.Errorf("-fail-below judges by %s, which is not among -metrics", metric.CosineSimilarity)
	}
	for _, limit := range []struct {
		name  string
		value float64
	}{{"-threshold", f.threshold}, {"-fail-below", f.failBelow}} {
		if !(limit.value >= -1 && limit.value <= 1) {
			return exitUsage, fmt.Errorf("%s %g: expected a cosine similarity, -1 to 1", limit.name, limit.value)
		}
	}
	switch f.numerics {
	case "exact":
		job.Numerics = metric.Exact
	case "reference":
		job.Numerics = metric.Reference
	default:
		return exitUsage, fmt.Errorf("-numerics %q: expected exact or reference", f.numerics)
	}
	show := summaryText{e.stdout, e.language()}
	if f.lang != "" {
		var ok bool
		if show.lang, ok = msg.ParseLang(f.lang); !ok {
			return exitUsage, fmt.Errorf("-lang %q: expected en or zh", f.lang)
		}
	}
	run, err := job.Open(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, errors.New("interrupted before the comparison began")
		}
		return exitError, err
	}
	printWarnings(e.stderr, run.Warnings)
	show.notes(e.stderr, run.Notes)
	if run.Found != "" && run.Folders.How() == result.ByGraph {
		show.graph(run.Found, run.How)
	}
	bar := progress.New(os.Stderr, "comparing")
	run.Folders.Progress = bar.Set
	path := filepath.Join(f.out, "result_"+time.Now().Format("20060102150405")+".csv")
	table, err := report.Create(path, run.Folders.Columns())
	if err != nil {
		return exitError, err
	}
	defer table.Discard()
	out, err := run.Run(ctx, table.Row)
	bar.Done()
	if err == nil {
		err = table.Commit()
	}
	if err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, fmt.Errorf("interrupted after %d of %d operators; no result was written",
				out.Done, out.Groups)
		}
		return exitError, err
	}
	show.notes(e.stderr, out.Table.Meta.Pairing.Why[len(run.Notes):])
	summary := compare.Summarise(out.Table, f.threshold)
	show.summary(summary, out.Groups, path)
	switch {
	case summary.Compared == 0:
		return exitNoMatch, nil
	case judged && summary.AnyOutputBelow(f.failBelow):
		show.sentence("batch.fail", f.failBelow)
		return exitBelow, nil
	}
	return exitOK, nil
}

// mostWarnings is how many warnings are printed: a folder full of other files
// gives one for each, and the first few tell what they are.
const mostWarnings = 20

// printWarnings prints warnings; of too many the first ones, a count, and the
// last ones: what is said about the graph comes last and matters most.
func printWarnings(w io.Writer, warnings []string) {
	left := len(warnings) - mostWarnings
	for i, text := range warnings {
		switch {
		case left > 1 && i == mostWarnings/2:
			fmt.Fprintf(w, "warning: … %d more\n", left)
		case left > 1 && i > mostWarnings/2 && i < mostWarnings/2+left:
		default:
			fmt.Fprintf(w, "warning: %s\n", text)
		}
	}
}
