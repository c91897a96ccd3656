package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// module is something that a program of the release is made of.
type module struct {
	path, version, sum string
	// files are its licences and notices; licences their SPDX names.
	files    []string
	licences []string
}

// licenceFile are the names of files that must go with a copy; besideIt are those that
// hold no licence themselves.
var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents)([-_.].*)?$`)
	besideIt    = regexp.MustCompile(`(?i)^(notice|patents)`)
)

// declared are modules that name their licence in their README and hold no text of it, as somebody has seen.
var declared = map[string]string{
	"github.com/mattn/go-localereader": "MIT", // bubbletea needs it on Windows
}

// modules are those that are linked into the programs, and the standard library, by
// path. A licence that is not known by its words ends the release: somebody has to
// look at it.
func (b *build) modules(ctx context.Context) ([]*module, error) {
	// Of all platforms, so that what goes with one does not depend on which others are
	// built.
	found := map[string]*module{}
	for target := range strings.SplitSeq(all, ",") {
		args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}|{{.Version}}|{{.Sum}}|{{.Dir}}{{end}}{{end}}"}
		for _, name := range names {
			args = append(args, "./cmd/"+name)
		}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Env = b.dir, settings(target)
		lines, err := output(cmd)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(lines) {
			part := strings.SplitN(strings.TrimSpace(line), "|", 4)
			if len(part) < 4 || found[part[0]] != nil {
				continue
			}
			m := &module{path: part[0], version: part[1], sum: part[2]}
			if err := m.read(part[3]); err != nil {
				return nil, err
			}
			found[m.path] = m
		}
	}
	list := slices.Collect(maps.Values(found))
	root, err := output(exec.CommandContext(ctx, "go", "env", "GOROOT"))
	if err != nil {
		return nil, err
	}
	std := &module{path: "std", version: b.goVersion}
	if err := std.read(root); err != nil {
		return nil, err
	}
	list = append(list, std)
	// What is embedded has its licence beside it.
	err = filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		dir := filepath.Dir(path)
		if err != nil || d.IsDir() || dir == b.dir || !licenceFile.MatchString(d.Name()) || filepath.Ext(path) == ".go" {
			return err
		}
		m := &module{path: filepath.Base(dir)}
		list = append(list, m)
		return m.read(dir)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// read finds the licence files of a module and what they are.
func (m *module) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		m.files = append(m.files, path)
		if besideIt.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range licensecheck.Scan(text).Match {
			if !match.IsURL && !slices.Contains(m.licences, match.ID) {
				m.licences = append(m.licences, match.ID)
			}
		}
	}
	if id := declared[m.path]; id != "" && len(m.licences) == 0 {
		readme := filepath.Join(dir, "README.md")
		text, err := os.ReadFile(readme)
		if err != nil {
			return err
		}
		if regexp.MustCompile(`(?m)^#+ Licen[cs]e\s+` + regexp.QuoteMeta(id) + `$`).Match(text) {
			m.files, m.licences = append(m.files, readme), append(m.licences, id)
		}
	}
	if len(m.licences) == 0 {
		return fmt.Errorf("module %s: no file of %s holds a licence that is known by its words", m.path, dir)
	}
	return nil
}

// collect puts documents and licences beside manual pages and completions.
func collect(share string, src source, modules []*module) error {
	for _, name := range []string{"README.md", "README.zh.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"} {
		if err := copyFile(filepath.Join(share, "doc", name), filepath.Join(src.dir, name)); err != nil {
			return err
		}
	}
	for _, m := range modules {
		for _, f := range m.files {
			if err := copyFile(filepath.Join(share, "doc", "licenses", filepath.FromSlash(m.path), filepath.Base(f)), f); err != nil {
				return err
			}
		}
	}
	return nil
}
