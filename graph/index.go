package graph

// Index answers questions about the edges of a model. It is built once and can then be used by several goroutines.
type Index struct {
	*Calls
	Model *Model
	Ops   []*Op // of all graphs, in file order

	names map[*Graph]map[string]*Op

	// Edges by operator number: links[linkAt[n]:linkAt[n+1]] are what feeds operator n, uses[useAt[n]:useAt[n+1]] what
	// it feeds.
	links  []Input
	linkAt []int32
	uses   []use
	useAt  []int32
}

// Input is one entry of an operator's input list, with what it refers to.
type Input struct {
	Slot  int         // data input slot, ControlIndex for a control edge
	Edge  Edge        // entry as it stands in the graph
	From  *Op         // producer, nil for an unconnected slot and for a name the graph does not have
	Desc  *TensorDesc // of the slot; nil for control edges and where the graph has none
	Index int         // output of the producer, ControlIndex for a control edge, NoIndex for an unconnected or malformed entry
}

// Port is an input or output of an operator. Index is ControlIndex where a control edge ends.
type Port struct {
	Op    *Op
	Index int
}

type use struct {
	out  int32
	slot int32
	op   *Op
}

// NewIndex prepares a model for questions. Sub graphs that call each other in a circle give an *[Error].
func NewIndex(m *Model) (*Index, error) {
	m.Own()
	x := &Index{Calls: NewCalls(m), Model: m, names: make(map[*Graph]map[string]*Op, len(m.Graphs))}
	if err := x.CheckCircles(m); err != nil {
		return nil, err
	}
	edges := 0
	for _, g := range m.Graphs {
		names := make(map[string]*Op, len(g.Ops))
		for _, o := range g.Ops {
			if _, ok := names[o.Name]; !ok {
				names[o.Name] = o
			}
			edges += len(o.Inputs)
			x.Ops = append(x.Ops, o)
		}
		x.names[g] = names
	}
	x.link(edges)
	return x, nil
}

// link resolves the input lists and inverts them.
func (x *Index) link(edges int) {
	x.links = make([]Input, 0, edges)
	x.linkAt = make([]int32, len(x.Ops)+1)
	x.useAt = make([]int32, len(x.Ops)+1)
	for n, o := range x.Ops {
		slot := 0
		names := x.names[o.Graph]
		for _, e := range o.Inputs {
			in := Input{Slot: slot, Edge: e, Index: int(e.Index)}
			if e.IsControl() {
				in.Slot = ControlIndex
			} else {
				if slot < len(o.InputDesc) {
					in.Desc = &o.InputDesc[slot]
				}
				slot++
			}
			if e.Index >= ControlIndex {
				if in.From = names[e.Producer()]; in.From != nil {
					x.useAt[in.From.num+1]++
				}
			}
			x.links = append(x.links, in)
		}
		x.linkAt[n+1] = int32(len(x.links))
	}
	for n := range x.Ops {
		x.useAt[n+1] += x.useAt[n]
	}
	x.uses = make([]use, x.useAt[len(x.Ops)])
	next := append([]int32(nil), x.useAt...)
	for n, o := range x.Ops {
		for _, in := range x.links[x.linkAt[n]:x.linkAt[n+1]] {
			if in.From != nil {
				x.uses[next[in.From.num]] = use{out: int32(in.Index), slot: int32(in.Slot), op: o}
				next[in.From.num]++
			}
		}
	}
}

// Inputs returns what feeds op: data slots in order, then control edges. The slice must not be changed.
func (x *Index) Inputs(op *Op) []Input { return x.links[x.linkAt[op.num]:x.linkAt[op.num+1]] }

// Input returns the data input slot of op; false if it has no such slot.
func (x *Index) Input(op *Op, slot int) (Input, bool) {
	inputs := x.Inputs(op)
	if slot >= 0 && slot < len(inputs) && inputs[slot].Slot == slot { // control edges come last
		return inputs[slot], true
	}
	for _, in := range inputs {
		if in.Slot == slot {
			return in, slot >= 0
		}
	}
	return Input{}, false
}

// Consumers returns the inputs that output out of op feeds, in file order of their operators.
func (x *Index) Consumers(op *Op, out int) (ports []Port) {
	for _, u := range x.uses[x.useAt[op.num]:x.useAt[op.num+1]] {
		if int(u.out) == out && out >= 0 {
			ports = append(ports, Port{u.op, int(u.slot)})
		}
	}
	return ports
}

// ControlConsumers returns the operators that wait for op through a control edge.
func (x *Index) ControlConsumers(op *Op) (ops []*Op) {
	for _, u := range x.uses[x.useAt[op.num]:x.useAt[op.num+1]] {
		if u.out == ControlIndex {
			ops = append(ops, u.op)
		}
	}
	return ops
}

// maxEnds bounds how many ends of one edge are looked for across sub graphs.
const maxEnds = 1024

// Sources returns the outputs that really feed data input slot of op. Where the producer is a Data operator of a
// called graph, it is what the callers feed in; where it is a calling operator, what the called graphs return. There
// are several for operators with branches and for graphs called from several places.
func (x *Index) Sources(op *Op, slot int) []Port {
	in, ok := x.Input(op, slot)
	if !ok || in.From == nil {
		return nil
	}
	return x.Origins(Port{in.From, in.Index})
}

// Origins is Sources for an output: itself, unless it only passes on what comes from another graph.
func (x *Index) Origins(p Port) (out []Port) {
	seen := map[Port]bool{}
	todo := []Port{p}
	for len(todo) > 0 && len(seen) < maxEnds {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.Op == nil || seen[p] {
			continue
		}
		seen[p] = true
		var next []Port
		if p.Index == 0 {
			if k, ok := Parameter(p.Op); ok {
				for _, c := range x.Callers(p.Op.Graph) {
					if in, ok := x.Input(c, k); ok && in.From != nil {
						next = append(next, Port{in.From, in.Index})
					}
				}
			}
		}
		for _, g := range x.Callees(p.Op) {
			if in, ok := x.result(g, p.Index); ok && in.From != nil {
				next = append(next, Port{in.From, in.Index})
			}
		}
		if next == nil {
			out = append(out, p)
		}
		for i := len(next) - 1; i >= 0; i-- {
			todo = append(todo, next[i])
		}
	}
	return out
}

// result returns the input of g's NetOutput that becomes output k of the caller.
func (x *Index) result(g *Graph, k int) (Input, bool) {
	slot, ok := x.Returned(g, k)
	if !ok {
		return Input{}, false
	}
	return x.Input(x.Result(g), slot)
}

// Sinks returns the inputs that output out of op really feeds: those of calling operators and of NetOutputs of
// called graphs are followed into and out of the called graphs.
func (x *Index) Sinks(op *Op, out int) (ends []Port) {
	seen := map[Port]bool{}
	todo := x.Consumers(op, out)
	for len(todo) > 0 && len(seen) < maxEnds {
		p := todo[0]
		todo = todo[1:]
		if seen[p] {
			continue
		}
		seen[p] = true
		var next []Port
		for _, g := range x.Callees(p.Op) {
			for _, d := range x.Parameters(g, p.Index) {
				next = append(next, x.Consumers(d, 0)...)
			}
		}
		if g := p.Op.Graph; p.Op == x.Result(g) {
			k, _ := ReturnedAs(p.Op, p.Index)
			for _, c := range x.Callers(g) {
				next = append(next, x.Consumers(c, k)...)
			}
		}
		if next == nil {
			ends = append(ends, p)
		}
		todo = append(todo, next...)
	}
	return ends
}

// Neighbors returns the producers or consumers of op by edges that carry tensors, each once.
func (x *Index) Neighbors(op *Op, up bool) (out []*Op) {
	seen := map[*Op]bool{}
	add := func(o *Op) {
		if o != nil && !seen[o] {
			seen[o] = true
			out = append(out, o)
		}
	}
	if up {
		for _, in := range x.Inputs(op) {
			if in.Slot >= 0 {
				add(in.From)
			}
		}
		return out
	}
	for _, u := range x.uses[x.useAt[op.num]:x.useAt[op.num+1]] {
		if u.out >= 0 {
			add(u.op)
		}
	}
	return out
}
