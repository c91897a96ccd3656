package msprobe

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"precision/internal/must"
	"precision/internal/order"
	"precision/internal/plainfile"
)

// Recording is a folder with a dump.json or debug.json: what one process
// recorded of one step.
type Recording struct {
	// Dir is the folder, Dump the file of calls in it.
	Dir, Dump string
	// Construct, Stack and Tensors are construct.json, stack.json and the folder
	// of the tensors; empty where there are none.
	Construct, Stack, Tensors string
	// Step and Rank are the numbers in the names of the folders, -1 where they
	// have none. A process outside a group has its number in Process and no rank;
	// that of another run is another. Recorders before 26 do not write the number
	// (their folder is called rank, and Process is 0).
	Step, Rank, Process int
	// Mode is the folder graph or pynative above the steps of a MindSpore
	// recording that has both.
	Mode string
}

// The files of a recording.
const (
	DumpFile      = "dump.json"
	DebugFile     = "debug.json"
	ConstructFile = "construct.json"
	StackFile     = "stack.json"
	TensorFolder  = "dump_tensor_data"
)

// maxRecordings bounds how many recordings of one folder are listed.
const maxRecordings = 1 << 16

// Find lists the recordings below a path, by mode, step, rank and process. The
// path may be the folder that was given to the recorder, that of a step, that of
// a rank, or the file dump.json itself. It is an error if there are none.
func Find(path string) (_ []Recording, err error) {
	defer must.Catch(&err)
	info := must.Get(os.Stat(path))
	above := Recording{Step: -1, Rank: -1, Process: -1}
	// The folders above may have names that tell, too.
	dir := must.Get(filepath.Abs(path))
	if !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	for range 2 {
		above.Folder(filepath.Base(dir))
		dir = filepath.Dir(dir)
	}
	if !info.IsDir() {
		must.Not(!info.Mode().IsRegular(), "%s: not a plain file", path)
		if Settings(path) != "" {
			return nil, noRecording(path)
		}
		above.fill(filepath.Dir(path), filepath.Base(path))
		return []Recording{above}, nil
	}
	var all []Recording
	if find(path, above, 0, &all); len(all) == 0 {
		return nil, noRecording(path)
	}
	order.Stable(all, func(a, b Recording) int {
		return cmp.Or(cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Process, b.Process), cmp.Compare(a.Dump, b.Dump))
	})
	return all, nil
}

func noRecording(path string) error {
	return fmt.Errorf("%s: no recording of msprobe: found no %s or %s here or in folders step*, rank*, proc* below", path, DumpFile, DebugFile)
}

// find walks down folders whose names belong to recordings.
func find(dir string, r Recording, depth int, all *[]Recording) {
	for _, e := range must.Get(os.ReadDir(dir)) {
		must.Not(len(*all) == maxRecordings, "%s: more than %d recordings", dir, maxRecordings)
		switch n := e.Name(); {
		case n == DumpFile || n == DebugFile:
			// A configuration lies above the folders of processes.
			process := r.Rank >= 0 || r.Process >= 0
			if plainfile.IsFile(filepath.Join(dir, n)) && (process || Settings(filepath.Join(dir, n)) == "") {
				found := r
				found.fill(dir, n)
				*all = append(*all, found)
			}
		case depth < 3 && isFolder(dir, e):
			if below := r; below.Folder(n) {
				find(filepath.Join(dir, n), below, depth+1, all)
			}
		}
	}
}

// Folder takes what the name of a folder tells; false if it is none of a
// recording.
func (r *Recording) Folder(folder string) bool {
	for _, p := range [...]struct {
		prefix string
		to     *int
	}{{"step", &r.Step}, {"rank", &r.Rank}, {"proc", &r.Process}, {"pid", &r.Process}} {
		if rest, ok := strings.CutPrefix(folder, p.prefix); ok {
			if n, ok := count(rest); ok {
				*p.to = n
				return true
			}
		}
	}
	switch folder {
	case "graph", "pynative":
		r.Mode = folder
		return true
	case "rank":
		r.Process = 0
		return true
	}
	return false
}

// fill looks for the files beside a file of calls.
func (r *Recording) fill(dir, file string) {
	r.Dir, r.Dump = dir, filepath.Join(dir, file)
	for name, to := range map[string]*string{ConstructFile: &r.Construct, StackFile: &r.Stack} {
		if p := filepath.Join(dir, name); plainfile.IsFile(p) {
			*to = p
		}
	}
	p := filepath.Join(dir, TensorFolder)
	if plainfile.IsFolder(p) {
		r.Tensors = p
	}
}

// ErrNoTensors tells that a recording has no folder of elements, as one that was copied without
// them.
var ErrNoTensors = errors.New("no folder " + TensorFolder)

// File returns the path of a file of elements by its name in dump.json. A name
// that would lead out of the folder is an error, and so is one in a recording
// without tensors.
func (r *Recording) File(name string) (string, error) {
	if r.Tensors == "" {
		return "", fmt.Errorf("%s: %w for %q", r.Dir, ErrNoTensors, short(name))
	}
	if err := plainfile.CheckName(name); err != nil {
		return "", fmt.Errorf("%s: %w", r.Dump, err)
	}
	return filepath.Join(r.Tensors, name), nil
}

func isFolder(dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	return plainfile.IsFolder(filepath.Join(dir, e.Name()))
}

// OpenFile is a Scanner over an open file.
type OpenFile struct {
	*Scanner
	io.Closer
}

// Open opens a file of calls. The caller closes it.
func Open(path string) (*OpenFile, error) {
	f, _, err := plainfile.Open(path, "a file of calls")
	if err != nil {
		return nil, err
	}
	return &OpenFile{NewScanner(f, path), f}, nil
}
