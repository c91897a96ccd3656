package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"precision/dump/dtype"
	"precision/dump/h5"
	"precision/internal/plainfile"
)

// H5Kinds are the parts of an operator in a PyTorch dump, in the order they are
// shown in.
var H5Kinds = []string{"Input", "Output", "Grads", "Tensors", "GradInputs", "Result"}

// h5SideNames are the two sides of PyTorch dumps.
var h5SideNames = []string{"npu", "gpu"}

// H5Tensor is a dataset of a PyTorch dump, /<operator>/<id>/<kind>/….
type H5Tensor struct {
	Path  string // from the root
	ID    string // the first part that is a number, "" without one
	Kind  string // one of h5Kinds, "" for others
	Type  dtype.Type
	Shape []int64
}

// H5Side is the newest PyTorch dump of one side, npu or gpu.
type H5Side struct {
	Name, File string
	Files      int // how many it was chosen from
	Tensors    []H5Tensor
	Err        error
}

// Array is the name of the array that a tensor is decoded into.
func (d *H5Side) Array(t *H5Tensor) string { return H5Array(d.Name, t.Path) }

// H5Array is the name of the array of a dataset: npu_h5_batch_norm_88_input_0
// for /batch_norm/88/input/0. Side may be the name of a file, too.
func H5Array(side, path string) string {
	return FileName(side + "_h5" + path)
}

// H5Sides are the PyTorch dumps of the data folder, those of the NPU first.
// Sides without one are left out.
func (w *Workspace) H5Sides() []*H5Side {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.h5Known {
		return w.h5
	}
	w.h5Known = true
	for _, name := range h5SideNames {
		entries, _ := w.look(w.Path("pt", name), w.h5Looks)
		if file, n := newestFile(w.Path("pt", name), entries, ".h5"); file != "" {
			w.h5Looks.add(file)
			d := readH5(name, file)
			d.Files = n
			w.h5 = append(w.h5, d)
		}
	}
	return w.h5
}

// newestFile is the file of a folder with that ending that was written last, of
// several written at once that with the greatest name; n counts them.
func newestFile(dir string, entries []fs.DirEntry, ending string) (path string, n int) {
	var best os.FileInfo
	for _, e := range entries {
		if !strings.EqualFold(filepath.Ext(e.Name()), ending) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if n++; best == nil || !info.ModTime().Before(best.ModTime()) {
			best, path = info, filepath.Join(dir, e.Name())
		}
	}
	return path, n
}

// readH5 lists the datasets of a PyTorch dump. Those found before an error
// count.
func readH5(side, path string) *H5Side {
	d := &H5Side{Name: side, File: path}
	file, size, err := plainfile.Open(path, "an HDF5 file")
	if err != nil {
		d.Err = err
		return d
	}
	defer file.Close()
	f, err := h5.Open(file, size)
	if err == nil {
		err = f.Walk(func(name string, obj h5.Object, err error) error {
			if err != nil && d.Err == nil {
				d.Err = fmt.Errorf("%s: %s: %w", path, name, err)
			}
			if set, ok := obj.(*h5.Dataset); ok && err == nil {
				id, kind := H5Place(name)
				d.Tensors = append(d.Tensors, H5Tensor{name, id, kind, set.Type, set.Shape})
			}
			return nil
		})
	}
	if err != nil {
		d.Err = fmt.Errorf("%s: %w", path, err)
	}
	return d
}

// H5Place finds the operator's id and the kind in the path of a dataset.
func H5Place(path string) (id, kind string) {
	for _, part := range strings.Split(path, "/") {
		if id == "" && part != "" && strings.TrimFunc(part, unicode.IsDigit) == "" {
			id = part
		}
		for _, k := range H5Kinds {
			if kind == "" && strings.EqualFold(part, k) {
				kind = k
			}
		}
	}
	return id, kind
}

// findH5 finds datasets of the PyTorch dumps by what a user typed: the path of
// one, the name of its array, or the beginning of either.
func (w *Workspace) findH5(text string, add func(r TensorRef, name string)) {
	for _, d := range w.H5Sides() {
		for i := range d.Tensors {
			t := &d.Tensors[i]
			r := TensorRef{Path: d.File, dataset: t.Path, side: d.Name}
			if strings.HasPrefix(text, "/") {
				// add compares with the text, slashes being underscores.
				add(r, strings.ReplaceAll(t.Path, "/", "_"))
				continue
			}
			add(r, d.Array(t))
		}
	}
}
