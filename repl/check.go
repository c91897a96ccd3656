package repl

import (
	"context"
	"path/filepath"
	"time"

	"precision/compare/oracle"
	"precision/compare/report/checked"
	"precision/console"
	"precision/internal/must"
	"precision/internal/progress"
	"precision/run"
)

// checkCmd is the command check: it recomputes the operators of a run from their
// own recorded inputs.
type checkCmd struct {
	step string
	full bool
}

var checkCommand = &command{
	name: "check",
	make: func(s *session) action { return &checkCmd{step: s.set.Step} },
}

func (c *checkCmd) define(o *options) {
	o.text(&c.step, "s", "step")
	o.on(&c.full, "full", "full")
}

func (c *checkCmd) run(ctx context.Context, s *session, _ []string) int {
	if len(s.data.IDs()) == 0 {
		return s.noDumps()
	}
	id := s.data.FirstID()
	leaves := (&vcCmd{step: c.step}).choose(s, id)
	if len(leaves) == 0 {
		return s.noDumps()
	}
	code := exitOK
	for _, leaf := range leaves {
		graph := s.graphOf(id, leaf)
		if graph == nil {
			s.Fail("check.nograph", leaf.Dir, filepath.Join(id.Dir, "graph"))
			code = max(code, exitError)
			continue
		}
		c := run.Check{Devices: []oracle.Device{oracle.DeviceOf(leaf.Folder())}, Model: graph.Index.Model, Full: c.full, Workers: s.set.Workers, Lang: s.Lang,
			Table: s.data.Path("temp", "check", "check_"+time.Now().Format("20060102150405")+".csv")}
		listen, stop := run.Bars(func(string) *progress.Bar { return s.Bar("check") }, s.warned)
		found, err := c.Run(ctx, listen)
		stop()
		must.Do(err)
		s.Print(s.Screen.Bold(s.T("check.of", console.Clean(leaf.Dir), console.Clean(found.Path))) + "\n" +
			s.verdictLines(checked.Summary(s.Lang, found.Findings, found.Coverage)))
		if found.Coverage.Judged == 0 {
			code = max(code, exitNothing)
		}
	}
	return code
}
