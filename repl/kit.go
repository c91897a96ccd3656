package repl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"precision/compare/advice"
	"precision/compare/report/steps"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/whole"
	"precision/repl/capture"
)

// kitCmd is the command kit: it writes the file that a training script imports
// to record what the shell compares.
type kitCmd struct {
	out, root     string
	next          string
	budget        int64
	force, golden bool
	o             capture.Options
}

var kitCommand = &command{
	name: "kit",
	make: func(s *session) action { return &kitCmd{o: s.set.Capture} },
}

func (k *kitCmd) define(o *options) {
	o.text(&k.out, "o", "output", paths)
	o.on(&k.golden, "g", "golden")
	o.text(&k.next, "n", "next", paths)
	o.size(&k.budget, "m", "max")
	o.on(&k.force, "f", "force")
	o.text(&k.root, "r", "root", paths)
	o.text(&k.o.ID, "i", "id")
	o.text(&k.o.Step, "s", "step")
	o.text(&k.o.Layer, "l", "layer")
	o.text(&k.o.Data, "t", "data", oneOf("tensor", "stats"))
}

func (k *kitCmd) run(ctx context.Context, s *session, _ []string) int {
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
		return s.Fail("usage", "kit", err)
	}
	name := capture.KitFile
	if k.golden {
		name = capture.GoldenFile
	}
	out := k.out
	if out == "" {
		out = name
	} else if plainfile.IsFolder(out) {
		out = filepath.Join(out, name)
	}
	text := must.Get(capture.Script(name, k.o))
	switch old, err := plainfile.ReadFile(out, "a Python file", 1<<20); {
	case err == nil && bytes.Equal(old, text):
		s.Say("kit.same", out)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		must.Do(err)
	case err == nil && !k.force:
		return s.Fail("kit.exists", out)
	default:
		must.Do(whole.Write(out, text, 0o600))
		s.Say("wrote", out)
	}
	s.Say("kit.data", k.o.Root)
	return exitOK
}

// record writes the configuration of the recorder of a result for what that leaves in doubt.
func (k *kitCmd) record(ctx context.Context, s *session) int {
	tables, err := s.readVerdicts(k.next)
	switch {
	case err != nil:
		return exitError
	case len(tables) != 1:
		return s.Lack("kit.several", k.next, len(tables))
	}
	plan := (&adviseCmd{step: k.o.Step, budget: k.budget}).advice(ctx, s, tables[0]).Plan
	if plan == nil {
		return s.Lack("kit.nothing", k.next)
	}
	out := cmp.Or(k.out, ".")
	wrote, err := writeFiles(out, plan.Files, k.force)
	if exists := (*existsError)(nil); errors.As(err, &exists) {
		return s.Fail("kit.exists", exists.path)
	}
	must.Do(err)
	s.PrintWhole(steps.Text{Lang: s.Lang, Most: s.set.Limit, Paint: s.Screen.Paint, Hang: s.Screen.Hang, Result: k.next}.Next(plan, wrote, k.budget))
	return exitOK
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
