package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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

// mostMissing bounds how many operators are told of that a graph lacks.
const mostMissing = 100

// Table is that of the folders, with how their pairs were found.
func (s *Session) Table() *result.Table {
	t := s.Folders.Table()
	if s.arrays != nil {
		t.Ops = s.arrays.Table().Ops
	}
	s.lines(t.Ops)
	m := &t.Meta
	m.Left.Recording, m.Left.Others = s.Left.Recording, s.Left.Others
	m.Right.Recording, m.Right.Others = s.Right.Recording, s.Right.Others
	m.Graph, m.GraphHow = s.Graph, s.GraphHow
	m.Pairing.Why, m.Pairing.Covered = s.Notes, s.Covered
	m.Warnings = texts(s.Warnings)
	for _, w := range s.Warnings {
		if strange := (*StrangersWarning)(nil); errors.As(w, &strange) {
			m.Strangers, m.Dumped, m.Strange = strange.Strangers, strange.Of, strange.Some
		}
	}
	for _, side := range []*dump.Folder{s.Folders.Left, s.Folders.Right} {
		for _, d := range side.Damaged {
			m.Damaged = append(m.Damaged, result.Damage{Name: filepath.Base(d.File), File: d.File, Offset: d.Offset, Reason: result.Because(result.Text, d.What)})
		}
	}
	if rules := s.Folders.Rules; rules != nil {
		for _, e := range rules.Missing(mostMissing) {
			text := fmt.Sprintf("%s: found the input %s of %s, expected an operator %s", rules.Path, e.Input, e.Of, e.Name)
			m.Damaged = append(m.Damaged, result.Damage{Name: e.Name, File: rules.Path, Offset: -1, Reason: result.Because(result.Text, text)})
		}
	}
	return t
}

// lines gives operators the lines of the program that made them, where a side knows these.
func (s *Session) lines(ops []result.Operator) {
	for _, side := range []*dump.Folder{s.Folders.Right, s.Folders.Left} {
		for i := range ops {
			of := func(name string) { ops[i].Lines = cmp.Or(ops[i].Lines, strings.Join(side.Lines(name), "\n")) }
			for _, name := range ops[i].Framework {
				of(name)
			}
			of(ops[i].Name)
		}
	}
}

// Groups are those of the folders.
func (s *Session) Groups() []Group {
	if s.arrays != nil {
		return s.arrays.Groups()
	}
	return s.Folders.Groups()
}

func (s *Session) Revision() func([]result.Row) { return s.Folders.Revision() }

// Run compares the sides; see [Run].
func (s *Session) Run(ctx context.Context, emit ...func(*result.Row) error) (*Outcome, error) {
	return Run(ctx, s, s.Folders.Options, emit...)
}

// operators are those of the table: of the graph with what feeds them, or
// without one the recorded ones.
func (e *engine) operators() []result.Operator {
	if rules := e.opt.Rules; rules != nil {
		return e.graphOperators(rules)
	}
	var ops []result.Operator
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
func withoutEmpty(names []string) []string {
	if !slices.Contains(names, "") {
		return names
	}
	var list []string
	for _, name := range names {
		if name != "" {
			list = append(list, name)
		}
	}
	return list
}

// producer is the output that made what arrives at an input, over the borders of
// called graphs; the zero Port where the graph does not tell. Of several branches
// it is the one that ran, as far as recordings tell.
func (e *engine) producer(op *fusion.Op, slot int) result.Port {
	sources, err := e.opt.Rules.Sources(op, slot)
	if err != nil || len(sources) == 0 {
		return result.Port{}
	}
	from := sources[0]
	for _, s := range sources[1:] {
		if e.leftFiles(from.Op.Name) != nil {
			break
		}
		if e.leftFiles(s.Op.Name) != nil {
			from = s
		}
	}
	return result.Port{Op: from.Op.Name, Index: from.Output}
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
