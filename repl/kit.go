package repl

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"precision/internal/whole"
	"precision/repl/capture"
	"precision/repl/workspace"
)

// kitCmd is the command kit: it writes the file that a training script imports
// to record what the shell compares.
type kitCmd struct {
	out, root string
	force     bool
	o         capture.Options
}

func newKit(s *session) action { return &kitCmd{o: s.set.Capture} }

func (k *kitCmd) define(o *options) {
	o.text(&k.out, "o", "output")
	o.on(&k.force, "f", "force")
	o.text(&k.root, "r", "root")
	o.text(&k.o.ID, "i", "id")
	o.text(&k.o.Step, "s", "step")
	o.text(&k.o.Layer, "l", "layer")
	o.text(&k.o.Data, "t", "data")
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
	out := k.out
	if out == "" {
		out = capture.KitFile
	} else if workspace.IsDir(out) {
		out = filepath.Join(out, capture.KitFile)
	}
	text, err := capture.Kit(k.o)
	if err != nil {
		s.Fail("error", err)
		return exitError
	}
	switch old, err := os.ReadFile(out); {
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
