// Package workspace is the folder precision_data of a user: where things are in
// it, and what was recorded.
//
//	npu/<debug id>/dump/<time>/<device>/<model>/<model id>/<step>  dumps
//	npu/<debug id>/graph/                                          GE graphs
//	overflow/dump/<time>/…                                         overflow dumps
//	fusion/fusion_result.json                                      fusion statistics
//	tf/dump/                                                       golden arrays
//	pt/npu, pt/gpu                                                 PyTorch dumps
//	temp/                                                          what commands write
//
// Of several runs the newest counts. Graphs and dumps are read when they are
// first asked for. Nothing is created before there is something to write.
//
// The package prints nothing and speaks no language: what is wrong with a file is
// an error in what is returned.
package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"precision/dump"
	"precision/internal/plainfile"
)

// Workspace is the folder precision_data of a user and what is known of it: its
// runs, graphs, dumps and golden arrays. Each is looked for when it is first asked
// for and then kept, so that a command opens and lists a folder, and parses a
// graph, once; Refresh drops what has changed since. It may be used by several
// goroutines, but for Refresh.
type Workspace struct {
	// Root is the data folder. Other paths are derived from it whenever they are
	// asked for.
	Root string

	listings listings

	mu      sync.Mutex
	idList  []*DebugID
	listed  bool
	golden  func() *dump.Folder
	h5      []*H5Side // PyTorch dumps that were read
	h5Known bool
	// What is known of runs, golden arrays and PyTorch dumps is from there.
	idLooks, goldenLooks, h5Looks *looks
	// state counts what was found changed.
	state int
}

// Open is the workspace in a data folder, which need not be there yet.
func Open(root string) *Workspace {
	w := &Workspace{Root: root, idLooks: &looks{}, h5Looks: &looks{}, state: 1}
	w.forgetGolden()
	return w
}

// Locate is the data folder a user means by root: the one below it, as a
// session in that folder would take, or the current folder where that is the
// data folder itself.
func Locate(root string) string {
	if below := filepath.Join(root, defaultData); !(&Workspace{Root: root}).used() && plainfile.IsFolder(below) {
		return below
	}
	if root == defaultData && !plainfile.IsFolder(root) {
		if here, err := os.Getwd(); err == nil && (filepath.Base(here) == defaultData || plainfile.IsFolder(filepath.Join("npu", "debug_0"))) && (&Workspace{Root: "."}).used() {
			return "."
		}
	}
	return root
}

// used reports whether there is anything of a data folder in the folder.
func (w *Workspace) used() bool {
	return slices.ContainsFunc([]string{"npu", "tf", "overflow", "pt", "fusion", "temp"}, func(name string) bool { return plainfile.IsFolder(w.Path(name)) })
}

// Path is the path of something in the data folder.
func (w *Workspace) Path(parts ...string) string {
	return filepath.Join(append([]string{w.Root}, parts...)...)
}

// The folders of NPU runs, of overflows, of golden arrays, of result tables and of
// decoded tensors.
func (w *Workspace) NPUDir() string      { return w.Path("npu") }
func (w *Workspace) OverflowDir() string { return w.Path("overflow", "dump") }
func (w *Workspace) GoldenDir() string   { return w.Path("tf", "dump") }
func (w *Workspace) ResultsDir() string  { return w.Path("temp", "vector_compare") }
func (w *Workspace) DecodeDir() string   { return w.Path("temp", "decode") }

// FusionFile is the file of fusion statistics: that in the current folder, where
// training leaves it, or the one kept in the data folder; "" without any.
func (w *Workspace) FusionFile() string {
	for _, p := range []string{"fusion_result.json", w.Path("fusion", "fusion_result.json")} {
		if plainfile.IsFile(p) {
			return p
		}
	}
	return ""
}

// NewestRun chooses the newest run in a folder of runs: of the folders whose
// names begin with a digit that with the greatest name, else the folder
// itself. others counts the runs it was chosen from.
func NewestRun(dir string) (run string, others int) { return newest(dir, Entries(dir)) }

func newest(dir string, entries []fs.DirEntry) (run string, others int) {
	best := ""
	for _, e := range entries {
		if name := e.Name(); name[0] >= '0' && name[0] <= '9' && plainfile.IsFolder(filepath.Join(dir, name)) {
			others++
			best = max(best, name)
		}
	}
	if best == "" {
		return dir, 0
	}
	return filepath.Join(dir, best), others
}

// Entries lists a folder, empty if that cannot be done.
func Entries(dir string) []os.DirEntry {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	return list
}

// HasEntries reports whether a folder has anything in it.
func HasEntries(dir string) bool { return len(Entries(dir)) > 0 }

// IDs are the runs of the NPU in the data folder, by name.
func (w *Workspace) IDs() []*DebugID {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.listed {
		w.idList, w.listed = w.findIDs(), true
	}
	return w.idList
}

func (w *Workspace) findIDs() (ids []*DebugID) {
	entries, _ := w.look(w.NPUDir(), w.idLooks)
	for _, e := range entries {
		if dir := filepath.Join(w.NPUDir(), e.Name()); plainfile.IsFolder(dir) {
			ids = append(ids, w.newDebugID(e.Name(), dir))
		}
	}
	return ids
}

// id is the run of that name, nil if there is none.
func (w *Workspace) id(name string) *DebugID {
	for _, id := range w.IDs() {
		if id.Name == name {
			return id
		}
	}
	return nil
}

// FirstID is the run that others are compared with: debug_0, else the first by
// name, nil without any.
func (w *Workspace) FirstID() *DebugID {
	if id := w.id("debug_0"); id != nil || len(w.IDs()) == 0 {
		return id
	}
	return w.IDs()[0]
}

// LeafAt finds the folder of dumps at dir in the newest runs, nil if it is in none.
func (w *Workspace) LeafAt(dir string) (*DebugID, *Leaf) {
	for _, id := range w.IDs() {
		if !strings.HasPrefix(dir, id.Dir) {
			continue
		}
		for _, l := range id.Dumps().Leaves {
			if l.Dir == dir {
				return id, l
			}
		}
	}
	return nil, nil
}

// EachDump calls do for the dump files of the newest runs of all debug ids.
func (w *Workspace) EachDump(do func(e *dump.Entry)) {
	for _, id := range w.IDs() {
		for _, l := range id.Dumps().Leaves {
			for _, op := range l.Folder().Ops {
				for i := range op.Files {
					do(&op.Files[i])
				}
			}
		}
	}
}

// GoldenArrays are the golden arrays, nil if there are none.
func (w *Workspace) GoldenArrays() *dump.Folder {
	w.mu.Lock()
	read := w.golden
	w.mu.Unlock()
	return read()
}

// HasGolden reports whether there is anything in the folder of golden arrays.
func (w *Workspace) HasGolden() bool {
	entries, _ := w.listings.list(w.GoldenDir())
	return len(entries) > 0
}

// forgetGolden has the golden arrays listed anew when they are asked for.
func (w *Workspace) forgetGolden() {
	w.goldenLooks = &looks{}
	w.golden = sync.OnceValue(func() *dump.Folder { return w.readGolden(w.GoldenDir()) })
}

// FileName replaces what cannot be in the name of a file on every system.
func FileName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\.: "<>|*?`, r) || unicode.IsControl(r) || r == unicode.ReplacementChar {
			return '_'
		}
		return r
	}, name)
}

// Refresh drops what is known of folders that have changed since, so that a
// session sees what is captured while it is open. Folders are looked at, not listed.
func (w *Workspace) Refresh() {
	w.listings.forget()
	w.mu.Lock()
	defer w.mu.Unlock()
	known := map[string]*DebugID{}
	for _, id := range w.idList {
		if !id.looks.changed() {
			known[id.Name] = id
		}
	}
	if w.listed && (w.idLooks.changed() || len(known) < len(w.idList)) {
		w.state++
		w.idLooks = &looks{}
		w.idList = w.findIDs()
		for i, id := range w.idList {
			if old := known[id.Name]; old != nil {
				w.idList[i] = old
			}
		}
	}
	if w.goldenLooks.changed() {
		w.state++
		w.forgetGolden()
	}
	if w.h5Looks.changed() {
		w.state++
		w.h5, w.h5Known, w.h5Looks = nil, false, &looks{}
	}
}

// State changes when Refresh finds that graphs, dumps or golden arrays of the data
// folder have. It is never 0.
func (w *Workspace) State() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}
