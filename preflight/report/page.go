package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"

	"precision/compare/report/html/uplot"
	"precision/internal/msg"
	"precision/preflight/trainlog"
)

//go:embed page.js
var pageScript string

const pageStyle = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:16px;max-width:1432px}
pre{overflow-x:auto;font:13px/1.4 ui-monospace,monospace}.u-legend{font-size:13px}`

// pagePoints is how many points of a series the page has; of more every n-th.
const pagePoints = 20_000

type pageQuantity struct {
	Title    string   `json:"title"`
	StepsA   []int64  `json:"steps_a"`
	ValuesA  []number `json:"values_a"`
	StepsB   []int64  `json:"steps_b"`
	ValuesB  []number `json:"values_b"`
	PartStep *int64   `json:"part_step"`
	Stepped  bool     `json:"stepped"`
	Positive bool     `json:"positive"`
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
}

// Page writes a page with the curves of two logs: one file, which fetches
// nothing and is opened by a double click.
func Page(to io.Writer, lang msg.Lang, d *trainlog.Difference) error {
	var quantities []pageQuantity
	for i := range d.Quantities {
		q := &d.Quantities[i]
		p := pageQuantity{Title: name(q.Name), Stepped: q.Name == trainlog.Scale, Positive: true, Low: math.Inf(1)}
		p.StepsA, p.ValuesA = p.points(q.A)
		p.StepsB, p.ValuesB = p.points(q.B)
		if math.IsInf(p.Low, 1) {
			p.Low, p.Positive = 0, false
		}
		if q.Parts {
			p.PartStep = &q.PartStep
		}
		quantities = append(quantities, p)
	}
	data, err := json.Marshal(map[string]any{"quantities": quantities, "step": "step"}) // with < as an escape
	if err != nil {
		return err
	}
	title := lang.T("preflight.page.title")
	summary := Text{Lang: lang, Width: 100}.withoutPlots(d)
	policy := "default-src 'none'; script-src " + sum(uplot.Script) + " " + sum(pageScript) + "; style-src " + sum(uplot.Style) + " " + sum(pageStyle) + "; base-uri 'none'; form-action 'none'"
	_, err = fmt.Fprintf(to, `<!doctype html>
<html lang="%s">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>%s</style>
<style>%s</style>
</head>
<body>
<h1>%s</h1>
<pre>%s</pre>
<p>%s</p>
<div id="charts"></div>
<script type="application/json" id="data">%s</script>
<script>%s</script>
<script>%s</script>
</body>
</html>
`, lang, policy, html.EscapeString(title), uplot.Style, pageStyle, html.EscapeString(title), html.EscapeString(summary), html.EscapeString(lang.T("preflight.page.note")), data, uplot.Script, pageScript)
	return err
}

// points are those of a series, thinned out.
func (p *pageQuantity) points(s *trainlog.Series) (steps []int64, values []number) {
	every := (len(s.Points) + pagePoints - 1) / pagePoints
	for i, point := range s.Points {
		if i%max(every, 1) != 0 {
			continue
		}
		steps, values = append(steps, point.Step), append(values, number(point.Value))
		if !math.IsNaN(point.Value) && !math.IsInf(point.Value, 0) {
			p.Low, p.High = min(p.Low, point.Value), max(p.High, point.Value)
			p.Positive = p.Positive && point.Value > 0
		}
	}
	return steps, values
}

// withoutPlots is the text of a difference where the curves stand beside it.
func (t Text) withoutPlots(d *trainlog.Difference) string {
	t.bare = true
	return t.Log(d)
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'"
}
