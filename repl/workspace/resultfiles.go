package workspace

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/internal/plainfile"
)

// ResultFiles finds result_<digits>.csv at or below a path, by their numbers.
func ResultFiles(path string) (files []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && resultNumber(d.Name()) != "" {
			files = append(files, p)
		}
		return nil
	})
	slices.SortFunc(files, func(a, b string) int {
		x, y := resultNumber(filepath.Base(a)), resultNumber(filepath.Base(b))
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(a, b))
	})
	return files, err
}

// resultNumber is the number in result_<digits>.csv, or in the names this
// program gives to several results of a folder; "" for other names.
func resultNumber(name string) string {
	mid, ok := strings.CutSuffix(name, ".csv")
	if mid, ok2 := strings.CutPrefix(mid, "result_"); ok && ok2 {
		digits, _, _ := strings.Cut(mid, "_")
		if digits != "" && strings.Trim(digits, "0123456789") == "" {
			return digits
		}
	}
	return ""
}

// NewestResult chooses among the folders of comparisons as newestRun does, but
// passes over those without a table, which a comparison that was killed leaves.
func NewestResult(dir string) (run string, others int) {
	list := Entries(dir)
	for _, e := range slices.Backward(list) { // sorted by name
		if name := e.Name(); name[0] >= '0' && name[0] <= '9' {
			run := filepath.Join(dir, name)
			if files, err := ResultFiles(run); plainfile.IsFolder(run) && err == nil && len(files) > 0 {
				return run, len(list)
			}
		}
	}
	return NewestRun(dir)
}
