package read

import (
	"fmt"
	"strings"
	"testing"

	"precision/graph"
)

// Of many warnings the first are kept, and the rest is counted.
func TestWarningsAreCounted(t *testing.T) {
	const n = graph.MaxWarnings + 7
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "graph { name: \"g%d\" field%d: 1 }\n", i, i)
	}
	m, err := Read(t.Context(), strings.NewReader(text.String()), "g.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := len(m.Warnings); got != graph.MaxWarnings+1 || !strings.HasSuffix(m.Warnings[got-1].String(), ": 7 more warnings like these") {
		t.Errorf("%d warnings, the last is %v", got, m.Warnings[got-1])
	}
	few := graph.FewWarnings(append(m.Warnings, m.Warnings...))
	if last := few[len(few)-1].Msg.Text; len(few) != graph.MaxWarnings+1 || last != "52 more warnings like these" {
		t.Errorf("%d warnings, the last is %s", len(few), last)
	}
}
