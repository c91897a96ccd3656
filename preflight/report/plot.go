package report

import (
	"fmt"
	"math"
	"strings"

	"precision/preflight/trainlog"
)

// plotRows is the height of a plot in lines.
const plotRows = 10

// dots are the bits of a braille character by column and row, U+2800 and up.
var dots = [2][4]rune{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// canvas is a grid of braille characters, two dots wide and four high each.
type canvas struct {
	columns, rows int
	cell          [][]rune
}

func newCanvas(columns, rows int) *canvas {
	c := &canvas{columns: columns, rows: rows, cell: make([][]rune, rows)}
	for i := range c.cell {
		c.cell[i] = make([]rune, columns)
	}
	return c
}

// set sets a dot; y counts from the top.
func (c *canvas) set(x, y int) {
	if x >= 0 && x < 2*c.columns && y >= 0 && y < 4*c.rows {
		c.cell[y/4][x/2] |= dots[x%2][y%4]
	}
}

// draw puts a series on the canvas: of every column of dots the span of its
// values, so that no peak is lost.
func (c *canvas) draw(points []trainlog.Point, from, to int64, low, high float64) {
	width, height := 2*c.columns, 4*c.rows
	for _, p := range points {
		if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
			continue
		}
		x := 0
		if to > from {
			x = int(float64(p.Step-from) / float64(to-from) * float64(width-1))
		}
		y := height / 2
		if high > low {
			y = int(math.Round((high - p.Value) / (high - low) * float64(height-1)))
		}
		c.set(x, y)
	}
}

// plot draws both sides of a quantity: in colours one over the other, without
// colours one below the other, on the same axes.
func (t *Text) plot(q *trainlog.Quantity) {
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range []*trainlog.Series{q.A, q.B} {
		for _, p := range s.Points {
			from, to = min(from, p.Step), max(to, p.Step)
			if !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) {
				low, high = min(low, p.Value), max(high, p.Value)
			}
		}
	}
	if low > high {
		return
	}
	labels := []string{figure(high), figure(low)}
	margin := max(len(labels[0]), len(labels[1]))
	columns := min(max(t.Width-margin-3, 20), 200)
	series := func(s *trainlog.Series) *canvas {
		c := newCanvas(columns, plotRows)
		c.draw(s.Points, from, to, low, high)
		return c
	}
	a, b := series(q.A), series(q.B)
	frame := func(title string, rows int, cell func(row, column int) string) {
		fmt.Fprintf(&t.b, "\n%s\n", title)
		for row := range rows {
			label := ""
			switch row {
			case 0:
				label = labels[0]
			case rows - 1:
				label = labels[1]
			}
			fmt.Fprintf(&t.b, "%*s ┤", margin, label)
			var line strings.Builder
			for column := range columns {
				line.WriteString(cell(row, column))
			}
			t.b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
		left, right := fmt.Sprint(from), fmt.Sprint(to)
		gap := max(1, columns-len(left)-len(right))
		fmt.Fprintf(&t.b, "%*s └%s\n%*s  %s%s%s\n", margin, "", strings.Repeat("─", columns), margin, "", left, strings.Repeat(" ", gap), right)
		if q.Parts && to > from {
			at := int(float64(q.PartStep-from) / float64(to-from) * float64(columns-1))
			fmt.Fprintf(&t.b, "%*s  %s%s\n", margin, "", strings.Repeat(" ", at), t.paint(Bad, "^ "+t.say("plot.parts", q.PartStep)))
		}
	}
	glyph := func(r rune) string {
		if r == 0 {
			return " "
		}
		return string(0x2800 + r)
	}
	title := t.say("plot.title", q.Name)
	if t.Paint != nil {
		frame(title+"  "+t.paint(SideA, "A")+" "+t.paint(SideB, "B"), plotRows, func(row, column int) string {
			x, y := a.cell[row][column], b.cell[row][column]
			switch {
			case x != 0 && y != 0:
				return glyph(x | y)
			case x != 0:
				return t.paint(SideA, glyph(x))
			case y != 0:
				return t.paint(SideB, glyph(y))
			}
			return " "
		})
		return
	}
	frame(title+"  A", plotRows, func(row, column int) string { return glyph(a.cell[row][column]) })
	frame(title+"  B", plotRows, func(row, column int) string { return glyph(b.cell[row][column]) })
}
