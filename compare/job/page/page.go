// Package page renders what became of a job as one page to look at: what is wrong, and a
// matrix of ranks and steps with the state of each. It is opened by a double click, fetches nothing and
// runs no script.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"precision/compare/job"
	"precision/compare/job/tell"
	"precision/compare/report"
	"precision/internal/msg"
)

//go:embed page.css page.html
var assets embed.FS

var (
	style  = string(must(assets.ReadFile("page.css")))
	layout = template.Must(template.New("page").Parse(string(must(assets.ReadFile("page.html")))))
)

// must is for what is part of the program.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// view is what the page shows.
type view struct {
	Lang, Title string
	Policy      string
	Style       template.CSS
	Said        []said
	Steps       []string
	Rows        []row
}

// said are the lines of a language, with the texts of the page.
type said struct {
	Lang           string
	Lines          []report.Line
	Matrix, Legend string
}

// row is a rank of a host.
type row struct {
	Name, Host string
	Cells      []cell
}

// cell is a part: its state, the letter for it, and what a reader sees on it.
type cell struct{ State, Letter, Says, Link string }

// letters tell states apart without colours.
var letters = map[string]string{"good": "·", "suspect": "S", "bad": "B", "inconclusive": "?", "failed": "!", "none": ""}

// Class is the style of a piece of text.
func (v view) Class(s report.Style) string {
	return [...]string{report.Plain: "", report.Good: "good", report.Suspect: "suspect", report.Bad: "bad", report.Dim: "dim", report.Strong: "strong"}[s]
}

// Write writes the page. lang is the language it opens in; the other is a click away.
func Write(to io.Writer, r *job.Result, lang msg.Lang) error {
	sum := sha256.Sum256([]byte(style))
	v := view{Lang: lang.String(), Title: report.Clean(r.Plan.Left), Style: template.CSS(style),
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"}
	for _, l := range []msg.Lang{msg.English, msg.Chinese} {
		v.Said = append(v.Said, said{l.String(), tell.Result(l, r), l.T("job.page.matrix"), l.T("job.page.legend")})
	}
	v.matrix(r, lang)
	return layout.Execute(to, v)
}

// matrix puts the parts into rows and columns. A rank with several models at a step has the
// state of the worst.
func (v *view) matrix(r *job.Result, lang msg.Lang) {
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
	for _, s := range columns {
		v.Steps = append(v.Steps, name(s))
	}
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
		made := &cell{State: state, Letter: letters[state], Says: says(d, lang)}
		if d.Failed == "" {
			made.Link = job.TableFolder + "/" + x.Name + ".csv"
		}
		at[[2]int{x.Rank, x.Step}] = made
	}
	for _, rank := range keys(ranks) {
		line := row{Name: name(rank), Host: ranks[rank]}
		for _, step := range columns {
			c := at[[2]int{rank, step}]
			if c == nil {
				c = &cell{State: "none"}
			}
			line.Cells = append(line.Cells, *c)
		}
		v.Rows = append(v.Rows, line)
	}
}

// says is what there is to say of a part in a line.
func says(d *job.Digest, lang msg.Lang) string {
	if d.Failed != "" {
		return report.Clean(d.Failed)
	}
	text := lang.T("job.verdict."+d.Verdict) + ", " + strconv.Itoa(d.Compared) + "/" + strconv.Itoa(d.Expected)
	for i := range d.Roots {
		if i == 3 {
			text += " …"
			break
		}
		text += "; " + strings.TrimSpace(d.Roots[i].Type+" "+d.Roots[i].Tensor())
	}
	return report.Clean(text)
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
