package main

import (
	"cmp"
	"context"
	"flag"
	"path/filepath"
	"time"

	"precision/compare/report"
	"precision/compare/report/checked"
	"precision/run"
	"precision/run/explain"
)

// checkFlags are the options of the check command.
type checkFlags struct {
	run.Check
	out            string
	events, status bool
}

// sides defines what is checked, and how exactly, for why, too.
func (f *checkFlags) sides(e env, set *flag.FlagSet, text func(string) string) {
	f.State, f.Lang = e.state, e.language()
	set.StringVar(&f.Path, "lt", "", text("lt"))
	set.StringVar(&f.Graph, "g", "", text("g"))
	set.StringVar(&f.Golden, "rt", "", text("rt"))
	set.BoolVar(&f.Full, "full", false, text("full"))
}

func checkCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("check")
	var f checkFlags
	f.sides(e, set, text)
	set.StringVar(&f.JSON, "json", "", text("json"))
	set.StringVar(&f.Parquet, "parquet", "", e.optionText("compare")("parquet"))
	set.StringVar(&f.HTML, "html", "", e.optionText("compare")("html"))
	set.StringVar(&f.Explorer, "graph-json", "", e.optionText("compare")("graph-json"))
	set.StringVar(&f.NodeData, "node-data", "", e.optionText("compare")("node-data"))
	set.StringVar(&f.out, "out", ".", text("out"))
	set.Var((*run.Gate)(&f.Gate), "gate", text("gate"))
	set.BoolVar(&f.events, "events", false, e.optionText("compare")("events"))
	set.BoolVar(&f.status, "exit-status", false, e.optionText("compare")("exit-status"))
	set.IntVar(&f.Workers, "workers", 0, text("workers"))
	if words := e.words("check", set, args); len(words) > 0 {
		none(words[1:])
		misusedIf(f.Path != "" && f.Path != words[0], "err.check.two", words[0], f.Path)
		f.Path = words[0]
	}
	if f.Path == "" {
		if last, err := e.last(); err == nil && last.Left != "" {
			f.Path, f.Graph, f.Golden = last.Left, cmp.Or(f.Graph, last.Graph), cmp.Or(f.Golden, last.Right)
		}
	}
	alone(f.events, f.JSON, f.Parquet, f.HTML, f.Explorer, f.NodeData)
	misused(f.Validate())
	f.Table = filepath.Join(f.out, "check_"+time.Now().Format("20060102150405")+".csv")
	e.events = f.events
	show := checkText{e.show(e.language())}
	listen, stop := e.listener(show.summaryText)
	found, err := f.Run(ctx, listen)
	stop()
	switch {
	case err != nil && ctx.Err() != nil:
		return exitInterrupted, explain.Say("err.check.interrupted", len(found.Findings))
	case err != nil:
		return exitError, err
	}
	show.summary(found)
	switch {
	case len(found.Trips) > 0:
		return exitBelow, nil
	case found.Coverage.Judged == 0:
		return exitNoMatch, nil
	}
	return statusOf(f.status, checked.Standing(found.Findings, found.Coverage).Verdict), nil
}

// checkText writes the summary of a check.
type checkText struct{ summaryText }

// summary says what was found and where the table is.
func (t checkText) summary(found *run.Checked) {
	lines := append(checked.Summary(t.lang, found.Findings, found.Coverage), report.Text{Lang: t.lang}.Trips(nil, found.Trips)...)
	lines = append(lines, report.Line{Label: t.lang.T("check.result"), Segments: []report.Segment{{Text: found.Path}}})
	t.write(lines)
}
