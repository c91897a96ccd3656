package repl

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"precision/console"
	"precision/internal/must"
	"precision/repl/array"
	"precision/repl/workspace"
)

// h5Operator finds the tensors of an operator in the PyTorch dumps, by its id
// or by a path with that in it; "" without an id, or if no dump has it.
func (s *session) h5Operator(name string) (id string) {
	if id, _ = workspace.H5Place(name); id == "" {
		return ""
	}
	for _, d := range s.h5Sides() {
		for i := range d.Tensors {
			if d.Tensors[i].ID == id {
				return id
			}
		}
	}
	return ""
}

// h5Panel shows an operator of the PyTorch dumps: what each side recorded of
// it, with statistics, decoded for other programs.
func (n *niCmd) h5Panel(ctx context.Context, s *session, id string) string {
	var b strings.Builder
	for _, d := range s.h5Sides() {
		fmt.Fprintf(&b, "%s:  %s\n", strings.ToUpper(d.Name), console.Clean(d.File))
		before := b.Len()
		for _, kind := range append(workspace.H5Kinds, "") {
			var text strings.Builder
			for i := range d.Tensors {
				t := &d.Tensors[i]
				if t.ID != id || t.Kind != kind {
					continue
				}
				text.WriteString(n.h5Line(ctx, s, d, t))
				must.Do(ctx.Err())
			}
			if text.Len() > 0 {
				kind = cmp.Or(kind, s.T("h5.other"))
				b.WriteString(" " + kind + ":\n" + text.String())
			}
		}
		if b.Len() == before {
			b.WriteString(" " + s.T("h5.nothing") + "\n")
		}
	}
	return s.Screen.Panel(s.Screen.Green(console.Clean(n.name)), b.String())
}

// h5Line is what is shown of a tensor.
func (n *niCmd) h5Line(ctx context.Context, s *session, d *workspace.H5Side, t *workspace.H5Tensor) string {
	path := console.Clean(t.Path)
	a, err := array.Dataset(d.File, t.Path)
	if err != nil {
		return "  - " + path + "\n    └─ " + n.failed(s, err)
	}
	defer a.Close()
	stats, err := s.measure(ctx, "ni", a)
	must.Do(ctx.Err())
	if err != nil {
		return "  - " + path + "\n    └─ " + n.failed(s, err)
	}
	s.decoded(ctx, a, d.Array(t), "pt")
	return fmt.Sprintf("  - %s\n    └─ %s\n", path, s.summary(a, stats))
}
