package whole

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrInput is an output that is one of the inputs, ErrTwice one that is another output too.
var (
	ErrInput = errors.New("is an input too and would be replaced; give the output another name")
	ErrTwice = errors.New("two outputs have this name; give one of them another")
)

// Apart sees that no output, if there is such a file, is one of the inputs or a file below one that is a
// folder, and that no two outputs are one file, under whatever names. Empty paths, and "-", are passed over, and
// so are devices. The error wraps [ErrInput] or [ErrTwice].
func Apart(outputs []string, inputs ...string) error {
	var ends []string
	for _, output := range outputs {
		if output == "" || output == "-" {
			continue
		}
		to, err := os.Stat(output)
		if err == nil && !to.Mode().IsRegular() {
			continue
		}
		end := ended(output)
		for _, other := range ends {
			if other == end {
				return fmt.Errorf("%s: %w", output, ErrTwice)
			}
			if o, none := os.Stat(other); none == nil && err == nil && os.SameFile(o, to) {
				return fmt.Errorf("%s: %w", output, ErrTwice)
			}
		}
		ends = append(ends, end)
		if err != nil {
			continue
		}
		for _, input := range inputs {
			if input != "" && holds(input, to, mostDepth) {
				return fmt.Errorf("%s: %w", output, ErrInput)
			}
		}
	}
	return nil
}

// ended is where a path leads that need not be there yet, as one text for all its spellings.
func ended(path string) string {
	if to, err := resolve(path); err == nil {
		path = to
	}
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	path = filepath.Join(dir, name)
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" { // as their file systems do
		path = strings.ToLower(path)
	}
	return path
}

// mostDepth bounds how far below an input files count, and ends circles of links.
const mostDepth = 16

// holds tells whether a path is a file, or whether it is below it.
func holds(path string, file fs.FileInfo, depth int) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return os.SameFile(info, file)
	}
	entries, err := os.ReadDir(path)
	if err != nil || depth == 0 {
		return false
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || same(e, file) {
			if holds(filepath.Join(path, e.Name()), file, depth-1) {
				return true
			}
		}
	}
	return false
}

// same tells whether a plain file may be another one, from what a look at its entry costs.
func same(e fs.DirEntry, file fs.FileInfo) bool {
	info, err := e.Info()
	return err != nil || info.Size() == file.Size()
}
