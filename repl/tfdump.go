package repl

import (
	"context"
	"path/filepath"

	"precision/internal/must"
	"precision/internal/sh"
	"precision/repl/capture"
	"precision/repl/workspace"
)

// tfDumpCmd is the command tf_dump: it turns what TensorFlow's debugger recorded
// into golden arrays.
type tfDumpCmd struct{}

var tfDumpCommand = &command{
	name: "tf_dump",
	line: true,
	make: func(*session) action { return tfDumpCmd{} },
}

func (tfDumpCmd) define(*options) {}

func (tfDumpCmd) run(ctx context.Context, s *session, words []string) int {
	o := s.captureOptions()
	set := scripts{s, s.data.Path("temp", "train")}
	set.add(capture.TFDumpFile, must.Get(capture.Script(capture.TFDumpFile, o)))
	recorded := s.data.Path("tf", "tf_debug")
	if line := commandLine(words); line != "" {
		if workspace.HasEntries(recorded) {
			s.Info("tf_dump.kept", recorded)
		} else if code := s.systemWith(ctx, line, capture.EnvData+"="+o.Root); code == exitInterrupted || ctx.Err() != nil {
			return exitInterrupted
		}
	}
	if !workspace.HasEntries(recorded) {
		s.Fail("tf_dump.none", recorded)
		s.Say("tf_dump.how")
		return exitNothing
	}
	p := must.Get(s.findPython(ctx))
	script := filepath.Join(set.dir, capture.TFDumpFile)
	if !s.ready(p, false) {
		s.Say("train.elsewhere", script, "python3 "+sh.Word(script))
		return exitNothing
	}
	return s.runScript(ctx, p, script)
}

// npuCmd are the commands npu_dump and npu_overflow: they run a training whose
// script imports the kit and names no action.
type npuCmd struct {
	name     string
	overflow bool
}

var npuDumpCommand = &command{
	name: "npu_dump",
	line: true,
	old:  true,
	make: func(*session) action { return npuCmd{name: "npu_dump"} },
}

var npuOverflowCommand = &command{
	name: "npu_overflow",
	line: true,
	old:  true,
	make: func(*session) action { return npuCmd{"npu_overflow", true} },
}

func (npuCmd) define(*options) {}

func (c npuCmd) run(ctx context.Context, s *session, words []string) int {
	line := commandLine(words)
	if line == "" {
		s.Fail("usage", c.name, s.T("npu.noline"))
		if old, ok := findCommand(c.name); ok {
			s.tellUsage(old)
		}
		return exitError
	}
	root := must.Get(absolute(s.data.Root))
	s.Info("npu.old", c.name)
	on, off := capture.EnvDump, capture.EnvOverflow
	if c.overflow {
		on, off = off, on
	}
	code := s.systemWith(ctx, line, on+"=True", off+"=", capture.EnvData+"="+root)
	if ctx.Err() != nil {
		return exitInterrupted
	}
	if c.overflow {
		_, _, failed := s.overflows(ctx, s.set.Limit)
		code = max(code, failed)
	}
	return code
}
