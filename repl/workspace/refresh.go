package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Refresh drops what is known of folders that have changed since, so that a
// session sees what is captured while it is open.
func (w *Workspace) Refresh() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listed {
		known := map[string]*DebugID{}
		for _, id := range w.idList {
			known[id.Name] = id
		}
		w.idList = w.findIDs()
		for i, id := range w.idList {
			if old := known[id.Name]; old != nil && old.state == id.state {
				w.idList[i] = old
			}
		}
	}
	if state := folderState(w.GoldenDir(), 1); state != w.goldenState {
		w.goldenState = state
		w.forgetGolden()
	}
}

// State changes when graphs, dumps or golden arrays of the data folder
// do.
func (w *Workspace) State() string {
	var b strings.Builder
	for _, id := range w.IDs() {
		b.WriteString(id.Name + "\n" + id.state)
	}
	for _, name := range h5SideNames {
		file, _ := newestFile(w.Path("pt", name), ".h5")
		b.WriteString(fileState(file))
	}
	return b.String() + w.goldenState
}

// debugState tells whether the graphs or the newest run of a debug id changed.
func debugState(dir string) string {
	run, _ := NewestRun(filepath.Join(dir, "dump"))
	return folderState(filepath.Join(dir, "graph"), 2) + run + folderState(run, 6)
}

// folderState is the time of the last change of a folder and of what is in it,
// depth levels deep. Of each folder only the first entries are looked at: a
// change of a long list of files shows in the time of its folder.
func folderState(dir string, depth int) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d\n", dir, info.ModTime().UnixNano())
	f, err := os.Open(dir)
	if err != nil || depth == 0 {
		return b.String()
	}
	defer f.Close()
	list, _ := f.ReadDir(100)
	for _, e := range list {
		if path := filepath.Join(dir, e.Name()); IsDir(path) {
			b.WriteString(folderState(path, depth-1))
		} else if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), "ge_") {
			fmt.Fprintf(&b, "%s %d\n", e.Name(), info.ModTime().UnixNano()) // a graph may be written anew in place
		}
	}
	return b.String()
}
