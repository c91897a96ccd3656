// Package report renders what package preflight's neighbours find: text in two
// languages with plots for the terminal, JSON, and a page. It compares nothing.
package report

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"precision/internal/clean"
	"precision/internal/msg"
	"precision/preflight/trainlog"
)

//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Found is what two files differ in: [Manifest], [Config] or [Log].
type Found interface {
	say(*Text)
	page(*pageData)
	json() map[string]any
}

// JSON writes what was found for programs: {"kind": "manifest", "differs": true, ...}. Members
// that do not apply are left out; NaN and infinities are texts.
func JSON(to io.Writer, f Found) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(f.json())
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Colour is what a piece of text is painted with; a face decides how.
type Colour uint8

// The colours: what is well, what is not, what to look at, and the two sides of a plot.
const (
	Good Colour = iota
	Bad
	Note
	SideA
	SideB
)

// Text renders for a terminal.
type Text struct {
	Lang msg.Lang
	// Width is how many columns there are; plots are as wide as that.
	Width int
	// Most is how many lines a list has at most; 0 for all.
	Most int
	// Paint paints a text; nil leaves it as it is.
	Paint  func(Colour, string) string
	bare   bool // without plots and lists, which a page shows in its own way
	epoch  bool // values are those of epochs
	spoken []spoken
	// quantities are the lines of each quantity, behind its name.
	quantities [][]string
	b          strings.Builder
}

// spoken is a line: what it is about, empty where it goes on with the one before.
type spoken struct{ label, text string }

// Of says what was found.
func (t Text) Of(f Found) string {
	f.say(&t)
	return t.b.String()
}

func (t *Text) say(key string, args ...any) string {
	if of := "preflight." + key + ".epoch"; t.epoch && t.Lang.Has(of) {
		return t.Lang.T(of, args...)
	}
	return t.Lang.T("preflight."+key, args...)
}

func (t *Text) paint(c Colour, text string) string {
	if t.Paint == nil {
		return text
	}
	return t.Paint(c, text)
}

// LabelWidth is how many columns the labels of lines take.
const LabelWidth = 17

// label begins a line with what it is about.
func (t *Text) label(key, text string) { t.line(t.say("label."+key), text) }

// line is a line of a label and what is said.
func (t *Text) line(label, text string) {
	t.spoken = append(t.spoken, spoken{label, text})
	fmt.Fprintf(&t.b, "%s%s%s\n", label, strings.Repeat(" ", max(1, LabelWidth-lipgloss.Width(label))), text)
}

// verdict is the first line: the same or not.
func (t *Text) verdict(differs bool, text string) {
	c := Good
	if differs {
		c = Bad
	}
	t.label("verdict", t.paint(c, text))
}

// list writes lines under a heading, the first of many.
func (t *Text) list(heading string, n, all int, line func(int) string) {
	if all == 0 || t.bare {
		return
	}
	fmt.Fprintf(&t.b, "\n%s\n", heading)
	show := t.most(n)
	for i := range show {
		fmt.Fprintf(&t.b, "  %s\n", line(i))
	}
	if all > show {
		fmt.Fprintf(&t.b, "  %s\n", t.say("more", all-show))
	}
}

// most is how many lines of a list are shown.
func (t *Text) most(n int) int {
	if t.Most > 0 {
		return min(n, t.Most)
	}
	return n
}

// name is a name from a file, on one line and with nothing that steers.
func name(s string) string { return clean.Line(clean.Name(s)) }

// figure writes a number with six digits, as people do.
func figure[T ~float64](of T) string {
	v := float64(of)
	text := strings.TrimPrefix(strconv.FormatFloat(v, 'g', 6, 64), "+") // of infinity
	if mantissa, exponent, ok := strings.Cut(text, "e"); ok {
		n, _ := strconv.Atoi(exponent)
		if n > 0 && n < 9 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return mantissa + "e" + strconv.Itoa(n)
	}
	return text
}

// percent writes a share.
func percent(v trainlog.Number) string { return strconv.FormatFloat(float64(100*v), 'g', 3, 64) + " %" }
