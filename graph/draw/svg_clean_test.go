package draw

import (
	"encoding/xml"
	"strings"
	"testing"

	"precision/graph"
)

// Names do not steer who shows a picture: no control characters, no text that turns its direction, no line
// of its own in a title.
func TestSVGIsClean(t *testing.T) {
	const evil = "a\x1b[31m\x00\u202e\nb"
	op := &graph.Op{Name: evil, Type: evil, OutputDesc: []graph.TensorDesc{{}}}
	d := &Drawing{Title: evil, Nodes: []Node{{Op: op}}}
	var b strings.Builder
	if err := d.WriteSVG(&b, Style{}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\x00\u202e") || strings.Contains(b.String(), "\nb<") || !strings.Contains(b.String(), `\x1b`) {
		t.Errorf("%q", b.String())
	}
	if err := xml.Unmarshal([]byte(b.String()), new(struct{})); err != nil {
		t.Error(err)
	}
}
