package repl

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"precision/internal/plainfile"
	"precision/internal/whole"
	"precision/repl/capture"
	"precision/repl/workspace"
)

// kitCmd is the command kit: it writes the file that a training script imports
// to record what the shell compares.
type kitCmd struct {
	out, root     string
	force, golden bool
	o             capture.Options
}

var kitCommand = &command{
	name: "kit",
	usage: both("kit [-g] [-o FILE] [-f] [-r FOLDER] [-i ID] [-s STEPS] [-l OPERATORS] [-t tensor|stats]",
		"kit [-g] [-o 文件] [-f] [-r 目录] [-i 名称] [-s 迭代] [-l 算子] [-t tensor|stats]"),
	brief: both("write the Python file that a training script imports to record dumps",
		"生成供训练脚本导入的 Python 采集脚本"),
	more: both("The beginning of the file says how to use it: it configures sessions, Estimators and npu_device, and the golden side of TensorFlow 1. It needs Python 3.6 or newer and TensorFlow 1 or 2. -g writes tfdbg_ascend.py instead, which records the golden side of TensorFlow 2 on a CPU or GPU.",
		"用法见脚本开头：可配置 Session、Estimator 和 npu_device，以及 TensorFlow 1 标杆一侧的采集。需要 Python 3.6 或更高版本，TensorFlow 1 或 2。加 -g 则生成 tfdbg_ascend.py，在 CPU 或 GPU 上采集 TensorFlow 2 的标杆数据。"),
	make: func(s *session) action { return &kitCmd{o: s.set.Capture} },
}

func (k *kitCmd) define(o *options) {
	o.text(&k.out, "o", "output", both("the file; by default precision_capture.py or tfdbg_ascend.py in the current folder",
		"生成的文件，默认为当前目录的 precision_capture.py 或 tfdbg_ascend.py"), paths)
	o.on(&k.golden, "g", "golden", both("write tfdbg_ascend.py, the recorder of golden data for TensorFlow 2",
		"生成 tfdbg_ascend.py，用于采集 TensorFlow 2 的标杆数据"))
	o.on(&k.force, "f", "force", both("replace a file that differs",
		"覆盖内容不同的文件"))
	o.text(&k.root, "r", "root", both("data folder on the training machine; by default that of this session",
		"训练机上的数据目录，默认为当前数据目录"), paths)
	o.text(&k.o.ID, "i", "id", both("name of the run, a folder below npu",
		"本次运行的名称，即 npu 下的目录名"))
	o.text(&k.o.Step, "s", "step", both("iterations to record, such as 0|5-7; empty for all",
		"采集的迭代，例如 0|5-7；为空则采集全部"))
	o.text(&k.o.Layer, "l", "layer", both("only these operators, separated by spaces, in quotes",
		"只采集这些算子，用空格隔开并加引号"))
	o.text(&k.o.Data, "t", "data", both("whole tensors, or statistics",
		"采集完整张量或统计量"), oneOf("tensor", "stats"))
}

func (k *kitCmd) run(_ context.Context, s *session, words []string) int {
	if len(words) > 0 {
		return s.tooMany("kit", words)
	}
	k.o.Root = k.root
	if k.root == "" {
		k.o.Root = s.data.Root
	}
	var err error
	if k.o.Root, err = absolute(k.o.Root); err == nil {
		err = k.o.Check()
	}
	if err != nil {
		s.Fail("usage", "kit", err)
		return exitError
	}
	name, script := capture.KitFile, capture.Kit
	if k.golden {
		name, script = capture.GoldenFile, capture.Golden
	}
	out := k.out
	if out == "" {
		out = name
	} else if workspace.IsDir(out) {
		out = filepath.Join(out, name)
	}
	text, err := script(k.o)
	if err != nil {
		s.Fail("error", err)
		return exitError
	}
	switch old, err := plainfile.ReadFile(out, "a Python file", 1<<20); {
	case err == nil && bytes.Equal(old, text):
		s.Say("kit.same", out)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		s.Fail("error", err)
		return exitError
	case err == nil && !k.force:
		s.Fail("kit.exists", out)
		return exitError
	default:
		if err := whole.Write(out, text, 0o600); err != nil {
			s.Fail("error", err)
			return exitError
		}
		s.Say("wrote", out)
	}
	s.Say("kit.data", k.o.Root)
	return exitOK
}

// absolute makes a path absolute, unless it is so on the training machine.
func absolute(path string) (string, error) {
	if capture.IsAbs(path) && !filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Abs(path)
}
