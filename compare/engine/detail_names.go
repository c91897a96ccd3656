package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"precision/dump"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/whole"
)

// longestName is the length from which on file names are replaced: file systems
// take up to 255 bytes.
const longestName = 255

// What the names of the files that are not of elements have behind the tensor.
const (
	partSummary  = "_summary"
	partAbsolute = "_absolute_error_topn"
	partRelative = "_relative_error_topn"
)

// detailMapping lists, beside the files, the names that were meant for those
// with another: lines of new and intended name.
const detailMapping = "simple_op_mapping.csv"

// detailNames names the files of one tensor.
type detailNames struct {
	dir    string
	prefix string // operator, direction and number
	short  string // the same by the name of the dump file
	long   [][2]string
}

func newDetailNames(dir, op, dumpPath string, input bool, slot int) *detailNames {
	tensor := fmt.Sprintf("_%s_%d", dump.SideOf(input), slot)
	flat := strings.NewReplacer(".", "_", "/", "_")
	return &detailNames{dir: dir, prefix: strings.ReplaceAll(op, "/", "_") + tensor, short: flat.Replace(filepath.Base(dumpPath)) + tensor}
}

// path is where the file with that end of its name goes. A name that is too
// long is replaced by one made from the dump file's, or else by a hash.
func (n *detailNames) path(part, suffix string) string {
	name := n.prefix + part + suffix
	if len(name) >= longestName {
		intended := name
		if name = n.short + part + suffix; len(name) >= longestName {
			name = dump.HashName(intended) + hashedEnd(part, suffix)
		}
		n.long = append(n.long, [2]string{name, intended})
	}
	return filepath.Join(n.dir, name)
}

// hashedEnd is what stands behind a hash: the summary and the lists of largest
// errors keep the endings they are found by. Of the files of elements each has a
// hash of its own.
func hashedEnd(part, suffix string) string {
	switch part {
	case partSummary, partAbsolute, partRelative:
		return part + suffix
	}
	return suffix
}

// belongs tells whether a name is that of a file of this tensor, from a run
// before.
func (n *detailNames) belongs(name string) bool {
	rest, found := strings.CutPrefix(name, n.prefix)
	if !found {
		return false
	}
	if rest == "_summary.txt" {
		return true
	}
	return strings.HasPrefix(rest, "_") && (strings.HasSuffix(rest, ".csv") || strings.HasSuffix(rest, ".npy"))
}

// removeOld removes the files of an earlier run for the same tensor, so that
// none is taken for one of this run.
func (n *detailNames) removeOld() {
	entries, err := os.ReadDir(n.dir)
	if !os.IsNotExist(err) {
		faulty(FaultPath, "", err)
	}
	renamed := map[string]bool{}
	for _, line := range n.mapping() {
		if n.belongs(line[1]) {
			renamed[line[0]] = true
		}
	}
	for _, e := range entries {
		if n.belongs(e.Name()) || renamed[e.Name()] {
			faulty(FaultDelete, "", os.Remove(filepath.Join(n.dir, e.Name())))
		}
	}
}

// maxMapping is the longest list of replaced names that is read.
const maxMapping = 64 << 20

// mapping reads the list of replaced names that is there.
func (n *detailNames) mapping() (lines [][2]string) {
	text, err := plainfile.ReadFile(filepath.Join(n.dir, detailMapping), "a list of names", maxMapping)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if name, intended, found := strings.Cut(strings.TrimSpace(line), ","); found {
			lines = append(lines, [2]string{name, intended})
		}
	}
	return lines
}

// write writes the list of replaced names and returns its path, or nothing if
// no name was replaced. Lines of other tensors stay.
func (n *detailNames) write() string {
	if len(n.long) == 0 {
		return ""
	}
	var b strings.Builder
	for _, line := range n.mapping() {
		if !strings.HasPrefix(line[1], n.prefix) {
			fmt.Fprintf(&b, "%s,%s\n", line[0], line[1])
		}
	}
	for _, line := range n.long {
		fmt.Fprintf(&b, "%s,%s\n", line[0], line[1])
	}
	path := filepath.Join(n.dir, detailMapping)
	must.Do(whole.WriteOwn(path, []byte(b.String()), 0o600))
	return path
}
