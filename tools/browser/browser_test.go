package browser

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/ledongthuc/pdf"

	"precision/compare/report/html"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/testdata/workshop/madeup"
)

// chromium finds a browser, or skips the test.
func chromium(t testing.TB) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium here")
	return ""
}

// window is a page in a browser, and all it said that it should not have.
type window struct {
	t   testing.TB
	ctx context.Context

	mu   sync.Mutex
	said []string
}

// view opens a file in a browser of its own. Whatever it says on the console,
// asks or requests is kept.
func view(t testing.TB, address string, width, height int, more ...chromedp.ExecAllocatorOption) *window {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(width, height), chromedp.UserDataDir(profile(t)))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(stop)
	w := &window{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			w.hear("console: %s", e.Type)
		case *runtime.EventExceptionThrown:
			w.hear("exception: %v", e.ExceptionDetails)
		case *log.EventEntryAdded:
			w.hear("log: %s %s", e.Entry.Text, e.Entry.URL)
		case *page.EventJavascriptDialogOpening:
			w.hear("dialog: %s", e.Message)
		case *network.EventRequestWillBeSent:
			if e.DocumentURL != e.Request.URL && !strings.HasPrefix(e.Request.URL, "blob:") {
				w.hear("request: %s", e.Request.URL)
			}
		}
	})
	w.run(log.Enable(), network.Enable(), runtime.Enable(), chromedp.Navigate(address), chromedp.WaitReady("body[data-ready]", chromedp.ByQuery))
	return w
}

func (w *window) hear(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

func (w *window) run(actions ...chromedp.Action) {
	w.t.Helper()
	if err := chromedp.Run(w.ctx, actions...); err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.t.Fatalf("%v\n%s", err, strings.Join(w.said, "\n"))
	}
}

// quiet fails the test if the page said anything.
func (w *window) quiet() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.said {
		w.t.Error(s)
	}
}

// targets are what the browser shows of a kind: page, iframe.
func (w *window) targets(kind string) (list []target.ID) {
	w.t.Helper()
	all, err := chromedp.Targets(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, one := range all {
		if one.Type == kind {
			list = append(list, one.TargetID)
		}
	}
	return list
}

// text is the text of an element as it is shown.
func (w *window) text(selector string) (text string) {
	w.t.Helper()
	w.run(chromedp.Text(selector, &text, chromedp.ByQuery))
	return strings.TrimSpace(text)
}

// value evaluates a script.
func value[T any](w *window, script string) (v T) {
	w.t.Helper()
	w.run(chromedp.Evaluate(script, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return v
}

// frames waits until what was asked for is drawn.
const frames = `new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true))), 250))`

func (w *window) settle() {
	w.t.Helper()
	value[bool](w, frames)
}

// show sets the width of the page and light or dark.
func (w *window) show(width int, theme string) {
	w.t.Helper()
	w.run(emulation.SetDeviceMetricsOverride(int64(width), 1000, 1, false), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
	w.settle()
}

// choose chooses the language.
func (w *window) choose(lang string) {
	w.t.Helper()
	w.run(chromedp.Click(`#languages button[value=`+lang+`]`, chromedp.ByQuery))
}

// faintTexts gives the texts whose colour is too near to that of what is behind them: below 3 to 1, which WCAG asks of large letters and signs.
const faintTexts = `(() => {
	const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
	const light = colours => { for (const c of ['white', ...colours]) { canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); }
		return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0); };
	const behind = e => { const list = []; for (; e; e = e.parentElement) list.unshift(getComputedStyle(e).backgroundColor); return list; };
	const faint = [];
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = texts.nextNode(); n; n = texts.nextNode()) {
		const e = n.parentElement;
		if (!n.data.trim() || !e.checkVisibility() || !e.getClientRects().length || e.closest('script, style, option')) continue;
		const ground = light(behind(e));
		const ink = light([...behind(e), getComputedStyle(e).color]);
		const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
		if (ratio < 3 && faint.length < 10) faint.push(n.data.trim().slice(0, 40) + ' ' + ratio.toFixed(2));
	}
	return faint;
})()`

// paper prints the page and returns the text that is on the sheets, without blanks.
func (w *window) paper() string {
	w.t.Helper()
	var sheets []byte
	w.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		sheets, _, err = page.PrintToPDF().WithPreferCSSPageSize(true).Do(ctx)
		return err
	}))
	read, err := pdf.NewReader(bytes.NewReader(sheets), int64(len(sheets)))
	if err != nil {
		w.t.Fatalf("printed %q: %v", sheets[:min(20, len(sheets))], err)
	}
	text, err := read.GetPlainText()
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := io.ReadAll(text)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl").Replace(strings.Join(strings.Fields(string(all)), ""))
}

// again opens the page again, and returns the milliseconds of the processor that its thread takes until it can be used.
func (w *window) again() float64 {
	w.t.Helper()
	var list []*performance.Metric
	address := value[string](w, `location.href.split('#')[0]`)
	w.run(chromedp.Navigate("about:blank"), performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks), chromedp.Navigate(address), chromedp.WaitReady("body[data-ready]", chromedp.ByQuery),
		chromedp.ActionFunc(func(ctx context.Context) (err error) { list, err = performance.GetMetrics().Do(ctx); return err }))
	for _, m := range list {
		if m.Name == "TaskDuration" {
			return 1000 * m.Value
		}
	}
	w.t.Fatalf("no time of tasks among %v", list)
	return 0
}

// profile makes a folder for what a browser keeps. Its child processes write there for a
// moment after it has ended, and nothing tells when they are gone.
func profile(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "profile")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var err error
		for range 200 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Error(err)
	})
	return dir
}

// write writes a report of a network and returns its address.
func write(t testing.TB, n madeup.Network, o html.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	var b bytes.Buffer
	if err := html.Write(&b, verdict.Judge(n.Table(), verdict.Options{}), o); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// TestHostile: names are text everywhere. Every part is looked at in both
// languages, and the page says, asks and requests nothing.
func TestHostile(t *testing.T) {
	w := view(t, write(t, madeup.Network{Ops: 30, Broken: 5, Hostile: true}, html.Options{Records: []string{`</script><img src=x onerror=alert(9)>`}}), 1400, 1600)
	for _, lang := range []string{"zh", "en"} {
		w.run(chromedp.Click(`#languages button[value=`+lang+`]`, chromedp.ByQuery))
		for i := range 30 {
			w.run(chromedp.Evaluate(fmt.Sprintf(`document.getElementById('rows').scrollTop = %d; document.querySelectorAll('#row-body .row')[%d]?.click()`, i*60, i%10), nil))
		}
		w.settle()
	}
	w.run(chromedp.SendKeys("#filter-text", "<img", chromedp.ByQuery))
	w.settle()
	if n := value[int](w, `document.querySelectorAll('img, svg, iframe, object, body script:not(#precision):not(:is(body > script))').length`); n > 0 {
		t.Errorf("%d elements were made of names", n)
	}
	if text := value[string](w, `document.body.innerText`); strings.ContainsAny(text, "\u202e\u2066\x1b\x07") || !strings.Contains(text, "onerror=alert(1)") {
		t.Error("names are not shown as text, or with what a viewer obeys")
	}
	w.quiet()
}

// TestUse goes through the page as a person does.
func TestUse(t *testing.T) {
	address := write(t, madeup.Network{Ops: 300, Broken: 120}, html.Options{})
	w := view(t, address, 1400, 1600)
	root := "dense_120/MatMul"
	if text := w.text("#headline"); !strings.HasPrefix(text, "✖") || !strings.Contains(text, "bad: the error begins at 1 operator") {
		t.Errorf("the headline is %q", text)
	}
	if text := w.text("#cards"); !strings.Contains(text, root) || strings.Contains(text, "precision graph") {
		t.Errorf("the first card is %q", text)
	}
	w.run(chromedp.Click("#cards .commands summary", chromedp.ByQuery))
	if text := w.text("#cards .commands"); !strings.Contains(text, "precision graph /data/graph.txt -op ") {
		t.Errorf("the commands to go on with are %q", text)
	}
	if text := w.text("#operator"); !strings.Contains(text, root) || !strings.Contains(text, "What to try") {
		t.Errorf("the operator shown first is %q", text)
	}
	if text := w.text("#row-body .row.selected"); !strings.Contains(text, root+":output:0") {
		t.Errorf("the row selected first is %q", text)
	}

	// Lines to paste are those of one framework, which can be chosen.
	if text := w.text("#operator .advice ol"); !strings.Contains(text, "npu.global_options") || strings.Contains(text, "--fusion_switch_file") || strings.Contains(text, "custom_op") || !strings.Contains(text, "[ByOpType]\nMatMulV2=") {
		t.Errorf("the advice is %q", text)
	}
	w.run(chromedp.SetValue("#place", "ATC", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('place').dispatchEvent(new Event('change'))`, nil))
	if text := w.text("#operator .advice ol"); !strings.Contains(text, "--fusion_switch_file") || strings.Contains(text, "npu.global_options") {
		t.Errorf("the advice for ATC is %q", text)
	}

	// Sorting: a click on a column, the worst first; another one turns it round.
	w.run(chromedp.Click(`[data-column=RelativeEuclideanDistance]`, chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('rows').scrollTop = 0`, nil))
	w.settle()
	distances := func() []float64 {
		return value[[]float64](w, `[...document.querySelectorAll('#row-body .row')].map(r => { const at = [...document.querySelectorAll('#row-head .cell')].findIndex(c => c.dataset.column === 'RelativeEuclideanDistance'); return parseFloat(r.children[at].innerText) || 0 })`)
	}
	down := distances()
	for i := 1; i < len(down); i++ {
		if down[i] > down[i-1] {
			t.Fatalf("not sorted from the worst: %v", down)
		}
	}
	w.run(chromedp.Click(`[data-column=RelativeEuclideanDistance]`, chromedp.ByQuery))
	w.settle()
	if up := distances(); up[0] >= down[0] || up[0] > up[len(up)-1] {
		t.Errorf("not turned round: %v after %v", up, down)
	}

	// Filtering: text, a regular expression, a state.
	count := func() string { w.settle(); return w.text("#row-count") }
	w.run(chromedp.SendKeys("#filter-text", "dense_12", chromedp.ByQuery))
	if text := count(); text != "33 of 898 rows" { // dense_12 and dense_120 to dense_129
		t.Errorf("filtered by text: %s", text)
	}
	w.run(chromedp.SetValue("#filter-text", `dense_12\d/`, chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('filter-text').dispatchEvent(new Event('input')); document.getElementById('filter-regexp').click()`, nil))
	if text := count(); text != "30 of 898 rows" {
		t.Errorf("filtered by a regular expression: %s", text)
	}
	w.run(chromedp.Evaluate(`{const s = document.getElementById('filter-state'); s.value = 'good'; s.dispatchEvent(new Event('change'))}`, nil))
	if text := count(); !strings.HasSuffix(text, "of 898 rows") || strings.HasPrefix(text, "30 ") {
		t.Errorf("filtered by state: %s", text)
	}

	// A click in the chart selects everywhere, and the address keeps it.
	w.run(chromedp.Evaluate(`window.scrollTo(0, 0)`, nil))
	at := value[[]float64](w, `(() => { const b = document.querySelector('#chart .u-over').getBoundingClientRect(); return [b.left, b.top, b.width, b.height] })()`)
	clicked := false
	for y := 0.0; y < at[3] && !clicked; y += 8 {
		x := at[0] + at[2]*0.8
		w.run(chromedp.MouseEvent(input.MouseMoved, x, at[1]+y), chromedp.MouseClickXY(x, at[1]+y))
		clicked = value[bool](w, `!document.querySelector('#operator .name').innerText.includes('dense_120/')`)
	}
	w.settle()
	name := w.text("#operator .name")
	hash := value[string](w, `decodeURIComponent(location.hash)`)
	if !clicked || !strings.Contains(hash, "op="+name) {
		t.Errorf("after a click on a point the operator is %q and the address %q", name, hash)
	}

	// The address leads there again, in the language it names.
	again := view(t, address+"#op=encoder/layer_10/attention/output/dense_121/MatMul&lang=zh", 1400, 1600)
	if text := again.text("#operator .name"); !strings.Contains(text, "dense_121/") {
		t.Errorf("the address leads to %q", text)
	}
	if text := again.text("#headline"); !strings.Contains(text, "异常") {
		t.Errorf("the headline in Chinese is %q", text)
	}

	// The language can be changed in the page, and keys go from row to row.
	again.run(chromedp.Click(`#languages button[value=en]`, chromedp.ByQuery))
	if text := again.text("#headline"); !strings.Contains(text, "bad") {
		t.Errorf("the headline in English is %q", text)
	}
	before := again.text("#row-body .row.near")
	again.run(chromedp.Focus("#rows", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	again.settle()
	if after := again.text("#row-body .row.selected"); after == before {
		t.Errorf("arrow keys stay at %q", after)
	}

	// Searching goes on through the graph.
	again.run(chromedp.SendKeys("#graph-search", "dense_200/\r", chromedp.ByQuery))
	if text := again.text("#operator .name"); !strings.Contains(text, "dense_200/") {
		t.Errorf("the search leads to %q", text)
	}
	w.quiet()
	again.quiet()
}

// TestStatistics: a page of recordings of statistics draws them, lists both sides' values, shows the line that made
// the call, and counts what another limit would call bad.
func TestStatistics(t *testing.T) {
	w := view(t, write(t, madeup.Network{Ops: 60, Broken: 20, Statistics: true}, html.Options{}), 1400, 1000)
	w.settle()
	if text := w.text("#measure"); !strings.Contains(text, "difference of norm") || strings.Contains(text, "cosine") {
		t.Errorf("the chart offers %q", text)
	}
	if text := w.text("#operator .said"); !strings.Contains(text, "max") || !strings.Contains(text, "norm") || !strings.Contains(text, "%") {
		t.Errorf("the operator shows %q", text)
	}
	if text := w.text("#cards .source summary"); !strings.Contains(text, "model.py:30: x = self.Add(x)") {
		t.Errorf("the card's source is %q", text)
	}
	w.run(chromedp.Click("#cards .source summary", chromedp.ByQuery))
	if text := w.text("#cards .source"); !strings.Contains(text, "train.py:7: loss = net(x)") {
		t.Errorf("the unfolded stack is %q", text)
	}
	if text := w.text("#row-head"); !strings.Contains(text, "Max, left") || !strings.Contains(text, "Norm, right") {
		t.Errorf("the columns are %q", text)
	}
	count := func(limit string) (above, of, fresh int) {
		w.run(chromedp.SetValue("#what-limit", limit, chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('what-limit').dispatchEvent(new Event('input'))`, nil))
		if _, err := fmt.Sscanf(w.text("#what-count"), "%d of %d outputs above it, %d of them", &above, &of, &fresh); err != nil {
			t.Fatalf("%v: %q", err, w.text("#what-count"))
		}
		return above, of, fresh
	}
	w.run(chromedp.Click("#what-if", chromedp.ByQuery))
	none, of, _ := count("1e9")
	most, _, fresh := count("0")
	if none != 0 || most == 0 || most > of || fresh > most {
		t.Errorf("%d of %d are above 1e9, %d above 0, %d of them not called bad", none, of, most, fresh)
	}
	if wrong := value[bool](w, `document.getElementById('what-limit').classList.contains('wrong')`); wrong {
		t.Error("0 is called no limit")
	}
	w.quiet()
}

// TestFirstScreen: at 1400 by 1000 points the root, its picture, the chart and the graph with the operator are in sight, and
// beside each other; at 390 nothing is wider than the page.
func TestFirstScreen(t *testing.T) {
	address := write(t, madeup.Network{Ops: 60, Broken: 20}, html.Options{})
	w := view(t, address, 1400, 1000)
	w.settle()
	for _, id := range []string{"cards", "chart", "graph", "operator"} {
		if top := value[float64](w, `document.getElementById('`+id+`').getBoundingClientRect().top`); top > 700 {
			t.Errorf("%s begins at %.0f points", id, top)
		}
	}
	for _, width := range []int{390, 1920} {
		w := view(t, address, width, 900)
		w.settle()
		if wide := value[float64](w, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
			t.Errorf("at %d points the page is %.0f points too wide", width, wide)
		}
		w.quiet()
	}
	w.quiet()
}

// TestPaper: printed, the page has the root, its numbers and the chart, and nothing is cut at the right.
func TestPaper(t *testing.T) {
	w := view(t, write(t, madeup.Network{Ops: 300, Broken: 120}, html.Options{}), 1400, 1000)
	w.settle()
	sheets := w.paper()
	for _, want := range []string{"dense_120/MatMul", "cosinesimilarity0.", "Erroroverexecutionorder", "notprinted:"} {
		if !strings.Contains(sheets, want) {
			t.Errorf("%q is not on the sheets", want)
		}
	}
	// As print media it can be measured: 186 mm between the margins of A4 are 703 points.
	w.run(emulation.SetEmulatedMedia().WithMedia("print"), emulation.SetDeviceMetricsOverride(703, 1000, 1, false))
	value[bool](w, `window.dispatchEvent(new Event('beforeprint'))`)
	w.settle()
	text := w.text("body")
	for _, want := range []string{"dense_120/MatMul", "cosine similarity 0.", "Error over execution order", "✖ bad", "not printed: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the paper", want)
		}
	}
	for _, id := range []string{"chart canvas", "paper table", "cards .card", "graph"} {
		if right := value[float64](w, `document.querySelector('#`+id+`').getBoundingClientRect().right`); right > 703 || right < 200 {
			t.Errorf("#%s ends at %.0f points of 703", id, right)
		}
	}
	if strings.Contains(text, "precision graph") {
		t.Error("commands are on the paper")
	}
	w.quiet()
}

// saved is the text of the file that a button gives.
func (w *window) saved(button string) string {
	w.t.Helper()
	return value[string](w, `new Promise(done => {
		const make = URL.createObjectURL;
		URL.createObjectURL = blob => { URL.createObjectURL = make; blob.text().then(done); return make(blob); };
		document.getElementById('`+button+`').click();
	})`)
}

// TestGraph: the graph shows what is around the root, then the modules with the one of the root open, layers alike
// as one with their number and the states inside; constants are left out until they are asked for; what is drawn can be saved.
func TestGraph(t *testing.T) {
	w := view(t, write(t, madeup.Network{Ops: 300, Broken: 120}, html.Options{}), 1400, 1000)
	near := w.saved("graph-svg")
	if n := strings.Count(near, "<text"); !strings.Contains(near, "  root<") || n < 10 || n > 200 || strings.Contains(near, "layer_0/") {
		t.Errorf("around the root are %d texts", n)
	}
	if !strings.Contains(near, "(1, 64, ") {
		t.Error("edges do not tell the shape of what goes along them")
	}
	w.run(chromedp.Click("#graph-whole", chromedp.ByQuery))
	w.settle()
	folded := w.saved("graph-svg")
	if !strings.Contains(folded, "layer_0 … layer_24") || !strings.Contains(folded, "✖1 ▼") || strings.Count(folded, ">root<") > 1 {
		t.Errorf("the modules are %.3000s", regexp.MustCompile(`<path[^>]*>|<text[^>]*>`).ReplaceAllString(folded, ""))
	}
	for _, name := range []string{">layer_9/a", ">layer_11/a"} { // closed beside the open layer_10
		if !strings.Contains(folded, name) {
			t.Errorf("%s is not beside the layer of the root", name)
		}
	}
	w.run(chromedp.Click("#graph-fit", chromedp.ByQuery))
	w.settle()
	closed := w.saved("graph-svg")
	if len(closed) > len(folded)/2 || !strings.Contains(closed, "✖1") {
		t.Errorf("with all closed a fault inside does not show: %.3000s", closed)
	}
	w.run(chromedp.SetValue("#graph-heat", "error", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('graph-heat').dispatchEvent(new Event('change'))`, nil))
	if text := w.text("#graph-legend"); text == "" {
		t.Error("colours by error have no legend")
	}
	if chart := w.saved("chart-svg"); !strings.Contains(chart, "1 - cosine similarity") || strings.Count(chart, "<path") < 200 {
		t.Errorf("the saved chart is %.400s", chart)
	}
	w.quiet()

	w = view(t, write(t, madeup.Network{Ops: 30, Broken: 5, Hostile: true}, html.Options{}), 1400, 1000)
	w.run(chromedp.Click("#graph-whole", chromedp.ByQuery))
	for _, button := range []string{"graph-svg", "chart-svg"} {
		var picture struct {
			XMLName struct{} `xml:"svg"`
		}
		if text := w.saved(button); xml.Unmarshal([]byte(text), &picture) != nil || regexp.MustCompile(`<(script|img|svg onload)`).MatchString(text) {
			t.Errorf("%s with hostile names is %.300s", button, text)
		}
	}
	w.quiet()
}

// TestTree: the calls of both sides stand beside each other with what one side alone has; next goes through these, and a pair made
// by hand tells how its values agree and what to give to -map, until it is undone.
func TestTree(t *testing.T) {
	for _, hostile := range []bool{false, true} {
		w := view(t, write(t, madeup.Network{Ops: 60, Broken: 20, Statistics: true, Alone: true, Hostile: hostile}, html.Options{}), 1400, 1000)
		if text := w.text("#tree-count"); text != "1 of 1" {
			t.Errorf("of the roots is shown %q", text)
		}
		half := func(side, k int) string {
			return fmt.Sprintf(`[...document.querySelectorAll('#tree .node')].filter(n => !n.children[%d].querySelector('button') && n.children[%d].querySelector('button')).at(%d)?.children[%d]`, 2-side, side, k, side)
		}
		w.run(chromedp.SetValue("#tree-kind", "alone", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('tree-kind').dispatchEvent(new Event('change'))`, nil))
		w.run(chromedp.Click("#tree-next", chromedp.ByQuery))
		if text := w.text("#operator"); !strings.Contains(text, "norm") || !strings.Contains(text, "output.0") {
			t.Errorf("a call without a partner tells %q", text)
		}
		w.run(chromedp.Click("#tree-previous", chromedp.ByQuery))
		value[bool](w, `(() => { for (let k = 0; k < 20; k++) document.querySelectorAll('#tree .node[aria-expanded=false]').forEach(n => n.click()); return true })()`)
		w.run(chromedp.Evaluate(half(0, 0)+`.querySelector('button').click()`, nil), chromedp.Evaluate(half(2, 0)+`.querySelector('button').click()`, nil))
		text := w.text("#pairs")
		if !strings.Contains(text, "output: the same statistics") || !hostile && !strings.Contains(text, ".output.0: ") {
			t.Errorf("the pair says %q", text)
		}
		w.run(chromedp.Click("#pairs .pair button", chromedp.ByQuery))
		// The same by the keyboard: from line to line, L and R take what the line has of a side.
		w.run(chromedp.Focus("#tree", chromedp.ByQuery), chromedp.KeyEvent(kb.Home))
		for _, side := range []int{0, 2} {
			down := value[int](w, `[...document.querySelectorAll('#tree .node')].findIndex(n => n === `+half(side, 0)+`.closest('.node'))`)
			w.run(chromedp.KeyEvent(kb.Home))
			for range down {
				w.run(chromedp.KeyEvent(kb.ArrowDown))
			}
			w.run(chromedp.KeyEvent(map[int]string{0: "l", 2: "r"}[side]))
		}
		if again := w.text("#pairs"); again != text {
			t.Errorf("by the keyboard the pair says %q, with the mouse %q", again, text)
		}
		w.run(chromedp.Evaluate(half(0, 1)+`.querySelector('button').click()`, nil), chromedp.Evaluate(half(2, 0)+`.querySelector('button').click()`, nil))
		if text := w.text("#pairs"); !strings.Contains(text, "output: apart by 50 % at output.0 ") {
			t.Errorf("pairs of calls that differ say %q", text)
		}
		for range 2 {
			w.run(chromedp.Click("#pairs .pair button", chromedp.ByQuery))
		}
		if text := w.text("#pairs"); text != "" {
			t.Errorf("undone, the pairs are %q", text)
		}
		w.quiet()
	}
}

// TestKeys goes by the keyboard alone: help and out of it, a search, from row to row, modules opened and closed, and a card chosen.
func TestKeys(t *testing.T) {
	w := view(t, write(t, madeup.Network{Ops: 300, Broken: 120, Statistics: true}, html.Options{}), 1400, 1000)
	w.run(chromedp.KeyEvent("?"))
	if text := w.text("#help"); !strings.Contains(text, "Esc") {
		t.Errorf("the help says %q", text)
	}
	w.run(chromedp.KeyEvent(kb.Escape))
	if value[bool](w, `document.getElementById('help').open`) {
		t.Error("Esc leaves the help open")
	}
	w.run(chromedp.KeyEvent("/"), chromedp.KeyEvent("dense_200/"), chromedp.KeyEvent(kb.Enter))
	if text := w.text("#operator .name"); !strings.Contains(text, "dense_200/") {
		t.Errorf("the search leads to %q", text)
	}
	w.run(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("/"), chromedp.KeyEvent("dense_12/"), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Escape))
	if text := w.text("#operator .name"); !strings.Contains(text, "dense_12/") {
		t.Errorf("the second search leads to %q", text)
	}
	lines := func() int { return value[int](w, `document.querySelectorAll('#tree .node').length`) }
	w.run(chromedp.Focus("#tree", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowLeft))
	before := lines()
	w.run(chromedp.KeyEvent(kb.ArrowLeft))
	if after := lines(); after >= before {
		t.Errorf("closed, the module leaves %d lines of %d", after, before)
	}
	w.run(chromedp.KeyEvent(kb.ArrowRight))
	if after := lines(); after != before {
		t.Errorf("opened again, there are %d lines, before %d", after, before)
	}
	w.run(chromedp.Focus("#cards .card", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	if text := w.text("#operator .name"); !strings.Contains(text, "dense_120/") {
		t.Errorf("the card leads to %q", text)
	}
	w.quiet()
}

// TestSave: the csv holds the rows that pass the filter, and no cell that a
// spreadsheet would run.
func TestSave(t *testing.T) {
	w := view(t, write(t, madeup.Network{Ops: 40, Broken: 5, Hostile: true}, html.Options{}), 1400, 1600)
	text := w.saved("save")
	if lines := strings.Count(text, "\r\n"); lines < 100 {
		t.Errorf("%d lines were saved", lines)
	}
	for _, line := range strings.Split(text, "\r\n") {
		for _, cell := range strings.Split(line, ",") {
			if strings.HasPrefix(strings.TrimPrefix(cell, `"`), "=") {
				t.Errorf("saved a formula: %q", cell)
			}
		}
	}
}

// TestParts: pages of all sorts open without a word.
func TestParts(t *testing.T) {
	for name, n := range map[string]madeup.Network{"good": {Ops: 50}, "statistics": {Ops: 50, Broken: 9, Statistics: true}, "hostile statistics": {Ops: 30, Broken: 5, Statistics: true, Hostile: true}, "without a graph": {Ops: 50, Broken: 9, Flat: true}, "one operator": {Ops: 1}, "empty": {}} {
		w := view(t, write(t, n, html.Options{Lang: msg.Chinese}), 700, 900)
		w.settle()
		if text := w.text("#headline"); text == "" {
			t.Errorf("%s: no headline", name)
		}
		w.quiet()
	}
}
