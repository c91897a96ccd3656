package repl

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/internal/must"
	"precision/internal/sh"
	"precision/internal/whole"
	"precision/repl/capture"
	"precision/repl/workspace"
)

// trainCmd is the command train: it trains one step of a checkpoint on a CPU, on
// an NPU or on both, and records it.
type trainCmd struct {
	device, action string
}

var trainCommand = &command{
	name: "train",
	make: func(*session) action { return &trainCmd{device: "all", action: "dump"} },
}

func (c *trainCmd) define(o *options) {
	o.text(&c.device, "d", "device", oneOf(append([]string{"all"}, capture.Devices...)...))
	o.text(&c.action, "a", "action", actions)
}

func (c *trainCmd) run(ctx context.Context, s *session, _ []string) int {
	devices := []string{c.device}
	if c.device == "all" {
		devices = capture.Devices
	} else if !slices.Contains(capture.Devices, c.device) {
		return s.Fail("usage", "train", s.T("train.device", c.device))
	}
	action, err := capture.ParseAction(c.action)
	switch {
	case errors.Is(err, capture.ErrExclusive):
		return s.Fail("usage", "train", s.T("train.exclusive"))
	case err != nil:
		return s.Fail("usage", "train", s.T("train.action", c.action, strings.Join(capture.Actions, s.T("report.and"))))
	}
	o := s.captureOptions()
	set := scripts{s, s.data.Path("temp", "train")}
	set.add(capture.KitFile, must.Get(capture.Script(capture.KitFile, o)))
	for _, d := range devices {
		set.add(capture.TrainFile(d), must.Get(capture.Train(o, d, action)))
	}
	if slices.Contains(devices, "cpu") {
		set.add(capture.TFDumpFile, must.Get(capture.Script(capture.TFDumpFile, o)))
	}
	p := must.Get(s.findPython(ctx))
	ready := s.ready(p, false)
	if !s.hasCheckpoint() {
		s.Fail("train.nocheckpoint", s.data.Path("tf", "checkpoints"))
		s.Say("train.checkpoint")
		ready = false
	}
	code, left := exitOK, devices[:0:0]
	for _, d := range devices {
		if !ready || d == "npu" && !s.ready(p, true) {
			left = append(left, d)
			continue
		}
		ran := s.runScript(ctx, p, filepath.Join(set.dir, capture.TrainFile(d)))
		if code = max(code, ran); ran == exitInterrupted {
			return code
		}
	}
	if len(left) > 0 {
		for i, d := range left {
			left[i] = "python3 " + sh.Word(filepath.Join(set.dir, capture.TrainFile(d)))
		}
		s.Say("train.elsewhere", set.dir, strings.Join(left, "; "))
		return max(code, exitNothing)
	}
	if code == exitOK {
		s.Say("train.done")
	}
	return code
}

// hasCheckpoint reports whether there is a checkpoint to train from.
func (s *session) hasCheckpoint() bool {
	return slices.ContainsFunc(workspace.Entries(s.data.Path("tf", "checkpoints")), func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".meta") })
}

// captureOptions are the options of capture scripts for the data folder.
func (s *session) captureOptions() capture.Options {
	o := s.set.Capture
	o.Root = must.Get(absolute(s.data.Root))
	must.Do(o.Check())
	return o
}

// scripts writes capture scripts into a folder, and says where they are.
type scripts struct {
	s   *session
	dir string
}

func (w *scripts) add(name string, text []byte) {
	must.Do(os.MkdirAll(w.dir, 0o700))
	path := filepath.Join(w.dir, name)
	must.Do(whole.Write(path, text, 0o600))
	w.s.Say("wrote", path)
}
