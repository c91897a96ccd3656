package draw

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"precision/graph"
	"precision/graph/write"
	"precision/internal/clean"
)

// Names that are not UTF-8 stand in pictures and in JSON so that they can be told
// apart and turned back.
func TestNamesThatAreNotUTF8(t *testing.T) {
	names := []string{"a\xff/b", "a\xfe/b", `a\xff/b`, "a\xe5\x8e/b"}
	g := &graph.Graph{Name: "g"}
	for _, name := range names {
		g.Ops = append(g.Ops, &graph.Op{Name: name, Type: "Relu"})
	}
	m := (&graph.Model{Graphs: []*graph.Graph{g}}).Own()
	x, err := graph.NewIndex(m)
	if err != nil {
		t.Fatal(err)
	}
	d := Whole(x, g)
	for form, draw := range map[string]func(io.Writer) error{
		"dot": func(w io.Writer) error { return d.WriteDOT(w, Style{}) },
		"svg": func(w io.Writer) error { return d.WriteSVG(w, Style{}) },
	} {
		var b strings.Builder
		if err := draw(&b); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(b.String(), `\\`, `\`)
		if !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
			t.Errorf("%s has bytes that are no UTF-8, or signs for them", form)
		}
		for _, name := range names {
			if !strings.Contains(text, clean.Name(name)) || clean.Original(clean.Name(name)) != name {
				t.Errorf("%s does not have %s", form, clean.Name(name))
			}
		}
	}
	var b strings.Builder
	if err := write.JSON(t.Context(), &b, m); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Graph []struct {
			Op []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if got := back.Graph[0].Op[i].Name; strings.ContainsRune(got, utf8.RuneError) || clean.Original(got) != name {
			t.Errorf("JSON has %q for %q", got, name)
		}
	}
}
