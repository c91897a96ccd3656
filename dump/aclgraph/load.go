package aclgraph

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/dump"
	"precision/dump/msprobe"
	"precision/internal/order"
)

// Recording is the folder of the tensors of one process in one step.
type Recording struct {
	msprobe.Recording
}

// folders are the names that the folder of tensors has.
var folders = []string{msprobe.TensorFolder, "tensor_data"}

// Find lists the recordings below a path by step, rank and process. The path may be
// the folder that was given to the recorder, that of a step, of a process, or of the
// tensors. It is an error if there are none.
func Find(path string) (all []Recording, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder", path)
	}
	above := msprobe.Recording{Step: -1, Rank: -1, Process: -1}
	if dir, err := filepath.Abs(path); err == nil {
		for range 3 {
			above.Folder(filepath.Base(dir))
			dir = filepath.Dir(dir)
		}
	}
	find(path, above, 0, &all)
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no recording of ACLGraph: found no files <api>.<call>.input.0.pt in folders step<N>/rank<R>/%s", path, msprobe.TensorFolder)
	}
	order.Stable(all, func(a, b Recording) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Process, b.Process), cmp.Compare(a.Dir, b.Dir))
	})
	return all, nil
}

const maxRecordings = 1 << 16

// find walks down folders whose names belong to recordings.
func find(dir string, r msprobe.Recording, depth int, all *[]Recording) {
	if len(*all) == maxRecordings {
		return
	}
	here := false
	entries := dump.List(dir)
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() {
			if name == msprobe.DumpFile || name == msprobe.DebugFile {
				return // those of an ordinary recording
			}
			if !here {
				_, here = parse(name)
			}
		}
	}
	for _, name := range dump.Subfolders(entries) {
		if below := r; depth < 4 && (slices.Contains(folders, name) || below.Folder(name)) {
			find(filepath.Join(dir, name), below, depth+1, all)
		}
	}
	if here {
		r.Dir, r.Tensors = dir, dir
		*all = append(*all, Recording{r})
	}
}

// Call is a call of a function or module.
type Call struct {
	// Name is that of package msprobe, with forward in it.
	Name msprobe.Name
	// Named tells that the names of its files have the number and direction that
	// dump.json has, which the recorder of graphs does not write.
	Named   bool
	Tensors []Tensor
}

// Tensor is a file of a call.
type Tensor struct {
	Section msprobe.Section
	// Path leads to the value in its section, with points between; it is "0" where
	// there is only one.
	Path, File string
}

// file is what the name of a file tells.
type file struct {
	api    string
	number int
	name   msprobe.Name
	named  bool // with its own number and direction, as package msprobe has it
	Tensor
}

var sections = map[string]msprobe.Section{"input": msprobe.Input, "input_kwargs": msprobe.Kwargs, "output": msprobe.Output,
	"kwargs": msprobe.Kwargs, "parameters": msprobe.Parameters}

// parse takes the name of a file apart, from its right end: functions and modules
// have points, digits and words of their own.
func parse(name string) (f file, ok bool) {
	stem, isTensor := strings.CutSuffix(name, ".pt")
	if !isTensor {
		if stem, ok = strings.CutSuffix(name, ".npy"); !ok {
			return f, false
		}
	}
	loose := strings.Contains(stem, ".parameters_grad.") || strings.Contains(stem, ".debug")
	if !isTensor && !loose && !strings.Contains(stem, "ward.") {
		return f, false // most arrays
	}
	parts := strings.Split(stem, ".")
	for i := len(parts) - 1; i >= 2; i-- {
		if f.Section, ok = sections[parts[i]]; !ok {
			continue
		}
		f.Path, f.File = strings.Join(parts[i+1:], "."), name
		f.Path = cmp.Or(f.Path, "0")
		if f.name = msprobe.ParseName(strings.Join(parts[:i], ".")); f.name.Form != msprobe.Other {
			f.api, f.number, f.named = strings.Join(parts[:i], "."), f.name.Number, true
			return f, true
		}
		n, err := strconv.ParseUint(parts[i-1], 10, 31)
		if err != nil || !isTensor {
			continue
		}
		f.api, f.number = strings.Join(parts[:i-1], "."), int(n)
		f.name = nameOf(f.api)
		return f, f.api != ""
	}
	for i := len(parts); loose && i >= 2; i-- {
		f.api = strings.Join(parts[:i], ".")
		f.name = msprobe.ParseName(f.api)
		f.number, f.named = f.name.Number, true
		f.Path, f.File = strings.Join(parts[i:], "."), name
		switch f.name.Form {
		case msprobe.ParametersGrad:
			f.Section = msprobe.Gradients
			return f, i < len(parts)
		case msprobe.Debug:
			f.Section = msprobe.Saved
			return f, true
		}
	}
	return file{}, false
}

// Load lists the calls of a recording by name.
func Load(r Recording) (calls []Call, err error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		if f, ok := parse(e.Name()); ok && !e.IsDir() {
			f.File = filepath.Join(r.Dir, e.Name())
			files = append(files, f)
		}
	}
	order.Stable(files, func(a, b file) int {
		return cmp.Or(natural(a.api, b.api), cmp.Compare(a.number, b.number), cmp.Compare(a.Section, b.Section), natural(a.Path, b.Path), cmp.Compare(a.File, b.File))
	})
	for i := range files {
		f := &files[i]
		same := i > 0 && files[i-1].api == f.api
		if !same || files[i-1].number != f.number {
			c := Call{Name: f.name, Named: f.named}
			if same && !f.named {
				c.Name.Number = calls[len(calls)-1].Name.Number + 1
			}
			calls = append(calls, c)
		}
		c := &calls[len(calls)-1]
		c.Tensors = append(c.Tensors, f.Tensor)
	}
	return calls, nil
}

// nameOf reads what is in front of the number of a call: Module.<path>.<Class>, or a
// function.
func nameOf(api string) msprobe.Name {
	prefix, rest, ok := strings.Cut(api, ".")
	n := msprobe.Name{Form: msprobe.API, Prefix: prefix, API: rest, Direction: msprobe.Forward}
	switch {
	case !ok:
		n.Prefix, n.API = "", api // a function of the user
	case prefix == "Module" || prefix == "Cell":
		n.Form = msprobe.Module
		if i := strings.LastIndexByte(rest, '.'); i >= 0 {
			n.API, n.Class = rest[:i], rest[i+1:]
		} else {
			n.API, n.Class = "", rest
		}
	}
	return n
}

// natural compares names by their parts, numbers as numbers.
func natural(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		m, bad := strconv.ParseUint(x, 10, 63)
		n, worse := strconv.ParseUint(y, 10, 63)
		if bad == nil && worse == nil && m != n {
			return cmp.Compare(m, n)
		}
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}
