package compare

import (
	"fmt"
	"slices"
	"strings"
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

func newEngine(f *Folders) *engine {
	e := &engine{opt: f}
	e.asBuilt, e.handedOn = sync.OnceValue(e.headersHold), sync.OnceValue(e.inputsHold)
	if f.Rules == nil || f.byGraph() {
		return e
	}
	e.byKey = make(map[string]*fusion.Op, len(f.Rules.Ops))
	for _, op := range f.Rules.Ops {
		if key := dump.Normalise(op.Name); e.byKey[key] == nil {
			e.byKey[key] = op
		}
	}
	return e
}

// Table says what is compared with what, and which operators there are.
func (f *Folders) Table() *result.Table {
	t := &result.Table{Meta: f.Options.Meta(), Ops: newEngine(f).operators()}
	m := &t.Meta
	m.Left = result.Side{Dir: f.Left.Dir, Kind: f.Left.Described()}
	m.Right = result.Side{Dir: f.Right.Dir, Kind: f.Right.Described()}
	m.Pairing.How = f.How()
	m.Partial = m.Partial || f.Only != nil
	return t
}

// Groups are those of the graph, or the operators in the order of their dumps.
func (f *Folders) Groups() []Group {
	e := newEngine(f)
	switch {
	case f.byGraph():
		wanted := f.Rules.Groups
		if f.Only != nil || f.Glance != nil {
			wanted = slices.DeleteFunc(slices.Clone(wanted), func(g *fusion.Group) bool {
				return f.Only != nil && !f.Only(g) ||
					f.Glance != nil && !slices.ContainsFunc(g.Ops, func(op *fusion.Op) bool { return f.Glance.wants(op.Name) })
			})
		}
		return foreseen(wanted, e.group, e.groupFiles)
	case f.Right.Device():
		var list []Group
		for _, p := range pairOps(f.Left, f.Right) {
			if p.left == nil || f.Glance.wants(p.left.Key) {
				list = append(list, e.direct(p))
			}
		}
		return list
	default:
		e.rightOps = arrayNames(f.Right)
		var wanted []pairOp
		for i, op := range byTime(f.Left) {
			if f.Glance.wants(op.Key) {
				wanted = append(wanted, pairOp{index: i, left: op})
			}
		}
		return foreseen(wanted, e.named, e.namedFiles)
	}
}

// arrayNames are the operators of which a folder has golden arrays.
func arrayNames(f *dump.Folder) map[string]bool {
	names := map[string]bool{}
	if f.Device() {
		return names
	}
	for _, op := range f.Ops {
		if i := strings.LastIndexByte(op.Key, '.'); i >= 0 {
			names[op.Key[:i]] = true
		}
	}
	return names
}
