package browse

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"precision/compare/engine"
	"precision/compare/look"
	"precision/compare/sides"
	"precision/internal/msg"
	"precision/run"
)

// TestManual holds the screens of the manual: they are those of the sample. go test -update writes them.
func TestManual(t *testing.T) {
	t.Chdir("..")
	dir := t.TempDir()
	r := run.Compare{Request: sides.Request{Job: engine.Job{Left: "testdata/sample/npu", Right: "testdata/sample/golden", Graph: "testdata/sample/ge_proto_00000001_graph_1_Build.txt"}},
		Table: filepath.Join(dir, "result.csv"), Judging: run.Judging{Pictures: look.Operators, Files: run.Files{JSON: filepath.Join(dir, "result.json")}}}
	if _, err := r.Run(t.Context(), func(run.Event) {}); err != nil {
		t.Fatal(err)
	}
	screen := regexp.MustCompile("(?s)<!-- screen (\\d+)x(\\d+) (\\w+):([^>]*)-->\n```\n(.*?)```")
	for _, name := range []string{"docs/browse.md", "docs/zh/browse.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		now := screen.ReplaceAllStringFunc(string(text), func(block string) string {
			n++
			part := screen.FindStringSubmatch(block)
			var size tea.WindowSizeMsg
			fmt.Sscan(part[1]+" "+part[2], &size.Width, &size.Height)
			lang, _ := msg.ParseLang(part[3])
			b, err := openBook(t.Context(), lang, filepath.Join(dir, "result.json"))
			if err != nil {
				t.Fatal(err)
			}
			b.name = "result.json"
			m := &model{lang: lang, books: []*book{b}}
			m.Update(size)
			m.View()
			press(m, regexp.MustCompile(`\S+`).FindAllString(part[4], -1)...)
			return fmt.Sprintf("<!-- screen %s:%s-->\n```\n%s\n```", part[1]+"x"+part[2]+" "+part[3], part[4], trimmed(m.View()))
		})
		switch {
		case n != 3:
			t.Errorf("%s has %d screens, expected 3", name, n)
		case now != string(text) && *update:
			if err := os.WriteFile(name, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		case now != string(text):
			t.Errorf("%s does not show what the program does; go test ./browse -run TestManual -update writes it", name)
		}
	}
}
