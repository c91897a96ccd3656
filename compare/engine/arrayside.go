package engine

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump"
)

// ArraySide is a folder of arrays as a side: outputs of operators, in files
// name.output.time.npy.
type ArraySide struct{ *dump.Folder }

// Dir is the folder.
func (s ArraySide) Dir() string { return s.Folder.Dir }

// Kind is that of arrays: numpy, or quantised.
func (s ArraySide) Kind() string { return s.Folder.Described() }

// Operators are in the order in which their first outputs were written.
func (s ArraySide) Operators() iter.Seq[SideOperator] {
	var list []*SideOperator
	byName := map[string]*SideOperator{}
	for _, f := range byTime(s.Folder) {
		i := strings.LastIndexByte(f.Key, '.')
		if i < 0 {
			continue
		}
		slot, err := strconv.Atoi(f.Key[i+1:])
		if err != nil {
			continue
		}
		op := byName[f.Key[:i]]
		if op == nil {
			op = s.operator(f.Key[:i])
			byName[op.Name] = op
			list = append(list, op)
		}
		op.Outputs = append(op.Outputs, slot)
	}
	var ordered []*SideOperator
	var add func(op *SideOperator)
	add = func(op *SideOperator) { // behind what feeds it and was not recorded
		for _, from := range op.Feeds {
			if byName[from.Op] == nil {
				byName[from.Op] = s.operator(from.Op)
				add(byName[from.Op])
			}
		}
		ordered = append(ordered, op)
	}
	for _, op := range list {
		add(op)
	}
	return func(yield func(SideOperator) bool) {
		for _, op := range ordered {
			slices.Sort(op.Outputs)
			if !yield(*op) {
				return
			}
		}
	}
}

// operator is one of a name, with what the recording tells of it beside its tensors.
func (s ArraySide) operator(name string) *SideOperator {
	op := &SideOperator{Name: name}
	var feeds []dump.Port
	op.Type, feeds = s.Made(name)
	for _, from := range feeds {
		op.Feeds = append(op.Feeds, result.Port{Op: from.Op, Index: from.Output})
	}
	return op
}

// Open opens the newest array of an output.
func (s ArraySide) Open(op string, _ result.Role, slot int) (*SideTensor, error) {
	files := s.Folder.Output(op, slot)
	if files == nil {
		return nil, &MissingError{op}
	}
	r, err := files.Newest().Open()
	if err != nil {
		return nil, err
	}
	return onlyTensor(r)
}

// onlyTensor is the only tensor of a file, in the order of its axes. The file is closed where it cannot be read.
func onlyTensor(r *dump.Reader) (*SideTensor, error) {
	t := &r.Outputs[0]
	v, err := t.View()
	if t.Err != nil {
		err = t.Err
	}
	var o *operand
	if err == nil {
		o, err = viewOperand(r, t.Offset, t.Type, t.BigEndian, v)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return &SideTensor{o.tensor(shapeOf(t)), r.Path, r.Close}, nil
}
