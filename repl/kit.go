package repl

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"precision/compare/advice"
	"precision/compare/advice/tell"
	"precision/compare/result"
	"precision/dump/msprobe"
	"precision/internal/plainfile"
	"precision/internal/whole"
	"precision/repl/capture"
	"precision/repl/workspace"
)

// kitCmd is the command kit: it writes the file that a training script imports
// to record what the shell compares.
type kitCmd struct {
	out, root     string
	next, size    string
	force, golden bool
	o             capture.Options
}

var kitCommand = &command{
	name: "kit",
	usage: both("kit [-g | -next RESULT [-m SIZE]] [-o FILE] [-f] [-r FOLDER] [-i ID] [-s STEPS] [-l OPERATORS] [-t tensor|stats]",
		"kit [-g | -next 结果 [-m 大小]] [-o 文件] [-f] [-r 目录] [-i 名称] [-s 迭代] [-l 算子] [-t tensor|stats]"),
	brief: both("write the Python file that a training script imports to record dumps",
		"生成供训练脚本导入的 Python 采集脚本"),
	more: both("The beginning of the file says how to use it: it configures sessions, Estimators and npu_device, and the golden side of TensorFlow 1. It needs Python 3.6 or newer and TensorFlow 1 or 2. -g writes tfdbg_ascend.py instead, which records the golden side of TensorFlow 2 on a CPU or GPU. -next writes the configuration with which the recorder of a saved result records the elements of what is in doubt: config.json of msprobe for both sides, and one that runs suspected modules on the golden side's inputs; acl.json with a dump_list; the file of MINDSPORE_DUMP_CONFIG.",
		"用法见脚本开头：可配置 Session、Estimator 和 npu_device，以及 TensorFlow 1 标杆一侧的采集。需要 Python 3.6 或更高版本，TensorFlow 1 或 2。加 -g 则生成 tfdbg_ascend.py，在 CPU 或 GPU 上采集 TensorFlow 2 的标杆数据。-next 按已保存的结果写出采集工具的配置，用于采集可疑部分的元素：msprobe 两侧的 config.json，以及用标杆侧输入运行可疑模块的配置；带 dump_list 的 acl.json；MINDSPORE_DUMP_CONFIG 的文件。"),
	make: func(s *session) action { return &kitCmd{o: s.set.Capture} },
}

func (k *kitCmd) define(o *options) {
	o.text(&k.out, "o", "output", both("the file; by default precision_capture.py or tfdbg_ascend.py in the current folder",
		"生成的文件，默认为当前目录的 precision_capture.py 或 tfdbg_ascend.py"), paths)
	o.on(&k.golden, "g", "golden", both("write tfdbg_ascend.py, the recorder of golden data for TensorFlow 2",
		"生成 tfdbg_ascend.py，用于采集 TensorFlow 2 的标杆数据"))
	o.text(&k.next, "n", "next", both("write the recorder's configuration for what this result leaves in doubt, to the folder -o",
		"针对该结果中可疑的部分写出采集工具的配置，写到 -o 指定的目录"), paths)
	o.text(&k.size, "m", "max", both("with -next, size limit for the record of one step, such as 4GiB",
		"与 -next 一起使用：每个 step 采集的数据量上限，例如 4GiB"))
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

func (k *kitCmd) run(ctx context.Context, s *session, words []string) int {
	if len(words) > 0 {
		return s.tooMany("kit", words)
	}
	if k.next != "" {
		return k.record(ctx, s)
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

// record writes the configuration of the recorder of a result for what that leaves in doubt.
func (k *kitCmd) record(ctx context.Context, s *session) int {
	budget, err := parseSize(k.size)
	if err != nil {
		s.Fail("usage", "kit", s.T("usage.value", "-m", strconv.Quote(k.size), s.T("usage.size")))
		return exitError
	}
	tables, err := s.readResults(k.next, s.set.CosSim)
	switch {
	case err != nil:
		return exitError
	case len(tables) != 1:
		s.Fail("kit.several", k.next, len(tables))
		return exitNothing
	}
	t := tables[0]
	index, err := (&adviseCmd{}).index(ctx, t.Table.Meta.Graph)
	if err != nil {
		return s.Failed(ctx, err)
	}
	step := k.o.Step
	if step == s.set.Capture.Step && t.Table.Meta.Recorded {
		step = "" // the recording tells; the setting is of graphs
	}
	plan := advice.For(t.Judged, advice.Options{Graph: index, Budget: budget, Step: step, Recordings: recordings(&t.Table.Meta)}).Plan
	if plan == nil {
		s.Fail("kit.nothing", k.next)
		return exitNothing
	}
	out := k.out
	if out == "" {
		out = "."
	}
	wrote, err := writeFiles(out, plan.Files, k.force)
	if exists := (*existsError)(nil); errors.As(err, &exists) {
		s.Fail("kit.exists", exists.path)
		return exitError
	}
	if err != nil {
		return s.Failed(ctx, err)
	}
	s.PrintWhole(tell.Text{Lang: s.Lang, Most: s.set.Limit, Paint: s.Screen.Paint, Hang: s.Screen.Hang, Result: k.next}.Next(plan, wrote, budget))
	return exitOK
}

// recordings are the steps and ranks that a comparison was of, while they are still where they were.
func recordings(m *result.Meta) (names []string) {
	if !m.Recorded {
		return nil
	}
	list, err := msprobe.Find(m.Left.Dir)
	if err != nil {
		return nil
	}
	for _, r := range list {
		name := ""
		if r.Step >= 0 {
			name = "step" + strconv.Itoa(r.Step)
		}
		if r.Rank >= 0 {
			name += "/rank" + strconv.Itoa(r.Rank)
		}
		names = append(names, name)
	}
	return names
}

// existsError tells of a file that is there already and differs.
type existsError struct{ path string }

func (e *existsError) Error() string { return e.path + " already exists and differs" }

// writeFiles writes the files of a plan under their names, as they are what their lines name: all of them
// or none.
func writeFiles(folder string, files []advice.File, force bool) (paths []string, err error) {
	for _, f := range files {
		path := filepath.Join(folder, f.Name)
		switch old, err := plainfile.ReadFile(path, "a configuration", 1<<20); {
		case err == nil && string(old) != f.Text && !force:
			return nil, &existsError{path}
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(folder, f.Name)
		if err := whole.Write(path, []byte(f.Text), 0o600); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// absolute makes a path absolute, unless it is so on the training machine.
func absolute(path string) (string, error) {
	if capture.IsAbs(path) && !filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Abs(path)
}
