package oracle

import (
	"os"
	"strings"
	"testing"
)

// Every column and verdict stands in both manuals.
func TestManual(t *testing.T) {
	for _, name := range []string{"../../docs/check.md", "../../docs/zh/check.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		words := append([]string{"`acc16`", Schema}, Columns...)
		for _, v := range verdictNames {
			words = append(words, "`"+v+"`")
		}
		for _, w := range words {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s does not mention %s", name, w)
			}
		}
	}
}
