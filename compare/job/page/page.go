// Package page renders what became of a job as one page to look at: what is wrong, and a
// matrix of ranks and steps with the state of each. It is opened by a double click, fetches nothing and
// runs no script.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"precision/compare/job"
	"precision/compare/job/tell"
	"precision/compare/report"
	"precision/internal/msg"
)

//go:embed page.css
var style string

// writer writes a page piece by piece. What comes from recordings goes through text; the pieces of
// the page are constants. (html/template would do this, and make the linker keep every method of the program.)
type writer struct {
	strings.Builder
}

// put writes pieces of the page, and between them texts, escaped: put("<p>", text, "</p>").
func (w *writer) put(pieces ...string) {
	for i, p := range pieces {
		if i%2 == 1 {
			p = html.EscapeString(p)
		}
		w.WriteString(p)
	}
}

// cell is a part: its state, the letter for it, and what a reader sees on it.
type cell struct{ State, Letter, Says, Link string }

// letters tell states apart without colours.
var letters = map[string]string{"good": "·", "suspect": "S", "bad": "B", "inconclusive": "?", "failed": "!", "none": ""}

// class is the style of a piece of text.
func class(s report.Style) string {
	return [...]string{report.Plain: "", report.Good: "good", report.Suspect: "suspect", report.Bad: "bad", report.Dim: "dim", report.Strong: "strong"}[s]
}

// Write writes the page. lang is the language it opens in; the other is a click away.
func Write(to io.Writer, r *job.Result, lang msg.Lang) error {
	sum := sha256.Sum256([]byte(style))
	title := report.Clean(r.Plan.Left)
	w := &writer{}
	w.put("<!doctype html>\n<html lang=\"", lang.String(), "\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-",
		base64.StdEncoding.EncodeToString(sum[:]), "'; base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"+
			"<meta name=\"color-scheme\" content=\"light dark\">\n<title>precision: ", title, "</title>\n<style>"+style+"</style>\n</head>\n<body>\n")
	for _, l := range []msg.Lang{msg.English, msg.Chinese} {
		checked := ""
		if l == lang {
			checked = " checked"
		}
		w.put("<input type=\"radio\" name=\"lang\" id=\"", l.String(), "\""+checked+"><label for=\"", l.String(), "\">", languages[l], "</label>\n")
	}
	w.put("<main>\n<h1>", title, "</h1>\n")
	for _, l := range []msg.Lang{msg.English, msg.Chinese} {
		w.put("<section class=\"", l.String(), "\" lang=\"", l.String(), "\">\n<dl>\n")
		for _, line := range tell.Result(l, r) {
			w.put("<dt>", line.Label, "</dt><dd>")
			for _, s := range line.Segments {
				w.put("<span class=\"", class(s.Style), "\">", s.Text, "</span>")
			}
			w.put("</dd>\n")
		}
		w.put("</dl>\n<h2>", l.T("job.page.matrix"), "</h2>\n<p class=\"dim\">", l.T("job.page.legend"), "</p>\n</section>\n")
	}
	w.matrix(r, lang)
	w.put("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(to, w.String())
	return err
}

// languages are what languages are called in themselves.
var languages = map[msg.Lang]string{msg.English: "English", msg.Chinese: "中文"}

// matrix writes the parts in rows and columns. A rank with several models at a step has the
// state of the worst.
func (w *writer) matrix(r *job.Result, lang msg.Lang) {
	steps, ranks := map[int]bool{}, map[int]string{}
	for i := range r.Plan.Parts {
		x := &r.Plan.Parts[i]
		steps[x.Step] = true
		ranks[x.Rank] = x.Host
	}
	for _, a := range r.Plan.Alone {
		if _, known := ranks[a.Rank]; !known {
			ranks[a.Rank] = ""
		}
		steps[a.Step] = true
	}
	columns := keys(steps)
	w.put("<div class=\"matrix\"><table>\n<thead><tr><th></th>")
	for _, s := range columns {
		w.put("<th scope=\"col\">", name(s), "</th>")
	}
	w.put("</tr></thead>\n<tbody>\n")
	gravity := []string{"none", "good", "suspect", "inconclusive", "bad", "failed"}
	at := map[[2]int]*cell{}
	for i, d := range r.Digests {
		x := &r.Plan.Parts[i]
		state := d.Verdict
		if d.Failed != "" {
			state = "failed"
		}
		c := at[[2]int{x.Rank, x.Step}]
		if c != nil && slices.Index(gravity, state) <= slices.Index(gravity, c.State) {
			continue
		}
		made := &cell{State: state, Letter: letters[state], Says: tell.Part(lang, d)}
		if d.Failed == "" {
			made.Link = (&url.URL{Path: job.TableFolder + "/" + x.Name + ".csv"}).String()
		}
		at[[2]int{x.Rank, x.Step}] = made
	}
	for _, rank := range keys(ranks) {
		host := ranks[rank]
		if host != "" {
			host += " "
		}
		w.put("<tr><th scope=\"row\">", host+name(rank), "</th>")
		for _, step := range columns {
			c := at[[2]int{rank, step}]
			if c == nil {
				c = &cell{State: "none"}
			}
			w.put("<td class=\"", c.State, "\">")
			if c.Link != "" {
				w.put("<a href=\"", c.Link, "\" title=\"", c.Says, "\">", c.Letter, "</a>")
			} else {
				w.put("<span title=\"", c.Says, "\">", c.Letter, "</span>")
			}
			w.put("</td>")
		}
		w.put("</tr>\n")
	}
	w.put("</tbody>\n</table></div>\n")
}

func name(n int) string {
	if n < 0 {
		return "?"
	}
	return strconv.Itoa(n)
}

func keys[T any](m map[int]T) []int {
	var list []int
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
