package browse

import (
	"math"
	"strings"

	"precision/compare/report"
)

// ticks are bars of eight heights.
var ticks = []rune("▁▂▃▄▅▆▇█")

// shades are how dark a cell of a picture is, from no error to the largest one.
var shades = []rune(" ░▒▓█")

// point is a value of a chart, with the style of what it belongs to. NaN is none, +Inf is beyond all others.
type point struct {
	value float64
	style report.Style
}

// sparkline is a chart of points in their order: a bar for as many of them as share a column, as high as the largest
// of them by its logarithm, in the style of the worst.
type sparkline struct {
	points []point
	// width is that of the bars at hand.
	width int
	bars  []report.Segment
}

// decades is how many powers of ten below the largest value a bar can show: what is smaller is rounding.
const decades = 5

// high is an error that is drawn high in any case: where all are smaller, bars stay low.
const high = 0.1

// render is the chart in at most width columns.
func (s *sparkline) render(width int) []report.Segment {
	width = min(width, len(s.points))
	if width == s.width {
		return s.bars
	}
	s.width, s.bars = width, nil
	top := high
	for _, p := range s.points {
		if !math.IsInf(p.value, 0) && p.value > top {
			top = p.value
		}
	}
	for i := range width {
		worst := point{math.NaN(), report.Dim}
		for _, p := range s.points[i*len(s.points)/width : max(i*len(s.points)/width+1, (i+1)*len(s.points)/width)] {
			if math.IsNaN(worst.value) || p.value > worst.value {
				worst.value = p.value
			}
			if grave(p.style) > grave(worst.style) {
				worst.style = p.style
			}
		}
		text := "·"
		if !math.IsNaN(worst.value) {
			text = string(ticks[height(worst.value, top)])
		}
		if n := len(s.bars); n > 0 && s.bars[n-1].Style == worst.style {
			s.bars[n-1].Text += text
		} else {
			s.bars = append(s.bars, report.Segment{Text: text, Style: worst.style})
		}
	}
	return s.bars
}

// column is where the point of a place is drawn.
func (s *sparkline) column(place int) int {
	if len(s.points) == 0 || s.width == 0 {
		return 0
	}
	at := place * s.width / len(s.points)
	for at+1 < s.width && place >= (at+1)*len(s.points)/s.width {
		at++
	}
	return at
}

// grave sorts styles by how bad is what they show.
func grave(s report.Style) int {
	switch s {
	case report.Bad:
		return 3
	case report.Suspect:
		return 2
	case report.Good:
		return 1
	}
	return 0
}

// height is the bar of a value, of those of ticks.
func height(v, top float64) int {
	switch {
	case math.IsInf(v, 1):
		return len(ticks) - 1
	case !(v > 0) || top == 0:
		return 0
	}
	share := 1 + math.Log10(v/top)/decades
	return min(len(ticks)-1, max(0, int(math.Ceil(share*float64(len(ticks)-1)))))
}

// bars is a sparkline of plain numbers on a linear scale, in at most width columns.
func bars(values []float64, width int) string {
	top := 0.0
	for _, v := range values {
		if !math.IsInf(v, 0) {
			top = max(top, v)
		}
	}
	width = min(width, len(values))
	var b strings.Builder
	for i := range width {
		worst := 0.0
		for _, v := range values[i*len(values)/width : max(i*len(values)/width+1, (i+1)*len(values)/width)] {
			worst = max(worst, v)
		}
		at := 0
		if top > 0 {
			at = int(math.Ceil(min(1, worst/top) * float64(len(ticks)-1)))
		}
		b.WriteRune(ticks[at])
	}
	return b.String()
}

// blocks is a picture of rows of cells, drawn into at most width columns and most lines: a cell is two columns wide where there is
// room, and stands for the largest of the values that share it.
func blocks(cells []float64, rows, width, most int) (lines []string) {
	if rows == 0 || len(cells) < rows {
		return nil
	}
	across := len(cells) / rows
	wide := 1
	if 2*across <= width {
		wide = 2
	}
	tall, broad := min(rows, most), min(across, width/wide)
	top := 0.0
	for _, v := range cells {
		if !math.IsInf(v, 0) {
			top = max(top, v)
		}
	}
	for y := range tall {
		var b strings.Builder
		for x := range broad {
			worst := 0.0
			for r := y * rows / tall; r < max(y*rows/tall+1, (y+1)*rows/tall); r++ {
				for c := x * across / broad; c < max(x*across/broad+1, (x+1)*across/broad); c++ {
					if v := cells[r*across+c]; v > worst {
						worst = v
					}
				}
			}
			at := 0
			if worst > 0 && top > 0 {
				at = 1 + int(min(1, worst/top)*float64(len(shades)-2))
			} else if worst > 0 {
				at = len(shades) - 1
			}
			b.WriteString(strings.Repeat(string(shades[min(at, len(shades)-1)]), wide))
		}
		lines = append(lines, b.String())
	}
	return lines
}
