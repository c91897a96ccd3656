package steps

import (
	"slices"
	"strings"
	"testing"

	"precision/compare/advice"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }

// TestSteps: every step that a remedy has is said, in both languages, and remedies
// are for kinds that there are.
func TestSteps(t *testing.T) {
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		for kind, steps := range advice.Elsewhere {
			for _, s := range steps {
				if !lang.Has("advice." + string(s)) {
					t.Errorf("%v: nothing is said of %s, for %s", lang, s, kind)
				}
			}
		}
		for kind, steps := range advice.Remedies {
			if !lang.Has("pattern."+kind) && !slices.Contains(verdict.Kinds(), verdict.Kind(kind)) {
				t.Errorf("there is no kind %s", kind)
			}
			for _, s := range append(steps, advice.Record) {
				if !lang.Has("advice." + string(s)) {
					t.Errorf("%v: nothing is said of %s, for %s", lang, s, kind)
				}
			}
		}
	}
}

// TestSay: a name cannot steer the terminal, and files are shown or named.
func TestSay(t *testing.T) {
	j := &verdict.Judged{Table: &result.Table{Rows: []result.Row{{}}}}
	j.Operators = []verdict.Operator{{Op: &result.Operator{Name: "a\x1b]0;x", Type: "Add"}, Outputs: []verdict.Tensor{{}}}}
	j.Roots = []verdict.Root{{Certainty: verdict.Region, Region: []string{"b", "c", "d"}, Causes: []verdict.Cause{{Kind: verdict.Cosine}}}}
	a := advice.For(j, advice.Options{Budget: 1})
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		shown := Text{Lang: lang, Most: 2}.Say(j, a, nil, 1)
		if strings.ContainsRune(shown, '\x1b') {
			t.Errorf("a name steers the terminal: %q", shown)
		}
		for _, want := range []string{"mixlist.json", "\"black-list\"", "precision kit -f", map[msg.Lang]string{msg.English: "b, c, … (3 in all)", msg.Chinese: "b、c 等（共 3 个）"}[lang]} {
			if !strings.Contains(shown, want) {
				t.Errorf("%v: found no %q in\n%s", lang, want, shown)
			}
		}
		named := Text{Lang: lang}.Say(j, a, []string{"x/mixlist.json"}, 0)
		if strings.Contains(named, "black-list\"") || !strings.Contains(named, "x/mixlist.json") {
			t.Error(named)
		}
	}
}

// TestNoRoot: only a good verdict leaves nothing to do.
func TestNoRoot(t *testing.T) {
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		said := map[string]bool{}
		for v := verdict.Good; v <= verdict.Inconclusive; v++ {
			text := Text{Lang: lang}.Say(&verdict.Judged{Verdict: v}, &advice.Advice{}, nil, 0)
			said[text] = true
			if idle := strings.Contains(text, "nothing to do") || strings.Contains(text, "无需处理"); idle != (v == verdict.Good) {
				t.Errorf("%v: %s", v, text)
			}
		}
		if len(said) != 3 {
			t.Errorf("%v: %v", lang, said)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 3 << 30: "3 GiB"} {
		if got := bytes(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
