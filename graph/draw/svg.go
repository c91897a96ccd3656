package draw

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"precision/internal/clean"
	"precision/internal/each"
)

const (
	svgChar   = 6.2 // mean width of a column at the font size used; Chinese characters take two
	svgMargin = 14.0
	svgName   = 36 // characters of a name that fit a box
)

// WriteSVG writes the drawing as a picture that needs no other program: boxes in layers from producers to consumers,
// coloured by operator type or by metric, with element type and shape at each output's edges. Details are in tool tips.
func (d *Drawing) WriteSVG(w io.Writer, s Style) error {
	boxes := make([]svgBox, len(d.Nodes))
	ws, hs := make([]float64, len(d.Nodes)), make([]float64, len(d.Nodes))
	for i, n := range d.Nodes {
		boxes[i] = newSVGBox(n, &s)
		ws[i], hs[i] = boxes[i].w, boxes[i].h
	}
	// The label of an edge stands below its producer, so that has to be as wide.
	labelled := map[[2]int]bool{}
	labels, outs := make([]int, len(d.Nodes)), make([]int, len(d.Nodes))
	for i := range d.Edges {
		e := &d.Edges[i]
		if k := [2]int{e.From, e.Out}; !labelled[k] {
			labelled[k] = true
			outs[e.From]++
			if t := e.label(); t != "" {
				labels[e.From] += len(t)*5 + 10
			}
		}
	}
	for i := range ws {
		ws[i] = max(ws[i], min(float64(labels[i]), 420))
		if outs[i] > 1 {
			boxes[i].w = ws[i] // its edges start along the whole width
		}
	}
	edges := each.Of(d.Edges, func(e Edge) [2]int { return [2]int{e.From, e.To} })
	l := layOut(ws, hs, edges)

	b := bufio.NewWriter(w)
	legend := d.legend(&s)
	width, height := l.width+2*svgMargin, l.height+2*svgMargin+18*float64(len(legend))
	width = max(width, 360)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="Helvetica,Arial,sans-serif" font-size="11">
<title>%s</title>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>
<rect width="100%%" height="100%%" fill="white"/>
`, width, height, width, height, svgText(clean.Line(d.Title)))
	fmt.Fprintf(b, "<g transform=\"translate(%.0f,%.0f)\">\n", svgMargin, svgMargin)
	d.svgEdges(b, l, boxes)
	for i := range boxes {
		boxes[i].write(b, l.nodes[i])
	}
	b.WriteString("</g>\n")
	for i, line := range legend {
		fmt.Fprintf(b, "<text x=\"%.0f\" y=\"%.1f\" fill=\"#333\">%s</text>\n", svgMargin, l.height+2*svgMargin+18*float64(i)+8, svgText(line))
	}
	b.WriteString("</svg>\n")
	return b.Flush()
}

// svgBox is the box of an operator: lines of text, one below the other.
type svgBox struct {
	node  Node
	lines []string
	tip   string
	fill  string
	w, h  float64
}

func newSVGBox(n Node, s *Style) svgBox {
	box := svgBox{node: n, tip: s.tooltip(n.Op)}
	var value string
	box.fill, value = s.fill(n.Op)
	box.lines = []string{elide(clean.Name(n.Op.Type), svgName), elide(clean.Name(n.Op.Name), svgName)}
	if value != "" {
		box.lines = append(box.lines, heatName+" "+value)
	}
	if n.MoreIn+n.MoreOut > 0 {
		box.lines = append(box.lines, s.more(n))
	}
	for i, t := range box.lines {
		char := svgChar
		if i == 0 {
			char += 0.6 // bold
		}
		box.w = max(box.w, float64(columns(t))*char)
	}
	box.w += 14
	box.h = 8 + 13*float64(len(box.lines))
	return box
}

func (x *svgBox) write(b *bufio.Writer, at lnode) {
	stroke, width := "#666", 1.0
	if x.node.Root {
		stroke, width = "#d00", 2.5
	}
	dash := ""
	if len(x.node.Op.SubgraphNames) > 0 {
		dash = ` stroke-dasharray="6 2"`
	}
	left, top := at.x-x.w/2, at.y-x.h/2
	fmt.Fprintf(b, "<g><title>%s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%g\"%s/>",
		svgText(x.tip), left, top, x.w, x.h, x.fill, stroke, width, dash)
	for i, t := range x.lines {
		attr := ""
		switch {
		case i == 0:
			attr = ` font-weight="bold"`
		case i > 1:
			attr = ` fill="#444" font-size="10"`
		}
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"%s>%s</text>", at.x, top+15+13*float64(i), attr, svgText(t))
	}
	b.WriteString("</g>\n")
}

// svgEdges draws the edges as curves between the layers and straight lines through them, then the labels. Edges of one
// output leave its box at one point, where the label of the tensor stands.
func (d *Drawing) svgEdges(b *bufio.Writer, l *layered, boxes []svgBox) {
	outs := make([]int, len(d.Nodes))
	place := map[[2]int]int{} // of an output among the used ones of its operator
	into := make([][]int, len(d.Nodes))
	for i, e := range d.Edges {
		k := [2]int{e.From, e.Out}
		if _, ok := place[k]; !ok {
			place[k] = outs[e.From]
			outs[e.From]++
		}
		into[e.To] = append(into[e.To], i)
	}
	// Edges reach a box in the order in which they come down to it.
	arrival := make([]int, len(d.Edges))
	for _, edges := range into {
		slices.SortStableFunc(edges, func(i, j int) int {
			p, q := l.edges[i].path, l.edges[j].path
			return cmp.Compare(l.nodes[p[len(p)-2]].x, l.nodes[q[len(q)-2]].x)
		})
		for k, i := range edges {
			arrival[i] = k
		}
	}
	labelled := map[[2]int]bool{}
	var labels []string
	for i := range d.Edges {
		e, p := &d.Edges[i], l.edges[i].path
		a, z := l.nodes[e.From], l.nodes[e.To]
		k := [2]int{e.From, e.Out}
		x := a.x + spread(place[k], outs[e.From], boxes[e.From].w)
		y := a.y + a.h/2
		x2 := z.x + spread(arrival[i], len(into[e.To]), boxes[e.To].w)
		y2 := z.y - z.h/2
		fmt.Fprintf(b, "<path fill=\"none\" stroke=\"#777\" marker-end=\"url(#tip)\" d=\"M%.1f %.1f", x, y)
		px, py := x, y
		for _, n := range p[1:max(1, len(p)-1)] {
			m := l.nodes[n]
			top, bottom := m.y-m.h/2, m.y+m.h/2
			if l.edges[i].flipped {
				top, bottom = bottom, top
			}
			curve(b, px, py, m.x, top)
			fmt.Fprintf(b, "L%.1f %.1f", m.x, bottom)
			px, py = m.x, bottom
		}
		curve(b, px, py, x2, y2)
		b.WriteString("\"/>\n")
		if t := e.label(); t != "" && !labelled[k] {
			labelled[k] = true
			labels = append(labels, fmt.Sprintf("<text x=\"%.1f\" y=\"%.1f\" font-size=\"9\" fill=\"#246\" text-anchor=\"middle\" "+
				"stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\">%s</text>\n", x, y+11, svgText(elide(t, 60))))
		}
	}
	for _, t := range labels {
		b.WriteString(t)
	}
}

// spread returns the offset from the middle of a side of width w at which the i-th of n edges meets it.
func spread(i, n int, w float64) float64 {
	if n < 2 {
		return 0
	}
	return w * 0.8 * (float64(i)/float64(n-1) - 0.5)
}

func curve(b *bufio.Writer, x, y, x2, y2 float64) {
	m := (y + y2) / 2
	fmt.Fprintf(b, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, m, x2, m, x2, y2)
}

// elide shortens a text to n characters, keeping its start and more of its end, which tells names apart.
func elide(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := n / 3
	return string(r[:head]) + "…" + string(r[len(r)-(n-head-1):])
}

// svgText escapes text and drops what XML cannot hold.
func svgText(s string) string {
	var b strings.Builder
	for _, r := range clean.Text(s) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '"':
			b.WriteString("&quot;")
		case r == 0xfffe, r == 0xffff: // which XML does not have
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
