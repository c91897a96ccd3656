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
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// scripts are the files of this folder.
//
//go:embed *.py
var scripts embed.FS

// Names of the scripts that [Script] makes: the one that a training script imports, the one that turns what
// TensorFlow's debugger recorded into golden arrays, and the one that records what TensorFlow 2 computes on a CPU or
// GPU. Train scripts are named by TrainFile.
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
		name, text string
	}{{"root", o.Root}, {"id", o.ID}, {"layers", o.Layer}} {
		if !utf8.ValidString(t.text) || strings.ContainsFunc(t.text, unicode.IsControl) {
			return wrong(t.name, strconv.Quote(t.text), "text")
		}
	}
	switch {
	case !IsAbs(o.Root):
		return wrong("root", strconv.Quote(o.Root), "path")
	case o.ID == "" || o.ID == "." || o.ID == ".." || strings.ContainsAny(o.ID, `/\`):
		return wrong("id", strconv.Quote(o.ID), "folder")
	case o.Data != "" && o.Data != "tensor" && o.Data != "stats":
		return wrong("data", strconv.Quote(o.Data), "data")
	case o.Seed < 0 || int64(o.Seed) > 1<<32-1:
		return between("seed", o.Seed, 0, 1<<32-1)
	case o.OpDebugLevel < 0 || o.OpDebugLevel > 4:
		return between("op_debug_level", o.OpDebugLevel, 0, 4)
	case o.GEGraph < 1 || o.GEGraph > 3:
		return between("DUMP_GE_GRAPH", o.GEGraph, 1, 3)
	case o.GraphLevel < 1 || o.GraphLevel > 4:
		return between("DUMP_GRAPH_LEVEL", o.GraphLevel, 1, 4)
	case o.Timeout < time.Second:
		return wrong("prompt_timeout", o.Timeout.String(), "second")
	}
	return checkStep(o.Step)
}

// OptionError is an option with a value that makes no sense.
type OptionError struct {
	Option, Found string // the option is the key of its name
	Expected      string // the key of what was expected, with Args
	Args          []any
}

func (e *OptionError) Error() string { return e.In(msg.English) }

// In is the text in a language.
func (e *OptionError) In(l msg.Lang) string {
	name := e.Option
	if key := "capture." + name; l.Has(key) { // names of settings are the same in every language
		name = l.T(key)
	}
	return l.T("capture.wrong", name, e.Found, l.T("capture.is."+e.Expected, e.Args...))
}

func wrong(option, found, expected string, args ...any) error {
	return &OptionError{option, found, expected, args}
}

func between(option string, found, least int, most int64) error {
	return wrong(option, strconv.Itoa(found), "between", least, most)
}

func checkStep(text string) error {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, "|") {
		m := stepPart().FindStringSubmatch(part)
		if m == nil {
			return wrong("step", strconv.Quote(text), "steps")
		}
		if m[2] == "" {
			continue
		}
		first, err := strconv.ParseUint(m[1], 10, 32)
		last, err2 := strconv.ParseUint(m[2], 10, 32)
		if err != nil || err2 != nil || first > last {
			return wrong("step", strconv.Quote(part), "range")
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

// Script returns a script by its name.
func Script(file string, o Options) ([]byte, error) { return script(file, o, nil) }

func script(file string, o Options, more map[string]any) ([]byte, error) {
	text, err := scripts.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return fill(text, o, more)
}

// Train returns the script that trains one step on a device of Devices, with an
// action that ParseAction has read. It needs those of KitFile and TFDumpFile beside it.
func Train(o Options, device, action string) ([]byte, error) {
	if !slices.Contains(Devices, device) {
		return nil, fmt.Errorf("device: found %q, expected %s", device, strings.Join(Devices, " or "))
	}
	action, err := ParseAction(action)
	if err != nil {
		return nil, fmt.Errorf("action: %w", err)
	}
	return script("train.py", o, map[string]any{"device": device, "action": action})
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
	maps.Copy(values, more)
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
