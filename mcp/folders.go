package mcp

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"precision/internal/must"
	"strings"
)

// folders are what a client may read below.
type folders struct {
	// given are the folders as they were named, real where they lead.
	given, real []string
}

// openFolders finds out where folders lead.
func openFolders(given []string) *folders {
	f := &folders{}
	for _, dir := range given {
		abs := must.Get(filepath.Abs(dir))
		real := must.Get(filepath.EvalSymlinks(abs))
		must.Not(!must.Get(os.Stat(real)).IsDir(), "%s: not a folder", dir)
		f.given, f.real = append(f.given, abs), append(f.real, real)
	}
	return f
}

// outsideError: a path leads out of the folders.
type outsideError struct {
	path string
	f    *folders
}

func (e *outsideError) Error() string {
	return fmt.Sprintf("%s: outside the folders this server was started with: %s", e.path, strings.Join(e.f.given, ", "))
}

// below tells whether a path, which has no links, is in one of the folders.
func (f *folders) below(real string) bool {
	for _, dir := range f.real {
		if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// path is where a path leads that a client named: an absolute one, or one relative to a folder, the first that has it.
func (f *folders) path(name string) string {
	must.Not(strings.ContainsRune(name, 0), "%q: not a path", name)
	tries := []string{name}
	if !filepath.IsAbs(name) {
		tries = nil
		for _, dir := range f.given {
			tries = append(tries, filepath.Join(dir, name))
		}
	}
	outside := false
	for _, path := range tries {
		real, err := filepath.EvalSymlinks(path)
		switch {
		case err != nil:
			// What is said of a path outside must not tell whether it is there.
			outside = outside || !f.near(path)
		case !f.below(real):
			outside = true
		default:
			return real
		}
	}
	if outside {
		must.Do(&outsideError{name, f})
	}
	panic(must.Failure(fmt.Errorf("%s: no such file or folder below %s", name, strings.Join(f.given, ", "))))
}

// near tells whether a path that is not there would be in one of the folders.
func (f *folders) near(path string) bool {
	for path = filepath.Clean(path); ; {
		up := filepath.Dir(path)
		if real, err := filepath.EvalSymlinks(up); err == nil {
			return f.below(real)
		}
		if up == path {
			return false
		}
		path = up
	}
}

// tree is path, of which nothing leads out of the folders by a link either.
func (f *folders) tree(name string) string {
	path := f.path(name)
	must.Do(filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink == 0 {
			return nil // what cannot be read says so itself where it is needed
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			return nil
		}
		if !f.below(real) {
			return &outsideError{at + " (a link)", f}
		}
		return nil
	}))
	return path
}
