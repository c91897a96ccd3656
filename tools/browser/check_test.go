package browser

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"precision/compare/oracle"
	"precision/compare/oracle/page"
	"precision/compare/pattern"
	"precision/compare/pattern/tell"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/internal/msg"
)

// TestCheck goes through the page of a check: what is wrong comes first, the chart has the bound as its limit, the table is
// sorted and filtered, and names are text.
func TestCheck(t *testing.T) {
	var findings []oracle.Finding
	for i := range 200 {
		f := oracle.Finding{Verdict: oracle.OK, Op: fmt.Sprintf("layer_%d/MatMul", i), Type: "MatMul", Rank: -1, Ratio: 0.3, Worst: []int64{0, int64(i)}, Expected: 1, Found: 1 + 1e-4, Bound: 3e-4, Largest: 1e-4,
			DType: dtype.Float16, Shape: []int64{1, 256}, Elements: 256, Looked: 256}
		switch {
		case i == 120:
			f.Verdict, f.Ratio, f.Found, f.Beyond, f.Reasons = oracle.Wrong, 2000, 7, 128, []result.Reason{result.Because("check-beyond", "128", "256")}
			f.Pattern = string(pattern.Unwritten)
		case i == 150:
			f.Op, f.Verdict = "</script><img src=x onerror=alert(1)>", oracle.Suspect
			f.Ratio = 1.2
		case i%10 == 9:
			f.Verdict = oracle.Unknown
		}
		findings = append(findings, f)
	}
	var b bytes.Buffer
	if err := page.Write(&b, findings, oracle.CoverageOf(findings, nil, nil), page.Options{Left: "/data/npu", Lang: msg.English}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "check.html")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	w := view(t, "file://"+path, 1400, 1000)
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
