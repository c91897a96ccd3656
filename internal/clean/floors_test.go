package clean

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestFloors: packages import what stands in their own row of the table of docs/design.md or in a later one, in both
// languages, and every package of the module has a row.
func TestFloors(t *testing.T) {
	imports := map[string][]string{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(file string, e fs.DirEntry, err error) error {
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../../")
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || e.Name() == "tools" || e.Name() == "scale" || e.Name() == ".git"): // modules of their own
			return fs.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		imports[dir] = append(imports[dir], "")
		for _, i := range source.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			if name, own := strings.CutPrefix(name, "precision/"); own {
				imports[dir] = append(imports[dir], name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imports) < 80 {
		t.Fatalf("found %d packages", len(imports))
	}
	for _, page := range []string{"design.md", "zh/design.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		_, table, _ := strings.Cut(string(text), "|---|---|\n") // the first table
		table, _, _ = strings.Cut(table, "\n\n")
		rows := strings.Split(table, "\n")
		row := func(name string) int {
			for i, r := range rows {
				cell, _, _ := strings.Cut(strings.TrimPrefix(r, "|"), "|")
				for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
					if ok, _ := path.Match(m[1], name); ok {
						return i
					}
				}
			}
			return -1
		}
		for dir, list := range imports {
			at := row(dir)
			if at < 0 {
				t.Errorf("%s: the package %s has no row", page, dir)
			}
			for _, name := range list {
				if name != "" && row(name) < at {
					t.Errorf("%s: %s imports %s, which stands above it", page, dir, name)
				}
			}
		}
	}
}
