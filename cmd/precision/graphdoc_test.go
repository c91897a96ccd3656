package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGraphManual runs the examples of the manual of precision graph, in the language of the
// page, and holds what they print against what stands below them. With -update it writes
// that. Those that name a file of a run ("…") are left as they stand.
func TestGraphManual(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for file, lang := range map[string]string{"docs/graph.md": "en", "docs/zh/graph.md": "zh"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := walk(t, string(text), 4, func(command string) (string, bool) {
			words := strings.Fields(command)
			if words[0] != "precision" || strings.Contains(command, "…") {
				return "", false
			}
			var out bytes.Buffer
			execute(context.Background(), env{stdout: &out, stderr: &out}, append([]string{"-lang", lang}, words[1:]...))
			return out.String(), true
		})
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got != string(text) {
			t.Errorf("%s shows other output than the commands print; run with -update and look at the difference\n%s", file, unlike(string(text), got))
		}
	}
}
