package graph

// Calls knows the ways between the graphs of a model: operators such as PartitionedCall, If and While call others by
// name, whose Data operators stand for inputs of the caller and whose NetOutput returns its outputs.
type Calls struct {
	graphs  map[string]*Graph
	callers map[*Graph][]*Op
	called  map[*Graph]*callee
}

// callee is a graph that is called.
type callee struct {
	params  map[int][]*Op // Data operators by the input slot of the caller
	result  *Op           // NetOutput
	returns map[int]int   // its input slot by the output of the caller
}

// NewCalls looks up who calls whom.
func NewCalls(m *Model) *Calls {
	c := &Calls{graphs: make(map[string]*Graph, len(m.Graphs)), callers: map[*Graph][]*Op{}, called: map[*Graph]*callee{}}
	for _, g := range m.Graphs {
		if _, ok := c.graphs[g.Name]; !ok {
			c.graphs[g.Name] = g
		}
	}
	for o := range m.Ops() {
		for _, callee := range c.Callees(o) {
			c.callers[callee] = append(c.callers[callee], o)
		}
	}
	for g := range c.callers {
		x := &callee{params: map[int][]*Op{}}
		for _, o := range g.Ops {
			if k, ok := Parameter(o); ok {
				x.params[k] = append(x.params[k], o)
			} else if o.Type == "NetOutput" && x.result == nil {
				x.result = o
			}
		}
		x.returns = returned(x.result)
		c.called[g] = x
	}
	return c
}

// Graph returns the graph of that name, nil if there is none.
func (c *Calls) Graph(name string) *Graph { return c.graphs[name] }

// Callers returns the operators that call g.
func (c *Calls) Callers(g *Graph) []*Op { return c.callers[g] }

// Callees returns the graphs that op calls and the model has.
func (c *Calls) Callees(op *Op) (out []*Graph) {
	for _, name := range op.SubgraphNames {
		if g := c.graphs[name]; g != nil {
			out = append(out, g)
		}
	}
	return out
}

// Parameter returns the input slot of the callers that a Data operator of a called graph stands for.
func Parameter(op *Op) (slot int, ok bool) {
	if op.Type != "Data" {
		return 0, false
	}
	k, ok := op.Attr(AttrParentIndex).Int()
	return int(k), ok
}

// Parameters returns the operators of a called graph that stand for an input slot of its callers.
func (c *Calls) Parameters(g *Graph, slot int) []*Op {
	if x := c.called[g]; x != nil {
		return x.params[slot]
	}
	return nil
}

// Result returns the NetOutput of a called graph, nil without one.
func (c *Calls) Result(g *Graph) *Op {
	if x := c.called[g]; x != nil {
		return x.result
	}
	return nil
}

// Returned returns the input slot of the NetOutput of g that becomes an output of its callers.
func (c *Calls) Returned(g *Graph, output int) (slot int, ok bool) {
	if x := c.called[g]; x != nil {
		slot, ok = x.returns[output]
	}
	return slot, ok
}

// ReturnedAs returns the output of the callers that an input slot of a NetOutput becomes: the position counts where the
// descriptor does not say.
func ReturnedAs(net *Op, slot int) (output int, stated bool) {
	if slot >= 0 && slot < len(net.InputDesc) {
		if n, ok := net.InputDesc[slot].Attr(AttrParentIndex).Int(); ok {
			return int(n), true
		}
	}
	return slot, false
}

// returned maps the caller's outputs to the input slots of a NetOutput. What a descriptor states comes before what a
// position suggests.
func returned(net *Op) map[int]int {
	out := map[int]int{}
	if net == nil {
		return out
	}
	slots := 0
	for _, e := range net.Inputs {
		if !e.IsControl() {
			slots++
		}
	}
	for _, want := range [...]bool{true, false} {
		for slot := range slots {
			k, stated := ReturnedAs(net, slot)
			if _, taken := out[k]; stated == want && !taken {
				out[k] = slot
			}
		}
	}
	return out
}

// CheckCircles refuses graphs that call themselves, directly or through others, with an [*Error].
func (c *Calls) CheckCircles(m *Model) error {
	const (
		open = 1
		done = 2
	)
	state := make(map[*Graph]int, len(m.Graphs))
	type frame struct {
		g    *Graph
		next int // operator to look at
		sub  int // its next callee
	}
	for _, root := range m.Graphs {
		if state[root] != 0 {
			continue
		}
		stack := []frame{{g: root}}
		state[root] = open
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next == len(f.g.Ops) {
				state[f.g] = done
				stack = stack[:len(stack)-1]
				continue
			}
			o := f.g.Ops[f.next]
			if f.sub == len(o.SubgraphNames) {
				f.next++
				f.sub = 0
				continue
			}
			callee := c.graphs[o.SubgraphNames[f.sub]]
			f.sub++
			if callee == nil || state[callee] == done {
				continue
			}
			if state[callee] == open {
				e := m.FaultAt(o.Line, Messagef("op %q calls graph %q, which calls it", o.Name, callee.Name))
				e.Fault = FaultCircle
				return e
			}
			state[callee] = open
			stack = append(stack, frame{g: callee})
		}
	}
	return nil
}
