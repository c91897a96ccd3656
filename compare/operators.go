package compare

import (
	"context"

	"precision/compare/result"
	"precision/dump"
	"precision/graph/fusion"
)

// Operators that no kernel computes.
var (
	// constants hold weights, literals and state.
	constants = typeSet("Const", "Constant", "ConstPlaceHolder", "FileConstant", "Variable", "VariableV2", "RefData", "HostConst")
	// feeds bring the inputs of the network.
	feeds = typeSet("Data", "AippData", "Placeholder", "GetNext", "IteratorV2", "QueueData")
	// silent operators move no data of their own and leave no dump.
	silent = typeSet("NetOutput", "NoOp", "Send", "Recv", "StreamActive", "StreamSwitch", "StreamMerge", "LabelSet", "LabelGoto", "LabelGotoEx",
		"LabelSwitchByIndex", "AtomicAddrClean", "MemSet", "PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "While", "StatelessWhile",
		"Case", "StatelessCase", "For", "Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "LoopCond", "ControlTrigger", "End")
)

func typeSet(types ...string) map[string]bool {
	set := make(map[string]bool, len(types))
	for _, t := range types {
		set[t] = true
	}
	return set
}

// Table is that of the folders, with how their pairs were found.
func (s *Session) Table() *result.Table {
	t := s.Folders.Table()
	if s.arrays != nil {
		t.Ops = s.arrays.Table().Ops
	}
	m := &t.Meta
	m.Left.Recording, m.Left.Others = s.Left.Recording, s.Left.Others
	m.Right.Recording, m.Right.Others = s.Right.Recording, s.Right.Others
	m.Graph, m.GraphHow = s.Graph, s.GraphHow
	m.Pairing.Why, m.Pairing.Covered = s.Notes, s.Covered
	m.Warnings = s.Warnings
	return t
}

// Groups are those of the folders.
func (s *Session) Groups() []Group {
	if s.arrays != nil {
		return s.arrays.Groups()
	}
	return s.Folders.Groups()
}

func (s *Session) revision() func([]result.Row) { return s.Folders.revision() }

// Run compares the sides; see [Run].
func (s *Session) Run(ctx context.Context, emit ...func(*result.Row) error) (*Outcome, error) {
	return Run(ctx, s, s.Folders.Options, emit...)
}

// kindOf names the kind of recordings in a folder.
func kindOf(f *dump.Folder) string {
	switch {
	case f.Kind == dump.Offline:
		return "npu"
	case f.Kind == dump.Quant:
		return "quantised"
	case f.Numpy:
		return "numpy"
	}
	return f.Kind.String()
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
	for i, op := range rules.Ops {
		o := result.Operator{
			Name: op.Name, Type: op.Type, Index: op.Group.Index, Order: i,
			Constant: constants[op.Type], NoKernel: silent[op.Type],
			Inner:   len(op.Group.Ops) > 1 && op.Inner(),
			Skipped: op.Filtered || quantiser(op),
			Dumped:  e.leftFiles(op.Name) != nil,
			Outputs: len(op.Op.OutputDesc),
			Final:   final[op],
		}
		if feeds[op.Type] {
			// The Data of a called graph passes on what its caller is fed with.
			_, called := op.Op.Attr("_parent_node_index").Int()
			o.Feed, o.NoKernel = !called, called
		}
		for _, name := range op.OriginNames {
			if name != "" {
				o.Framework = append(o.Framework, name)
			}
		}
		o.Inserted = o.Framework == nil && !o.Constant && !o.Feed && !o.NoKernel
		for slot := range op.Inputs {
			var from result.Port
			if p, output, err := rules.Producer(op, slot); err == nil {
				from = result.Port{Op: p.Name, Index: output}
			}
			o.Inputs = append(o.Inputs, from)
		}
		ops = append(ops, o)
	}
	return ops
}

// finals are the operators whose outputs the network returns: what feeds its
// NetOutput, or where there is none what feeds nothing.
func finals(rules *fusion.Rules) map[*fusion.Op]bool {
	set, fed := map[*fusion.Op]bool{}, map[*fusion.Op]bool{}
	for _, op := range rules.Ops {
		for slot := range op.Inputs {
			p, _, err := rules.Producer(op, slot)
			if err != nil {
				continue
			}
			fed[p] = true
			if _, called := netOutput(op); op.Type == "NetOutput" && !called {
				set[p] = true
			}
		}
	}
	if len(set) > 0 {
		return set
	}
	for _, op := range rules.Ops {
		if !fed[op] && !constants[op.Type] && !feeds[op.Type] && !silent[op.Type] {
			set[op] = true
		}
	}
	return set
}

// netOutput tells of a NetOutput whether it returns to a calling operator.
func netOutput(op *fusion.Op) (index int64, called bool) {
	for i := range op.Op.InputDesc {
		if n, ok := op.Op.InputDesc[i].Attr("_parent_node_index").Int(); ok {
			return n, true
		}
	}
	return 0, false
}
