package repl

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

// dataFolder is the folder precision_data of a user. Paths are derived from
// the root whenever they are asked for.
type dataFolder struct{ root string }

// locate is the data folder a user means by root: the one below it, as a
// session in that folder would take, or the current folder where that is the
// data folder itself.
func locate(root string) string {
	if below := filepath.Join(root, defaultData); !(dataFolder{root}).used() && isDir(below) {
		return below
	}
	if root == defaultData && !isDir(root) {
		if here, err := os.Getwd(); err == nil && (filepath.Base(here) == defaultData || isDir(filepath.Join("npu", "debug_0"))) && (dataFolder{"."}).used() {
			return "."
		}
	}
	return root
}

// used reports whether there is anything of a data folder in the folder.
func (d dataFolder) used() bool {
	return slices.ContainsFunc([]string{"npu", "tf", "overflow", "pt", "fusion", "temp"}, func(name string) bool { return isDir(d.path(name)) })
}

func (d dataFolder) path(parts ...string) string {
	return filepath.Join(append([]string{d.root}, parts...)...)
}

func (d dataFolder) npu() string      { return d.path("npu") }
func (d dataFolder) overflow() string { return d.path("overflow", "dump") }
func (d dataFolder) golden() string   { return d.path("tf", "dump") }
func (d dataFolder) results() string  { return d.path("temp", "vector_compare") }
func (d dataFolder) decode() string   { return d.path("temp", "decode") }

// fusion is the file of fusion statistics: that in the current folder, where
// training leaves it, or the one kept in the data folder; "" without any.
func (d dataFolder) fusion() string {
	for _, p := range []string{"fusion_result.json", d.path("fusion", "fusion_result.json")} {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return p
		}
	}
	return ""
}

// newestRun chooses the newest run in a folder of runs: of the folders whose
// names begin with a digit that with the greatest name, else the folder
// itself. others counts the runs it was chosen from.
func newestRun(dir string) (run string, others int) {
	best := ""
	for _, e := range entries(dir) {
		if name := e.Name(); name[0] >= '0' && name[0] <= '9' && isDir(filepath.Join(dir, name)) {
			others++
			best = max(best, name)
		}
	}
	if best == "" {
		return dir, 0
	}
	return filepath.Join(dir, best), others
}

// entries lists a folder, empty if that cannot be done.
func entries(dir string) []os.DirEntry {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	return list
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// hasEntries reports whether a folder has anything in it.
func hasEntries(dir string) bool { return len(entries(dir)) > 0 }

// debugID is one run of the network on the NPU: its graphs and its dumps. Both
// are read when they are first needed.
type debugID struct {
	name  string
	dir   string
	state string // changes when the folder does

	graphs func() *graphs
	dumps  func() *dumps

	// what was wrong with them, or chosen of them, has been told
	toldGraphs, toldDumps bool
}

func (d dataFolder) ids() []*debugID {
	var ids []*debugID
	for _, e := range entries(d.npu()) {
		if dir := filepath.Join(d.npu(), e.Name()); isDir(dir) {
			ids = append(ids, newDebugID(e.Name(), dir))
		}
	}
	return ids
}

func newDebugID(name, dir string) *debugID {
	return &debugID{name: name, dir: dir, state: debugState(dir),
		graphs: sync.OnceValue(func() *graphs { return readGraphs(filepath.Join(dir, "graph")) }),
		dumps:  sync.OnceValue(func() *dumps { return findDumps(filepath.Join(dir, "dump")) }),
	}
}

// graphFile is a graph that was read, with the questions it can answer.
type graphFile struct {
	path  string
	file  graph.File
	index *graph.Index
	rules func() (*fusion.Rules, error)
}

// graphs are the final graphs of a debug id.
type graphs struct {
	files    []*graphFile
	warnings []error
}

// readGraphs reads the final graphs below a folder, in the order of their
// numbers. A file that cannot be read is a warning.
func readGraphs(dir string) *graphs {
	g := &graphs{}
	found, err := read.FindFiles(dir)
	if err != nil {
		if isDir(dir) {
			g.warnings = append(g.warnings, err)
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
				g.files = append(g.files, &graphFile{f.Path, f, x, sync.OnceValues(func() (*fusion.Rules, error) { return fusion.New(m) })})
				for _, w := range m.Warnings {
					g.warnings = append(g.warnings, warning(w.String()))
				}
			}
		}
		if err != nil {
			g.warnings = append(g.warnings, err)
		}
	}
	return g
}

// warning is a warning of a reader as an error.
type warning string

func (w warning) Error() string { return string(w) }

// dumps are the recordings of the newest run of a debug id.
type dumps struct {
	run    string // folder of the run
	runs   int    // number of runs it was chosen from
	leaves []*leaf
}

// leaf is a folder that holds dump files:
// <run>/<device>/<model>/<model id>/<step>, or less of it.
type leaf struct {
	dir                     string
	device, model, id, step string
	folder                  func() *dump.Folder // never nil
	// statistics are the tables about tensors that a run leaves instead of
	// dumps, by operator.
	statistics func() map[string][]string
}

// maxDepth bounds the search for folders of dumps, also against links in a
// circle.
const maxDepth = 10

func findDumps(dir string) *dumps {
	d := &dumps{}
	d.run, d.runs = newestRun(dir)
	d.walk(d.run, nil)
	return d
}

// walk finds the folders with files, by name. Links are followed.
func (d *dumps) walk(dir string, parts []string) {
	files := false
	for _, e := range entries(dir) {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() || e.Type()&os.ModeSymlink != 0 && isDir(path) {
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
	l := &leaf{dir: dir}
	for i, to := range []*string{&l.step, &l.id, &l.model, &l.device} {
		if i < len(parts) {
			*to = parts[len(parts)-1-i]
		}
	}
	l.folder = sync.OnceValue(func() *dump.Folder {
		f, _ := dump.Scan(dir, dump.Options{Rules: true})
		if f == nil {
			f = &dump.Folder{Dir: dir}
		}
		return f
	})
	l.statistics = sync.OnceValue(func() map[string][]string {
		tables := map[string][]string{}
		for _, e := range entries(dir) {
			if n := dump.ParseName(e.Name()); n.Kind == dump.Statistics {
				key := n.OpType + "." + dump.Normalise(n.OpName)
				tables[key] = append(tables[key], filepath.Join(dir, e.Name()))
			}
		}
		return tables
	})
	d.leaves = append(d.leaves, l)
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
