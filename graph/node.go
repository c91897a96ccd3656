package graph

import "strconv"

// NodeInfo is what there is to say about one operator.
type NodeInfo struct {
	Op        *Op
	Graph     string
	Kernel    string
	KernelLib string
	Partition string // part of the graph the operator was compiled in
	Passes    []string
	UBPasses  []string
	Origins   []string // framework operators
	Inserted  bool     // the graph says that no framework operator stands behind it
	Inputs    []PortInfo
	Outputs   []PortInfo
	// Notes say where peers were found beyond the operator's own edges.
	Notes []Note
}

// PortInfo describes an input or output.
type PortInfo struct {
	Index       int // ControlIndex for control edges
	DType       string
	Layout      string
	Shape       []int64
	ValueRange  string
	ShapeRange  string
	OriginShape []int64
	OriginName  string // framework operator an output stands for
	Peers       []Peer // producers of an input, consumers of an output
	Produced    bool   // the peer of an output is what produces it in a called graph
	Unconnected bool
}

// Peer is the other end of an edge.
type Peer struct {
	Name  string
	Index int // its output or input, ControlIndex for control edges
}

// Node describes op. A Data operator of a called graph shows what its callers are fed with, a calling operator what
// the called graph returns.
func (x *Index) Node(op *Op) *NodeInfo {
	n := &NodeInfo{Op: op, Graph: op.Graph.Name, Kernel: op.Kernel(), KernelLib: op.KernelLib(), Partition: op.Attr("_graph_name").Text(),
		Passes: op.Passes(), UBPasses: op.UBPasses()}
	var stated bool
	n.Origins, stated = op.OriginNames()
	n.Inserted = stated && len(n.Origins) == 0
	for _, in := range x.Inputs(op) {
		p := portOf(in.Slot, in.Desc)
		switch {
		case in.Edge.IsEmpty():
			p.Unconnected = true
		case in.From != nil:
			p.Peers = []Peer{{in.From.Name, in.Index}}
		default:
			p.Peers = []Peer{{Name: in.Edge.Producer(), Index: in.Index}}
		}
		n.Inputs = append(n.Inputs, p)
	}
	x.callerInputs(n)
	for i := range op.OutputDesc {
		p := portOf(i, &op.OutputDesc[i])
		for _, c := range x.Consumers(op, i) {
			p.Peers = append(p.Peers, Peer{c.Op.Name, c.Index})
		}
		n.Outputs = append(n.Outputs, p)
	}
	x.calleeOutputs(n)
	if after := x.ControlConsumers(op); len(after) > 0 {
		p := PortInfo{Index: ControlIndex}
		for _, o := range after {
			p.Peers = append(p.Peers, Peer{o.Name, ControlIndex})
		}
		n.Outputs = append(n.Outputs, p)
	}
	return n
}

func (x *Index) callerInputs(n *NodeInfo) {
	op := n.Op
	k, ok := Parameter(op)
	if !ok {
		return
	}
	for _, in := range n.Inputs {
		if len(in.Peers) > 0 && in.Index >= 0 {
			return
		}
	}
	for _, c := range x.Callers(op.Graph) {
		in, ok := x.Input(c, k)
		if !ok || in.From == nil {
			continue
		}
		p := portOf(k, in.Desc)
		p.Peers = []Peer{{in.From.Name, in.Index}}
		n.Inputs = append(n.Inputs, p)
		n.note(NoteCaller, strconv.FormatInt(int64(k), 10), c.Name)
	}
}

func (x *Index) calleeOutputs(n *NodeInfo) {
	for _, g := range x.Callees(n.Op) {
		for i := range n.Outputs {
			if in, ok := x.result(g, i); ok && in.From != nil {
				n.note(NoteCallee, strconv.Itoa(i), in.From.Name+":"+strconv.FormatInt(int64(in.Index), 10), g.Name)
			}
		}
		if len(n.Op.OutputDesc) > 0 || x.Result(g) == nil {
			continue
		}
		for _, in := range x.Inputs(x.Result(g)) {
			if in.From == nil || in.Slot < 0 {
				continue
			}
			p := portOf(in.Slot, in.Desc)
			p.Peers, p.Produced = []Peer{{in.From.Name, in.Index}}, true
			n.Outputs = append(n.Outputs, p)
			n.note(NoteProducer, strconv.FormatInt(int64(in.Slot), 10), g.Name)
		}
	}
}

func portOf(index int, d *TensorDesc) PortInfo {
	p := PortInfo{Index: index}
	if d == nil {
		return p
	}
	p.DType, p.Layout, p.Shape = d.DType, d.Layout, d.Shape
	p.ValueRange, p.ShapeRange = d.Attr("value_range").String(), d.Attr("shape_range").String()
	p.OriginShape = d.Attr(AttrShape).Ints()
	p.OriginName = d.Attr(AttrOriginName).Text()
	return p
}

// Note says where a peer of a node was found.
type Note struct {
	Kind NoteKind
	Args []string
}

// NoteKind is what a note says.
type NoteKind string

// The kinds of notes, with their arguments.
const (
	NoteCaller   NoteKind = "caller"   // input, operator: the input is that of an operator that calls this graph
	NoteCallee   NoteKind = "callee"   // output, port, graph: the output comes from a port in a called graph
	NoteProducer NoteKind = "producer" // output, graph: what is shown is its producer in a called graph
)

func (n *NodeInfo) note(kind NoteKind, args ...string) { n.Notes = append(n.Notes, Note{kind, args}) }
