// Package script runs the Python scripts that users of msaccucmp extend it
// with: algorithms that compare two tensors, and conversions between layouts.
//
// A folder of scripts holds
//
//	algorithm/alg_NAME.py                      compare(mine, golden, args)
//	format_convert/convert_SRC_to_DST.py       convert(shape_from, shape_to, array)
//
// mine, golden and array are one-dimensional numpy arrays. args has the user's
// parameters, all text, as attributes and as keys, and besides
// my_output_dump_file, ground_truth_dump_file and shape_type ("Scalar" or
// "Tensor"). compare returns its result, or result and message. The shapes are
// lists; a conversion to a FRACTAL_Z layout takes the number of groups as a
// fourth argument. convert returns an array.
//
// Scripts see their own folder and what is installed, but no modules of
// msaccucmp.
//
// The scripts run in the python3 on PATH that has numpy, in a long-lived process
// for every [Helper]. Scripts are programs of the user's choice and are not
// confined, but whatever one does (an exception, an endless loop, an exit) is
// the error of that call only.
package script

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"precision/dump"
	"precision/internal/lazy"
	"precision/internal/order"
)

// Limits of a folder of scripts.
const (
	maxFiles = 1000
	maxDepth = 50
	maxSize  = 1 << 20
)

const codeParameter = 6

// DefaultTimeout is how long a call may take unless Scripts says otherwise.
const DefaultTimeout = 10 * time.Minute

// Conversion names a script that converts between two layouts.
type Conversion struct {
	From, To string // as in the file name: FRACTAL_NZ, NCHW
	Path     string
}

// Name is the pair as the file name has it, SRC_to_DST.
func (c Conversion) Name() string { return c.From + "_to_" + c.To }

// Algorithm names a script that compares two tensors.
type Algorithm struct {
	Name string
	Path string
}

// Scripts is a folder of scripts. It may be used from several goroutines once
// Check, if it is called, has returned.
type Scripts struct {
	// Timeout is how long one call may take; DefaultTimeout if 0. It is to be
	// set before the first helper.
	Timeout time.Duration
	// Warnings tell of missing folders and of files that are not named as
	// scripts are.
	Warnings []error

	dir         string
	algorithms  map[string]Algorithm
	conversions map[[2]string]Conversion

	pythonLock sync.Mutex
	python     string
	pythonErr  error
}

var (
	algorithmName  = lazy.Regexp(`^alg_(.+)\.py$`)
	conversionName = lazy.Regexp(`^convert_(.+?)_to_(.+)\.py$`)
)

// Open lists the scripts in a folder. It neither runs nor reads them; see
// [Scripts.Check]. Errors are [*dump.Error] with code 3 for a folder that cannot
// be read and 6 for one that holds more than scripts should: 1000 files, 50
// levels of folders, or 1 MiB in a file.
func Open(dir string) (*Scripts, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = checkTree(dir)
	}
	if err != nil {
		return nil, asError(dir, err)
	}
	s := &Scripts{dir: dir, algorithms: map[string]Algorithm{}, conversions: map[[2]string]Conversion{}}
	err = s.list("algorithm", "alg_NAME.py", func(name, path string) bool {
		m := algorithmName().FindStringSubmatch(name)
		if m != nil {
			s.algorithms[m[1]] = Algorithm{m[1], path}
		}
		return m != nil
	})
	if err == nil {
		err = s.list("format_convert", "convert_SRC_to_DST.py", func(name, path string) bool {
			m := conversionName().FindStringSubmatch(name)
			if m != nil {
				s.conversions[[2]string{m[1], m[2]}] = Conversion{m[1], m[2], path}
			}
			return m != nil
		})
	}
	if err != nil {
		return nil, asError(dir, err)
	}
	return s, nil
}

func asError(dir string, err error) error {
	if _, ok := errors.AsType[*dump.Error](err); ok {
		return err
	}
	return &dump.Error{Path: dir, Code: dump.CodePath, Offset: -1, Text: "folder of scripts", Err: err}
}

// checkTree keeps to the limits.
func checkTree(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("is a file, expected a folder")
	}
	refuse := func(path, format string, args ...any) error {
		return &dump.Error{Path: path, Code: codeParameter, Offset: -1, Text: fmt.Sprintf(format, args...)}
	}
	files := 0
	// The folder itself may be a link.
	return filepath.WalkDir(dir+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			rel, err := filepath.Rel(dir, path)
			if err == nil && rel != "." && strings.Count(rel, string(filepath.Separator))+1 > maxDepth {
				return refuse(path, "lies more than %d folders deep in a folder of scripts", maxDepth)
			}
			return err
		}
		if files++; files > maxFiles {
			return refuse(dir, "holds more than %d files, expected a folder of scripts", maxFiles)
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.Size() > maxSize {
			return refuse(path, "has %d bytes, expected a script of at most %d", info.Size(), maxSize)
		}
		return nil // a link that leads nowhere does no harm
	})
}

// list hands the files of a sub-folder to take, which knows scripts by name.
func (s *Scripts) list(folder, form string, take func(name, path string) bool) error {
	dir := filepath.Join(s.dir, folder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		s.Warnings = append(s.Warnings, fmt.Errorf("%s: there is no folder %s", s.dir, folder))
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if !take(e.Name(), path) && strings.HasSuffix(e.Name(), ".py") && e.Name() != "__init__.py" {
			s.Warnings = append(s.Warnings, fmt.Errorf("%s: is not named %s and is left out", path, form))
		}
	}
	return nil
}

// Algorithms lists the algorithms by name. One that has the name of a built-in
// metric takes its place.
func (s *Scripts) Algorithms() []Algorithm {
	list := slices.Collect(maps.Values(s.algorithms))
	order.Stable(list, func(a, b Algorithm) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Algorithm finds an algorithm by its name.
func (s *Scripts) Algorithm(name string) (Algorithm, bool) {
	a, ok := s.algorithms[name]
	return a, ok
}

// Conversions lists the conversions by name. They take the place of built-in
// ones between the same layouts.
func (s *Scripts) Conversions() []Conversion {
	list := slices.Collect(maps.Values(s.conversions))
	order.Stable(list, func(a, b Conversion) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// Conversion finds the conversion between two layouts.
func (s *Scripts) Conversion(from, to string) (Conversion, bool) {
	c, ok := s.conversions[[2]string{from, to}]
	return c, ok
}

// first names the scripts for a message.
func (s *Scripts) first() string {
	var paths []string
	for _, a := range s.Algorithms() {
		paths = append(paths, a.Path)
	}
	for _, c := range s.Conversions() {
		paths = append(paths, c.Path)
	}
	switch len(paths) {
	case 0:
		return s.dir
	case 1:
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}
