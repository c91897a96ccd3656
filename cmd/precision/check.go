package main

import (
	"cmp"
	"context"
	"flag"
	"path/filepath"
	"strings"
	"time"

	"precision/compare/oracle/tell"
	"precision/compare/report"
	"precision/compare/verdict"
	"precision/run"
	"precision/run/explain"
)

// checkFlags are the options of the check command.
type checkFlags struct {
	mine, golden, graph, out, json, parquet, html, nodes string
	full, events, status                                 bool
	gate                                                 run.Gate
	workers                                              int
}

// sides defines what is checked, and how exactly, for why, too.
func (f *checkFlags) sides(set *flag.FlagSet, text func(string) string) {
	set.StringVar(&f.mine, "lt", "", text("lt"))
	set.StringVar(&f.graph, "g", "", text("g"))
	set.StringVar(&f.golden, "rt", "", text("rt"))
	set.BoolVar(&f.full, "full", false, text("full"))
}

func checkCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("check")
	var f checkFlags
	f.sides(set, text)
	set.StringVar(&f.json, "json", "", text("json"))
	set.StringVar(&f.parquet, "parquet", "", e.optionText("compare")("parquet"))
	set.StringVar(&f.html, "html", "", e.optionText("compare")("html"))
	set.StringVar(&f.nodes, "node-data", "", e.optionText("compare")("node-data"))
	set.StringVar(&f.out, "out", ".", text("out"))
	set.Var(&f.gate, "gate", text("gate"))
	set.BoolVar(&f.events, "events", false, e.optionText("compare")("events"))
	set.BoolVar(&f.status, "exit-status", false, e.optionText("compare")("exit-status"))
	set.IntVar(&f.workers, "workers", 0, text("workers"))
	// The recording may stand before or behind the options.
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		f.mine, args = args[0], args[1:]
	}
	given := f.mine
	if err := set.Parse(args); err != nil {
		return helpOr(e, "check", set, err)
	}
	if f.mine == "" && set.NArg() == 1 {
		f.mine = set.Arg(0)
	} else if set.NArg() > 0 {
		return exitUsage, explain.Say("err.argument", set.Arg(0))
	} else if given != "" && f.mine != given {
		return exitUsage, explain.Say("err.check.two", given, f.mine)
	}
	if f.mine == "" {
		if last, err := e.last(); err == nil && last.Left != "" {
			f.mine, f.graph, f.golden = last.Left, cmp.Or(f.graph, last.Graph), cmp.Or(f.golden, last.Right)
		}
	}
	c := f.request(e)
	if err := cmp.Or(alone(f.events, f.json, f.parquet, f.html, f.nodes), c.Validate()); err != nil {
		return exitUsage, err
	}
	c.Table = filepath.Join(f.out, "check_"+time.Now().Format("20060102150405")+".csv")
	e.events = f.events
	show := checkText{e.show(e.language())}
	listen, stop := e.listener(show.summaryText)
	found, err := c.Run(ctx, listen)
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
	return statusOf(f.status, tell.Standing(found.Findings, found.Coverage).Verdict), nil
}

// request is what the options ask for.
func (f *checkFlags) request(e env) run.Check {
	return run.Check{Path: f.mine, Golden: f.golden, Graph: f.graph, JSON: f.json, Parquet: f.parquet, HTML: f.html, NodeData: f.nodes, Full: f.full, Gate: verdict.Gate(f.gate), Workers: f.workers, State: e.state, Lang: e.language()}
}

// checkText writes the summary of a check.
type checkText struct{ summaryText }

// summary says what was found and where the table is.
func (t checkText) summary(found *run.Checked) {
	lines := append(tell.Summary(t.lang, found.Findings, found.Coverage), report.Text{Lang: t.lang}.Trips(nil, found.Trips)...)
	lines = append(lines, report.Line{Label: t.lang.T("check.result"), Segments: []report.Segment{{Text: found.Path}}})
	t.write(lines)
}
