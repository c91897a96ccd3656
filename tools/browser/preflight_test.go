package browser

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"precision/internal/msg"
	"precision/preflight/report"
	"precision/run"
)

// makePreflight compares two files of a kind and returns the address of the page.
func makePreflight(t testing.TB, kind string) string {
	t.Helper()
	hostile := `</script><img src=x onerror=alert(1)>` + "\u202e"
	var a, b strings.Builder
	switch kind {
	case "log":
		for i := range 200 {
			v := 1 + 4*math.Exp(-float64(i)/40)
			fmt.Fprintf(&a, "step %d, loss %.4f, lr 0.1, %s 1, loss scale 1024\n", i, v, "<b>x")
			if i > 90 {
				v *= 1.5
			}
			fmt.Fprintf(&b, "step %d, loss %.4f, lr 0.1, %s 1, loss scale %d\n", i, v, "<b>x", 1024>>(i/100))
		}
	case "config":
		for i := range 60 {
			fmt.Fprintf(&a, "key_%d: %d\n", i, i)
			fmt.Fprintf(&b, "key_%d: %d\n", i, i+max(0, i-57))
		}
		a.WriteString("odd: \"" + hostile + "\"\n")
		b.WriteString("even: \"" + hostile + "\"\n")
	case "manifest":
		sum := strings.Repeat("1", 32)
		line := func(to *strings.Builder, name, sum string) { fmt.Fprintf(to, "7\t%s\t-\t%s\n", sum, name) }
		for _, to := range []*strings.Builder{&a, &b} {
			to.WriteString("# precision manifest 1 md5\n")
			line(to, "same", sum)
		}
		line(&a, "x"+hostile, sum)
		line(&b, "x"+hostile, strings.Repeat("2", 32))
		line(&b, "y", strings.Repeat("3", 32))
		a.WriteString("# end\n")
		b.WriteString("# end\n")
	}
	dir := t.TempDir()
	name := func(side string) string { return filepath.Join(dir, side+map[string]string{"config": ".yaml"}[kind]) }
	for side, text := range map[string]string{"npu": a.String(), "gpu": b.String()} {
		if err := os.WriteFile(name(side), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := run.Preflight{A: name("npu"), B: name("gpu")}
	done, err := p.Run(context.Background(), func(run.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "preflight.html")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := (report.Page{Lang: msg.English, A: p.A, B: p.B}).Write(file, done.Found); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// TestPreflight: the pages of logs, configurations and manifests tell what differs, sort and filter it, and names are text.
func TestPreflight(t *testing.T) {
	w := view(t, makePreflight(t, "log"), 1400, 1000)
	w.settle()
	if text := w.text("#headline"); !strings.HasPrefix(text, "✖") || !strings.Contains(text, "apart: 2 of ") {
		t.Errorf("the headline is %q", text)
	}
	if text := w.text("#cards .card"); !strings.Contains(text, "Loss") || !strings.Contains(text, "diverges at step 91") {
		t.Errorf("the first card is %q", text)
	}
	if n := value[int](w, `document.querySelectorAll('#curves .uplot').length`); n < 3 {
		t.Errorf("%d curves are drawn", n)
	}
	if shown := value[bool](w, `!document.getElementById('list').hidden`); shown {
		t.Error("logs without settings have a table")
	}
	w.quiet()

	w = view(t, makePreflight(t, "config"), 1400, 1000)
	w.settle()
	if text := w.text("#headline"); !strings.Contains(text, "different: 2 of 60 common keys") {
		t.Errorf("the headline is %q", text)
	}
	if text := w.text("#row-body .row"); !strings.Contains(text, "Changed") || !strings.Contains(text, "key_58") {
		t.Errorf("the first row is %q", text)
	}
	w.run(chromedp.Click("#only-wrong", chromedp.ByQuery))
	w.settle()
	if text := w.text("#row-count"); text != "4 of 62 rows" {
		t.Errorf("not the same are %q", text)
	}
	w.run(chromedp.Click("#languages button[value=zh]", chromedp.ByQuery))
	if text := w.text("#headline"); !strings.Contains(text, "不一致") {
		t.Errorf("the headline in Chinese is %q", text)
	}
	w.quiet()

	w = view(t, makePreflight(t, "manifest"), 390, 900)
	w.settle()
	if text := w.text("#row-body"); !strings.Contains(text, "onerror=alert(1)") || strings.Contains(text, "\u202e") {
		t.Errorf("the rows are %q", text)
	}
	if wide := value[float64](w, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
		t.Errorf("the page is %.0f points too wide", wide)
	}
	if n := value[int](w, `document.querySelectorAll('img').length`); n > 0 {
		t.Error("a name is not text")
	}
	w.quiet()
}
