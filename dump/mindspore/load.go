package mindspore

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/dump"
	"precision/dump/stats"
	"precision/internal/must"
	"precision/internal/order"
	"precision/internal/plainfile"
)

// Kernel is one run of a kernel.
type Kernel struct {
	// Type and Name are the kernel's; Run counts its runs from 0.
	Type, Name string
	Run        int
	// Tensors are the inputs in ascending order, then the outputs.
	Tensors []Tensor
	// Args are the arguments it was made with, in the order of their names.
	Args []Arg

	time uint64 // when it was recorded first
}

// Tensor is an input or output of a kernel.
type Tensor struct {
	Output      bool
	Index, Slot int
	// File holds the elements, empty without any; Name is what its name says.
	File string
	Name Name
	// Line is its line of the table, empty without: see [Iteration.Row].
	Line string
}

// Arg is an argument of a kernel: its name and the JSON of its value.
type Arg struct{ Name, JSON string }

// Iteration is a recording in memory, without elements.
type Iteration struct {
	Recording
	// Kernels are the runs of kernels in the order of their times.
	Kernels []*Kernel
	// Remarks tell what could not be read.
	Remarks []error

	in *stats.Reader // of the table
}

// Precision tells how exactly the table's statistics are written; see
// [stats.Reader.Precision].
func (it *Iteration) Precision() (grain float64, digits int) { return it.in.Precision() }

// Row is what the table says of a tensor, nil if it says nothing.
func (it *Iteration) Row(x *Tensor) *stats.Row { return it.in.Again(x.Line) }

const maxRemarks = 1000

func (it *Iteration) remark(err error) {
	if len(it.Remarks) < maxRemarks {
		it.Remarks = append(it.Remarks, err)
	}
}

// kernelKey is what all runs of a kernel have in common.
type kernelKey struct{ typ, name, task, stream string }

// item is a tensor of some run.
type item struct {
	Tensor
	time uint64
}

// Load reads the table and lists the files of a recording. The error is one of
// reading.
func Load(r Recording) (_ *Iteration, err error) {
	defer must.Catch(&err)
	it := &Iteration{Recording: r}
	entries := must.Get(os.ReadDir(r.Dir))
	files, lines := map[kernelKey][]item{}, map[kernelKey][]item{}
	mapping, warnings := dump.ReadMapping(r.Dir)
	for _, w := range warnings {
		it.remark(errors.New(w.String()))
	}
	args := map[string]string{}
	for _, e := range entries {
		name := e.Name()
		if real, ok := mapping[name]; ok {
			name = real
		}
		if stem, ok := strings.CutSuffix(name, ".json"); ok && !e.IsDir() {
			args[stem] = filepath.Join(r.Dir, e.Name())
			continue
		}
		n, ok := ParseName(name)
		if !ok || e.IsDir() {
			continue
		}
		key := kernelKey{n.Type, n.Op, n.Task, n.Stream}
		files[key] = append(files[key], item{Tensor{Output: n.Output, Index: n.Index, Slot: n.Slot, File: filepath.Join(r.Dir, e.Name()), Name: n}, n.Time})
	}
	err = it.table(filepath.Join(r.Dir, stats.File), lines)
	if headings := (*stats.LineError)(nil); errors.As(err, &headings) && len(files) > 0 {
		it.remark(err)
	} else {
		must.Do(err)
	}
	keys := maps.Clone(files)
	maps.Copy(keys, lines)
	for key := range keys {
		for _, k := range merged(runs(key, files[key]), runs(key, lines[key])) {
			if path := args[k.Type+"."+k.Name]; path != "" {
				if k.Args, err = readArgs(path); err != nil {
					it.remark(err)
				}
			}
			it.Kernels = append(it.Kernels, k)
		}
	}
	slices.SortFunc(it.Kernels, func(a, b *Kernel) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Run, b.Run))
	})
	for _, k := range it.Kernels {
		order.Stable(k.Tensors, func(a, b Tensor) int {
			return cmp.Or(order.FalseFirst(a.Output, b.Output), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Slot, b.Slot))
		})
	}
	return it, nil
}

// runs takes the tensors of a kernel apart by its runs: in the order of time, a run
// ends where a tensor comes again.
func runs(key kernelKey, items []item) (list []*Kernel) {
	order.Stable(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.time, b.time), order.FalseFirst(a.Output, b.Output), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Slot, b.Slot))
	})
	type place struct {
		output      bool
		index, slot int
	}
	seen := map[place]bool{}
	var k *Kernel
	for _, x := range items {
		at := place{x.Output, x.Index, x.Slot}
		if k == nil || seen[at] {
			k = &Kernel{Type: key.typ, Name: key.name, Run: len(list), time: x.time}
			list = append(list, k)
			clear(seen)
		}
		seen[at] = true
		k.Tensors = append(k.Tensors, x.Tensor)
	}
	return list
}

// merged brings the runs of files and of lines together.
func merged(files, lines []*Kernel) []*Kernel {
	if len(files) == 0 {
		return lines
	}
	for i, l := range lines {
		if i >= len(files) {
			return append(files, lines[i:]...)
		}
		f := files[i]
		for _, x := range l.Tensors {
			at := slices.IndexFunc(f.Tensors, func(y Tensor) bool { return x.Output == y.Output && x.Index == y.Index && x.Slot == y.Slot })
			if at < 0 {
				f.Tensors = append(f.Tensors, x)
				continue
			}
			f.Tensors[at].Line = x.Line
		}
	}
	return files
}

// table reads statistic.csv, if there is one.
func (it *Iteration) table(path string, to map[kernelKey][]item) (err error) {
	n := uint64(0)
	it.in, err = stats.Table(path, func(row *stats.Row) error {
		time, err := strconv.ParseUint(row.Time, 10, 64)
		if err != nil {
			time = n // lines are in the order of writing
		}
		n++
		index, _ := dump.Small(row.Slot)
		name := row.OpName[strings.LastIndexByte(row.OpName, '/')+1:]
		key := kernelKey{strings.Clone(row.OpType), strings.Clone(name), row.Task, row.Stream}
		to[key] = append(to[key], item{Tensor{Output: row.Output, Index: index, Line: row.Text}, time})
		return nil
	}, it.remark)
	return err
}

// Limits of arguments.
const (
	maxArgFile = 1 << 20
	maxArgs    = 1 << 10
)

// readArgs reads a file of arguments.
func readArgs(path string) (_ []Arg, err error) {
	defer must.Catch(&err)
	var object map[string]json.RawMessage
	err = json.Unmarshal(must.Get(plainfile.ReadFile(path, "arguments of a kernel", maxArgFile)), &object)
	must.Not(err != nil, "%s: found %v, expected an object of JSON", path, err)
	must.Not(len(object) > maxArgs, "%s: found %d arguments, expected at most %d", path, len(object), maxArgs)
	args := make([]Arg, 0, len(object))
	for _, k := range slices.Sorted(maps.Keys(object)) {
		args = append(args, Arg{k, string(object[k])})
	}
	return args, nil
}
