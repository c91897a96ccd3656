package workspace

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"precision/dump"
	"precision/graph"
	"precision/graph/fusion"
	"precision/graph/read"
)

// DebugID is one run of the network on the NPU: its graphs and its dumps. Both
// are read when they are first needed.
type DebugID struct {
	Name  string
	Dir   string
	state string // changes when the folder does

	Graphs func() *Graphs
	Dumps  func() *Dumps
}

func newDebugID(name, dir string) *DebugID {
	return &DebugID{Name: name, Dir: dir, state: debugState(dir),
		Graphs: sync.OnceValue(func() *Graphs { return readGraphs(filepath.Join(dir, "graph")) }),
		Dumps:  sync.OnceValue(func() *Dumps { return findDumps(filepath.Join(dir, "dump")) }),
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
func readGraphs(dir string) *Graphs {
	g := &Graphs{}
	found, err := read.FindFiles(dir)
	if err != nil {
		if IsDir(dir) {
			g.Warnings = append(g.Warnings, err)
		}
		return g
	}
	found = graph.BuildFiles(found)
	slices.SortStableFunc(found, func(a, b graph.File) int { return cmp.Compare(a.Number, b.Number) })
	for _, f := range found {
		m, err := read.Open(f.Path)
		if err == nil {
			var x *graph.Index
			if x, err = graph.NewIndex(m); err == nil {
				g.Files = append(g.Files, &GraphFile{f.Path, f, x, sync.OnceValues(func() (*fusion.Rules, error) { return fusion.New(m) })})
				for _, w := range m.Warnings {
					g.Warnings = append(g.Warnings, warning(w.String()))
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
type warning string

func (w warning) Error() string { return string(w) }

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

func findDumps(dir string) *Dumps {
	d := &Dumps{}
	d.Run, d.Runs = NewestRun(dir)
	d.walk(d.Run, nil)
	return d
}

// walk finds the folders with files, by name. Links are followed.
func (d *Dumps) walk(dir string, parts []string) {
	files := false
	for _, e := range Entries(dir) {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() || e.Type()&os.ModeSymlink != 0 && IsDir(path) {
			if len(parts) < maxDepth {
				d.walk(path, append(parts, e.Name()))
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
		f, _ := dump.Scan(dir, dump.Options{Rules: true})
		if f == nil {
			f = &dump.Folder{Dir: dir}
		}
		return f
	})
	l.Statistics = sync.OnceValue(func() map[string][]string {
		tables := map[string][]string{}
		for _, e := range Entries(dir) {
			if n := dump.ParseName(e.Name()); n.Kind == dump.Statistics {
				key := n.OpType + "." + dump.Normalise(n.OpName)
				tables[key] = append(tables[key], filepath.Join(dir, e.Name()))
			}
		}
		return tables
	})
	d.Leaves = append(d.Leaves, l)
}

// readGolden lists the golden arrays, nil if there are none.
func readGolden(dir string) *dump.Folder {
	f, err := dump.Scan(dir, dump.Options{})
	if err != nil {
		found, _, err := dump.Resolve(dir)
		if err != nil {
			return nil
		}
		if f, err = dump.Scan(found, dump.Options{}); err != nil {
			return nil
		}
	}
	return f
}
