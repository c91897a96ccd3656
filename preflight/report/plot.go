package report

import (
	"fmt"
	"math"
	"strings"

	"precision/preflight/trainlog"
)

// The height of a plot in lines, and how many columns it has at most.
const plotRows, mostColumns = 10, 200

// dots are the bits of a braille character by column and row, U+2800 and up.
var dots = [2][4]rune{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// canvas are the bits of braille characters, two dots wide and four high each.
type canvas [plotRows][mostColumns]rune

// axes are those of a plot of so many columns, for the steps and values of both sides.
type axes struct {
	columns   int
	from, to  int64
	low, high float64
}

// at is where a step stands among so many places.
func (a *axes) at(step int64, places int) int {
	if a.to == a.from {
		return 0
	}
	return int(float64(step-a.from) / float64(a.to-a.from) * float64(places-1))
}

// draw draws a series: of every column of dots the span of its values, so that no peak is lost.
func (a *axes) draw(s *trainlog.Series) (lines canvas) {
	const height = 4 * plotRows
	for _, p := range s.Points {
		if !finite(p.Value) {
			continue
		}
		x, y := a.at(p.Step, 2*a.columns), height/2
		if a.high > a.low {
			y = int(math.Round((a.high - p.Value) / (a.high - a.low) * (height - 1)))
		}
		if y >= 0 && y < height { // values may be too far apart for a number
			lines[y/4][x/2] |= dots[x%2][y%4]
		}
	}
	return lines
}

// plot draws both sides of a quantity: in colours one over the other, without
// colours one below the other, on the same axes.
func (t *Text) plot(q *trainlog.Quantity) {
	on := axes{from: math.MaxInt64, to: math.MinInt64, low: math.Inf(1), high: math.Inf(-1)}
	for _, s := range []*trainlog.Series{q.A, q.B} {
		for _, p := range s.Points {
			on.from, on.to = min(on.from, p.Step), max(on.to, p.Step)
			if finite(p.Value) {
				on.low, on.high = min(on.low, p.Value), max(on.high, p.Value)
			}
		}
	}
	if on.low > on.high {
		return
	}
	labels := [plotRows]string{0: figure(on.high), plotRows - 1: figure(on.low)}
	margin := max(len(labels[0]), len(labels[plotRows-1]))
	on.columns = min(max(t.Width-margin-3, 20), mostColumns)
	glyph := func(c Colour, r rune) string {
		if r == 0 {
			return " "
		}
		return t.paint(c, string(0x2800+r))
	}
	frame := func(title string, a, b canvas) {
		fmt.Fprintf(&t.b, "\n%s  %s\n", t.say("plot.title", q.Name), title)
		for row, label := range labels {
			line := ""
			for column := range on.columns {
				switch x, y := a[row][column], b[row][column]; {
				case y == 0:
					line += glyph(SideA, x)
				case x == 0:
					line += glyph(SideB, y)
				default:
					line += string(0x2800 + (x | y))
				}
			}
			fmt.Fprintf(&t.b, "%*s ┤%s\n", margin, label, strings.TrimRight(line, " "))
		}
		left, right := fmt.Sprint(on.from), fmt.Sprint(on.to)
		gap := strings.Repeat(" ", max(1, on.columns-len(left)-len(right)))
		fmt.Fprintf(&t.b, "%*s └%s\n%*s  %s%s%s\n", margin, "", strings.Repeat("─", on.columns), margin, "", left, gap, right)
		if q.Parts && on.to > on.from {
			below := strings.Repeat(" ", on.at(q.PartStep, on.columns))
			fmt.Fprintf(&t.b, "%*s  %s%s\n", margin, "", below, t.paint(Bad, "^ "+t.say("plot.parts", q.PartStep)))
		}
	}
	if a, b := on.draw(q.A), on.draw(q.B); t.Paint == nil {
		frame("A", a, canvas{})
		frame("B", canvas{}, b)
	} else {
		frame(t.paint(SideA, "A")+" "+t.paint(SideB, "B"), a, b)
	}
}
