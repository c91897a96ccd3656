package browser

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"precision/compare/job"
	"precision/compare/look"
	"precision/compare/report/html"
	"precision/run"
	"precision/testdata/workshop/madeup"
)

// painted counts the colours of a canvas, at most ten.
const painted = `(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const seen = new Set(); for (let i = 0; i < d.length && seen.size < 10; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size })`

// TestPerson goes from a bad row to its root, the tensor and the picture of its elements, and back the same way with the browser's button.
func TestPerson(t *testing.T) {
	dir := t.TempDir()
	c := run.Compare{Table: filepath.Join(dir, "result.csv"), Judging: run.Judging{Files: run.Files{HTML: filepath.Join(dir, "sample.html")}, Pictures: look.Operators}}
	sample := filepath.Join("..", "..", "testdata", "sample")
	c.Left, c.Right, c.Graph = filepath.Join(sample, "npu"), filepath.Join(sample, "golden"), filepath.Join(sample, "ge_proto_00000001_graph_1_Build.txt")
	if _, err := c.Run(t.Context(), func(run.Event) {}); err != nil {
		t.Fatal(err)
	}
	w := view(t, "file://"+filepath.Join(dir, "sample.html"), 1400, 1000)
	root := w.text("#operator .name")

	// The worst of what inherits, by the table.
	w.run(chromedp.SetValue("#filter-state", "inherited", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('filter-state').dispatchEvent(new Event('change'))`, nil))
	w.settle()
	w.run(chromedp.Evaluate(`document.querySelector('#row-body .row').click()`, nil))
	w.settle()
	inherited := w.text("#operator .name")
	if text := w.text("#operator"); inherited == root || !strings.Contains(text, root) || !strings.Contains(text, "Nothing to change here") && !strings.Contains(text, "inherit") {
		t.Fatalf("the row of what inherits tells %.300q", text)
	}
	time := value[float64](w, `new Promise(done => setTimeout(() => done(1), 600))`) // a person reads
	if time != 1 {
		t.Fatal(time)
	}

	// From there to its root, to the tensor, to the elements.
	w.run(chromedp.Click("#operator button.link", chromedp.ByQuery))
	if text := w.text("#operator .name"); text != root {
		t.Errorf("the link leads to %q, not to the root %q", text, root)
	}
	w.run(chromedp.SetValue("#filter-state", "", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('filter-state').dispatchEvent(new Event('change'))`, nil))
	w.run(chromedp.Click("#operator .tensors tbody tr", chromedp.ByQuery))
	w.settle()
	if text := w.text("#row-body .row.selected"); !strings.Contains(text, root+":output:0") {
		t.Errorf("the tensor selects the row %q", text)
	}
	if n := value[int](w, painted+`(document.querySelector('#operator .look canvas'))`); n < 2 {
		t.Errorf("the picture of the elements has %d colours", n)
	}
	if text := w.text("#operator .look"); !strings.Contains(text, "Golden") {
		t.Errorf("the elements tell %.300q", text)
	}
	// Commands and lines to paste come behind the picture and the numbers.
	if first := value[bool](w, `!!(document.querySelector('#operator .look').compareDocumentPosition(document.querySelector('#operator .advice')) & Node.DOCUMENT_POSITION_FOLLOWING)`); !first {
		t.Error("advice stands before the picture")
	}

	// Back, and forward again.
	w.run(chromedp.Evaluate(`history.back()`, nil))
	w.settle()
	if text := w.text("#operator .name"); text != inherited {
		t.Errorf("back leads to %q, not to %q", text, inherited)
	}
	w.run(chromedp.Evaluate(`history.back()`, nil))
	w.settle()
	if text := w.text("#operator .name"); text != root {
		t.Errorf("back from the first choice leads to %q, not to the root that was shown at first", text)
	}
	w.quiet()
}

// TestKeyboardAlone does the same without a mouse: Tab and the keys that the help tells of reach every part of the page.
func TestKeyboardAlone(t *testing.T) {
	w := view(t, write(t, madeup.Network{Ops: 60, Broken: 20, Statistics: true, Alone: true}, html.Options{}), 1400, 1000)
	seen := map[string]bool{}
	for range 200 {
		w.run(chromedp.KeyEvent(kb.Tab))
		id := value[string](w, `(e => e.id || e.closest('[id]')?.id || '')(document.activeElement)`)
		if id == "languages" && seen["rows"] {
			break
		}
		seen[id] = true
	}
	for _, id := range []string{"languages", "cards", "measure", "chart", "what-if", "graph-search", "graph", "graph-heat", "tree-kind", "tree", "filter-text", "filter-state", "row-head", "rows", "save"} {
		if !seen[id] {
			t.Errorf("Tab does not reach %s", id)
		}
	}
	// A column sorts by Enter, a row is chosen by the arrows.
	w.run(chromedp.Focus(`[data-column=left-norm]`, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	if sort := value[string](w, `document.querySelector('[data-column=left-norm]').getAttribute('aria-sort')`); sort != "descending" {
		t.Errorf("Enter sorts %s", sort)
	}
	w.run(chromedp.Focus("#rows", chromedp.ByQuery), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowDown))
	w.settle()
	if text := w.text("#row-body .row.selected"); !strings.Contains(w.text("#operator .name"), strings.Split(strings.Fields(text)[3], ":")[0]) && text == "" {
		t.Errorf("the arrows choose %q, the operator shown is %q", text, w.text("#operator .name"))
	}
	w.quiet()

	// The help of each page lists / only where there is something to search.
	for name, page := range everyPage(t) {
		w := view(t, page.address, 1400, 1000)
		w.run(chromedp.KeyEvent("?"))
		field := value[bool](w, `[...document.querySelectorAll('#graph-search, #filter-text')].some(e => e.checkVisibility())`)
		if text := w.text("#help"); strings.Contains(text, "search") != field || !strings.Contains(text, "Esc") {
			t.Errorf("%s: with a field to search in %v the help says %q", name, field, text)
		}
		w.quiet()
	}
}

// TestGroups: the matrix of a job stands by hosts, or by the groups in which ranks met.
func TestGroups(t *testing.T) {
	address, _ := wideJob(t, 16, 2, 60, false)
	w := view(t, address, 1400, 1000)
	heads := func() string {
		return value[string](w, `[...document.querySelectorAll('#matrix .host')].map(e => e.innerText.trim()).join('|')`)
	}
	if text := heads(); text != "host0|host1" {
		t.Errorf("the ranks stand by %q", text)
	}
	w.run(chromedp.SetValue("#ranks-by", "1", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('ranks-by').dispatchEvent(new Event('change'))`, nil))
	if text := heads(); text != "ranks 0-7|ranks 8-15" {
		t.Errorf("the ranks stand by %q", text)
	}
	if n := value[int](w, `document.querySelectorAll('#matrix td button').length`); n != 32 {
		t.Errorf("%d cells of 32", n)
	}
	w.quiet()
}

// BenchmarkJob prints what the page of a job of 64 ranks, 3 steps and 1 000 operators takes: bytes of the page and of the pages of its
// parts, milliseconds until it can be used, and from a click on a bad cell until that rank's page can be used in place; of either
// also the time of the processor, which does not depend on what else the machine does.
func BenchmarkJob(b *testing.B) {
	address, parts := wideJob(b, 64, 3, 1000, false)
	for b.Loop() {
		w := view(b, address, 1400, 1000)
		b.ReportMetric(value[float64](w, `Number(document.body.dataset.ready)`), "ms/usable")
		b.ReportMetric(value[float64](w, `performance.getEntriesByType('navigation')[0].encodedBodySize`), "B/page")
		b.ReportMetric(float64(parts), "B/parts")
		w.run(chromedp.Click(`#matrix .cell-of.bad`, chromedp.ByQuery))
		var ready float64
		for ready == 0 { // the part is a process of its own, which tells nothing to the page around it
			for _, target := range w.targets("iframe") {
				ctx, stop := chromedp.NewContext(w.ctx, chromedp.WithTargetID(target))
				if err := chromedp.Run(ctx, chromedp.WaitReady("body[data-ready]", chromedp.ByQuery), chromedp.Evaluate(`Number(document.body.dataset.ready)`, &ready)); err != nil {
					b.Fatal(fmt.Errorf("the part does not open: %w", err))
				}
				stop()
			}
		}
		b.ReportMetric(ready, "ms/rank")
		w.quiet()
		b.ReportMetric(view(b, address, 1400, 1000).again(), "cpu-ms/page")
		b.ReportMetric(view(b, strings.Replace(address, job.PageFile, "tables/step0_rank3.html", 1), 1400, 1000).again(), "cpu-ms/rank")
	}
	b.ReportMetric(0, "ns/op")
}
