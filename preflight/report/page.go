package report

import (
	"encoding/json"
	"io"
	"math"
	"slices"

	"precision/compare/report/html"
	"precision/internal/msg"
	"precision/preflight/config"
	"precision/preflight/manifest"
	"precision/preflight/trainlog"
)

// Page renders as a page, with the design and the parts of the page of a comparison.
type Page struct {
	// Lang is the language it opens in.
	Lang msg.Lang
	// A and B are what was compared, for people.
	A, B string
	// Strict: what one side lacks fails a gate.
	Strict bool
}

// pagePoints is how many points of a series the page has; of more every n-th.
const pagePoints = 20_000

// pageData is what the script reads.
type pageData struct {
	Verdict string    `json:"verdict"`
	A       string    `json:"a"`
	B       string    `json:"b"`
	Rows    pageRows  `json:"rows"`
	Curves  []curve   `json:"curves"`
	Page    pageFixed `json:"page"`
}

// pageRows are columns: what became of a key or file, the labels of the text for it, what the sides have, and how its key in B was found.
type pageRows struct {
	What []string `json:"what"`
	Key  []string `json:"key"`
	A    []string `json:"a"`
	B    []string `json:"b"`
	How  []string `json:"how"`
	KeyB []string `json:"key_b"`
}

func (r *pageRows) add(what, key, a, b, how, keyB string) {
	r.What, r.Key, r.A, r.B, r.How, r.KeyB = append(r.What, what), append(r.Key, name(key)), append(r.A, a), append(r.B, b), append(r.How, how), append(r.KeyB, name(keyB))
}

// curve is a quantity of both logs.
type curve struct {
	Name     string   `json:"name"`
	StepsA   []int64  `json:"steps_a"`
	ValuesA  []number `json:"values_a"`
	StepsB   []int64  `json:"steps_b"`
	ValuesB  []number `json:"values_b"`
	Parts    bool     `json:"parts"`
	PartStep int64    `json:"part_step"`
	Stepped  bool     `json:"stepped"`
	Positive bool     `json:"positive"`
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
}

type pageFixed struct {
	Lang string               `json:"lang"`
	Say  map[string]pageWords `json:"say"`
}

// pageWords are what is said in one language. Quantities are the lines of each curve, the first of which names it.
type pageWords struct {
	Texts      map[string]string `json:"texts"`
	Headline   []html.Segment    `json:"headline"`
	Lines      []html.Line       `json:"lines"`
	Quantities [][]string        `json:"quantities"`
}

// Log writes what two training logs differ in.
func (p Page) Log(to io.Writer, d *trainlog.Difference) error {
	data := pageData{Verdict: verdictOf(d.Differs() || p.Strict && d.Lost(), d.Inconclusive())}
	for i := range d.Settings {
		s := &d.Settings[i]
		what := "changed"
		switch {
		case s.Place:
			what = "places"
		case !s.InA:
			what = "only-b"
		case !s.InB:
			what = "only-a"
		}
		data.Rows.add(what, s.Name, name(s.A), name(s.B), "", "")
	}
	for i := range d.Quantities {
		q := &d.Quantities[i]
		c := curve{Name: name(q.Name), Stepped: q.Name == trainlog.Scale, Parts: q.Parts, PartStep: q.PartStep, Positive: true, Low: math.Inf(1)}
		c.StepsA, c.ValuesA = c.points(q.A)
		c.StepsB, c.ValuesB = c.points(q.B)
		if math.IsInf(c.Low, 1) {
			c.Low, c.Positive = 0, false
		}
		data.Curves = append(data.Curves, c)
	}
	return p.write(to, &data, func(t *Text, w *pageWords) {
		t.log(d)
		for i := range d.Quantities {
			one := Text{Lang: t.Lang, epoch: t.epoch}
			one.quantity(&d.Quantities[i])
			lines := []string{one.spoken[0].label}
			for _, s := range one.spoken {
				lines = append(lines, s.text)
			}
			w.Quantities = append(w.Quantities, lines)
		}
	})
}

// Config writes what two configurations differ in.
func (p Page) Config(to io.Writer, d *config.Difference) error {
	data := pageData{Verdict: verdictOf(d.Differs() && !d.Nothing(), d.Nothing())}
	for i := range d.Pairs {
		q := &d.Pairs[i]
		what, key, how := "changed", q.A.Key, ""
		switch {
		case q.A.Key == "":
			what, key = "only-b", q.B.Key
		case q.B.Key == "":
			what = "only-a"
		case q.Same:
			what = "same"
		case q.Paths:
			what = "paths"
		}
		if !q.OneSided() && q.How != config.ByKey {
			how = string(q.How)
		}
		data.Rows.add(what, key, value(&q.A), value(&q.B), how, q.B.Key)
	}
	return p.write(to, &data, func(t *Text, _ *pageWords) { t.config(d) })
}

// Manifest writes what two manifests differ in.
func (p Page) Manifest(w io.Writer, d *manifest.Difference) error {
	data := pageData{Verdict: verdictOf(d.OnlyACount+d.OnlyBCount+d.ChangedCount > 0, d.Differs())}
	t := Text{Lang: msg.English} // sizes and hashes are the same words in both
	for _, list := range []struct {
		what string
		of   []manifest.Change
	}{{"changed", d.Changed}, {"unproven", d.Unproven}, {"unread", d.Unread}} {
		for i := range list.of {
			c := &list.of[i]
			data.Rows.add(list.what, c.A.Path, t.what(&c.A), t.what(&c.B), "", "")
		}
	}
	from, to := map[string]bool{}, map[string]bool{} // listed under their new names alone
	for i := range d.Moved {
		m := &d.Moved[i]
		from[m.From.Path], to[m.To.Path] = true, true
		data.Rows.add("moved", m.From.Path, t.what(&m.From), t.what(&m.To), string(config.ByName), m.To.Path)
	}
	for i := range d.OnlyA {
		if e := &d.OnlyA[i]; !from[e.Path] {
			data.Rows.add("only-a", e.Path, t.what(e), "", "", "")
		}
	}
	for i := range d.OnlyB {
		if e := &d.OnlyB[i]; !to[e.Path] {
			data.Rows.add("only-b", e.Path, "", t.what(e), "", "")
		}
	}
	return p.write(w, &data, func(t *Text, _ *pageWords) { t.manifest(d) })
}

func verdictOf(differs, open bool) string {
	switch {
	case differs:
		return "bad"
	case open:
		return "inconclusive"
	}
	return "good"
}

// write says it in both languages.
func (p Page) write(to io.Writer, d *pageData, say func(*Text, *pageWords)) error {
	d.A, d.B, d.Page = name(p.A), name(p.B), pageFixed{p.Lang.String(), map[string]pageWords{}}
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		texts := lang.Under("html.", "preflight.label.", "preflight.config.how.")
		for _, state := range []string{"good", "suspect", "bad", "uncompared"} {
			texts["report.word."+state] = lang.T("html.preflight.word." + state) // what these states are called here
		}
		for _, part := range []string{"table", "filter", "only-wrong"} {
			texts["html."+part] = lang.T("html.preflight." + part)
		}
		w := pageWords{Texts: texts}
		t := Text{Lang: lang, Strict: p.Strict, bare: true}
		say(&t, &w)
		for _, s := range t.spoken[1:] { // the first is the headline
			w.Lines = append(w.Lines, html.Line{Label: s.label, Segments: []html.Segment{{Text: s.text}}})
		}
		w.Headline = []html.Segment{{Text: t.spoken[0].text}}
		d.Page.Say[lang.String()] = w
	}
	return html.Preflight.Write(to, p.Lang, p.A+" | "+p.B, func(w io.Writer) error { return json.NewEncoder(w).Encode(d) })
}

// points are those of a series, thinned out.
func (c *curve) points(s *trainlog.Series) (steps []int64, values []number) {
	every := max(1, (len(s.Points)+pagePoints-1)/pagePoints)
	steps, values = make([]int64, 0, len(s.Points)/every+1), make([]number, 0, len(s.Points)/every+1)
	for chunk := range slices.Chunk(s.Points, every) {
		v := chunk[0].Value
		steps, values = append(steps, chunk[0].Step), append(values, number(v))
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			c.Low, c.High = min(c.Low, v), max(c.High, v)
			c.Positive = c.Positive && v > 0
		}
	}
	return steps, values
}
