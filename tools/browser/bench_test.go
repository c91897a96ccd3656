package browser

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"precision/compare/report/html"
	"precision/compare/verdict"
	"precision/testdata/workshop/madeup"
)

// BenchmarkPage prints what opening and using pages of 10 000 and 100 000 rows
// takes: bytes of the file, milliseconds until it can be used, of sorting by a
// number, of filtering by a text and by a regular expression, the most
// rows the document held while scrolling, and the processor's time of opening.
func BenchmarkPage(b *testing.B) {
	for _, rows := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			j := verdict.Judge(madeup.Network{Ops: rows / 3, Broken: rows / 9}.Table(), verdict.Options{})
			for b.Loop() {
				var page bytes.Buffer
				start := time.Now()
				if err := html.Write(&page, j, html.Options{}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/write")
				b.ReportMetric(float64(page.Len()), "B/file")
				path := filepath.Join(b.TempDir(), "page.html")
				if err := os.WriteFile(path, page.Bytes(), 0o600); err != nil {
					b.Fatal(err)
				}
				w := view(b, "file://"+path, 1400, 1600)
				b.ReportMetric(value[float64](w, `Number(document.body.dataset.ready)`), "ms/usable")
				clock := func(action string) float64 {
					return value[float64](w, `(async () => { const t = performance.now(); `+action+`; document.getElementById('row-body').offsetHeight; return performance.now() - t })()`)
				}
				worst := 0.0
				for _, column := range []string{"RelativeEuclideanDistance", "CosineSimilarity", "tensor", "state", "dtype"} {
					for range 2 {
						worst = max(worst, clock(`document.querySelector('[data-column=`+column+`]').click()`))
					}
				}
				b.ReportMetric(worst, "ms/sort")
				filter := func(text string, regexp bool) float64 {
					return clock(fmt.Sprintf(`document.getElementById('filter-text').value = %q; document.getElementById('filter-regexp').checked = %v; document.getElementById('filter-regexp').dispatchEvent(new Event('change'))`, text, regexp))
				}
				b.ReportMetric(max(filter("dense_77", false), filter(`layer_\d*3/.*dense_\d+`, true), filter("", false)), "ms/filter")
				b.ReportMetric(value[float64](w, `(async () => {
					let most = 0;
					const rows = document.getElementById('rows');
					for (let k = 0; k < 40; k++) {
						rows.scrollTop = rows.scrollHeight * k / 40;
						await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
						most = Math.max(most, document.getElementById('row-body').children.length);
					}
					return most;
				})()`), "rows/document")
				b.ReportMetric(w.again(), "cpu-ms")
				w.quiet()
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkGraph prints how long the modules of a graph of 20 000 operators in five levels take to open, with the root's module
// open among its layers, and closed again.
func BenchmarkGraph(b *testing.B) {
	address := write(b, madeup.Network{Ops: 20_000, Broken: 9000}, html.Options{})
	for b.Loop() {
		w := view(b, address, 1400, 1000)
		for _, button := range []string{"whole", "fit"} {
			took := value[float64](w, `(async () => { const t = performance.now(); document.getElementById('graph-`+button+`').click(); await new Promise(done => requestAnimationFrame(() => setTimeout(done))); return performance.now() - t })()`)
			b.ReportMetric(took, "ms/"+button)
		}
		w.quiet()
	}
	b.ReportMetric(0, "ns/op")
}

var screens = os.Getenv("PRECISION_SCREENS")

// TestScreens takes pictures of pages to look at, where PRECISION_SCREENS names a
// folder; REPORT names pages to take in place of made-up ones.
func TestScreens(t *testing.T) {
	if screens == "" {
		t.Skip("PRECISION_SCREENS names no folder")
	}
	pages := map[string]func() string{"job": sync.OnceValue(func() string { return makeJob(t, 16, 3) })}
	for _, kind := range []string{"log", "config", "manifest"} {
		pages["preflight-"+kind] = sync.OnceValue(func() string { return makePreflight(t, kind) })
	}
	if given := os.Getenv("REPORT"); given != "" {
		for _, path := range strings.Split(given, ",") {
			pages[strings.TrimSuffix(filepath.Base(path), ".html")] = func() string { return "file://" + path }
		}
	} else {
		for name, n := range map[string]madeup.Network{"good": {Ops: 300}, "bad": {Ops: 300, Broken: 120}, "flat": {Ops: 200, Broken: 50, Flat: true}, "statistics": {Ops: 120, Broken: 40, Statistics: true}, "large": {Ops: 33_334, Broken: 9000}} {
			pages[name] = func() string { return write(t, n, html.Options{}) }
		}
	}
	for name, address := range pages {
		t.Run(name, func(t *testing.T) {
			for _, lang := range []string{"en", "zh"} {
				for _, shape := range []struct {
					name          string
					width, height int
					dark          bool
				}{{"wide", 1400, 1700, false}, {"screen", 1400, 1000, false}, {"dark", 1400, 1700, true}, {"narrow", 480, 2900, false}} {
					var options []chromedp.ExecAllocatorOption
					if shape.dark {
						options = append(options, chromedp.Flag("blink-settings", "preferredColorScheme=0"))
					}
					w := view(t, address()+"#lang="+lang, shape.width, shape.height, options...)
					w.run(chromedp.Evaluate(`document.querySelector('#languages button[value=`+lang+`]').click()`, nil))
					w.settle()
					var picture []byte
					w.run(chromedp.CaptureScreenshot(&picture))
					if err := os.WriteFile(filepath.Join(screens, strings.Join([]string{name, lang, shape.name}, "-")+".png"), picture, 0o644); err != nil {
						t.Fatal(err)
					}
					w.quiet()
				}
			}
		})
	}
}
