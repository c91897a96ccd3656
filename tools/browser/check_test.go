package browser

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"precision/compare/oracle"
	"precision/compare/report/checked"
	"precision/compare/report/patterns"
	"precision/dump/monitor"
	"precision/internal/msg"
)

// TestCheck goes through the page of a check: what is wrong comes first, the chart has the bound as its limit, the table is
// sorted and filtered, and names are text.
func TestCheck(t *testing.T) {
	w := view(t, wideCheck(t), 1400, 1000)
	w.settle()
	if text := w.text("#headline"); !strings.Contains(text, "1 wrong") || !strings.HasPrefix(text, "✖") {
		t.Errorf("the headline is %q", text)
	}
	if text := w.text("#cards .card"); !strings.Contains(text, "layer_120/MatMul") || !strings.Contains(text, "7 instead of 1 at [0, 120]: 2000 times the bound") {
		t.Errorf("the first card is %q", text)
	}
	if text := w.text("#cards .kind"); !strings.Contains(text, patterns.Kind(msg.English, "unwritten")) || !strings.Contains(w.text("#operator .kind"), text) {
		t.Errorf("the kind of wrong is %q", text)
	}
	if text := w.text("#operator"); !strings.Contains(text, "layer_120/MatMul") || !strings.Contains(text, "128 / 256") {
		t.Errorf("the operator is %q", text)
	}
	if text := w.text("#what-count"); !strings.HasPrefix(text, "2 of 180 outputs above it, 1 of them") {
		t.Errorf("above the bound are %q", text)
	}
	if y := value[float64](w, `parseFloat(document.querySelector('.what-line').style.top)`); y < 20 {
		t.Errorf("the bound is drawn at %v", y)
	}
	w.run(chromedp.Click(`[data-column="check.ratio"]`, chromedp.ByQuery))
	w.settle()
	if text := w.text("#row-body .row"); !strings.Contains(text, "layer_120") {
		t.Errorf("sorted from the worst the first row is %q", text)
	}
	w.run(chromedp.Click(`#only-wrong`, chromedp.ByQuery))
	w.settle()
	if text := w.text("#row-count"); text != "2 of 200 rows" {
		t.Errorf("not good are %q", text)
	}
	if n := value[int](w, `document.querySelectorAll('img').length`); n > 0 || !strings.Contains(w.text("#row-body"), "onerror=alert(1)") {
		t.Error("a name is not text")
	}
	w.run(chromedp.Click(`#languages button[value=zh]`, chromedp.ByQuery))
	if text := w.text("#headline"); !strings.Contains(text, "异常") {
		t.Errorf("the headline in Chinese is %q", text)
	}
	w.quiet()
}

// TestMonitor: the page of what monitors recorded has no bound: its chart shows every series by its largest size over its median,
// what became no number at the top, and columns without anything are not there.
func TestMonitor(t *testing.T) {
	var d monitor.Data
	for k, name := range []string{"a", "b", "c", "d"} {
		s := &monitor.Series{Metric: "grad_unreduced", Name: name, Order: k}
		for step := range 8 {
			p := monitor.Point{Step: int64(step), Norm: 1 + float64(step%2)/8}
			switch {
			case name == "b" && step == 6:
				p.Norm = 500
			case name == "d" && step == 2:
				p.Norm, p.NaNs = math.NaN(), 3
			}
			s.Points = append(s.Points, p)
		}
		d.Series = append(d.Series, s)
	}
	findings := oracle.CheckMonitors(&d)
	w := view(t, put(t, filepath.Join(t.TempDir(), "monitor.html"), func(b *bytes.Buffer) error {
		return checked.Write(b, findings, oracle.CoverageOf(findings, nil, nil), checked.Options{Left: "/data/monitor", Lang: msg.English})
	}), 1400, 1000)
	w.settle()
	if text := w.text("#measure"); text != "largest size / median" || strings.Contains(w.text("main"), "bound") {
		t.Errorf("the chart shows %q", text)
	}
	if text := w.text("#row-head"); strings.Contains(text, "Bound") || strings.Contains(text, "Beyond") || !strings.Contains(text, "Size / median before") {
		t.Errorf("the columns are %q", text)
	}
	count := func(limit string) string {
		w.run(chromedp.SetValue("#what-limit", limit, chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('what-limit').dispatchEvent(new Event('input'))`, nil))
		return w.text("#what-count")
	}
	w.run(chromedp.Click("#what-if", chromedp.ByQuery))
	for limit, want := range map[string]string{"0.5": "4 of 4 ", "2": "2 of 4 ", "600": "1 of 4 "} {
		if text := count(limit); !strings.HasPrefix(text, want) {
			t.Errorf("above %s are %q, expected %s", limit, text, want)
		}
	}
	w.run(chromedp.Click(`#languages button[value=zh]`, chromedp.ByQuery))
	if text := w.text("#measure"); !strings.Contains(text, "中位数") {
		t.Errorf("in Chinese the chart shows %q", text)
	}
	w.quiet()
}
