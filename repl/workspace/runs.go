package workspace

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"precision/dump"
	"precision/graph"
	"precision/graph/describe"
	"precision/graph/fusion"
	"precision/graph/read"
	"precision/internal/msg"
	"precision/internal/order"
	"precision/internal/plainfile"
)

// DebugID is one run of the network on the NPU: its graphs and its dumps. Both
// are read when they are first needed.
type DebugID struct {
	Name  string
	Dir   string
	looks *looks // what is known of it is from there

	Graphs func() *Graphs
	Dumps  func() *Dumps
}

// GraphDir is the folder of its graphs.
func (id *DebugID) GraphDir() string { return filepath.Join(id.Dir, "graph") }

func (w *Workspace) newDebugID(name, dir string) *DebugID {
	by := &looks{}
	return &DebugID{Name: name, Dir: dir, looks: by,
		Graphs: sync.OnceValue(func() *Graphs { return w.readGraphs(filepath.Join(dir, "graph"), by) }),
		Dumps:  sync.OnceValue(func() *Dumps { return w.findDumps(filepath.Join(dir, "dump"), by) }),
	}
}

// GraphFile is a graph that was read, with the questions it can answer.
type GraphFile struct {
	Path  string
	File  graph.File
	Index *graph.Index
	Rules func() (*fusion.Rules, error)
}

// Graphs are the final graphs of a debug id.
type Graphs struct {
	Files    []*GraphFile
	Warnings []error
}

// readGraphs reads the final graphs below a folder, in the order of their
// numbers. A file that cannot be read is a warning.
func (w *Workspace) readGraphs(dir string, by *looks) *Graphs {
	g := &Graphs{}
	found, err := read.FindFilesIn(dir, func(dir string) ([]fs.DirEntry, error) { return w.look(dir, by) })
	if err != nil {
		if plainfile.IsFolder(dir) {
			g.Warnings = append(g.Warnings, err)
		}
		return g
	}
	found = graph.BuildFiles(found)
	order.Stable(found, func(a, b graph.File) int { return cmp.Compare(a.Number, b.Number) })
	for _, f := range found {
		by.add(f.Path)
		m, err := read.Open(context.Background(), f.Path)
		if err == nil {
			var x *graph.Index
			if x, err = graph.NewIndex(m); err == nil {
				g.Files = append(g.Files, &GraphFile{f.Path, f, x, sync.OnceValues(func() (*fusion.Rules, error) { return fusion.New(m) })})
				for _, w := range m.Warnings {
					g.Warnings = append(g.Warnings, warning{w})
				}
			}
		}
		if err != nil {
			g.Warnings = append(g.Warnings, err)
		}
	}
	return g
}

// warning is a warning of a reader as an error.
type warning struct{ graph.Warning }

func (w warning) Error() string { return w.String() }

// In is the warning in a language.
func (w warning) In(l msg.Lang) string { return describe.Warning(l, w.Warning) }

// Dumps are the recordings of the newest run of a debug id.
type Dumps struct {
	Run    string // folder of the run
	Runs   int    // number of runs it was chosen from
	Leaves []*Leaf
}

// Leaf is a folder that holds dump files:
// <run>/<device>/<model>/<model id>/<step>, or less of it.
type Leaf struct {
	Dir                     string
	Device, Model, ID, Step string
	Folder                  func() *dump.Folder // never nil
	// Statistics are the tables about tensors that a run leaves instead of
	// dumps, by operator.
	Statistics func() map[string][]string
}

// maxDepth bounds the search for folders of dumps, also against links in a
// circle.
const maxDepth = 10

func (w *Workspace) findDumps(dir string, by *looks) *Dumps {
	d := &Dumps{}
	entries, _ := w.look(dir, by)
	d.Run, d.Runs = newest(dir, entries)
	w.walk(d, by, d.Run, nil)
	return d
}

// walk finds the folders with files, by name. Links are followed.
func (w *Workspace) walk(d *Dumps, by *looks, dir string, parts []string) {
	files := false
	entries, _ := w.look(dir, by)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() || e.Type()&os.ModeSymlink != 0 && plainfile.IsFolder(path) {
			if len(parts) < maxDepth {
				w.walk(d, by, path, append(parts, e.Name()))
			}
			continue
		}
		files = files || dump.ParseName(e.Name()).Kind != dump.Foreign || e.Name() == dump.MappingFile
	}
	if !files {
		return
	}
	l := &Leaf{Dir: dir}
	for i, to := range []*string{&l.Step, &l.ID, &l.Model, &l.Device} {
		if i < len(parts) {
			*to = parts[len(parts)-1-i]
		}
	}
	l.Folder = sync.OnceValue(func() *dump.Folder {
		f, _ := w.scan(dir, true)
		if f == nil {
			f = &dump.Folder{Dir: dir}
		}
		return f
	})
	l.Statistics = sync.OnceValue(func() map[string][]string {
		tables := map[string][]string{}
		entries, _ := w.listings.list(dir)
		for _, e := range entries {
			if n := dump.ParseName(e.Name()); n.Kind == dump.Statistics {
				key := n.OpType + "." + dump.Normalise(n.OpName)
				tables[key] = append(tables[key], filepath.Join(dir, e.Name()))
			}
		}
		return tables
	})
	d.Leaves = append(d.Leaves, l)
}

// DumpFolders are the folders with recordings at or below a folder, by name.
func (w *Workspace) DumpFolders(dir string) (found []string) {
	d := &Dumps{}
	w.walk(d, &looks{}, dir, nil)
	for _, l := range d.Leaves {
		found = append(found, l.Dir)
	}
	return found
}

// scan is dump.Scan of a folder that was listed.
func (w *Workspace) scan(dir string, rules bool) (*dump.Folder, error) {
	listing, _ := w.listings.list(dir) // an error is that of Scan
	return dump.Scan(dir, dump.Options{Rules: rules, Listing: listing})
}

// readGolden lists the golden arrays, nil if there are none.
func (w *Workspace) readGolden(dir string) *dump.Folder {
	w.goldenLooks.add(dir)
	f, err := w.scan(dir, false)
	if err == nil {
		return f
	}
	if found, _, err := dump.Resolve(dir); err == nil {
		w.goldenLooks.add(found)
		f, _ = w.scan(found, false)
		return f
	}
	return nil
}
