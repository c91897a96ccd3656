package workspace

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/dump"
	"precision/internal/order"
	"precision/repl/array"
)

// TensorRef names a tensor that was found: one of a file, or all of them.
type TensorRef struct {
	Path  string
	all   bool
	input bool
	index int
	// golden arrays stand behind what the NPU computed.
	golden bool
	// file is the name of the file, that of mapping.csv if it was renamed; "" is that
	// of path.
	file string
	// dataset is the path of a tensor in an HDF5 file, side whose file it is: npu,
	// gpu, or "" for one that the user named.
	dataset, side string
	// part is the name of the one tensor that is meant of a file of several; all are if it is empty.
	part string
}

// Name is what the tensor is called, as the name of the array that a converter
// would make of it.
func (r *TensorRef) Name() string {
	base := cmp.Or(r.file, filepath.Base(r.Path))
	switch {
	case r.dataset != "" && r.side != "":
		return H5Array(r.side, r.dataset)
	case r.dataset != "":
		return H5Array(strings.TrimSuffix(base, filepath.Ext(base)), r.dataset)
	case r.all:
		return cmp.Or(r.part, base)
	case r.input:
		return base + ".input." + strconv.Itoa(r.index)
	}
	return base + ".output." + strconv.Itoa(r.index)
}

// WholeFile names all tensors of a recorded file.
func WholeFile(e *dump.Entry) *TensorRef {
	return &TensorRef{Path: e.Path, file: e.Name.File, all: true}
}

// Open opens the tensors; the caller closes them. bad is what cannot be read.
func (r *TensorRef) Open() (arrays []*array.Array, bad []error) {
	var a *array.Array
	var err error
	switch {
	case r.all:
		arrays, bad, err = array.Open(r.Path)
		arrays = slices.DeleteFunc(arrays, func(a *array.Array) bool {
			other := r.part != "" && a.Name != r.part
			if other {
				a.Close()
			}
			return other
		})
		if r.part != "" && len(arrays) == 0 && err == nil {
			err = fmt.Errorf("%s: no tensor %s", r.Path, r.part)
		}
	case r.dataset != "":
		if a, err = array.Dataset(r.Path, r.dataset); err == nil {
			a.Name = r.Name()
			arrays = []*array.Array{a}
		}
	default:
		if a, err = array.Tensor(r.Path, r.input, r.index); err == nil {
			arrays = []*array.Array{a}
		}
	}
	if r.file != "" {
		for _, a := range arrays {
			a.Name = r.file + strings.TrimPrefix(a.Name, filepath.Base(a.Path))
		}
	}
	if err != nil {
		bad = append(bad, err)
	}
	return arrays, bad
}

// CutArrayName splits the name of an array that a converter makes of a dump,
// <dump>.output.0[.npy].
func CutArrayName(name string) (file string, input bool, index int, ok bool) {
	name = strings.TrimSuffix(name, ".npy")
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", false, 0, false
	}
	index, err := strconv.Atoi(name[i+1:])
	if err != nil || index < 0 {
		return "", false, 0, false
	}
	if file, ok = strings.CutSuffix(name[:i], ".output"); ok {
		return file, false, index, true
	}
	file, ok = strings.CutSuffix(name[:i], ".input")
	return file, true, index, ok
}

// FileTensors are the tensors of a file that a user named; ok is false if there
// is no such file. err is what is wrong with it, those found before it count.
func FileTensors(path string) (refs []TensorRef, err error, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		for i := len(path) - 1; i > 0 && path[i] != filepath.Separator; i-- { // one tensor of a file of several, as they are listed
			if path[i] != '.' {
				continue
			}
			if info, err := os.Stat(path[:i]); err == nil && info.Mode().IsRegular() {
				return []TensorRef{{Path: path[:i], all: true, part: filepath.Base(path)}}, nil, true
			}
		}
		return nil, nil, false
	}
	if !strings.EqualFold(filepath.Ext(path), ".h5") {
		return []TensorRef{{Path: path, all: true}}, nil, true
	}
	d := readH5("", path)
	for i := range d.Tensors {
		refs = append(refs, TensorRef{Path: path, dataset: d.Tensors[i].Path})
	}
	return refs, d.Err, true
}

// Find finds tensors by what a user typed: the name of a dump
// file, or <dump>.output.0; of an operator; of a golden array; or the beginning
// of such a name. Slashes and dots of operators count as underscores. Exact
// names win over beginnings, and the result is sorted by name, golden arrays
// behind the others.
func (w *Workspace) Find(text string) []TensorRef {
	key := strings.ReplaceAll(text, "/", "_")
	operator := dump.Normalise(text)
	var exact, begin []TensorRef
	add := func(r TensorRef, name string) {
		switch {
		case name == key || strings.TrimSuffix(name, ".npy") == key:
			exact = append(exact, r)
		case strings.HasPrefix(name, key):
			begin = append(begin, r)
		}
	}
	file, input, index, isArray := CutArrayName(key)
	dumps := map[string]bool{}
	w.EachDump(func(e *dump.Entry) {
		dumps[e.Name.File] = true
		switch {
		case isArray && e.Name.File == file:
			exact = append(exact, TensorRef{Path: e.Path, file: e.Name.File, input: input, index: index})
		case dump.Normalise(e.Name.OpName) == operator:
			exact = append(exact, *WholeFile(e))
		default:
			add(*WholeFile(e), e.Name.File)
		}
	})
	if g := w.GoldenArrays(); g != nil {
		for _, op := range g.Ops {
			for i := range op.Files {
				r, name := *WholeFile(&op.Files[i]), op.Files[i].Name
				r.golden = true
				if dump.Normalise(name.OpName) == operator {
					exact = append(exact, r)
				} else {
					add(r, name.File)
				}
			}
		}
	}
	inH5 := map[string]bool{}
	w.findH5(text, func(r TensorRef, name string) {
		inH5[r.Name()] = true
		add(r, name)
	})
	w.listings.each(w.DecodeDir(), func(path string) {
		name := filepath.Base(path)
		if !strings.HasSuffix(name, ".npy") {
			return
		}
		if from, _, _, ok := CutArrayName(name); ok && dumps[from] || inH5[strings.TrimSuffix(name, ".npy")] {
			return // what it was decoded from is read
		}
		add(TensorRef{Path: path, all: true}, name)
	})
	found := exact
	if len(found) == 0 {
		found = begin
	}
	order.Stable(found, func(a, b TensorRef) int {
		return cmp.Or(order.FalseFirst(a.golden, b.golden), strings.Compare(a.Name(), b.Name()), strings.Compare(a.Path, b.Path), strings.Compare(a.dataset, b.dataset))
	})
	return found
}
