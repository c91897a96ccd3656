package browse

import (
	"precision/compare/report"
	"precision/internal/msg"
)

// grid is a page of cells in rows and columns, as the ranks and steps of a job.
type grid struct {
	name       string
	rows, cols []string // their labels
	label      string   // of the labels of rows
	wide       int      // columns of a cell
	cell       func(row, col int) report.Segment
	target     func(row, col int) target
	legend     string

	y, x window
}

func (g *grid) title() string { return g.name }

func (g *grid) press(key string, height int) {
	switch key {
	case "right", "l":
		g.x.at++
	case "left", "h":
		g.x.at--
	default:
		g.y.press(key, len(g.rows), height-1)
	}
	g.y.show(len(g.rows), height-1)
	g.x.at = max(0, min(g.x.at, len(g.cols)-1))
}

func (g *grid) render(p painter, _ msg.Lang, width, height int) []string {
	label := columns(g.label)
	for _, r := range g.rows {
		label = max(label, columns(r))
	}
	label = min(label, width/2)
	room := max(1, (width-label-2)/(g.wide+1))
	g.y.show(len(g.rows), height-1)
	g.x.show(len(g.cols), room)
	head := []report.Segment{{Text: "  " + fit(g.label, label, false, false), Style: report.Dim}}
	for x := g.x.top; x < min(len(g.cols), g.x.top+room); x++ {
		head = append(head, report.Segment{Text: " " + fit(g.cols[x], g.wide, false, false), Style: report.Dim})
	}
	lines := []string{p.line(head, width, false)}
	for y := g.y.top; y < min(len(g.rows), g.y.top+height-1); y++ {
		mark := "  "
		if y == g.y.at {
			mark = cursor
		}
		line := p.paint(report.Strong, mark, false) + fit(report.Clean(g.rows[y]), label, true, false)
		used := 2 + label
		for x := g.x.top; x < min(len(g.cols), g.x.top+room); x++ {
			c := g.cell(y, x)
			front := " "
			if y == g.y.at && x == g.x.at && !p.colour {
				front = ">"
			}
			line += front + p.paint(c.Style, fit(c.Text, g.wide, false, false), y == g.y.at && x == g.x.at)
			used += 1 + g.wide
		}
		lines = append(lines, line+fit("", max(0, width-used), false, false))
	}
	return lines
}

func (g *grid) status(msg.Lang) string { return g.legend }

func (g *grid) chosen() target {
	if len(g.rows) == 0 || len(g.cols) == 0 {
		return nowhere
	}
	return g.target(min(g.y.at, len(g.rows)-1), min(g.x.at, len(g.cols)-1))
}
