package overflow

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"precision/dump"
	"precision/internal/order"
	"precision/internal/plainfile"
)

const (
	// maxDepth is how far below the named folder records are looked for.
	maxDepth = 30
	// maxFolders bounds the search when somebody names the root of a disk.
	maxFolders = 100000
)

// Tree is what a folder and the folders in it hold.
type Tree struct {
	Dir string
	// Records holds the debug files, oldest first.
	Records []dump.Entry
	// Converted holds the records that were converted to JSON and whose debug
	// files are not beside them, under the names of those. See
	// [Tree.UseConverted].
	Converted []dump.Entry
	// Dumps holds the dumps of operators, oldest first.
	Dumps []dump.Entry
	// Warnings tell what was passed over.
	Warnings []dump.Warning
}

// Find looks for records and dumps in a folder and in those below it. Links to
// folders are not followed. The error is a [*dump.Error]: the folder is
// missing or not a folder. A tree without records is no error.
func Find(dir string) (*Tree, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, &dump.Error{Path: dir, Code: dump.CodePath, Offset: -1, Err: cause(err)}
	case !info.IsDir():
		return nil, &dump.Error{Path: dir, Code: dump.CodePath, Offset: -1, Text: "not a folder"}
	}
	t := &Tree{Dir: dir}
	folders := 0
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.warnf(dir, dump.CodePath, "passed over: %v", cause(err))
			// What was read before the error is still good.
		}
		t.folder(dir, entries)
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			path := filepath.Join(dir, e.Name())
			switch {
			case depth == maxDepth:
				t.warnf(path, 0, "passed over: more than %d folders below %s", maxDepth, t.Dir)
			case folders == maxFolders:
				t.warnf(path, 0, "passed over: more than %d folders", maxFolders)
				return
			default:
				folders++
				walk(path, depth+1)
			}
		}
	}
	walk(dir, 0)
	sortByTime(t.Records)
	sortByTime(t.Converted)
	sortByTime(t.Dumps)
	return t, nil
}

// folder takes the files of one folder.
func (t *Tree) folder(dir string, entries []fs.DirEntry) {
	mapping, warnings := dump.ReadMapping(dir)
	t.Warnings = append(t.Warnings, warnings...)
	seen := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() || !regular(dir, e) {
			continue
		}
		seen[e.Name()] = true
		entry := dump.Entry{Path: filepath.Join(dir, e.Name()), Name: mapping.Name(e.Name())}
		switch entry.Name.Kind {
		case dump.Debug:
			seen[entry.Name.File] = true
			t.Records = append(t.Records, entry)
		case dump.Offline, dump.Exception:
			t.Dumps = append(t.Dumps, entry)
		}
	}
	for _, e := range entries {
		if name := debugName(e.Name()); name != "" && seen[e.Name()] && !seen[name] {
			t.Converted = append(t.Converted, dump.Entry{Path: filepath.Join(dir, e.Name()), Name: dump.ParseName(name)})
		}
	}
	var missing []string
	for file, name := range mapping {
		if !seen[file] && dump.ParseName(name).Kind == dump.Debug {
			missing = append(missing, file)
		}
	}
	slices.Sort(missing)
	for _, file := range missing {
		t.warnf(filepath.Join(dir, file), dump.CodePath, "listed in %s as %s, but not there", dump.MappingFile, mapping[file])
	}
}

func regular(dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	return plainfile.IsFile(filepath.Join(dir, e.Name()))
}

func (t *Tree) warnf(path string, code int, format string, args ...any) {
	t.Warnings = dump.Warn(t.Warnings, dump.Warning{Path: path, Code: code, Text: fmt.Sprintf(format, args...)})
}

// cause drops the path from an error of package os.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// sortByTime puts the oldest first; what has the same time by name, then path.
func sortByTime(all []dump.Entry) {
	order.Stable(all, func(a, b dump.Entry) int {
		return cmp.Or(cmp.Compare(a.Name.Time, b.Name.Time), cmp.Compare(a.Name.File, b.Name.File), cmp.Compare(a.Path, b.Path))
	})
}
