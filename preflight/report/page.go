package report

import (
	"encoding/json"
	"io"
	"slices"

	"precision/compare/report/html"
	"precision/internal/msg"
	"precision/preflight/trainlog"
)

// Page renders as a page, with the design and the parts of the page of a comparison.
type Page struct {
	// Lang is the language it opens in.
	Lang msg.Lang
	// A and B are what was compared, for people.
	A, B string
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

// row is one of them.
type row struct{ What, Key, A, B, How, KeyB string }

func (r *pageRows) add(one row) {
	r.What, r.Key, r.KeyB = append(r.What, one.What), append(r.Key, name(one.Key)), append(r.KeyB, name(one.KeyB))
	r.A, r.B, r.How = append(r.A, one.A), append(r.B, one.B), append(r.How, one.How)
}

// curve is a quantity of both logs.
type curve struct {
	Name     string            `json:"name"`
	StepsA   []int64           `json:"steps_a"`
	ValuesA  []trainlog.Number `json:"values_a"`
	StepsB   []int64           `json:"steps_b"`
	ValuesB  []trainlog.Number `json:"values_b"`
	Parts    bool              `json:"parts"`
	PartStep int64             `json:"part_step"`
	Stepped  bool              `json:"stepped"`
	Positive bool              `json:"positive"`
	Low      float64           `json:"low"`
	High     float64           `json:"high"`
}

type pageFixed struct {
	Lang string               `json:"lang"`
	Say  map[string]pageWords `json:"say"`
}

// pageWords are what is said in one language. Quantities are the lines of each curve, the first of which names it.
type pageWords struct {
	html.Spoken
	Quantities [][]string `json:"quantities"`
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

// Write says in both languages what was found.
func (p Page) Write(to io.Writer, f Found) error {
	d := &pageData{A: name(p.A), B: name(p.B), Page: pageFixed{Lang: p.Lang.String()}}
	f.page(d)
	d.Page.Say = html.Say(func(lang msg.Lang) pageWords {
		texts := lang.Under("html.", "preflight.label.", "preflight.config.how.")
		for _, state := range []string{"good", "suspect", "bad", "uncompared"} {
			texts["report.word."+state] = lang.T("html.preflight.word." + state) // what these states are called here
		}
		for _, part := range []string{"table", "filter", "only-wrong"} {
			texts["html."+part] = lang.T("html.preflight." + part)
		}
		t := Text{Lang: lang, bare: true}
		f.say(&t)
		w := pageWords{html.Spoken{Texts: texts, Headline: []html.Segment{{Text: t.spoken[0].text}}}, t.quantities}
		for _, s := range t.spoken[1:] {
			w.Lines = append(w.Lines, html.Line{Label: s.label, Segments: []html.Segment{{Text: s.text}}})
		}
		return w
	})
	return html.Preflight.Write(to, p.Lang, p.A+" | "+p.B, func(w io.Writer) error { return json.NewEncoder(w).Encode(d) })
}

// points are those of a series, thinned out.
func (c *curve) points(s *trainlog.Series) (steps []int64, values []trainlog.Number) {
	every := max(1, (len(s.Points)+pagePoints-1)/pagePoints)
	steps, values = make([]int64, 0, len(s.Points)/every+1), make([]trainlog.Number, 0, len(s.Points)/every+1)
	for chunk := range slices.Chunk(s.Points, every) {
		v := chunk[0].Value
		steps, values = append(steps, chunk[0].Step), append(values, trainlog.Number(v))
		if finite(v) {
			c.Low, c.High = min(c.Low, v), max(c.High, v)
			c.Positive = c.Positive && v > 0
		}
	}
	return steps, values
}
