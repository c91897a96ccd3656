package graph

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzUse reads any kind of file and asks everything of it.
func FuzzUse(f *testing.F) {
	for _, s := range []string{everything, callGraph, queryGraph, drawGraph, jsonEverything, onnxText} {
		f.Add([]byte(s))
	}
	f.Add(wireOf(f, []byte(callGraph)))
	f.Add(omFile(true, 0, []part{{0, wireOf(f, []byte(callGraph))}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data), "fuzz")
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Code != CodeRuleFile || e.Path == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if r, err := NewRules(m); err == nil {
			for _, r := range []*Rules{r, r.WithQuant(r), r.WithoutFusion(r)} {
				for _, g := range r.Groups {
					_, _ = g.NPUNames(), g.GoldenNames()
				}
				for _, o := range r.Ops {
					for i := range len(o.Inputs) + 1 {
						r.GoldenInput(o, i)
						r.GoldenOutput(o, i)
					}
				}
			}
		}
		m.Summary().WriteText(io.Discard)
		var b bytes.Buffer
		if err := WriteJSON(&b, m); err != nil {
			t.Fatal(err)
		}
		if m.Source != SourceJSON {
			if _, err := Read(bytes.NewReader(b.Bytes()), "again"); err != nil {
				t.Fatalf("what was written cannot be read: %v\n%s", err, b.Bytes())
			}
		}
		x, err := NewIndex(m)
		if err != nil {
			return
		}
		for _, o := range x.Ops[:min(len(x.Ops), 20)] {
			x.Node(o).WriteText(io.Discard, true)
			d := x.Neighborhood(o, 2, 0, true)
			d.WriteSVG(io.Discard, Style{})
			d.WriteDOT(io.Discard, Style{})
		}
		Compare(x, x).WriteText(io.Discard)
	})
}
