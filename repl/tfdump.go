package repl

import (
	"context"
	"path/filepath"

	"precision/repl/capture"
	"precision/repl/workspace"
)

// tfDumpCmd is the command tf_dump: it turns what TensorFlow's debugger recorded
// into golden arrays.
type tfDumpCmd struct{}

var tfDumpCommand = &command{
	name: "tf_dump",
	usage: both("tf_dump [COMMAND LINE]",
		"tf_dump [命令行]"),
	brief: both("turn what TensorFlow's debugger recorded into golden arrays",
		"将 TensorFlow 调试器记录的数据转为标杆数据"),
	more: both("All runs in tf/tf_debug are read, and arrays go to tf/dump. If there are no runs, COMMAND LINE makes them: a training on a CPU or GPU that uses the kit's sess_dump or estimator_dump.",
		"读取 tf/tf_debug 中的全部运行记录，将标杆数据写到 tf/dump。没有运行记录时先执行命令行：在 CPU 或 GPU 上训练，训练脚本中使用采集脚本的 sess_dump 或 estimator_dump。"),
	line: true,
	make: func(*session) action { return tfDumpCmd{} },
}

func (tfDumpCmd) define(*options) {}

func (tfDumpCmd) run(ctx context.Context, s *session, words []string) int {
	o, err := s.captureOptions()
	if err != nil {
		s.Fail("error", err)
		return exitError
	}
	set := scripts{s: s, dir: s.data.Path("temp", "train")}
	text, err := capture.TFDump(o)
	if set.add(capture.TFDumpFile, text, err); set.err != nil {
		return s.Failed(ctx, set.err)
	}
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
	p, err := s.findPython(ctx)
	if err != nil {
		return s.Failed(ctx, err)
	}
	script := filepath.Join(set.dir, capture.TFDumpFile)
	if !s.ready(p, false) {
		s.Say("train.elsewhere", script, "python3 "+systemWord(script))
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
	usage: both("npu_dump COMMAND LINE",
		"npu_dump 命令行"),
	brief: both("run a training whose script imports the kit, and record dumps",
		"运行导入了采集脚本的训练，采集 dump 数据"),
	line: true,
	old:  true,
	make: func(*session) action { return npuCmd{name: "npu_dump"} },
}

var npuOverflowCommand = &command{
	name: "npu_overflow",
	usage: both("npu_overflow COMMAND LINE",
		"npu_overflow 命令行"),
	brief: both("run a training whose script imports the kit, record overflows and show them",
		"运行导入了采集脚本的训练，采集并显示溢出数据"),
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
	root, err := absolute(s.data.Root)
	if err != nil {
		s.Fail("error", err)
		return exitError
	}
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
