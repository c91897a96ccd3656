package read

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"precision/graph"
	"precision/graph/describe"
	"precision/graph/draw"
	"precision/graph/fusion"
	"precision/graph/write"
	tongue "precision/internal/msg"
	"precision/testdata/workshop/graphtest"
)

// FuzzUse reads any kind of file and asks everything of it.
func FuzzUse(f *testing.F) {
	for _, s := range []string{graphtest.Everything, graphtest.CallGraph, graphtest.QueryGraph, graphtest.DrawGraph, jsonEverything, onnxText} {
		f.Add([]byte(s))
	}
	f.Add(wireOf(f, []byte(graphtest.CallGraph)))
	f.Add(omFile(true, 0, []part{{0, wireOf(f, []byte(graphtest.CallGraph))}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(context.Background(), bytes.NewReader(data), "fuzz")
		if err != nil {
			var e *graph.Error
			if !errors.As(err, &e) || e.Path == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if r, err := fusion.New(m); err == nil {
			for _, r := range []*fusion.Rules{r, r.WithQuant(r), r.WithoutFusion(r)} {
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
		describe.Summary(tongue.Chinese, m.Summary())
		var b bytes.Buffer
		if err := write.JSON(context.Background(), &b, m); err != nil {
			t.Fatal(err)
		}
		if m.Source != graph.SourceJSON {
			if _, err := Read(context.Background(), bytes.NewReader(b.Bytes()), "again"); err != nil {
				t.Fatalf("what was written cannot be read: %v\n%s", err, b.Bytes())
			}
		}
		x, err := graph.NewIndex(m)
		if err != nil {
			return
		}
		for _, o := range x.Ops[:min(len(x.Ops), 20)] {
			describe.Node(tongue.Chinese, x.Node(o), true)
			d := draw.Neighborhood(x, o, 2)
			d.WriteSVG(io.Discard, draw.Style{})
			d.WriteDOT(io.Discard, draw.Style{})
		}
		describe.Diff(tongue.Chinese, graph.Compare(x, x))
	})
}
