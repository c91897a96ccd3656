package engine

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"precision/compare/result"
	"precision/dump"
	"precision/graph/fusion"
)

// Folders are a source of pairs: two folders of recordings, brought together by
// a graph or by the names of operators.
type Folders struct {
	Options
	// Left is the folder with the NPU dumps, Right the other side.
	Left, Right *dump.Folder
	// Rules is the fusion structure of the graph; nil matches operators by
	// name.
	Rules *fusion.Rules
	// ByName pairs operators by name although Rules are known: these still tell
	// the order of operators and what feeds an input.
	ByName bool
	// Only chooses the operator groups to compare; nil takes all.
	Only func(*fusion.Group) bool
	// Sequence adds the column OpSequence, as a range or a selection does.
	Sequence bool
}

// Validate fills in defaults and checks what is to be compared.
func (f *Folders) Validate() error {
	if f.Left == nil || f.Right == nil {
		return fmt.Errorf("two folders are needed: the NPU dumps and the golden side")
	}
	return f.Options.Validate()
}

// byGraph tells whether the graph says what belongs together.
func (f *Folders) byGraph() bool { return f.Rules != nil && !f.ByName }

// How tells what pairs are found by.
func (f *Folders) How() result.How {
	if f.byGraph() {
		return result.ByGraph
	}
	return result.ByName
}

// Columns are the columns of the result table as csv.
func (f *Folders) Columns() result.Columns {
	return f.dialect().columns(result.Columns{
		Sequence:     f.Sequence,
		LeftAddress:  !f.Left.Numpy,
		RightAddress: !f.Right.Numpy,
		Overflow:     f.Overflow && !f.Left.Numpy,
		Values:       f.Values(),
	}, f.byGraph())
}

// engine pairs the operators of two folders.
type engine struct {
	opt   *Folders
	byKey map[string]*fusion.Op // by name as dumps spell it, where operators are paired by name
	// rightOps are the operators of which there are golden arrays.
	rightOps map[string]bool
	// asBuilt tells whether the headers of the dumps are, by and large, as the graph has them; handedOn whether inputs
	// without golden tensors are, by and large, the outputs that made them.
	asBuilt, handedOn func() bool
	// framework is how the golden side keeps axes, where no graph says it.
	framework framework
}

// pairOp is an operator of either side or both.
type pairOp struct {
	index       int
	left, right *dump.Op
}

// pairOps numbers the operators: those of the left side in the time order of
// their newest files, then those only the right side has, in its order.
func pairOps(left, right *dump.Folder) (out []pairOp) {
	partner := map[string]*dump.Op{}
	for _, op := range byTime(right) {
		partner[op.Key] = op
	}
	for _, op := range byTime(left) {
		out = append(out, pairOp{len(out), op, partner[op.Key]})
		delete(partner, op.Key)
	}
	for _, op := range byTime(right) {
		if partner[op.Key] == op {
			out = append(out, pairOp{len(out), nil, op})
		}
	}
	return out
}

// framework is the order of axes of the golden side, as far as its tensors tell.
type framework struct {
	once     sync.Once
	last, ok bool
}

// newestTime is when the newest file was written, in microseconds; 0 when its
// name does not tell.
func newestTime(op *dump.Op) uint64 {
	if n := &op.Newest().Name; n.HasTime {
		return n.Time
	}
	return 0
}

// byTime lists operators in the order of their newest files.
func byTime(f *dump.Folder) []*dump.Op {
	ops := slices.Clone(f.Ops)
	slices.SortStableFunc(ops, func(a, b *dump.Op) int { return cmp.Compare(newestTime(a), newestTime(b)) })
	return ops
}
