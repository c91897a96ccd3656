package torch

import (
	"fmt"
	"io"

	"precision/dump/dtype"
	"precision/internal/must"
)

// Checkpoints hold more than tensors: arguments of the training, states of random numbers, plans of who wrote what. Such
// values are taken as they lie there, a class by its name with what it is made of; nothing of any class is run.

// object is a value of some class.
type object struct {
	class name
	state any
}

// bytesOf are bytes, which nobody looks at.
type bytesOf []byte

// ReadAll reads the tensors of a checkpoint like [Read], also the parameters and buffers of modules, and passes over values that are no
// tensors, whatever their class.
func ReadAll(r io.ReaderAt, size int64) (_ *File, err error) {
	defer must.Catch(&err)
	return read(r, size, true), nil
}

// make is an operation that makes or fills a value of any class.
func (m *machine) make(op byte) {
	switch op {
	case opNewObj, opNewObjEx:
		items := m.last(map[byte]int{opNewObj: 2, opNewObjEx: 3}[op])
		class, _ := items[0].(name)
		m.spend(costItem * 4)
		m.push(&object{class: class})
	case opEmptySet:
		m.push(&list{})
	case opAddItems:
		m.fill(opAppends)
	case opFrozenSet:
		m.push(&list{m.items()})
	case opPop:
		m.pop()
	default:
		n := m.number(map[byte]uint64{opBytes1: 1, opBytes4: 4, opBytes8: 8, opByteArray: 8}[op])
		m.push(bytesOf(m.kept(n)))
	}
}

// makes are the operations of make.
var makes = map[byte]bool{opNewObj: true, opNewObjEx: true, opEmptySet: true, opAddItems: true, opFrozenSet: true, opPop: true,
	opBytes1: true, opBytes4: true, opBytes8: true, opByteArray: true}

// Stored is a tensor of a checkpoint of torch.distributed.checkpoint, in pieces.
type Stored struct {
	Name   string
	Type   dtype.Type
	Shape  []int64
	Pieces []Piece
}

// Piece is a part of a tensor: Shape elements from Offset on, in a file of torch.save that lies in another one.
type Piece struct {
	Offset, Shape []int64
	File          string
	At, Length    int64
}

// mostMetadata is more than any plan of a checkpoint: 500 bytes a piece, a million pieces.
const mostMetadata = 512 << 20

// ReadMetadata reads what the file .metadata of a checkpoint of torch.distributed.checkpoint says of its tensors.
func ReadMetadata(r io.Reader) (_ []Stored, err error) {
	defer must.Catch(&err)
	code := must.Get(io.ReadAll(io.LimitReader(r, mostMetadata+1)))
	must.Not(len(code) > mostMetadata, "more than %d bytes", mostMetadata)
	m := &machine{code: code, left: valueMemory + 16*int64(len(code)), any: true, find: func(m *machine, _ tuple) *storage {
		m.refuse("a storage, which a plan has none of")
		return nil
	}}
	v := m.run()
	top := fields(v)
	where := map[string]Piece{} // by name and offset
	files, _ := top["storage_data"].(*dict)
	if files != nil {
		for i, key := range files.keys {
			index, info := fields(key), fields(files.values[i])
			fqn, _ := index["fqn"].(string)
			file, _ := info["relative_path"].(string)
			at, _ := info["offset"].(int64)
			length, _ := info["length"].(int64)
			where[fqn+fmt.Sprint(wholes(index["offset"]))] = Piece{File: file, At: at, Length: length}
		}
	}
	plan, ok := top["state_dict_metadata"].(*dict)
	if !ok {
		must.Do(&FormatError{Offset: -1, Found: describe(v), Expected: "the metadata of torch.distributed.checkpoint"})
	}
	var all []Stored
	for i, key := range plan.keys {
		fqn, _ := key.(string)
		f := fields(plan.values[i])
		chunks, ok := f["chunks"].(*list)
		if !ok {
			continue // no tensor
		}
		s := Stored{Name: fqn, Shape: wholes(f["size"])}
		s.Type = typeIn(f["properties"])
		for _, c := range chunks.items {
			piece := fields(c)
			offset := wholes(piece["offsets"])
			p, ok := where[fqn+fmt.Sprint(offset)]
			if !ok {
				must.Do(&FormatError{Offset: -1, Found: fmt.Sprintf("no file of the piece at %v of %s", offset, quoted(fqn)), Expected: "one"})
			}
			p.Offset, p.Shape = offset, wholes(piece["sizes"])
			s.Pieces = append(s.Pieces, p)
		}
		all = append(all, s)
	}
	return all, nil
}

// fields are those of an object, by name.
func fields(v any) map[string]any {
	out := map[string]any{}
	o, ok := v.(*object)
	if !ok {
		return out
	}
	state := o.state
	if t, ok := state.(tuple); ok && len(t) == 2 { // of a class with slots
		state = t[1]
		if state == nil {
			state = t[0]
		}
	}
	if d, ok := state.(*dict); ok {
		for i, k := range d.keys {
			if name, ok := k.(string); ok {
				out[name] = d.values[i]
			}
		}
	}
	return out
}

func wholes(v any) []int64 {
	var items []any
	switch v := v.(type) {
	case tuple:
		items = v
	case *list:
		items = v.items
	}
	out := make([]int64, len(items))
	for i := range items {
		out[i], _ = items[i].(int64)
	}
	return out
}

// typeIn is the element type among the properties of a tensor.
func typeIn(v any) dtype.Type {
	o, ok := v.(*object)
	if !ok {
		return dtype.Undefined
	}
	candidates := []any{fields(v)["dtype"]}
	if t, ok := o.state.(tuple); ok {
		candidates = append(candidates, t...)
	}
	for _, x := range candidates {
		if n, ok := x.(name); ok && n.module == "torch" {
			if t, ok := dtype.FromFramework(n.name); ok {
				return t
			}
		}
	}
	return dtype.Undefined
}

// The values a pickle can make here. None, truth values, numbers and texts are
// nil, bool, int64, float64 and string; nothing else exists.
type (
	// tuple is a tuple, and a torch.Size.
	tuple []any
	// list is a list; it is shared by all that refer to it.
	list struct{ items []any }
	// dict is a dict or an OrderedDict, in the order of its file.
	dict struct{ keys, values []any }
	// name is a class, function or constant of a module, which is only
	// compared with the names that tensors need.
	name struct{ module, name string }
	// long is a whole number beyond int64, little-endian.
	long []byte
	// marker is where a run of items starts on the stack.
	marker struct{}
)

func (n name) String() string { return n.module + "." + n.name }

// describe names the sort of a value for a message.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a truth value"
	case int64, long:
		return "a whole number"
	case float64:
		return "a number"
	case string:
		return "the text " + quoted(v)
	case tuple:
		return fmt.Sprintf("a tuple of %d", len(v))
	case *list:
		return fmt.Sprintf("a list of %d", len(v.items))
	case *dict:
		return fmt.Sprintf("a dict of %d", len(v.keys))
	case name:
		return v.String()
	case *storage:
		return "a storage"
	case *Tensor:
		return "a tensor"
	case *object:
		return "a value of " + v.class.String()
	case bytesOf:
		return "bytes"
	case marker:
		return "a mark"
	}
	return fmt.Sprintf("%T", v)
}
