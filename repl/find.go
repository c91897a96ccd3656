package repl

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/dump"
	"precision/repl/array"
)

// tensorRef names a tensor that was found: one of a file, or all of them.
type tensorRef struct {
	path  string
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
}

// name is what the tensor is called, as the name of the array that a converter
// would make of it.
func (r *tensorRef) name() string {
	base := r.file
	if base == "" {
		base = filepath.Base(r.path)
	}
	switch {
	case r.dataset != "" && r.side != "":
		return h5Array(r.side, r.dataset)
	case r.dataset != "":
		return h5Array(strings.TrimSuffix(base, filepath.Ext(base)), r.dataset)
	case r.all:
		return base
	case r.input:
		return base + ".input." + strconv.Itoa(r.index)
	}
	return base + ".output." + strconv.Itoa(r.index)
}

// wholeFile names all tensors of a recorded file.
func wholeFile(e *dump.Entry) *tensorRef {
	return &tensorRef{path: e.Path, file: e.Name.File, all: true}
}

// open opens the tensors; the caller closes them.
func (r *tensorRef) open() (arrays []*array.Array, bad []error, err error) {
	var a *array.Array
	switch {
	case r.all:
		arrays, bad, err = array.Open(r.path)
	case r.dataset != "":
		if a, err = array.Dataset(r.path, r.dataset); err == nil {
			a.Name = r.name()
			return []*array.Array{a}, nil, nil
		}
	default:
		if a, err = array.Tensor(r.path, r.input, r.index); err == nil {
			arrays = []*array.Array{a}
		}
	}
	if r.file != "" {
		for _, a := range arrays {
			a.Rename(r.file)
		}
	}
	return arrays, bad, err
}

// cutArrayName splits the name of an array that a converter makes of a dump,
// <dump>.output.0[.npy].
func cutArrayName(name string) (file string, input bool, index int, ok bool) {
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

// findTensors finds tensors by what a user typed: a file; the name of a dump
// file, or <dump>.output.0; of an operator; of a golden array; or the beginning
// of such a name. Slashes and dots of operators count as underscores. Exact
// names win over beginnings, and the result is sorted by name, golden arrays
// behind the others.
func (s *session) findTensors(text string) []tensorRef {
	if info, err := os.Stat(text); err == nil && info.Mode().IsRegular() {
		if strings.EqualFold(filepath.Ext(text), ".h5") {
			return s.h5Refs(text)
		}
		return []tensorRef{{path: text, all: true}}
	}
	key := strings.ReplaceAll(text, "/", "_")
	operator := dump.Normalise(text)
	var exact, begin []tensorRef
	add := func(r tensorRef, name string) {
		switch {
		case name == key || strings.TrimSuffix(name, ".npy") == key:
			exact = append(exact, r)
		case strings.HasPrefix(name, key):
			begin = append(begin, r)
		}
	}
	file, input, index, isArray := cutArrayName(key)
	dumps := map[string]bool{}
	s.eachDump(func(e *dump.Entry) {
		dumps[e.Name.File] = true
		switch {
		case isArray && e.Name.File == file:
			exact = append(exact, tensorRef{path: e.Path, file: e.Name.File, input: input, index: index})
		case dump.Normalise(e.Name.OpName) == operator:
			exact = append(exact, *wholeFile(e))
		default:
			add(*wholeFile(e), e.Name.File)
		}
	})
	if g := s.goldenArrays(); g != nil {
		for _, op := range g.Ops {
			for i := range op.Files {
				r, name := *wholeFile(&op.Files[i]), op.Files[i].Name
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
	s.findH5(text, func(r tensorRef, name string) {
		inH5[r.name()] = true
		add(r, name)
	})
	filepath.WalkDir(s.data.decode(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".npy") {
			if from, _, _, ok := cutArrayName(d.Name()); ok && dumps[from] || inH5[strings.TrimSuffix(d.Name(), ".npy")] {
				return nil // what it was decoded from is read
			}
			add(tensorRef{path: path, all: true}, d.Name())
		}
		return nil
	})
	found := exact
	if len(found) == 0 {
		found = begin
	}
	slices.SortStableFunc(found, func(a, b tensorRef) int {
		if a.golden != b.golden {
			if b.golden {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.name(), b.name()), strings.Compare(a.path, b.path), strings.Compare(a.dataset, b.dataset))
	})
	return found
}

// h5Refs are all tensors of an HDF5 file that the user named; what is wrong
// with it is told.
func (s *session) h5Refs(path string) []tensorRef {
	d := readH5("", path)
	if d.err != nil {
		s.Warn("error", d.err)
	}
	var refs []tensorRef
	for i := range d.tensors {
		refs = append(refs, tensorRef{path: path, dataset: d.tensors[i].path})
	}
	return refs
}

// eachDump calls do for the dump files of the newest runs of all debug ids.
func (s *session) eachDump(do func(e *dump.Entry)) {
	for _, id := range s.ids() {
		for _, l := range s.dumpsOf(id).leaves {
			for _, op := range l.folder().Ops {
				for i := range op.Files {
					do(&op.Files[i])
				}
			}
		}
	}
}

// goldenArrays are the golden arrays, nil if there are none.
func (s *session) goldenArrays() *dump.Folder {
	if !s.goldenRead {
		s.goldenRead = true
		s.golden = readGolden(s.data.golden())
	}
	return s.golden
}
