package repl

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManual plays the examples of the manual: indented blocks that begin with
// "> " and a command. A comment <!-- data NAME --> lays out the data and begins
// a new session.
func TestManual(t *testing.T) {
	for lang, name := range map[string]string{"en": "docs/shell.md", "zh": "docs/zh/shell.md"} {
		t.Run(lang, func(t *testing.T) {
			repo, err := filepath.Abs("..")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(repo, filepath.FromSlash(name))
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := playManual(t, repo, lang, string(want))
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("an example differs; run with -update and look at the difference\n%s", firstDifference(string(want), got))
			}
		})
	}
}

func playManual(t *testing.T, repo, lang, text string) string {
	const indent = "    "
	var out strings.Builder
	var p *player
	skipping, played := false, 0
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		if what, ok := strings.CutPrefix(bare, "<!-- data "); ok {
			p = newPlayer(t, lang, 100)
			layOut(t, repo, strings.TrimSuffix(what, " -->"))
		}
		if command, ok := strings.CutPrefix(bare, indent+"> "); ok && p != nil {
			out.WriteString(line)
			code := p.session().line(context.Background(), command)
			for screen := range strings.Lines(p.screen(code)) {
				out.WriteString(indent + screen)
			}
			played++
			skipping = true
			continue
		}
		if skipping = skipping && strings.HasPrefix(bare, indent); !skipping {
			out.WriteString(line)
		}
	}
	if played < 8 {
		t.Errorf("only %d examples", played)
	}
	return out.String()
}
