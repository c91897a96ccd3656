package engine

import (
	"slices"
	"strings"
	"sync"

	"precision/compare/result"
	"precision/dump"
	"precision/graph"
	"precision/graph/fusion"
	catalogue "precision/op"
)

// Computes tells whether an operator of a graph leaves a dump: a kernel computes it.
func Computes(op *graph.Op) bool {
	return catalogue.Kernel(op.Type)
}

// operators are those of the table: of the graph with what feeds them, or
// without one the recorded ones.
func (e *engine) operators() (ops []result.Operator) {
	if rules := e.opt.Rules; rules != nil {
		return e.graphOperators(rules)
	}
	for i, op := range byTime(e.opt.Left) {
		ops = append(ops, result.Operator{Name: op.Key, Type: op.Newest().Name.OpType, Index: i, Order: i, Dumped: true})
	}
	return ops
}

func (e *engine) graphOperators(rules *fusion.Rules) []result.Operator {
	ops := make([]result.Operator, 0, len(rules.Ops))
	final := finals(rules)
	for _, op := range rules.Ops {
		o := result.Operator{
			Name: op.Name, Type: op.Type, Index: op.Group.Index, Order: e.opt.Rules.Turn(op),
			Constant: catalogue.Is(op.Type, catalogue.Constant), NoKernel: catalogue.Is(op.Type, catalogue.Control),
			Inner:   len(op.Group.Ops) > 1 && (op.Inner() || op.Group.Relation == fusion.L1Fusion && op != op.Group.Ops[0]),
			Skipped: op.Filtered || quantiser(op),
			Dumped:  e.leftFiles(op.Name) != nil,
			Outputs: len(op.Op.OutputDesc),
			Final:   final[op] != nil,
			Leaves:  final[op],
		}
		if catalogue.Is(op.Type, catalogue.Feed) {
			// The Data of a called graph passes on what its caller is fed with.
			_, called := graph.Parameter(op.Op)
			o.Feed, o.NoKernel = !called, called
		}
		o.Framework = withoutEmpty(op.OriginNames)
		o.Inserted = o.Framework == nil && !o.Constant && !o.Feed && !o.NoKernel
		if n := len(op.Inputs); n > 0 {
			o.Inputs = make([]result.Port, n)
		}
		for slot := range op.Inputs {
			o.Inputs[slot] = e.producer(op, slot)
		}
		ops = append(ops, o)
	}
	return ops
}

// withoutEmpty are the names that are not empty: the list itself where all are, nil
// without any.
func withoutEmpty(names []string) (list []string) {
	if !slices.Contains(names, "") {
		return names
	}
	for _, name := range names {
		if name != "" {
			list = append(list, name)
		}
	}
	return list
}

// finals are the operators whose outputs the network returns, with these outputs: what
// feeds its NetOutput, or where there is none what nothing is computed from.
func finals(rules *fusion.Rules) map[*fusion.Op][]int64 {
	set := map[*fusion.Op][]int64{}
	fed := func(op *fusion.Op, visit func(*fusion.Op, int)) {
		for slot := range op.Inputs {
			sources, _ := rules.Sources(op, slot)
			for _, s := range sources {
				visit(s.Op, s.Output)
			}
		}
	}
	for _, op := range rules.Ops {
		if op.Type == "NetOutput" && !rules.Called(op) {
			fed(op, func(p *fusion.Op, output int) {
				if at, found := slices.BinarySearch(set[p], int64(output)); !found {
					set[p] = slices.Insert(set[p], at, int64(output))
				}
			})
		}
	}
	if len(set) > 0 {
		return set
	}
	// What only silent operators take, as Exit and End, is returned all the same.
	used := make([]bool, len(rules.Ops))
	var todo []*fusion.Op
	use := func(p *fusion.Op, _ int) {
		if at := p.Place(); at >= 0 && !used[at] {
			used[at] = true
			todo = append(todo, p)
		}
	}
	for _, op := range rules.Ops {
		if catalogue.Is(op.Type, catalogue.Control) {
			continue
		}
		for fed(op, use); len(todo) > 0; {
			p := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			fed(p, use)
		}
	}
	for i, op := range rules.Ops {
		if !used[i] && catalogue.Kernel(op.Type) {
			set[op] = []int64{}
		}
	}
	return set
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
