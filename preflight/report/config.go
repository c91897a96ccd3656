package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"precision/preflight/config"
)

// Config says what two configurations differ in: a table of the keys that do,
// hyper-parameters first.
func (t Text) Config(d *config.Difference) string {
	t.config(d)
	return t.b.String()
}

func (t *Text) config(d *config.Difference) {
	both := d.Same + d.Changed + d.Paths
	switch {
	case d.Nothing():
		t.verdict(true, t.say("config.nothing"))
	case d.Differs():
		t.verdict(true, t.say("config.differ", d.Changed, both, d.OnlyA+d.OnlyB))
	default:
		t.verdict(false, t.say("config.same", d.Same))
	}
	t.label("a", name(d.A.Path)+t.say("config.format", string(d.A.Format), len(d.A.Entries)))
	t.label("b", name(d.B.Path)+t.say("config.format", string(d.B.Format), len(d.B.Entries)))
	if d.Paths > 0 {
		t.label("paths", t.say("config.paths", d.Paths))
	}
	if d.Ignored > 0 {
		t.label("ignored", t.say("config.ignored", d.Ignored))
	}
	if t.bare {
		return
	}
	rows := [][]string{{"", t.say("config.key"), "A", "B", ""}}
	more := 0
	var pairs []*config.Pair
	for i := range d.Pairs {
		if p := &d.Pairs[i]; !p.Same {
			pairs = append(pairs, p)
		}
	}
	for i, p := range pairs {
		if t.Most > 0 && i >= t.Most {
			more = len(pairs) - i
			break
		}
		rows = append(rows, t.pair(p))
	}
	if len(rows) > 1 {
		t.b.WriteString("\n")
		t.table(rows)
	}
	if more > 0 {
		t.b.WriteString("  " + t.say("more", more) + "\n")
	}
}

// pair is a row of the table: a mark, the key, both values, and how the keys of
// the two were found to be one.
func (t *Text) pair(p *config.Pair) []string {
	mark, key, note := "!", p.A.Key, ""
	switch {
	case p.A.Key == "":
		mark, key = "+", p.B.Key
	case p.B.Key == "":
		mark = "-"
	case p.Paths:
		mark, note = "~", t.say("config.path")
	}
	if !p.OneSided() && p.How != config.ByKey {
		note = t.say("config.how."+string(p.How), name(p.B.Key))
	}
	return []string{mark, name(key), value(&p.A), value(&p.B), note}
}

func value(e *config.Entry) string {
	if e.Key == "" {
		return ""
	}
	text := e.Value.Source
	if len(text) > 60 {
		text = text[:57] + "…"
	}
	text = cmp.Or(text, `""`)
	if e.Line > 0 {
		return name(text) + " :" + strconv.Itoa(e.Line)
	}
	return name(text)
}

// table writes rows in columns, as wide as what is in them.
func (t *Text) table(rows [][]string) {
	wide := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			wide[i] = max(wide[i], lipgloss.Width(cell))
		}
	}
	for n, r := range rows {
		var line strings.Builder
		for i, cell := range r {
			line.WriteString(cell)
			if i < len(r)-1 {
				line.WriteString(strings.Repeat(" ", wide[i]-lipgloss.Width(cell)+2))
			}
		}
		text := strings.TrimRight(line.String(), " ")
		if n > 0 && r[0] == "!" {
			text = t.paint(Bad, text)
		} else if n > 0 {
			text = t.paint(Note, text)
		}
		t.b.WriteString(text + "\n")
	}
}
