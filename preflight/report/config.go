package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"precision/preflight/config"
)

// Config is what two configurations differ in.
type Config struct{ *config.Difference }

// say has a table of the keys that differ, hyper-parameters first.
func (d Config) say(t *Text) {
	n := d.Count
	switch {
	case d.Nothing():
		t.verdict(true, t.say("config.nothing"))
	case d.Differs():
		t.verdict(true, t.say("config.differ", n[config.Changed], n[config.Same]+n[config.Changed]+n[config.Paths], n[config.OnlyA]+n[config.OnlyB]))
	default:
		t.verdict(false, t.say("config.same", n[config.Same]))
	}
	t.label("a", name(d.A.Path)+t.say("config.format", string(d.A.Format), len(d.A.Entries)))
	t.label("b", name(d.B.Path)+t.say("config.format", string(d.B.Format), len(d.B.Entries)))
	if n[config.Paths] > 0 {
		t.label("paths", t.say("config.paths", n[config.Paths]))
	}
	if d.Ignored > 0 {
		t.label("ignored", t.say("config.ignored", d.Ignored))
	}
	unlike := slices.DeleteFunc(slices.Clone(d.Pairs), func(p config.Pair) bool { return p.Same })
	if t.bare || len(unlike) == 0 {
		return
	}
	shown := t.most(len(unlike))
	rows := [][]string{{"", t.say("config.key"), "A", "B", ""}}
	for _, p := range unlike[:shown] {
		r, note := key(&p), ""
		if p.Paths {
			note = t.say("config.path")
		}
		if r.How != "" {
			note = t.say("config.how."+r.How, name(r.KeyB))
		}
		rows = append(rows, []string{marks[r.What], name(r.Key), r.A, r.B, note})
	}
	t.b.WriteString("\n")
	t.table(rows)
	if more := len(unlike) - shown; more > 0 {
		t.b.WriteString("  " + t.say("more", more) + "\n")
	}
}

// marks stand before the keys of a table.
var marks = map[string]string{"changed": "!", "only-a": "-", "only-b": "+", "paths": "~"}

func (d Config) page(p *pageData) {
	p.Verdict = verdictOf(d.Differs() && !d.Nothing(), d.Nothing())
	for i := range d.Pairs {
		p.Rows.add(key(&d.Pairs[i]))
	}
}

func (d Config) json() map[string]any {
	n := d.Count
	return map[string]any{
		"kind": "config", "differs": d.Differs(), "a": d.A.Path, "b": d.B.Path, "format_a": d.A.Format, "format_b": d.B.Format,
		"same": n[config.Same], "changed": n[config.Changed], "paths": n[config.Paths], "only_a": n[config.OnlyA], "only_b": n[config.OnlyB], "ignored": d.Ignored, "keys": d.Pairs,
	}
}

// key is a key as a row: both values, and how the keys of the two were found to be one.
func key(p *config.Pair) row {
	r := row{What: string(p.What), Key: cmp.Or(p.A.Key, p.B.Key), A: value(&p.A), B: value(&p.B), KeyB: p.B.Key}
	if p.How != config.ByKey {
		r.How = string(p.How)
	}
	return r
}

func value(e *config.Entry) string {
	if e.IsZero() {
		return ""
	}
	text := e.Value.Source
	if len(text) > 60 {
		text = text[:57] + "…"
	}
	text = name(cmp.Or(text, `""`))
	if e.Line > 0 {
		text += " :" + strconv.Itoa(e.Line)
	}
	return text
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
		text := ""
		for i, cell := range r {
			text += cell + strings.Repeat(" ", wide[i]-lipgloss.Width(cell)+2)
		}
		text = strings.TrimRight(text, " ")
		switch {
		case r[0] == "!":
			text = t.paint(Bad, text)
		case n > 0:
			text = t.paint(Note, text)
		}
		t.b.WriteString(text + "\n")
	}
}
