// Package recorded runs tests over recorded cases: input trees, command lines
// and what msaccucmp.py did with them.
//
// A case is a folder with cmd.json (the runs), the input, and
// expected/RUN/result.json with expected/RUN/files. Every run starts in a
// fresh copy of the input unless it continues the one before.
package recorded

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"precision/internal/must"
	"regexp"
	"slices"
	"strings"
)

// Case is one recorded case.
type Case struct {
	Name string
	Dir  string
	Tags []string `json:"tags"`
	Make []string `json:"make_dirs"`
	Runs []Run    `json:"runs"`
}

// Run is one command of a case.
type Run struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Args     []string `json:"args"`
	Continue bool     `json:"continue"`
}

// Result is what the recorded run left behind.
type Result struct {
	ExitCode int      `json:"exit_code"`
	Files    []string `json:"files"`
	Removed  []string `json:"removed"`
	NotFixed struct {
		ExitCode    string            `json:"exit_code"`
		Files       string            `json:"files"`
		FileContent map[string]string `json:"file_content"`
	} `json:"not_fixed"`
	dir string
}

// Load reads all cases below dir, by name. Their paths are absolute, so that a
// test can change its folder.
func Load(dir string) (_ []*Case, err error) {
	defer must.Catch(&err)
	dir = must.Get(filepath.Abs(dir))
	entries := must.Get(os.ReadDir(dir))
	var cases []*Case
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(filepath.Join(path, "cmd.json"))
		if os.IsNotExist(err) {
			continue
		}
		must.Do(err)
		c := &Case{Name: e.Name(), Dir: path}
		if err := json.Unmarshal(text, c); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// Expected reads the outcome of a run.
func (c *Case) Expected(run Run) (*Result, error) {
	dir := filepath.Join(c.Dir, "expected", run.ID)
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		return nil, err
	}
	r := &Result{dir: dir}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return r, nil
}

// Copy lays the input of the case into work.
func (c *Case) Copy(work string) (err error) {
	defer must.Catch(&err)
	entries := must.Get(os.ReadDir(c.Dir))
	must.Do(os.MkdirAll(work, 0o755))
	for _, e := range entries {
		from, to := filepath.Join(c.Dir, e.Name()), filepath.Join(work, e.Name())
		switch {
		case e.Name() == "expected" || e.Name() == "cmd.json":
		case e.IsDir():
			must.Do(os.CopyFS(to, os.DirFS(from)))
		default:
			data := must.Get(os.ReadFile(from))
			must.Do(os.WriteFile(to, data, 0o644))
		}
	}
	for _, m := range c.Make {
		must.Do(os.MkdirAll(filepath.Join(work, m), 0o755))
	}
	return nil
}

// Tree reads all files below root, by their slash-separated relative path.
func Tree(root string) (map[string]string, error) {
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(rel)] = string(data)
		return nil
	})
	return found, err
}

var stamp = regexp.MustCompile(`_\d{14}\.(csv|txt)$`)

// Check compares what a run did with the recording: before and after are the
// trees of work around the run.
func (r *Result) Check(exit int, before, after map[string]string, work string) (err error) {
	defer must.Catch(&err)
	must.Not(r.NotFixed.ExitCode != "varies" && exit != r.ExitCode, "exit code %d, expected %d", exit, r.ExitCode)
	roots := []string{work}
	if real, err := filepath.EvalSymlinks(work); err == nil && real != work {
		roots = append(roots, real)
	}
	written := map[string]string{}
	for path, data := range after {
		if before[path] == data && has(before, path) {
			continue
		}
		if isText(path) {
			for _, root := range roots {
				data = strings.ReplaceAll(data, root, "$CASE")
			}
		}
		written[stamp.ReplaceAllString(path, "_$$TIME.$1")] = data
	}
	if r.NotFixed.Files != "varies" {
		must.Do(sameNames("files written", slices.Sorted(maps.Keys(written)), r.Files))
		var removed []string
		for path := range before {
			if !has(after, path) {
				removed = append(removed, path)
			}
		}
		must.Do(sameNames("files removed", removed, r.Removed))
	}
	for _, path := range slices.Sorted(maps.Keys(written)) {
		want := must.Get(os.ReadFile(filepath.Join(r.dir, "files", filepath.FromSlash(path))))
		if err := Same(path, string(want), written[path], r.NotFixed.FileContent[path]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func has(m map[string]string, key string) bool { _, ok := m[key]; return ok }

func sameNames(what string, got, want []string) error {
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s: %q, expected %q", what, got, want)
	}
	return nil
}

func isText(path string) bool {
	switch filepath.Ext(path) {
	case ".csv", ".txt", ".json", ".log":
		return true
	}
	return false
}

// Differences reads the declared differences: lines "case/run: reason", with
// # in front of comments. A missing file declares none.
func Differences(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	declared := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, found := strings.Cut(line, ":")
		if reason = strings.TrimSpace(reason); found && reason != "" {
			declared[strings.TrimSpace(name)] = reason
		}
	}
	return declared, nil
}
