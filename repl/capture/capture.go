// Package capture writes the Python scripts that record what precision
// compares: the kit that a training script imports, a script that trains one
// step from a checkpoint, one that turns what TensorFlow's debugger recorded
// into golden arrays, and the recorder of golden arrays for TensorFlow 2.
//
// The scripts run on the training machine, with Python 3.6 or newer and
// TensorFlow; this package runs nothing. They are files of this folder, in which
// constants of the form "@name@" are replaced by the values of Options.
package capture

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"precision/internal/lazy"
	"precision/internal/msg"
)

// Names of the scripts. Train scripts are named by TrainFile.
const (
	KitFile    = "precision_capture.py"
	TFDumpFile = "tf_dump.py"
	GoldenFile = "tfdbg_ascend.py"
)

// Environment variables that the scripts heed: the data folder to use in place
// of Options.Root, and the action of a kit that was given none ("True").
const (
	EnvData     = "PRECISION_TOOL_DATA"
	EnvDump     = "PRECISION_TOOL_DUMP"
	EnvOverflow = "PRECISION_TOOL_OVERFLOW"
)

//go:embed precision_capture.py
var kitText []byte

//go:embed train.py
var trainText []byte

//go:embed tf_dump.py
var tfDumpText []byte

//go:embed tfdbg_ascend.py
var goldenText []byte

// Options are what the scripts are made for.
type Options struct {
	// Root is the data folder, an absolute path. It may be one of another
	// machine, so it need not exist.
	Root string
	// ID is the folder of the run below npu in the data folder.
	ID string
	// Step is the iterations to record: numbers and ranges joined by "|", as
	// "0|5-7"; empty records every iteration.
	Step string
	// Layer restricts the record to operators, separated by blanks; empty
	// records all.
	Layer string
	// Data is what of a tensor is recorded, "tensor" or "stats"; empty leaves it
	// to the framework, which records tensors.
	Data string
	// Seed is the seed of everything random.
	Seed int
	// OpDebugLevel, GEGraph and GraphLevel are the options op_debug_level,
	// DUMP_GE_GRAPH and DUMP_GRAPH_LEVEL of the NPU's framework.
	OpDebugLevel, GEGraph, GraphLevel int
	// Timeout is how long to wait for the prompt of TensorFlow's debugger.
	Timeout time.Duration
}

// Defaults are the options of PrecisionTool for a data folder.
func Defaults(root string) Options {
	return Options{Root: root, ID: "debug_0", Step: "0", Seed: 2022, OpDebugLevel: 4, GEGraph: 2, GraphLevel: 3, Timeout: 360 * time.Second}
}

var (
	stepPart    = lazy.Regexp(`^([0-9]+)(?:-([0-9]+))?$`)
	windowsRoot = lazy.Regexp(`^(?:[A-Za-z]:[\\/]|\\\\)`)
)

// IsAbs reports whether a path is absolute on some system, this one or that of
// the training machine.
func IsAbs(path string) bool {
	return filepath.IsAbs(path) || strings.HasPrefix(path, "/") || windowsRoot().MatchString(path)
}

// Check returns what is wrong with the options, nil if nothing is.
func (o Options) Check() error {
	for _, t := range []struct {
		name msg.Text
		text string
	}{{dataFolder, o.Root}, {debugID, o.ID}, {layers, o.Layer}} {
		if !utf8.ValidString(t.text) || strings.ContainsFunc(t.text, unicode.IsControl) {
			return wrong(t.name, strconv.Quote(t.text), "text in UTF-8 without control characters", "不含控制字符的 UTF-8 文本")
		}
	}
	switch {
	case !IsAbs(o.Root):
		return wrong(dataFolder, strconv.Quote(o.Root), "an absolute path", "绝对路径")
	case o.ID == "" || o.ID == "." || o.ID == ".." || strings.ContainsAny(o.ID, `/\`):
		return wrong(debugID, strconv.Quote(o.ID), "the name of a folder, such as debug_0", "目录名，例如 debug_0")
	case o.Data != "" && o.Data != "tensor" && o.Data != "stats":
		return wrong(msg.Text{En: "dump data", Zh: "dump 内容"}, strconv.Quote(o.Data), "tensor or stats", " tensor 或 stats")
	case o.Seed < 0 || int64(o.Seed) > 1<<32-1:
		return between("seed", "随机种子", o.Seed, 0, 1<<32-1)
	case o.OpDebugLevel < 0 || o.OpDebugLevel > 4:
		return between("op debug level", "op_debug_level", o.OpDebugLevel, 0, 4)
	case o.GEGraph < 1 || o.GEGraph > 3:
		return between("DUMP_GE_GRAPH", "DUMP_GE_GRAPH", o.GEGraph, 1, 3)
	case o.GraphLevel < 1 || o.GraphLevel > 4:
		return between("DUMP_GRAPH_LEVEL", "DUMP_GRAPH_LEVEL", o.GraphLevel, 1, 4)
	case o.Timeout < time.Second:
		return wrong(msg.Text{En: "prompt timeout", Zh: "prompt_timeout"}, o.Timeout.String(), "a second or more", "不少于一秒")
	}
	return checkStep(o.Step)
}

// The options that more than one message is about.
var (
	dataFolder = msg.Text{En: "data folder", Zh: "数据目录"}
	debugID    = msg.Text{En: "debug id", Zh: "运行名称"}
	layers     = msg.Text{En: "layers", Zh: "算子"}
	dumpStep   = msg.Text{En: "dump step", Zh: "迭代"}
)

// OptionError is an option with a value that makes no sense.
type OptionError struct {
	Option   msg.Text
	Found    string
	Expected msg.Text
}

func (e *OptionError) Error() string { return e.In(msg.English) }

// In is the text in a language.
func (e *OptionError) In(l msg.Lang) string {
	return msg.Text{En: "%s: found %s, expected %s", Zh: "%s：读到 %s，应为%s"}.In(l, e.Option.In(l), e.Found, e.Expected.In(l))
}

func wrong(option msg.Text, found, expected, zh string) error {
	return &OptionError{option, found, msg.Text{En: expected, Zh: zh}}
}

func between(option, zh string, found, least int, most int64) error {
	return wrong(msg.Text{En: option, Zh: zh}, strconv.Itoa(found),
		fmt.Sprintf("a number from %d to %d", least, most), fmt.Sprintf(" %d 至 %d 之间的数", least, most))
}

func checkStep(text string) error {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, "|") {
		m := stepPart().FindStringSubmatch(part)
		if m == nil {
			return wrong(dumpStep, strconv.Quote(text), "numbers and ranges such as 0|5-7", "数字和范围，例如 0|5-7")
		}
		if m[2] == "" {
			continue
		}
		first, err := strconv.ParseUint(m[1], 10, 32)
		last, err2 := strconv.ParseUint(m[2], 10, 32)
		if err != nil || err2 != nil || first > last {
			return wrong(dumpStep, strconv.Quote(part), "a range from a smaller to a greater number", "由小到大的范围")
		}
	}
	return nil
}

// Actions are the words of an action.
var Actions = []string{"dump", "overflow", "fusion_off", "fusion_switch", "prof"}

// ErrExclusive is the error of an action with both dump and overflow: the
// framework records only one of them in a run.
var ErrExclusive = errors.New("dump and overflow exclude each other, capture them in two runs")

// ParseAction reads an action: words joined by "|" or blanks, each of which is
// returned once, in the order of Actions.
func ParseAction(text string) (string, error) {
	given := strings.FieldsFunc(text, func(r rune) bool { return r == '|' || unicode.IsSpace(r) })
	var words []string
	for _, w := range given {
		if !slices.Contains(Actions, w) {
			return "", fmt.Errorf("found %q, expected %s, or several of them joined by |", w, strings.Join(Actions, ", "))
		}
	}
	for _, a := range Actions {
		if slices.Contains(given, a) {
			words = append(words, a)
		}
	}
	switch {
	case len(words) == 0:
		return "", fmt.Errorf("found nothing, expected %s, or several of them joined by |", strings.Join(Actions, ", "))
	case slices.Contains(words, "dump") && slices.Contains(words, "overflow"):
		return "", ErrExclusive
	}
	return strings.Join(words, "|"), nil
}

// Devices are the devices that a step is trained on, in this order.
var Devices = []string{"cpu", "npu"}

// TrainFile is the name of the script for a device.
func TrainFile(device string) string { return "train_" + device + ".py" }

// Kit returns the script that a training script imports.
func Kit(o Options) ([]byte, error) {
	return fill(kitText, o, nil)
}

// Train returns the script that trains one step on a device of Devices, with an
// action that ParseAction has read. It needs Kit and TFDump beside it.
func Train(o Options, device, action string) ([]byte, error) {
	if !slices.Contains(Devices, device) {
		return nil, fmt.Errorf("device: found %q, expected %s", device, strings.Join(Devices, " or "))
	}
	action, err := ParseAction(action)
	if err != nil {
		return nil, fmt.Errorf("action: %w", err)
	}
	return fill(trainText, o, map[string]any{"device": device, "action": action})
}

// TFDump returns the script that turns what TensorFlow's debugger recorded into
// golden arrays.
func TFDump(o Options) ([]byte, error) {
	return fill(tfDumpText, o, nil)
}

// Golden returns the script that records what TensorFlow 2 computes on a CPU or GPU.
func Golden(o Options) ([]byte, error) {
	return fill(goldenText, o, nil)
}

// holder is a constant of a script to replace. Its value is written as JSON,
// which for texts and numbers is Python, too.
var holder = lazy.Regexp(`"@([a-z_]+)@"`)

func fill(script []byte, o Options, more map[string]any) ([]byte, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	values := map[string]any{
		"root": o.Root, "id": o.ID, "step": o.Step, "layer": strings.Join(strings.Fields(o.Layer), " "), "data": o.Data, "seed": o.Seed,
		"op_debug_level": o.OpDebugLevel, "ge_graph": o.GEGraph, "graph_level": o.GraphLevel, "timeout": int(o.Timeout.Seconds()),
	}
	for k, v := range more {
		values[k] = v
	}
	var unknown error
	text := holder().ReplaceAllFunc(script, func(m []byte) []byte {
		v, ok := values[string(m[2:len(m)-2])]
		if !ok {
			unknown = fmt.Errorf("the script has an unknown placeholder %s", m)
			return m
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			unknown = err
		}
		return bytes.TrimSpace(b.Bytes())
	})
	return text, unknown
}
