package repl

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/compare/report"
	"precision/compare/verdict"
	"precision/console"
	"precision/dump"
	"precision/graph"
	"precision/graph/describe"
	"precision/graph/draw"
	"precision/internal/whole"
	"precision/repl/workspace"
)

// niCmd is the command ni: it shows all there is about an operator.
type niCmd struct {
	name, graph string
	recording   string
	attrs       bool
	save        int
	check       bool
	// unread tells that something to be shown could not be read.
	unread bool
}

var niCommand = &command{
	name:  "ni",
	named: true,
	make:  func(*session) action { return &niCmd{} },
}

func (n *niCmd) define(o *options) {
	o.text(&n.name, "n", "name", operators)
	o.text(&n.graph, "g", "graph", graphs)
	o.text(&n.recording, "r", "recording", paths)
	o.on(&n.attrs, "a", "attr")
	o.on(&n.attrs, "d", "dump_attr")
	o.count(&n.save, "s", "save")
	o.on(&n.check, "c", "check")
}

// node is an operator of a debug id.
type node struct {
	id   *workspace.DebugID
	file *workspace.GraphFile
	op   *graph.Op
}

// search finds operators of all debug ids by name; exact tells that they have
// that very name. The name of a graph that is there restricts the search to it.
func (s *session) search(name, graphName string) (nodes []node, exact bool) {
	has := func(f *workspace.GraphFile) bool { // a graph may lack a name
		return graphName != "" && f.Index.Graph(graphName) != nil
	}
	known := false
	for _, id := range s.data.IDs() {
		known = known || slices.ContainsFunc(s.graphsOf(id).Files, has)
	}
	for _, id := range s.data.IDs() {
		for _, f := range s.graphsOf(id).Files {
			if known && !has(f) {
				continue
			}
			ops, same := f.Index.Search(name, graphName)
			if same && !exact {
				nodes, exact = nil, true
			}
			if same == exact {
				for _, op := range ops {
					nodes = append(nodes, node{id, f, op})
				}
			}
		}
	}
	return nodes, exact
}

func (n *niCmd) run(ctx context.Context, s *session, _ []string) int {
	code := n.tell(ctx, s)
	if n.unread {
		return max(code, exitError)
	}
	return code
}

// tell shows the operator, or says why it cannot. It ends with the context.
func (n *niCmd) tell(ctx context.Context, s *session) int {
	if n.recording != "" {
		return n.recorded(ctx, s)
	}
	nodes, exact := s.search(n.name, n.graph)
	if !exact {
		if id := s.h5Operator(n.name); id != "" {
			s.Page(n.h5Panel(ctx, s, id))
			return exitOK
		}
	}
	any := false
	for _, id := range s.data.IDs() {
		any = any || len(s.graphsOf(id).Files) > 0
	}
	if !any {
		if text := n.withoutGraph(ctx, s); text != "" {
			s.Info("ni.nograph", s.data.Path("npu", "debug_0", "graph"))
			s.Page(text)
			return exitOK
		}
		if len(s.h5Sides()) > 0 {
			return s.Lack("h5.none", n.name)
		}
		return s.noGraphs()
	}
	names := map[string]bool{}
	for _, x := range nodes {
		names[x.op.Name] = true
	}
	switch {
	case len(nodes) == 0:
		ops := s.fuzzy(n.name, 10)
		if len(ops) == 0 {
			return s.unknown("ni.none", n.name)
		}
		s.Fail("ni.none", n.name)
		s.Print(s.Screen.Panel(s.T("ni.possible"), s.opLines(ops, false)))
		return exitNothing
	case !exact && len(names) > 1:
		var ops []*graph.Op
		for _, x := range nodes {
			if names[x.op.Name] {
				names[x.op.Name] = false
				ops = append(ops, x.op)
			}
		}
		s.Info("ni.several", n.name)
		s.Page(s.Screen.Panel(s.T("ni.possible"), s.opLines(ops, false)))
		return exitNothing
	}
	tables, code := s.newestResults()
	var out strings.Builder
	for _, x := range nodes {
		out.WriteString(n.show(ctx, s, x, tables))
		if n.save > 0 {
			code = max(code, n.draw(ctx, s, x, tables))
		}
	}
	s.Page(out.String())
	return code
}

// failed tells of what could not be read, in place of it.
func (n *niCmd) failed(s *session, err error) string {
	n.unread = true
	return s.Screen.Red(err.Error()) + "\n"
}

// withoutGraph shows what was recorded of an operator when there is no graph to
// tell more: its dumps, and the golden arrays of its name. It is "" if nothing
// was.
func (n *niCmd) withoutGraph(ctx context.Context, s *session) string {
	name := dump.Normalise(n.name)
	var out strings.Builder
	for _, id := range s.data.IDs() {
		var files []dumpFile
		for _, l := range s.dumpsOf(id).Leaves {
			if op := l.Folder().Op(name); op != nil {
				for i := range op.Files {
					files = append(files, dumpFile{&op.Files[i], l})
				}
			}
		}
		if len(files) == 0 {
			continue
		}
		var b strings.Builder
		at := &files[0].Name
		b.WriteString("Op(Type/Name): " + s.Screen.Green("["+console.Clean(at.OpType)+"]") + " " + console.Clean(at.OpName) + "\n")
		n.recordings(ctx, s, &b, id, at.OpType, at.OpName, files)
		if folder := s.data.GoldenArrays(); folder != nil {
			var ops []*dump.Op
			for i := 0; folder.Output(name, i) != nil; i++ {
				ops = append(ops, folder.Output(name, i))
			}
			n.goldenArrays(ctx, s, &b, "TfDumpOutput:", ops)
		}
		out.WriteString(s.Screen.Panel(s.Screen.Green("("+id.Name+")"), b.String()))
	}
	return out.String()
}

// show is the panel of an operator.
func (n *niCmd) show(ctx context.Context, s *session, x node, tables []*judged) string {
	info := x.file.Index.Node(x.op)
	var b strings.Builder
	line := func(label, text string) { fmt.Fprintf(&b, "%s%s\n", label, text) }
	line("Op(Type/Name): ", s.Screen.Green("["+x.op.Type+"]")+" "+console.Clean(x.op.Name))
	line("ID:    ", s.Screen.Yellow(strconv.FormatInt(x.op.ID, 10)))
	line("KernelName:    ", s.Screen.Yellow(info.Kernel))
	line("KernelLibName: ", s.Screen.Yellow(info.KernelLib))
	line("GraphName:     ", s.Screen.Yellow(info.Graph))
	if passes := append(append([]string{}, info.Passes...), info.UBPasses...); len(passes) > 0 {
		line("PassName: ", s.Screen.Yellow(strings.Join(passes, ", ")))
	}
	switch {
	case len(info.Origins) > 0:
		line("OriginalOp: ", console.Clean(strings.Join(info.Origins, ", ")))
	case info.Inserted:
		line("OriginalOp: ", s.T("ni.inserted"))
	}
	if n.attrs {
		for _, a := range x.op.Attrs {
			line("  "+console.Clean(a.Key())+": ", console.Clean(a.Value.String()))
		}
	}
	line("Input: ", s.T("ni.legend"))
	n.ports(s, &b, info.Inputs, true)
	b.WriteString("Output:\n")
	n.ports(s, &b, info.Outputs, false)
	for _, note := range info.Notes {
		line("", s.Screen.Yellow(console.Clean(describe.Note(s.Lang, note))))
	}
	n.recordings(ctx, s, &b, x.id, x.op.Type, x.op.Name, x.files(s))
	n.golden(ctx, s, &b, x)
	n.result(s, &b, x, tables)
	return s.Screen.Panel(s.Screen.Green("("+x.id.Name+")")+" "+console.Clean(info.Graph), b.String())
}

// ports lists the inputs or outputs of an operator with what is at the other
// end of their edges.
func (n *niCmd) ports(s *session, b *strings.Builder, ports []graph.PortInfo, input bool) {
	for i := range ports {
		p := &ports[i]
		var peers []string
		for _, peer := range p.Peers {
			name := peer.Name
			if input {
				name += ":" + strconv.Itoa(peer.Index)
			}
			peers = append(peers, name)
		}
		text := strings.Join(peers, ", ")
		if p.Unconnected {
			text = s.T("ni.unconnected")
		}
		if !input {
			text = "[" + text + "]"
		}
		fmt.Fprintf(b, " -%s%s %s %s\n", s.Screen.Green("["+strconv.Itoa(p.Index)+"]"),
			s.Screen.Yellow("["+p.DType+"]["+p.Layout+"]"+graph.FormatShape(p.Shape)),
			s.Screen.Blue("["+p.ValueRange+"]["+p.ShapeRange+"]"+graph.FormatShape(p.OriginShape)), console.Clean(text))
	}
}

// result shows the comparison of the operator's tensors, if there is one, and
// what they were compared with.
func (n *niCmd) result(s *session, b *strings.Builder, x node, tables []*judged) {
	say := report.Text{Lang: s.Lang}
	for _, t := range tables {
		op := t.Find(x.op.Name)
		if op == nil || len(op.Inputs)+len(op.Outputs) == 0 {
			continue
		}
		head := s.T("ni.compared", console.Clean(t.path))
		if against := s.against(&t.Table.Meta); against != "" {
			head += console.Clean(against)
		}
		word := report.Word(s.Lang, op.State)
		fmt.Fprintf(b, "%s%s%s\n", head, s.T("report.colon"), s.Screen.Paint(word.Style, word.Text))
		for i, list := range [][]verdict.Tensor{op.Inputs, op.Outputs} {
			for k := range list {
				r := t.Row(&list[k])
				fmt.Fprintf(b, " - %s:%d  MaxAbsErr %s  CosSim %s\n", []string{"input", "output"}[i], r.Slot, number6(largestOf(r)), s.tensorText(say, t, &list[k]))
			}
		}
	}
}

// draw writes the neighbourhood of an operator as Graphviz text and as a
// picture, coloured by the newest comparison if there is one.
func (n *niCmd) draw(ctx context.Context, s *session, x node, tables []*judged) int {
	// A depth of 1 is the operator alone.
	d := draw.Neighborhood(x.file.Index, x.op, n.save-1)
	style := draw.Style{Lang: s.Lang}
	for _, t := range tables {
		for _, dn := range d.Nodes {
			op := t.Find(dn.Op.Name)
			if op == nil || len(op.Outputs) == 0 {
				continue
			}
			if style.Heat == nil {
				style.Heat = map[*graph.Op]float64{}
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
