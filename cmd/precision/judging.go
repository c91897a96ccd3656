package main

import (
	"flag"
	"slices"

	"precision/compare/look"
	"precision/compare/verdict"
	"precision/run"
)

// judgeFlags are the options about the verdict: what it is held against, where it
// is written, and what it makes of the exit status.
type judgeFlags struct {
	run.Judging
	profile, second       string
	threshold, failBelow  float64
	detail                int
	check, events, status bool
	set                   map[string]bool
}

// define lists the options; text gives the help of each.
func (f *judgeFlags) define(set *flag.FlagSet, text func(name string) string) {
	f.defineSaved(set, text)
	set.StringVar(&f.second, "second", "", text("second"))
	set.StringVar(&f.After, "after", "", text("after"))
	set.BoolVar(&f.check, "check", false, text("check"))
}

// defineSaved lists the options that a table takes whose dumps may be gone.
func (f *judgeFlags) defineSaved(set *flag.FlagSet, text func(name string) string) {
	set.StringVar(&f.profile, "profile", "default", text("profile"))
	set.StringVar(&f.Baseline, "baseline", "", text("baseline"))
	set.StringVar(&f.JSON, "json", "", text("json"))
	set.StringVar(&f.JUnit, "junit", "", text("junit"))
	set.StringVar(&f.SARIF, "sarif", "", text("sarif"))
	set.StringVar(&f.HTML, "html", "", text("html"))
	set.StringVar(&f.Parquet, "parquet", "", text("parquet"))
	set.StringVar(&f.Explorer, "graph-json", "", text("graph-json"))
	set.StringVar(&f.NodeData, "node-data", "", text("node-data"))
	set.IntVar(&f.detail, "detail", look.Operators, text("detail"))
	set.Float64Var(&f.threshold, "threshold", 0.98, text("threshold"))
	set.Float64Var(&f.failBelow, "fail-below", 0, text("fail-below"))
	set.Var((*run.Gate)(&f.Gate), "gate", text("gate"))
	set.BoolVar(&f.events, "events", false, text("events"))
	set.BoolVar(&f.status, "exit-status", false, text("exit-status"))
}

// given notes which options stood on the command line, and refuses limits that
// are no cosine similarity.
func (f *judgeFlags) given(set *flag.FlagSet) {
	f.set = map[string]bool{}
	set.Visit(func(fl *flag.Flag) { f.set[fl.Name] = true })
	for _, limit := range []struct {
		name  string
		value float64
	}{{"threshold", f.threshold}, {"fail-below", f.failBelow}} {
		misusedIf(!(limit.value >= -1 && limit.value <= 1), "err.cosine", limit.name, limit.value)
	}
	misusedIf(f.detail < 0, "err.detail", f.detail)
	misusedIf(f.events && f.ToStdout(), "err.events")
}

// alone sees that events have standard output for themselves.
func alone(events bool, files ...string) {
	misusedIf(events && slices.Contains(files, "-"), "err.events")
}

// judging is what the options ask of a judge.
func (f *judgeFlags) judging(e env) run.Judging {
	j := f.Judging
	j.State, j.Stdout = e.state, e.stdout
	if f.set["profile"] {
		j.Profile = f.profile
	}
	if f.set["threshold"] {
		j.Threshold = &f.threshold
	}
	if f.set["fail-below"] {
		j.Gate.Below = &f.failBelow
	}
	if f.HTML != "" || f.set["detail"] { // a page shows the elements, and who names a number wants them in any case
		j.Pictures = f.detail
	}
	return j
}

// statusOf is the exit status of a verdict for those who asked for one, as diff has it: 1 is bad, 2 that nothing can be
// told.
func statusOf(asked bool, v verdict.Verdict) int {
	switch {
	case asked && v == verdict.Bad:
		return exitError
	case asked && v == verdict.Inconclusive:
		return exitNoMatch
	}
	return exitOK
}

// finished shows what came of a run, unless stdout is for one of its files, and chooses the exit status.
func (f *judgeFlags) finished(done *run.Compared, err error, j *run.Judging, show func()) (int, error) {
	if done != nil && !j.ToStdout() {
		show()
	}
	switch {
	case err != nil:
		return exitError, err
	case len(done.Trips) > 0: // also where nothing could be compared
		return exitBelow, nil
	case done.Nothing():
		return exitNoMatch, nil
	}
	return statusOf(f.status, done.Verdict), nil
}
