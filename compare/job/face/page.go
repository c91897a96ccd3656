package face

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"

	"precision/compare/job"
	"precision/compare/report"
	"precision/compare/report/html"
	"precision/compare/verdict"
	"precision/internal/msg"
)

// data is what the script of the page reads.
type data struct {
	Job  *job.Saved `json:"job"`
	Page own        `json:"page"`
}

// own is the page's own part of it.
type own struct {
	Lang  string            `json:"lang"`
	Title string            `json:"title"`
	Say   map[string]spoken `json:"say"`
	// Pages are the addresses of the pages of parts, empty for those without one.
	Pages []string `json:"pages"`
	// First are the places of the parts at which origins appear first, -1 where none is known.
	First []int `json:"first"`
}

// spoken is what is said in one language.
type spoken struct {
	html.Spoken
	Origins [][]html.Line `json:"origins"`
	Parts   []string      `json:"parts"` // a line of each
}

// mostCards is how many origins have a card; the lines below say how many there are.
const mostCards = 40

// Write writes the page. lang is the language it opens in; the other is a click away.
func Write(to io.Writer, r *job.Result, lang msg.Lang) error {
	title := report.Clean(r.Plan.Left)
	saved := r.Saved()
	for i := range saved.Parts { // what only other ranks look at stays out
		d := saved.Parts[i].Digest
		saved.Parts[i].Digest = &job.Digest{Failed: d.Failed, Verdict: d.Verdict, Counts: d.Counts, Compared: d.Compared, Expected: d.Expected, Rows: d.Rows}
	}
	d := data{saved, own{Lang: lang.String(), Title: title, Say: html.Say(func(l msg.Lang) spoken { return speak(l, r) }), Pages: make([]string, len(r.Digests)), First: []int{}}}
	for i := range r.Digests {
		if i < len(r.Pages) && r.Pages[i] != "" {
			d.Page.Pages[i] = (&url.URL{Path: r.Pages[i]}).String()
		}
	}
	for i := range r.Origins[:min(len(r.Origins), mostCards)] {
		d.Page.First = append(d.Page.First, first(r, &r.Origins[i]))
	}
	return html.Job.Write(to, lang, title, func(w io.Writer) error { return json.NewEncoder(w).Encode(&d) })
}

// Pages are what writes the page of a job and those of its parts, in the language they open in.
func Pages(lang msg.Lang) (whole func(io.Writer, *job.Result) error, part func(io.Writer, *verdict.Judged) error) {
	return func(to io.Writer, r *job.Result) error { return Write(to, r, lang) },
		func(to io.Writer, j *verdict.Judged) error { return html.Write(to, j, html.Options{Lang: lang}) }
}

// speak says in a language what the script does not put together.
func speak(lang msg.Lang, r *job.Result) spoken {
	lines := html.Lines(Result(lang, r))
	s := spoken{html.Spoken{Texts: lang.Under("html.", "job.verdict."), Headline: lines[0].Segments, Lines: lines}, [][]html.Line{}, []string{}}
	for i := range r.Origins[:min(len(r.Origins), mostCards)] {
		s.Origins = append(s.Origins, html.Lines(Origin(lang, &r.Origins[i])))
	}
	for _, d := range r.Digests {
		s.Parts = append(s.Parts, Part(lang, d))
	}
	return s
}

// first is the part at which an origin appears, -1 if none has it among its roots.
func first(r *job.Result, o *job.Origin) int {
	for i, d := range r.Digests {
		if r.Plan.Parts[i].Step == o.First && slices.ContainsFunc(d.Roots, func(x job.Root) bool { return x.Op == o.Op }) {
			return i
		}
	}
	return -1
}
