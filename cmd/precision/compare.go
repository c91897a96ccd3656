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
	"precision/internal/progress"
	"precision/repl/msg"
)

// compareFlags are the options of the compare command.
type compareFlags struct {
	mine, golden, graph, out string
	quant, closed            string
	numerics, metrics, lang  string
	threshold, failBelow     float64
	max                      int64
	overflow                 bool
	workers                  int
}

func (f *compareFlags) define(set *flag.FlagSet) {
	set.StringVar(&f.mine, "lt", "", "left side: `folder` with the NPU dump files")
	set.StringVar(&f.golden, "rt", "", "right side: `folder` with the golden .npy files, or with other NPU dumps")
	set.StringVar(&f.graph, "g", "", "GE graph `file` of the NPU side: ge_proto_*_Build.txt, its JSON or an .om; or a folder of them")
	set.StringVar(&f.quant, "q", "", "graph `file` of the quantised framework model, to map a quantised network back")
	set.StringVar(&f.closed, "cf", "", "GE graph `file` of the right side, when that is an NPU run without fusion")
	set.StringVar(&f.out, "out", ".", "`folder` the result is written to")
	set.StringVar(&f.numerics, "numerics", "exact", "exact: float64, right at every size; reference: the digits of msaccucmp.py")
	set.StringVar(&f.metrics, "metrics", "all", "`names` or numbers of metrics, comma separated, in column order")
	set.Float64Var(&f.threshold, "threshold", 0.98, "cosine similarity below which the summary calls a tensor bad")
	set.Float64Var(&f.failBelow, "fail-below", 0, "exit with status 3 when the cosine similarity of an output is below `X` or NaN")
	set.Int64Var(&f.max, "max", 0, "compare only the first `N` elements of every tensor; 0 compares all")
	set.BoolVar(&f.overflow, "overflow", false, "add a column that tells which float16 tensors overflow")
	set.StringVar(&f.lang, "lang", "", "`language` of the summary: en or zh; by default that of the environment")
	set.IntVar(&f.workers, "workers", 0, "number of `workers`; 0 takes all cores")
}

func compareCommand(ctx context.Context, e env, args []string) (int, error) {
	set := flag.NewFlagSet("precision compare", flag.ContinueOnError)
	set.SetOutput(e.stderr)
	var f compareFlags
	f.define(set)
	set.Usage = func() {
		fmt.Fprintf(e.stderr, "usage: precision compare -lt NPU_DIR -rt GOLDEN_DIR [-g GRAPH] [-out OUT_DIR]\n\n")
		set.PrintDefaults()
	}
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK, err
		}
		return exitUsage, errors.New("see precision compare -h")
	}
	if set.NArg() > 0 {
		return exitUsage, fmt.Errorf("unexpected argument %q: every value needs its option", set.Arg(0))
	}
	if f.mine == "" || f.golden == "" {
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
			return nil, fmt.Errorf("there is no metric %q; the metrics 0 to 9 are %s", name, strings.Join(all, ", "))
		}
		out = append(out, m)
	}
	return out, nil
}

func (f *compareFlags) run(ctx context.Context, e env, judged bool) (int, error) {
	job := compare.Job{
		Mine: f.mine, Golden: f.golden,
		Graph: f.graph, Quant: f.quant, Closed: f.closed,
		MaxElements: f.max, Overflow: f.overflow, Workers: f.workers,
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
	show := summaryText{e.stdout, msg.FromEnv(os.Getenv)}
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
	if run.Found != "" {
		show.graph(run.Found, run.How)
	}
	bar := progress.New(os.Stderr, "comparing")
	run.Options.Progress = bar.Set
	path := filepath.Join(f.out, "result_"+time.Now().Format("20060102150405")+".csv")
	summary, err := run.WriteFile(ctx, path, f.threshold)
	bar.Done()
	if err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, fmt.Errorf("interrupted after %d of %d operators; no result was written",
				summary.Done, summary.Operators)
		}
		return exitError, err
	}
	show.summary(summary, path)
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
