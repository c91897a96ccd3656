package stage_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"precision/compare/report/rollouts"
	"precision/compare/rollout"
	"precision/compare/rollout/stage"
	"precision/internal/msg"
)

var folders = regexp.MustCompile(`/[^\s:：]*/`)

// TestDocs makes what the tables of the page list, and holds what is said of it against the page, in both languages. Every finding, and everything that cannot be looked
// at, has an example there.
func TestDocs(t *testing.T) {
	table := func(path ...string) (rows [][2]string) {
		text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", "docs"}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split(string(text), "<!-- examples -->\n") {
			for n, line := range slices.Collect(strings.Lines(part)) {
				c := strings.Split(strings.TrimSpace(line), " | ")
				if i == 0 || len(c) != 2 && n > 1 {
					break
				}
				if n > 1 { // behind the head
					rows = append(rows, [2]string{strings.TrimPrefix(c[0], "| "), strings.TrimSuffix(c[1], " |")})
				}
			}
		}
		return rows
	}
	english, chinese := table("rollout.md"), table("zh", "rollout.md")
	if len(english) != len(chinese) {
		t.Fatalf("%d examples in English, %d in Chinese", len(english), len(chinese))
	}
	given := mistakes()
	missing := msg.English.Under("rollout.cause.", "rollout.note.")
	for i, row := range english {
		pair, spoil := row[0], func(*testing.T, *rollout.Request) {}
		if x, ok := given[row[0]]; ok {
			pair, spoil = x.pair, x.spoil
		}
		delete(given, row[0])
		t.Run(row[0], func(t *testing.T) {
			q := asked(stage.MadeFault(t, pair))
			spoil(t, q)
			r, err := rollout.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if (q.LogProbs != nil) != (r.Figs != nil) || q.Train != nil && q.Rollout != nil && r.Weights == nil || q.TrainCalls != "" && r.Stages == nil {
				t.Errorf("what is left was not looked at: %+v", r)
			}
			for lang, want := range map[msg.Lang]string{msg.English: row[1], msg.Chinese: chinese[i][1]} {
				said := lang.T("rollout.verdict." + r.Verdict.String())
				colon := map[msg.Lang]string{msg.English: ": ", msg.Chinese: "："}[lang]
				notes := slices.Concat(r.Unknown, r.Traps)
				switch {
				case len(r.Causes) > 0 && (r.Causes[0].Fault() || len(notes) == 0):
					c := &r.Causes[0]
					if !c.Fault() {
						said += colon + rollouts.Sentence(lang, c)
					} else if said = rollouts.Sentence(lang, c); r.Verdict.String() != "bad" {
						said = lang.T("rollout.verdict."+r.Verdict.String()) + colon + said
					}
					delete(missing, "rollout.cause."+c.Key)
					for _, a := range c.Args {
						if n, ok := a.(rollout.Note); ok {
							delete(missing, "rollout.note."+n.Key)
						}
					}
				case len(notes) > 0:
					var list []string
					for i, n := range notes {
						if i > 0 && notes[i-1].Key == n.Key {
							continue
						}
						list = append(list, rollouts.Remark(lang, n))
						delete(missing, "rollout.note."+n.Key)
					}
					said += colon + strings.Join(list, map[msg.Lang]string{msg.English: "; ", msg.Chinese: "；"}[lang])
				}
				said = folders.ReplaceAllString(strings.ReplaceAll(said, "|", `\|`), "")
				if said != want {
					t.Errorf("%s: %s\nthe page: %s", row[0], said, want)
				}
			}
		})
	}
	for key, text := range missing {
		t.Errorf("%s has no example: %s", key, text)
	}
	for name := range given {
		t.Errorf("the page lacks %s", name)
	}
}
