package engine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/internal/nd"
)

// The texts of element tables.

// header is the first line.
func (p *detailPair) header() string {
	return "Index," + p.axes + ",NPUDump,GroundTruth,AbsoluteError,RelativeError\n"
}

// appendLine appends a line: index, coordinates, and four values, each with a
// tab before the comma and at the end. A relative error that is not finite, and
// both errors of booleans, are a dash, without a tab at the end of a line. In
// the lists of largest errors (top) every value has its tab, and the words nan
// and inf are dashes.
func (p *detailPair) appendLine(b []byte, e element, place *place, top bool) []byte {
	b = strconv.AppendInt(b, e.index, 10)
	b = append(b, ',')
	b = place.append(b)
	if p.boolean {
		for _, v := range [2]float64{e.x, e.y} {
			if v != 0 {
				b = append(b, ",True\t"...)
			} else {
				b = append(b, ",False\t"...)
			}
		}
		b = append(b, ",-\t,-"...)
	} else {
		for _, v := range [3]float64{e.x, e.y, e.abs} {
			b = append(appendValue(append(b, ','), v, top), '\t')
		}
		b = append(b, ',')
		if !top && (math.IsNaN(e.rel) || math.IsInf(e.rel, 0)) {
			return append(b, "-\n"...)
		}
		b = appendValue(b, e.rel, top)
	}
	if top || !p.boolean {
		b = append(b, '\t')
	}
	return append(b, '\n')
}

func appendValue(b []byte, v float64, top bool) []byte {
	word := ""
	switch {
	case math.IsNaN(v):
		word = "nan"
	case math.IsInf(v, 0):
		if v < 0 {
			b = append(b, '-')
		}
		word = "inf"
	default:
		return strconv.AppendFloat(b, v, 'f', 6, 64)
	}
	if top {
		word = "-"
	}
	return append(b, word...)
}

// place is where an element lies in a tensor: its coordinates, row-major, in a
// shape padded to four axes.
type place struct{ dims, now []int64 }

func newPlace(shape []int64) *place {
	p := &place{dims: slices.Clone(shape)}
	for len(p.dims) < 4 {
		p.dims = append(p.dims, 1)
	}
	p.now = make([]int64, len(p.dims))
	return p
}

// at moves to an element.
func (p *place) at(index int64) { nd.PlaceIn(index, p.dims, p.now) }

func (p *place) append(b []byte) []byte {
	for i, c := range p.now {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, c, 10)
	}
	return b
}

// cellsOf splits a line into its cells without tabs and the line's end.
func cellsOf(line string) []string {
	return strings.Split(strings.NewReplacer("\t", "", "\n", "").Replace(line), ",")
}

// padColumns makes columns equally wide, a tab between them.
func padColumns(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], len(c))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		for i, c := range r {
			if i > 0 {
				b.WriteByte('\t')
			}
			fmt.Fprintf(&b, "%-*s", widths[i], c)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
