package rollouts

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"slices"

	"precision/compare/report/html"
	"precision/compare/rollout"
	"precision/internal/msg"
)

// data is what the script of the page reads.
type data struct {
	Rollout any `json:"rollout"`
	Page    own `json:"page"`
}

// own is the page's own part of it.
type own struct {
	Lang   string            `json:"lang"`
	Train  string            `json:"train"`
	Engine string            `json:"engine"`
	Say    map[string]spoken `json:"say"`
	// Tokens are the sequences farthest off, of so many; Largest is the largest difference in them.
	Tokens    []sequence `json:"tokens"`
	Sequences int        `json:"sequences"`
	Largest   float64    `json:"largest"`
	// Most is how many weights are listed.
	Most int `json:"most"`
}

// sequence is train − rollout of the tokens of a sequence, null where none counts; From is the first position.
type sequence struct {
	Row  int        `json:"row"`
	From int        `json:"from"`
	D    []*float64 `json:"d"`
}

// spoken is what is said in one language.
type spoken struct {
	html.Spoken
	Causes []told `json:"causes"`
}

// told is a cause in words, with what to do about it.
type told struct {
	Text   string `json:"text"`
	Advice []Hint `json:"advice"`
}

// What a page shows at most: a browser lays so many cells out in a moment.
const (
	mostCauses    = 40
	mostSequences = 32
	mostPositions = 256
	mostWeights   = 200
)

// Write writes the page of a result. train and engine name the sides, lang is the language it opens in; the other is a click away.
func Write(to io.Writer, r *rollout.Result, lang msg.Lang, train, engine string) error {
	d := data{Document(r), own{Lang: lang.String(), Train: train, Engine: engine, Say: html.Say(func(l msg.Lang) spoken { return speak(l, r) }), Tokens: []sequence{}, Most: mostWeights}}
	d.Page.tokens(r)
	return html.Rollout.Write(to, lang, "rollout", func(w io.Writer) error { return json.NewEncoder(w).Encode(&d) })
}

func speak(l msg.Lang, r *rollout.Result) spoken {
	lines := html.Lines(Lines(l, r, mostCauses))
	s := spoken{html.Spoken{Texts: l.Under("html.", "rollout.kind."), Headline: lines[0].Segments, Lines: lines}, []told{}}
	for i := range r.Causes[:min(len(r.Causes), mostCauses)] {
		one := told{Sentence(l, &r.Causes[i]), []Hint{}}
		if h := Advice(l, &r.Causes[i]); h.Text != "" {
			one.Advice = append(one.Advice, h)
		}
		s.Causes = append(s.Causes, one)
	}
	return s
}

// tokens takes the sequences that are farthest off, and of longer ones the positions around the largest difference.
func (p *own) tokens(r *rollout.Result) {
	l := r.Logs
	if l == nil {
		return
	}
	p.Sequences = l.Rows
	order := make([]int, l.Rows)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Figs.Sequences[b], r.Figs.Sequences[a]) })
	for _, row := range order[:min(len(order), mostSequences)] {
		worst, end := 0, 0
		value := func(c int) *float64 {
			i := row*l.Columns + c
			if d := l.Train[i] - l.Rollout[i]; (l.Mask == nil || l.Mask[i]) && d-d == 0 {
				return &d
			}
			return nil
		}
		largest := 0.0
		for c := range l.Columns {
			if d := value(c); d != nil {
				end = c + 1
				if math.Abs(*d) > largest {
					largest, worst = math.Abs(*d), c
				}
			}
		}
		from := max(0, min(worst-mostPositions/2, end-mostPositions))
		q := sequence{Row: row, From: from, D: []*float64{}}
		for c := from; c < min(end, from+mostPositions); c++ {
			q.D = append(q.D, value(c))
		}
		p.Largest = max(p.Largest, largest)
		p.Tokens = append(p.Tokens, q)
	}
}
