package describe

import (
	"fmt"
	"strconv"

	"precision/graph"
	"precision/internal/msg"
)

// Node describes an operator in lines, with its attributes if attrs is set.
func Node(lang msg.Lang, n *graph.NodeInfo, attrs bool) string {
	s := &speaker{lang: lang}
	s.line(0, "op", n.Op.Type, n.Op.Name)
	s.line(0, "op.place", n.Op.ID, n.Op.StreamID, n.Graph)
	s.field("op.kernel", n.Kernel)
	s.field("op.library", n.KernelLib)
	s.field("op.partition", n.Partition)
	s.field("op.passes", s.list(n.Passes))
	s.field("op.ubpasses", s.list(n.UBPasses))
	s.field("op.origins", s.list(n.Origins))
	if n.Inserted {
		s.field("op.origins", s.say("op.inserted"))
	}
	if attrs {
		s.title("op.attrs")
		for _, a := range n.Op.Attrs {
			fmt.Fprintf(&s.b, "  %s: %s\n", a.Key(), a.Value)
		}
	}
	s.title("op.inputs")
	for i := range n.Inputs {
		s.port(&n.Inputs[i], "port.from")
	}
	s.title("op.outputs")
	for i := range n.Outputs {
		direction := "port.to"
		if n.Outputs[i].Produced {
			direction = "port.from"
		}
		s.port(&n.Outputs[i], direction)
	}
	for _, note := range n.Notes {
		s.line(0, "note", Note(lang, note))
	}
	return s.b.String()
}

// port is the line of an input or output; direction is the message of what is at the other
// end of its edges.
func (s *speaker) port(p *graph.PortInfo, direction string) {
	s.b.WriteString(" -")
	if p.Index == graph.ControlIndex {
		s.add("port.control")
	} else {
		s.tensor(p)
	}
	if p.OriginName != "" {
		s.add("port.of", p.OriginName)
	}
	if p.Unconnected {
		s.add("port.unconnected")
	}
	for _, e := range p.Peers {
		name := e.Name
		if e.Index != graph.ControlIndex {
			name += ":" + strconv.Itoa(e.Index)
		}
		s.add(direction, name)
		direction = "port.more"
	}
	s.end()
}

// tensor tells type, layout and shape, the ranges that are known, and the origin shape.
func (s *speaker) tensor(p *graph.PortInfo) {
	fmt.Fprintf(&s.b, "[%d] [%s][%s]%s", p.Index, p.DType, p.Layout, graph.FormatShape(p.Shape))
	if p.ValueRange != "" {
		s.add("port.values", p.ValueRange)
	}
	if p.ShapeRange != "" && p.ShapeRange != "[]" {
		s.add("port.shapes", p.ShapeRange)
	}
	if p.OriginShape != nil {
		s.add("port.origin", graph.FormatShape(p.OriginShape))
	}
}
