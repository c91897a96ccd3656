package soak

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the top folder of the module.
const module = "../../.."

// readers are the names of functions that make sense of what comes from outside.
var readers = regexp.MustCompile(`^(Read|Open|Parse|Decode|Load|Import|NewScanner)([A-Z]\w*)?$`)

// elsewhere are packages with such functions whose targets are in others, or that
// read nothing of strangers.
var elsewhere = map[string]string{
	"compare/script":     "lists a folder of the user's own scripts; what they answer is read with encoding/json and a limit",
	"internal/msg":       "two names of languages",
	"internal/plainfile": "opens files and reads none",
	"internal/whole":     "opens folders, and reads nothing in them",
	"compare/weights":    "two sets: FuzzOpen of dump/checkpoint",
	"internal/desktop":   "hands a path to the system's opener",
	"compare/rollout":    "arrays: FuzzOpen of dump/checkpoint",
	"op":                 "formulas of its own rows and of the oracle's programs, read when the program starts",
	"repl/capture":       "names of two actions; what it writes is for Python to read",
	"run":                "chooses among the readers of compare/report and graph/read",
	"console":            "keys of a terminal and lines of a user: FuzzLine of repl",
}

// source is what a package of the module has.
type source struct {
	readers []string // exported functions that read
	targets []string // fuzz targets
}

// sources parses all packages of the module.
func sources(t *testing.T) map[string]*source {
	t.Helper()
	all := map[string]*source{}
	err := filepath.WalkDir(module, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if name := e.Name(); name == "testdata" || path != module && (strings.HasPrefix(name, ".") || err == nil) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(module, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		p := all[folder]
		if p == nil {
			p = &source{}
			all[folder] = p
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			switch {
			case !ok || f.Recv != nil:
			case strings.HasSuffix(path, "_test.go"):
				if strings.HasPrefix(f.Name.Name, "Fuzz") {
					p.targets = append(p.targets, f.Name.Name)
				}
			case readers.MatchString(f.Name.Name):
				p.readers = append(p.readers, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A package that reads what comes from outside has a fuzz target.
func TestReadersHaveTargets(t *testing.T) {
	all := sources(t)
	found := 0
	for folder, p := range all {
		found += len(p.targets)
		if why := elsewhere[folder]; len(p.readers) > 0 && len(p.targets) == 0 && why == "" {
			t.Errorf("%s: %v have no fuzz target", folder, p.readers)
		}
	}
	if found < 40 {
		t.Errorf("found only %d fuzz targets; are the sources where they were?", found)
	}
	for folder := range elsewhere {
		if p := all[folder]; p == nil || len(p.readers) == 0 {
			t.Errorf("%s has no readers, yet is listed as an exception", folder)
		}
	}
}

// Every fuzz target has a corpus of short inputs, and every corpus a target.
func TestTargetsHaveCorpora(t *testing.T) {
	const longest = 16 << 10
	for folder, p := range sources(t) {
		dir := filepath.Join(module, folder, "testdata", "fuzz")
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !slices.Contains(p.targets, e.Name()) {
				t.Errorf("%s/testdata/fuzz/%s is the corpus of no target", folder, e.Name())
			}
		}
		for _, name := range p.targets {
			inputs, _ := os.ReadDir(filepath.Join(dir, name))
			if len(inputs) == 0 {
				t.Errorf("%s: %s has no corpus; go run ./testdata/soak -corpus makes one", folder, name)
			}
			for _, in := range inputs {
				text, err := os.ReadFile(filepath.Join(dir, name, in.Name()))
				if err != nil || !bytes.HasPrefix(text, []byte("go test fuzz v1\n")) || len(text) > longest {
					t.Errorf("%s: %s/%s is no input, or longer than %d bytes: %v", folder, name, in.Name(), longest, err)
				}
			}
		}
	}
}
