package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"precision/graph"
	"precision/internal/clean"
)

// WriteDOT writes the drawing in the DOT language: records with a port for each input and output.
func (d *Drawing) WriteDOT(w io.Writer, s Style) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "digraph %s {\n  node [shape=Mrecord, style=filled, fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=8];\n",
		dotQuote(d.Title))
	ins, outs := make([]int, len(d.Nodes)), make([]int, len(d.Nodes))
	for _, e := range d.Edges {
		ins[e.To], outs[e.From] = max(ins[e.To], e.In+1), max(outs[e.From], e.Out+1)
	}
	for i, n := range d.Nodes {
		color, value := s.fill(n.Op)
		var label strings.Builder
		label.WriteByte('{')
		dotPorts(&label, "i", n.Op.InputDesc, ins[i], true)
		fmt.Fprintf(&label, "[%s] %s", dotEscape(n.Op.Type), dotEscape(n.Op.Name))
		if value != "" {
			label.WriteString("\\n" + dotEscape(heatName+" "+value))
		}
		if n.MoreIn+n.MoreOut > 0 {
			fmt.Fprintf(&label, "\\n%s", dotEscape(s.more(n)))
		}
		dotPorts(&label, "o", n.Op.OutputDesc, outs[i], false)
		label.WriteByte('}')
		fmt.Fprintf(b, "  n%d [label=\"%s\", fillcolor=\"%s\", tooltip=%s", i, label.String(), color, dotQuote(s.tooltip(n.Op)))
		if n.Root {
			b.WriteString(", color=red, penwidth=2")
		}
		b.WriteString("];\n")
	}
	for _, e := range d.Edges {
		fmt.Fprintf(b, "  n%d:o%d -> n%d:i%d [label=%s];\n", e.From, e.Out, e.To, e.In, dotQuote(e.label()))
	}
	b.WriteString("}\n")
	return b.Flush()
}

// dotPorts writes the row of ports of one side, used ports first of all.
func dotPorts(b *strings.Builder, prefix string, descs []graph.TensorDesc, used int, above bool) {
	n := max(len(descs), used)
	n = min(n, 64) // operators with hundreds of slots would drown the picture
	n = max(n, used)
	if n == 0 {
		return
	}
	if !above {
		b.WriteByte('|')
	}
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte('|')
		}
		fmt.Fprintf(b, "<%s%d> [%d]", prefix, i, i)
		if i < len(descs) {
			if t := descs[i].DType; t != "" {
				b.WriteString(" [" + dotEscape(ShortType(t)) + "]")
			}
			if len(descs[i].Shape) > 0 {
				b.WriteString("\\n" + dotEscape(graph.FormatShape(descs[i].Shape)))
			}
		}
	}
	b.WriteByte('}')
	if above {
		b.WriteByte('|')
	}
}

// dotEscape escapes text inside a record label.
func dotEscape(s string) string {
	var b strings.Builder
	for _, r := range clean.Name(s) {
		switch {
		case strings.ContainsRune(`{}|<>"\ `, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func dotQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(clean.Text(s)) + `"`
}
