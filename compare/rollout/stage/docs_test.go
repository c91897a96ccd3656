package stage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/rollout"
	"precision/compare/rollout/stage"
	"precision/compare/rollout/tell"
	"precision/internal/msg"
)

// TestDocs makes the pairs that the page lists, and holds what is said of them against the page, in both languages.
func TestDocs(t *testing.T) {
	table := func(path ...string) (rows [][2]string) {
		text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", "docs"}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "<!-- examples -->\n")
		for line := range strings.Lines(rest) {
			if strings.HasPrefix(line, "|--") {
				continue
			}
			c := strings.Split(strings.TrimSpace(line), " | ")
			if len(c) != 2 {
				break
			}
			rows = append(rows, [2]string{strings.TrimPrefix(c[0], "| "), strings.TrimSuffix(c[1], " |")})
		}
		return rows
	}
	english, chinese := table("rollout.md"), table("zh", "rollout.md")
	if len(english) < 20 || len(english) != len(chinese) {
		t.Fatalf("%d examples in English, %d in Chinese", len(english), len(chinese))
	}
	for i, row := range english[1:] {
		r, err := rollout.Run(t.Context(), asked(stage.MadeFault(t, row[0])))
		if err != nil {
			t.Fatal(err)
		}
		for lang, want := range map[msg.Lang]string{msg.English: row[1], msg.Chinese: chinese[i+1][1]} {
			said := lang.T("rollout.verdict." + r.Verdict.String())
			if len(r.Causes) > 0 {
				if c := &r.Causes[0]; c.Fault() {
					said = tell.Sentence(lang, c)
				} else {
					said += map[msg.Lang]string{msg.English: ": ", msg.Chinese: "："}[lang] + tell.Sentence(lang, c)
				}
			}
			if said = strings.ReplaceAll(said, "|", `\|`); said != want {
				t.Errorf("%s: %s\nthe page: %s", row[0], said, want)
			}
		}
	}
}
