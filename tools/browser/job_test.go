package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"precision/compare/job"
	"precision/internal/msg"
	"precision/run"
	"precision/testdata/workshop/jobtest"
)

// makeJob compares a job whose rank 1 goes wrong at step 1 and returns the address of its page.
func makeJob(t testing.TB, ranks, steps int) string {
	t.Helper()
	dir := t.TempDir()
	if err := (jobtest.Job{Ranks: ranks, Steps: steps, Size: 32, Break: func(step, rank int, op string, out []float32) {
		if rank == 1 && step == 1 && op == jobtest.Mul {
			out[0] += 1e6
		}
	}}).Write(dir); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // pages name the folders as they were given
	plan, err := job.Request{Left: "npu", Right: "golden", Graph: "ge_proto_00000001_graph_1_Build.txt"}.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(context.Background(), run.Settings("out", msg.English, func(run.Event) {})); err != nil {
		t.Fatal(err)
	}
	return "file://" + filepath.Join(dir, "out", job.PageFile)
}

// TestJobServed opens a part in place where the page is served, as precision view does.
func TestJobServed(t *testing.T) {
	dir := filepath.Dir(strings.TrimPrefix(makeJob(t, 3, 2), "file://"))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	w := view(t, server.URL+"/"+job.PageFile, 1400, 1000)
	w.run(chromedp.Click(`#matrix [aria-label^="step 1, rank 1"]`, chromedp.ByQuery))
	w.settle()
	shown := w.targets("iframe")
	if len(shown) != 1 {
		t.Fatalf("%d pages of parts are shown", len(shown))
	}
	ctx, stop := chromedp.NewContext(w.ctx, chromedp.WithTargetID(shown[0]))
	defer stop()
	var text string
	if err := chromedp.Run(ctx, chromedp.WaitReady("body[data-ready]", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('cards').innerText`, &text)); err != nil || !strings.Contains(text, "net/mul") {
		t.Errorf("the page of the part has the card %q, %v", text, err)
	}
	w.quiet()
}

// TestJob goes from the job to the rank that is wrong, whose page opens in place, to its operator and back.
func TestJob(t *testing.T) {
	w := view(t, makeJob(t, 3, 2), 1400, 1000)
	if text := w.text("#headline"); !strings.HasPrefix(text, "✖") || !strings.Contains(text, "bad") {
		t.Errorf("the headline is %q", text)
	}
	if text := w.text("#cards .card"); !strings.Contains(text, "net/mul") || !strings.Contains(text, "rank 1") || !strings.Contains(text, "opens step 1, rank 1") {
		t.Errorf("the first card is %q", text)
	}
	if text := w.text("#matrix thead .bad"); text != "▼ 1" {
		t.Errorf("the first bad step is %q", text)
	}

	// A click on the bad cell opens its page below; the page works there.
	w.run(chromedp.Click(`#matrix [aria-label^="step 1, rank 1"]`, chromedp.ByQuery))
	w.settle()
	if text := w.text("#part"); !strings.Contains(text, "step 1, rank 1") {
		t.Errorf("the part says %q", text)
	}
	inner := func(script string) string {
		t.Helper()
		for _, target := range w.targets("iframe") {
			ctx, stop := chromedp.NewContext(w.ctx, chromedp.WithTargetID(target))
			t.Cleanup(stop)
			var text string
			if err := chromedp.Run(ctx, chromedp.WaitReady("body[data-ready]", chromedp.ByQuery), chromedp.Evaluate(script, &text)); err != nil {
				t.Fatal(err)
			}
			return text
		}
		t.Fatal("no page of a part is shown")
		return ""
	}
	if text := inner(`document.getElementById('cards').innerText`); !strings.Contains(text, "net/mul") {
		t.Errorf("the page of the part has the card %q", text)
	}

	// Back, with the key and with the browser's button.
	w.run(chromedp.KeyEvent(kb.Escape))
	w.settle()
	if shown := value[bool](w, `!document.getElementById('part').hidden`); shown {
		t.Error("Esc leaves the part open")
	}
	w.run(chromedp.Evaluate(`document.querySelector('#cards .card').click()`, nil))
	w.settle()
	if hash := value[string](w, `decodeURIComponent(location.hash)`); !strings.Contains(hash, "part=step1_rank1") || !strings.Contains(hash, "op=net/mul") {
		t.Errorf("a card leads to %q", hash)
	}
	w.run(chromedp.NavigateBack())
	w.settle()
	if shown := value[bool](w, `!document.getElementById('part').hidden`); shown {
		t.Error("the browser's button leaves the part open")
	}

	// Heat, and a part without a page.
	w.run(chromedp.SetValue("#heat", "share", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById('heat').dispatchEvent(new Event('change'))`, nil))
	if text := w.text("#matrix .cell-of.bad"); text == "" || strings.Trim(text, "0123456789.") != "" {
		t.Errorf("the share of the bad part is %q", text)
	}
	w.run(chromedp.Click(`#matrix .cell-of.good`, chromedp.ByQuery))
	w.settle()
	if text := w.text("#part-words"); !strings.Contains(text, "precision report tables/step") {
		t.Errorf("a part without a page says %q", text)
	}
	w.run(chromedp.Click(`#languages button[value=zh]`, chromedp.ByQuery))
	if text := w.text("#headline"); !strings.Contains(text, "异常") {
		t.Errorf("the headline in Chinese is %q", text)
	}
	w.quiet()
}
