package recording

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/msprobe"
)

// findMsprobe finds what msprobe recorded of PyTorch and MindSpore programs.
func findMsprobe(path string) ([]found, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && filepath.Ext(path) != ".json" {
		return nil, fmt.Errorf("%s: no file of calls: found no .json", path)
	}
	return listed(path, msprobe.Find, func(r msprobe.Recording) found {
		f := found{mode: r.Mode, step: r.Step, rank: r.Rank, file: filepath.Base(r.Dump), bytes: fileSize(r.Dump), load: func() (*side, error) { return loadMsprobe(r) }}
		if r.Process >= 0 {
			f.process = strconv.Itoa(r.Process)
		}
		return f
	})
}

// loadMsprobe reads dump.json and the files beside it.
func loadMsprobe(r msprobe.Recording) (*side, error) {
	s := &side{open: func(l *leaf) (*engine.SideTensor, error) {
		path, err := r.File(l.DataName)
		if err != nil {
			return nil, err
		}
		return openFile(path, l)
	}}
	if err := s.readCalls(r.Dump); err != nil {
		return nil, err
	}
	s.saveOrder()
	s.readRaw(&r)
	if r.Tensors == "" && s.promises() {
		s.damage(result.FileDamaged, msprobe.TensorFolder, r.Dir, fmt.Errorf("%s: %w", r.Dir, msprobe.ErrNoTensors))
	}
	if err := s.beside(r.Construct, func(in io.Reader, name string) ([]*msprobe.SyntaxError, error) {
		c, err := msprobe.ReadConstruct(in, name)
		if c != nil {
			s.parent = c.Parent
			if s.bare {
				s.readStructure(c)
			}
			return c.Errors, err
		}
		return nil, err
	}); err != nil {
		return nil, err
	}
	s.renumber()
	err := s.beside(r.Stack, func(in io.Reader, name string) ([]*msprobe.SyntaxError, error) {
		stack, err := msprobe.ReadStack(in, name)
		if stack != nil {
			s.stack = stack
			return stack.Errors, err
		}
		return nil, err
	})
	return s, err
}
