package atb

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/dump"
	"precision/dump/stats"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/order"
	"precision/internal/plainfile"
)

// Op is an operation or kernel of a round.
type Op struct {
	// Path is its place in the tree with numbers, 2_Prefill_layer/0_Attention; Names
	// is the same without them, which is what another run has in common.
	Path, Names string
	// Type is its own name, the last of Names. IDs are the numbers.
	Type string
	IDs  []int
	// Parent is the path of what it is part of, empty for a layer.
	Parent string
	// Tensors are the inputs in ascending order, then the outputs.
	Tensors []Tensor
	// Params are the parameters in the order of their keys.
	Params []Param
}

// Tensor is an input or output.
type Tensor struct {
	Output bool
	Slot   int
	// File is where it was saved, or the alias of where; empty without elements.
	File string
	// Line is its line of the table, empty without: see [Tree.Row].
	Line string

	saved bool // the table names a file
}

// Param is a parameter: its key, with points where objects nest, and the JSON of its
// value.
type Param struct{ Key, JSON string }

// Tree is a round in memory, without elements.
type Tree struct {
	Recording
	// Ops are the operations, each behind its parts.
	Ops []*Op
	// Remarks tell what could not be read.
	Remarks []error

	byID map[string]*Op
	in   *stats.Reader // of the table
}

// Precision tells how exactly the table's statistics are written; see
// [stats.Reader.Precision].
func (t *Tree) Precision() (grain float64, digits int) { return t.in.Precision() }

// Forget lets go of the table and of operations without files: what [Tree.Open] needs
// stays.
func (t *Tree) Forget() {
	t.in = nil
	t.Ops = slices.DeleteFunc(t.Ops, func(op *Op) bool {
		files := false
		for i := range op.Tensors {
			op.Tensors[i].Line = ""
			files = files || op.Tensors[i].File != ""
		}
		return !files
	})
	t.byID = make(map[string]*Op, len(t.Ops))
	for _, op := range t.Ops {
		t.byID[joined(op.IDs)] = op
	}
}

// Row is what the table says of a tensor, nil if it says nothing.
func (t *Tree) Row(x *Tensor) *stats.Row { return t.in.Again(x.Line) }

// maxRemarks bounds what is told of one round.
const maxRemarks = 100

// Load reads the table and lists the files of a round. The error is one of reading
// the table.
func Load(r Recording) (*Tree, error) {
	t := &Tree{Recording: r, byID: map[string]*Op{}}
	table := filepath.Join(r.Dir, stats.File)
	in, bad := stats.Table(table, func(row *stats.Row) error { return t.line(row, table) }, t.remark)
	t.in = in
	if headings := (*stats.LineError)(nil); errors.As(bad, &headings) {
		t.remark(bad)
	} else if bad != nil {
		return nil, bad
	}
	walk(r.Dir, func(path []step, dir string, entries []fs.DirEntry) bool {
		t.folder(path, dir, entries)
		return true
	})
	if len(t.Ops) == 0 && bad != nil {
		return nil, bad // there was nothing but the table
	}
	for _, op := range t.Ops {
		for i := range op.Tensors {
			if x := &op.Tensors[i]; x.saved && x.File == "" {
				t.remark(&Error{r.Dir, -1, "no file for " + x.label(op), "the one that the table names"})
			}
		}
	}
	slices.SortFunc(t.Ops, func(a, b *Op) int { return cmp.Or(postOrder(a.IDs, b.IDs), cmp.Compare(a.Path, b.Path)) })
	for _, op := range t.Ops {
		order.Stable(op.Tensors, func(a, b Tensor) int {
			return cmp.Or(order.FalseFirst(a.Output, b.Output), cmp.Compare(a.Slot, b.Slot))
		})
	}
	return t, nil
}

// postOrder puts what is part of something ahead of it, and the rest in the order
// of their numbers.
func postOrder(a, b []int) int {
	n := min(len(a), len(b))
	if c := slices.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return cmp.Compare(len(b), len(a))
}

func (t *Tree) remark(err error) {
	if len(t.Remarks) < maxRemarks {
		t.Remarks = append(t.Remarks, err)
	}
}

// op is the operation of a path, which is made if it is new; nil if its numbers
// belong to another one.
func (t *Tree) op(path []step) *Op {
	id := idOf(path)
	op := t.byID[id]
	if op != nil {
		if op.Names != namesOf(path) {
			return nil
		}
		return op
	}
	if len(t.Ops) == maxOps {
		return nil
	}
	last := path[len(path)-1]
	op = &Op{Names: namesOf(path), Type: last.name}
	for i, s := range path {
		op.IDs = append(op.IDs, s.id)
		if i > 0 {
			op.Path += "/"
			op.Parent = op.Path[:len(op.Path)-1]
		}
		op.Path += strconv.Itoa(s.id) + "_" + s.name
	}
	t.byID[id] = op
	t.Ops = append(t.Ops, op)
	return op
}

func idOf(path []step) string {
	return joined(each.Of(path, func(s step) int { return s.id }))
}

func namesOf(path []step) string {
	return strings.Join(each.Of(path, func(s step) string { return s.name }), "/")
}

// tensor is a tensor of an operation, which is made if it is new.
func (o *Op) tensor(output bool, slot int) *Tensor {
	for i := range o.Tensors {
		if x := &o.Tensors[i]; x.Output == output && x.Slot == slot {
			return x
		}
	}
	o.Tensors = append(o.Tensors, Tensor{Output: output, Slot: slot})
	return &o.Tensors[len(o.Tensors)-1]
}

// line takes a line of the table.
func (t *Tree) line(row *stats.Row, path string) error {
	names, ids := strings.Split(row.OpName, "/"), strings.Split(row.OpID, "_")
	bad := &Error{path, -1, fmt.Sprintf("operation %.80q with the numbers %.40q", row.OpName, row.OpID), "a number for each name"}
	if len(names) != len(ids) || len(names) > maxDepth {
		return bad
	}
	steps := make([]step, len(names))
	for i := range names {
		n, ok := dump.Small(ids[i])
		if !ok || names[i] == "" {
			return bad
		}
		steps[i] = step{n, names[i]}
	}
	slot, ok := dump.Small(row.Slot)
	op := t.op(steps)
	if !ok || op == nil {
		bad.Expected = "one operation for its numbers"
		return bad
	}
	if len(op.Tensors) == maxTensors {
		return &Error{path, -1, fmt.Sprintf("more than %d tensors of %s", maxTensors, op.Path), "fewer"}
	}
	x := op.tensor(row.Output, slot)
	if x.Line != "" {
		return &Error{path, -1, fmt.Sprintf("a second line for %s", x.label(op)), "one"}
	}
	x.Line, x.saved = row.Text, row.Path != ""
	return nil
}

func (x *Tensor) label(op *Op) string {
	if x.Output {
		return fmt.Sprintf("%s output %d", op.Path, x.Slot)
	}
	return fmt.Sprintf("%s input %d", op.Path, x.Slot)
}

// maxTensors is more than any operation has.
const maxTensors = 1 << 12

// folder takes the folder of an operation.
func (t *Tree) folder(path []step, dir string, entries []fs.DirEntry) {
	var op *Op
	made := func() *Op {
		if op == nil {
			if op = t.op(path); op == nil {
				t.remark(&Error{dir, -1, "another operation with the numbers " + idOf(path), "one"})
			}
		}
		return op
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir() && (name == before || name == after):
			files, err := os.ReadDir(filepath.Join(dir, name))
			if err != nil {
				t.remark(err)
			}
			for _, f := range files {
				output, slot, ok := tensorFile(f.Name())
				if !ok || !f.Type().IsRegular() && f.Type()&fs.ModeSymlink == 0 || output != (name == after) || made() == nil || len(op.Tensors) == maxTensors {
					continue
				}
				if x := op.tensor(output, slot); x.File == "" {
					x.File = filepath.Join(dir, name, f.Name())
				}
			}
		case name == paramFile && made() != nil:
			params, err := readParams(filepath.Join(dir, name))
			if err != nil {
				t.remark(err)
			}
			op.Params = params
		}
	}
}

// paramFile holds the parameters of an operation.
const paramFile = "op_param.json"

// Limits of parameters.
const (
	maxParamFile = 1 << 20
	maxParams    = 1 << 10
)

// readParams reads a file of parameters.
func readParams(path string) (params []Param, err error) {
	text, err := plainfile.ReadFile(path, "parameters of an operation", maxParamFile)
	if err != nil {
		return nil, err
	}
	if err := flatten(text, "", 0, &params); err != nil {
		return nil, &Error{path, -1, err.Error(), "an object of JSON"}
	}
	return params, nil
}

// flatten lists the values of an object, those of objects in it under their path.
func flatten(text json.RawMessage, prefix string, depth int, to *[]Param) (err error) {
	defer must.Catch(&err)
	var object map[string]json.RawMessage
	must.Do(json.Unmarshal(text, &object))
	for _, k := range slices.Sorted(maps.Keys(object)) {
		value := object[k]
		if len(value) > 0 && value[0] == '{' && depth < maxDepth {
			must.Do(flatten(value, prefix+k+".", depth+1, to))
			continue
		}
		must.Not(len(*to) == maxParams, "more than %d values", maxParams)
		*to = append(*to, Param{prefix + k, string(value)})
	}
	return nil
}
