package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"precision/compare/pattern/tell"
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
	if text := w.text("#cards .kind"); !strings.Contains(text, tell.Kind(msg.English, "unwritten")) || !strings.Contains(w.text("#operator .kind"), text) {
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
