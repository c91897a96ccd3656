package repl

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"precision/graph"
	"precision/graph/draw"
	"precision/internal/whole"
	"precision/repl/workspace"
)

// draw writes the neighbourhood of an operator as Graphviz text and as a
// picture, coloured by the newest comparison if there is one.
func (n *niCmd) draw(ctx context.Context, s *session, x node, tables []*judged) int {
	// A depth of 1 is the operator alone.
	d := draw.Neighborhood(x.file.Index, x.op, n.save-1, 0, false)
	style := draw.Style{Lang: s.Lang}
	for _, t := range tables {
		for _, dn := range d.Nodes {
			op := t.Find(dn.Op.Name)
			if op == nil || len(op.Outputs) == 0 {
				continue
			}
			if style.Heat == nil {
				style.Heat, style.HeatName = map[*graph.Op]float64{}, "CosineSimilarity"
			}
			for i := range op.Outputs {
				cosine := cosineOf(t.Row(&op.Outputs[i]))
				if old, ok := style.Heat[dn.Op]; !ok || !(cosine >= old) {
					style.Heat[dn.Op] = cosine
				}
			}
		}
	}
	base := fmt.Sprintf("%s.%s.%s.%s.%d.gv", workspace.FileName(x.id.Name), workspace.FileName(x.op.Graph.Name), workspace.FileName(x.op.Type), workspace.FileName(x.op.Name), n.save)
	path := s.data.Path("temp", "op_graph", base)
	if d.Cut > 0 {
		s.Warn("ni.cut", len(d.Nodes), d.Cut)
	}
	for _, out := range []struct {
		path  string
		write func(io.Writer, draw.Style) error
	}{{path, d.WriteDOT}, {path + ".svg", d.WriteSVG}} {
		if err := whole.Fill(out.path, 0o600, func(w io.Writer) error { return out.write(w, style) }); err != nil {
			return s.Failed(ctx, err)
		}
		s.Say("wrote", filepath.ToSlash(out.path))
	}
	return exitOK
}
