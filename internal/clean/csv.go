package clean

import (
	"bufio"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// CSV writes tables: commas, CRLF, quotes where they are needed. It is the only writer of them, and passes no cell on
// that a spreadsheet would run or that steers a terminal; names go through [Cell] before, which can be
// reversed.
type CSV struct {
	w     *csv.Writer
	cells []string
}

// tableBuffer is how many bytes of a table are written at once: with the 4 KB of a csv.Writer, writing was half of the work.
const tableBuffer = 64 << 10

// NewCSV starts a table.
func NewCSV(w io.Writer) *CSV {
	c := csv.NewWriter(bufio.NewWriterSize(w, tableBuffer)) // which takes a larger buffer for its own
	c.UseCRLF = true
	return &CSV{w: c}
}

// Classes of bytes: most cells have nothing in them that a table gives a meaning to, which one look at each byte tells.
const (
	harmless = 1 << iota // behind another
	ofFigure             // in front, too: of numbers and lists of them
)

var classes = func() (of [256]uint8) {
	for c := byte(' '); c <= '~'; c++ {
		if !strings.ContainsRune(`",;\`, rune(c)) {
			of[c] = harmless
		}
	}
	for _, c := range []byte("0123456789.eE+-;()[]") {
		of[c] |= ofFigure
	}
	return of
}()

// Write writes a line.
func (c *CSV) Write(cells []string) error {
	c.cells = c.cells[:0]
	for _, cell := range cells {
		all := uint8(harmless | ofFigure)
		for k := range len(cell) {
			all &= classes[cell[k]]
		}
		if all&ofFigure == 0 && (all == 0 || formulaSign(cell)) {
			cell = unformulated(Line(cell), figures)
		}
		c.cells = append(c.cells, cell)
	}
	return c.w.Write(c.cells)
}

// Flush hands everything on and reports the first error of all writes.
func (c *CSV) Flush() error {
	c.w.Flush()
	return c.w.Error()
}

// Cell returns a text that a spreadsheet shows as text and does not run: a
// blank goes in front of a formula sign at the beginning of the cell or right
// behind a semicolon, where some locales split cells. Numbers are left alone.
// What would steer a terminal or is no UTF-8 is escaped, see [Name].
func Cell(text string) string { return unformulated(Name(text), number) }

// unformulated puts the blanks, unless plain holds for what is behind a sign.
func unformulated(cell string, plain func(string) bool) string {
	if !formulaSign(cell) && !strings.Contains(cell, ";") || plain(cell) {
		return cell
	}
	parts := strings.SplitAfter(cell, ";")
	for i, part := range parts {
		if formulaSign(part) {
			parts[i] = " " + part
		}
	}
	return strings.Join(parts, "")
}

func number(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// figures tells whether a cell is made of numbers, brackets and separators: our own cells of several numbers have
// signs behind semicolons, and there is nothing in them to run.
func figures(s string) bool {
	return strings.Trim(s, "0123456789.eE+-;,()[] naNIif") == "" || number(s)
}

// formulaSign tells whether s begins with one of = + - % @, the full-width
// forms of the first three, or a control character that a spreadsheet drops
// before it looks at the next one.
func formulaSign(s string) bool {
	if s == "" {
		return false
	}
	switch s[0] {
	case '=', '+', '-', '%', '@', '\t', '\r':
		return true
	}
	return strings.HasPrefix(s, "\uff1d") || strings.HasPrefix(s, "\uff0b") || strings.HasPrefix(s, "\uff0d")
}
