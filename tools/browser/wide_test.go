package browser

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/job"
	"precision/compare/job/face"
	"precision/compare/oracle"
	"precision/compare/pattern"
	"precision/compare/report/checked"
	"precision/compare/report/html"
	"precision/compare/report/rollouts"
	"precision/compare/result"
	"precision/compare/rollout"
	"precision/compare/rollout/stage"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/internal/msg"
	"precision/testdata/workshop/madeup"
)

// evil is a name that no page may obey.
const evil = `</script><img src=x onerror=alert(1)>` + "\u202e\x1b[31m"

// put writes a page to a folder and returns its address.
func put(t testing.TB, path string, write func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// wideJob is the page of a job of so many ranks, steps and operators, whose parts of an eighth of the ranks are bad, those of a
// few with pages. With hostile, whatever others named has a name that no page may obey.
func wideJob(t testing.TB, ranks, steps, ops int, hostile bool) (address string, bytesOfParts int) {
	t.Helper()
	dir := t.TempDir()
	name := func(text string) string {
		if hostile {
			return text + evil
		}
		return text
	}
	bad := verdict.Judge(madeup.Network{Ops: ops, Broken: ops / 3, Hostile: hostile}.Table(), verdict.Options{})
	r := &job.Result{Plan: &job.Plan{Request: job.Request{Left: name("npu"), Right: name("golden")}}, Verdict: "bad", Counts: map[string]int{}}
	root := name("dense/MatMul")
	for s := range steps {
		for k := range ranks {
			d := &job.Digest{Verdict: "good", Counts: []int{0, ops, 0, 0, 0, 0}, Compared: ops, Expected: ops, Rows: 3 * ops}
			if k%8 == 3 {
				d.Verdict, d.Counts = "bad", []int{0, ops / 2, 0, ops/2 - 1, 1, 0}
				d.Roots = []job.Root{{Op: root, Type: "MatMul", Verdict: "bad", Cause: "cosine", Value: 0.5, Limit: 0.999, Inherited: ops / 2}}
			}
			if hostile && k == 1 {
				d = &job.Digest{Failed: evil}
			}
			part := job.Part{Name: fmt.Sprintf("step%d_rank%d", s, k), Step: s, Rank: k, Host: name(fmt.Sprintf("host%d", k/8)), Left: name("npu/x"), Right: name("golden/x")}
			if hostile {
				part.Model = evil
			}
			page := ""
			if d.Verdict == "bad" && len(r.Digests) < 1000 && bytesOfParts < 1<<30 && count(r.Pages) < 24 {
				page = "tables/" + part.Name + ".html"
				put(t, filepath.Join(dir, page), func(b *bytes.Buffer) error {
					defer func() { bytesOfParts += b.Len() }()
					return html.Write(b, bad, html.Options{})
				})
			}
			r.Plan.Parts, r.Digests, r.Pages = append(r.Plan.Parts, part), append(r.Digests, d), append(r.Pages, page)
			if d.Failed != "" {
				r.Counts["failed"]++
			} else {
				r.Counts[d.Verdict]++
			}
		}
	}
	groups := []string{}
	for g := range ranks / 8 {
		groups = append(groups, fmt.Sprintf("%d-%d", 8*g, 8*g+7))
	}
	r.Plan.Meetings = []job.Meeting{{Step: 0, Op: name("reduce"), Type: name("HcomAllReduce")}}
	r.Mets = []*job.Met{{Verdict: "good", Ops: []string{name("reduce")}, Groups: groups, How: "attribute", Reduction: "sum"}}
	r.Origins = []job.Origin{{Op: root, Type: name("MatMul"), Verdict: "bad", Cause: "cosine", Value: 0.5, Limit: 0.999, Ranks: "3,11", Steps: "0-2", AllRanks: "3,11", Scope: job.ScopeHost, Host: name("host0")}}
	return put(t, filepath.Join(dir, job.PageFile), func(b *bytes.Buffer) error { return face.Write(b, r, msg.English) }), bytesOfParts
}

func count(pages []string) (n int) {
	for _, p := range pages {
		if p != "" {
			n++
		}
	}
	return n
}

// wideCheck is the page of a check with a wrong, a suspect and some unknown outputs.
func wideCheck(t testing.TB) string {
	t.Helper()
	var findings []oracle.Finding
	for i := range 200 {
		f := oracle.Finding{Verdict: oracle.OK, Op: fmt.Sprintf("layer_%d/MatMul", i), Type: "MatMul", Rank: -1, Ratio: 0.3, Worst: []int64{0, int64(i)}, Expected: 1, Found: 1 + 1e-4, Bound: 3e-4, Largest: 1e-4,
			DType: dtype.Float16, Shape: []int64{1, 256}, Elements: 256, Looked: 256}
		switch {
		case i == 120:
			f.Verdict, f.Ratio, f.Found, f.Beyond, f.Reasons = oracle.Wrong, 2000, 7, 128, []result.Reason{result.Because("check-beyond", "128", "256")}
			f.Pattern = string(pattern.Unwritten)
		case i == 150:
			f.Op, f.Verdict, f.Ratio = evil, oracle.Suspect, 1.2
		case i%10 == 9:
			f.Verdict = oracle.Unknown
		}
		findings = append(findings, f)
	}
	return put(t, filepath.Join(t.TempDir(), "check.html"), func(b *bytes.Buffer) error {
		return checked.Write(b, findings, oracle.CoverageOf(findings, nil, nil), checked.Options{Left: "/data/npu", Graph: evil, Lang: msg.English})
	})
}

// wideRollout is the page of a rollout with causes, stages and tokens.
func wideRollout(t testing.TB) string {
	t.Helper()
	l := &rollout.LogProbs{Rows: 8, Columns: 300, Train: make([]float64, 2400), Rollout: make([]float64, 2400)}
	for i := range l.Train {
		l.Rollout[i] = 0.05 * math.Sin(float64(i))
	}
	r := &rollout.Result{Verdict: verdict.Bad, Why: "cause", Logs: l, Figs: l.Figures(), Stages: &stage.Report{},
		Causes: []rollout.Cause{
			{Kind: rollout.Formula, Stage: "norm", Side: "rollout", Key: "variant", Args: []any{"norm", "rollout", rollout.Note{Key: "variant.eps", Args: []any{1e-5}}}},
			{Kind: rollout.Weights, Name: evil, Key: "missing", Args: []any{evil}},
		}}
	for layer := range 12 {
		for _, name := range []string{"norm", "q", "k", "v", "attention", "o", "mlp"} {
			r.Stages.Stages = append(r.Stages.Stages, stage.Stage{Layer: layer, Name: name, Finding: stage.Rounding, Train: 0.001, Rollout: 0.002, Own: -1, Share: 0.01})
		}
	}
	r.Stages.Stages[7].Finding, r.Stages.Stages[7].Name = stage.Formula, evil
	return put(t, filepath.Join(t.TempDir(), "rollout.html"), func(b *bytes.Buffer) error { return rollouts.Write(b, r, msg.English, evil, "engine") })
}

// everyPage are the pages of all kinds, most with names that no page may obey, and a word of the verdict or the number that each begins with.
func everyPage(t testing.TB) map[string]struct{ address, want string } {
	job, _ := wideJob(t, 16, 3, 60, true)
	return map[string]struct{ address, want string }{
		"comparison": {write(t, madeup.Network{Ops: 300, Broken: 120}, html.Options{}), "dense_120/MatMul"},
		"statistics": {write(t, madeup.Network{Ops: 60, Broken: 20, Statistics: true, Alone: true}, html.Options{}), "dense_20/MatMul"},
		"hostile":    {write(t, madeup.Network{Ops: 60, Broken: 20, Statistics: true, Alone: true, Hostile: true}, html.Options{Records: []string{evil}, NoLooks: evil}), "onerror=alert(1)"},
		"check":      {wideCheck(t), "2000 times the bound"},
		"job":        {job, "dense/MatMul"},
		"rollout":    {wideRollout(t), "norm"},
		"logs":       {makePreflight(t, "log"), "diverges at step 91"},
		"configs":    {makePreflight(t, "config"), "key_58"},
		"manifests":  {makePreflight(t, "manifest"), "onerror=alert(1)"},
	}
}

// TestEveryPage opens the pages of all kinds at three widths, in light and dark, in both languages, and prints them: nothing is wider than
// the page, texts stand out from what is behind them, the paper has what the verdict is, and no name of others is more than text.
func TestEveryPage(t *testing.T) {
	for name, page := range everyPage(t) {
		t.Run(name, func(t *testing.T) {
			w := view(t, page.address, 1400, 1000)
			for _, look := range []struct {
				width int
				theme string
				lang  string
			}{{1400, "light", "en"}, {1920, "dark", "zh"}, {390, "dark", "en"}} {
				w.show(look.width, look.theme)
				w.choose(look.lang)
				if wide := value[float64](w, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
					t.Errorf("at %d points the page is %.0f points too wide: %q", look.width, wide, value[[]string](w, `[...document.querySelectorAll('main *, header *')].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest('.scroll, .grid, #matrix, .cells, pre')).map(e => e.tagName + '#' + e.id + '.' + e.className + ' ' + e.getBoundingClientRect().right).slice(0, 8)`))
				}
				if faint := value[[]string](w, faintTexts); len(faint) > 0 {
					t.Errorf("%s: hardly to be read: %q", look.theme, faint)
				}
				if !strings.Contains(w.text("body"), page.want) && look.lang == "en" {
					t.Errorf("at %d points nothing says %q", look.width, page.want)
				}
			}
			if n := value[int](w, `document.querySelectorAll('img, object, embed, body script:not(:is(body > script))').length`); n > 0 {
				t.Errorf("%d elements were made of names", n)
			}
			if text := value[string](w, `document.body.innerText`); strings.ContainsAny(text, "\u202e\x1b") {
				t.Error("a name steers what is beside it")
			}
			w.show(1400, "light")
			paper := w.paper()
			squeezed := strings.Join(strings.Fields(page.want), "")
			if !strings.Contains(paper, squeezed) || !strings.Contains(paper, strings.Join(strings.Fields(w.text("#headline > span:last-child")), "")) {
				t.Errorf("the paper lacks %q or the headline:\n%.1500s", page.want, paper)
			}
			w.quiet()
		})
	}
}
