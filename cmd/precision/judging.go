package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"slices"

	"precision/compare"
	"precision/compare/look"
	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/report/html"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/progress"
	"precision/internal/whole"
	"precision/repl"
	"precision/repl/explain"
)

// judgeFlags are the options about the verdict: what it is held against, where it
// is written, and what it makes of the exit status.
type judgeFlags struct {
	profile, baseline, second string
	after                     string
	json, junit, sarif, html  string
	threshold, failBelow      float64
	detail                    int
	gate                      repl.Gate
	check                     bool
	set                       map[string]bool
}

// define lists the options; text gives the help of each.
func (f *judgeFlags) define(set *flag.FlagSet, text func(name string) string) {
	f.defineSaved(set, text)
	set.StringVar(&f.second, "second", "", text("second"))
	set.StringVar(&f.after, "after", "", text("after"))
	set.BoolVar(&f.check, "check", false, text("check"))
}

// defineSaved lists the options that a table takes whose dumps may be gone.
func (f *judgeFlags) defineSaved(set *flag.FlagSet, text func(name string) string) {
	set.StringVar(&f.profile, "profile", "default", text("profile"))
	set.StringVar(&f.baseline, "baseline", "", text("baseline"))
	set.StringVar(&f.json, "json", "", text("json"))
	set.StringVar(&f.junit, "junit", "", text("junit"))
	set.StringVar(&f.sarif, "sarif", "", text("sarif"))
	set.StringVar(&f.html, "html", "", text("html"))
	set.IntVar(&f.detail, "detail", look.Operators, text("detail"))
	set.Float64Var(&f.threshold, "threshold", 0.98, text("threshold"))
	set.Float64Var(&f.failBelow, "fail-below", 0, text("fail-below"))
	set.Var(&f.gate, "gate", text("gate"))
}

// given notes which options stood on the command line, and refuses limits that
// are no cosine similarity.
func (f *judgeFlags) given(set *flag.FlagSet) error {
	f.set = map[string]bool{}
	set.Visit(func(fl *flag.Flag) { f.set[fl.Name] = true })
	for _, limit := range []struct {
		name  string
		value float64
	}{{"threshold", f.threshold}, {"fail-below", f.failBelow}} {
		if !(limit.value >= -1 && limit.value <= 1) {
			return explain.Say("err.cosine", limit.name, limit.value)
		}
	}
	if f.detail < 0 {
		return explain.Say("err.detail", f.detail)
	}
	return nil
}

// options opens what the judge needs. own is the profile to take where none is
// named, nil for the default one.
func (f *judgeFlags) options(own *verdict.Profile) (verdict.Options, error) {
	o := verdict.Options{Profile: own}
	var err error
	if own == nil || f.set["profile"] {
		if o.Profile, err = verdict.OpenProfile(f.profile); err != nil {
			return o, explain.Say("err.option", "-profile", err)
		}
	}
	if f.set["threshold"] {
		if o.Profile, err = o.Profile.WithLimit(verdict.Cosine, f.threshold); err != nil {
			return o, explain.Say("err.option", "-threshold", err)
		}
	}
	if f.baseline != "" {
		saved, err := report.OpenJSON(f.baseline)
		if err != nil {
			return o, explain.Say("err.option", "-baseline", err)
		}
		o.Baseline = saved.Table
	}
	if f.after != "" {
		saved, err := report.OpenJSON(f.after)
		if err != nil {
			return o, explain.Say("err.option", "-after", err)
		}
		o.After = verdict.Judge(saved.Table, verdict.Options{Profile: o.Profile})
	}
	return o, nil
}

// fits refuses an earlier result that is none for a table.
func (f *judgeFlags) fits(t *result.Table, o verdict.Options) error {
	if o.After != nil {
		if err := f.continues(t, o.After); err != nil {
			return err
		}
	}
	if o.Baseline == nil {
		return nil
	}
	err := verdict.FitBaseline(o.Baseline, t, o)
	var e *verdict.BaselineError
	if !errors.As(err, &e) {
		return err
	}
	key := "err.baseline." + string(e.Fault)
	if e.Fault == verdict.BaselineShapes {
		return explain.Say(key, f.baseline, e.Tensor, result.ShapeText(e.Then), result.ShapeText(e.Now))
	}
	return explain.Say(key, f.baseline, e.Compared, e.Expected)
}

// continues refuses a result that nothing in a table goes on from.
func (f *judgeFlags) continues(t *result.Table, old *verdict.Judged) error {
	err := verdict.FitAfter(old, t)
	var e *verdict.AfterError
	if !errors.As(err, &e) {
		return err
	}
	key := "err.after." + string(e.Fault)
	switch e.Fault {
	case verdict.AfterRootless:
		return explain.Say(key, f.after)
	case verdict.AfterShapes:
		return explain.Say(key, f.after, e.Tensor, result.ShapeText(e.Then), result.ShapeText(e.Now))
	}
	return explain.Say(key, f.after, e.Common, e.All)
}

// gates are what the exit status depends on.
func (f *judgeFlags) gates() verdict.Gate {
	g := verdict.Gate(f.gate)
	if f.set["fail-below"] {
		g.Below = &f.failBelow
	}
	return g
}

// apart sees that none of the files that are written is an input.
func (f *judgeFlags) apart(inputs ...string) error {
	return whole.Apart([]string{f.json, f.junit, f.sarif, f.html}, append(inputs, f.profile, f.baseline, f.after, f.second)...)
}

// write writes the judged table in the forms that were asked for; "-" is stdout.
func (f *judgeFlags) write(stdout io.Writer, j *verdict.Judged, o html.Options) error {
	lang := o.Lang
	if f.html != "" && !compare.LaidOut(j.Table) {
		compare.LayOut(j.Table)
	}
	page := func(w io.Writer, j *verdict.Judged) error { return html.Write(w, j, o) }
	for _, form := range []struct {
		path  string
		write func(io.Writer, *verdict.Judged) error
	}{{f.json, report.WriteJSON}, {f.junit, report.JUnit{Lang: lang, Strict: f.gate.Strict}.Write}, {f.sarif, report.SARIF{Lang: lang}.Write}, {f.html, page}} {
		switch form.path {
		case "":
			continue
		case "-":
			if err := form.write(stdout, j); err != nil {
				return err
			}
			continue
		}
		if err := writeWhole(form.path, func(w io.Writer) error { return form.write(w, j) }); err != nil {
			return err
		}
	}
	return nil
}

// toStdout tells whether one of the forms goes to stdout, where nothing else is
// said then.
func (f *judgeFlags) toStdout() bool {
	return slices.Contains([]string{f.json, f.junit, f.sarif, f.html}, "-")
}

// status is the exit status of a judged table.
func (f *judgeFlags) status(j *verdict.Judged, trips []verdict.Trip) int {
	switch {
	case len(trips) > 0: // also where nothing could be compared
		return exitBelow
	case j.Tensors[verdict.Good]+j.Tensors[verdict.Suspect]+j.Tensors[verdict.Bad] == 0:
		return exitNoMatch
	}
	return exitOK
}

// recompute asks the oracle about the dumps of a comparison.
func recompute(ctx context.Context, run *compare.Session, t *result.Table, opts verdict.Options) ([]result.Check, error) {
	if run.Graph == "" || run.Folders.How() != result.ByGraph {
		return nil, explain.Say("err.needgraph")
	}
	bar := progress.New(os.Stderr, "checking")
	defer bar.Done()
	f := run.Folders
	beside := &oracle.Golden{Dumps: f.Left, Folder: f.Right, Rules: f.Rules, Follow: verdict.Doubted(t, opts)}
	return oracle.Recompute(ctx, beside, run.Graph, f.Workers, bar.Set)
}

// recomputeCalls asks the oracle about the calls of a comparison of recordings.
func recomputeCalls(ctx context.Context, left, right string, t *result.Table, opts verdict.Options, workers int) ([]result.Check, error) {
	bar := progress.New(os.Stderr, "checking")
	defer bar.Done()
	list, ok, err := oracle.RecomputeCalls(ctx, left, right, t, verdict.Doubted(t, opts), workers, bar.Set)
	if err == nil && !ok {
		err = explain.Say("err.check.calls", left)
	}
	return list, err
}

// secondRun compares the left side with a second run on the NPU.
func secondRun(ctx context.Context, job compare.Job, dir string) (*result.Table, error) {
	job.Right, job.Quant, job.Closed = dir, "", ""
	run, err := job.Open(ctx)
	if err != nil {
		return nil, explain.Say("err.option", "-second", err)
	}
	if right := run.Folders.Right; !right.Device() {
		return nil, explain.Say("err.second", dir, right.Kind)
	}
	out, err := run.Run(ctx)
	if err == nil && out.Table.Meta.Pairing.OfItself() {
		return nil, explain.Say("err.second.same", dir)
	}
	return out.Table, err
}
