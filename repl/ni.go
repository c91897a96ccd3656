package repl

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/dump"
	"precision/graph"
	"precision/internal/whole"
	"precision/repl/array"
)

// niCmd is the command ni: it shows all there is about an operator.
type niCmd struct {
	name, graph string
	attrs       bool
	save        int
	check       bool
}

func newNI(*session) action { return &niCmd{} }

func (n *niCmd) define(o *options) {
	o.text(&n.name, "n", "name")
	o.text(&n.graph, "g", "graph")
	o.on(&n.attrs, "a", "attr")
	o.on(&n.attrs, "d", "dump_attr")
	o.count(&n.save, "s", "save")
	o.on(&n.check, "c", "check")
}

// node is an operator of a debug id.
type node struct {
	id   *debugID
	file *graphFile
	op   *graph.Op
}

// search finds operators of all debug ids by name; exact tells that they have
// that very name.
func (s *session) search(name, graphName string) (nodes []node, exact bool) {
	for _, id := range s.ids() {
		for _, f := range s.graphsOf(id).files {
			ops, same := f.index.Search(name, graphName)
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

func (n *niCmd) run(ctx context.Context, s *session, words []string) int {
	switch {
	case len(words) > 0:
		return s.tooMany("ni", words)
	case n.name == "":
		s.fail("need.name", "ni", s.t("ni.usage"))
		return exitError
	}
	any := false
	for _, id := range s.ids() {
		any = any || len(s.graphsOf(id).files) > 0
	}
	if !any {
		return s.noGraphs()
	}
	nodes, exact := s.search(n.name, n.graph)
	names := map[string]bool{}
	for _, x := range nodes {
		names[x.op.Name] = true
	}
	switch {
	case len(nodes) == 0:
		s.fail("ni.none", n.name)
		if ops := s.fuzzy(n.name, 10); len(ops) > 0 {
			s.print(s.scr.panel(s.t("ni.possible"), s.opLines(ops, false)))
		}
		return exitNothing
	case !exact && len(names) > 1:
		var ops []*graph.Op
		for _, x := range nodes {
			if names[x.op.Name] {
				names[x.op.Name] = false
				ops = append(ops, x.op)
			}
		}
		s.info("ni.several", n.name)
		s.page(s.scr.panel(s.t("ni.possible"), s.opLines(ops, false)))
		return exitNothing
	}
	_, tables := s.newestResults()
	code := exitOK
	var out strings.Builder
	for _, x := range nodes {
		text, err := n.show(ctx, s, x, tables)
		if err != nil {
			return s.failed(ctx, err)
		}
		out.WriteString(text)
		if n.save > 0 {
			code = max(code, n.draw(ctx, s, x, tables))
		}
	}
	s.page(out.String())
	return code
}

// show is the panel of an operator.
func (n *niCmd) show(ctx context.Context, s *session, x node, tables []*resultTable) (string, error) {
	info := x.file.index.Node(x.op)
	var b strings.Builder
	line := func(label, text string) { fmt.Fprintf(&b, "%s%s\n", label, text) }
	line("Op(Type/Name): ", s.scr.green("["+x.op.Type+"]")+" "+clean(x.op.Name))
	line("ID:    ", s.scr.yellow(strconv.FormatInt(x.op.ID, 10)))
	line("KernelName:    ", s.scr.yellow(info.Kernel))
	line("KernelLibName: ", s.scr.yellow(info.KernelLib))
	line("GraphName:     ", s.scr.yellow(info.Graph))
	if passes := append(append([]string{}, info.Passes...), info.UBPasses...); len(passes) > 0 {
		line("PassName: ", s.scr.yellow(strings.Join(passes, ", ")))
	}
	switch {
	case len(info.Origins) > 0:
		line("OriginalOp: ", clean(strings.Join(info.Origins, ", ")))
	case info.Inserted:
		line("OriginalOp: ", s.t("ni.inserted"))
	}
	if n.attrs {
		for _, a := range x.op.Attrs {
			line("  "+clean(a.Key())+": ", clean(a.Value.String()))
		}
	}
	line("Input: ", s.t("ni.legend"))
	n.ports(s, &b, info.Inputs, true)
	b.WriteString("Output:\n")
	n.ports(s, &b, info.Outputs, false)
	for _, note := range info.Notes {
		line("", s.scr.yellow(note))
	}
	if err := n.recordings(ctx, s, &b, x); err != nil {
		return "", err
	}
	if err := n.golden(ctx, s, &b, x); err != nil {
		return "", err
	}
	n.result(s, &b, x, tables)
	return s.scr.panel(s.scr.green("("+x.id.name+")")+" "+clean(info.Graph), b.String()), nil
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
			text = s.t("ni.unconnected")
		}
		if !input {
			text = "[" + text + "]"
		}
		fmt.Fprintf(b, " -%s%s %s %s\n", s.scr.green("["+strconv.Itoa(p.Index)+"]"),
			s.scr.yellow("["+p.DType+"]["+p.Layout+"]"+graph.FormatShape(p.Shape)),
			s.scr.blue("["+p.ValueRange+"]["+p.ShapeRange+"]"+graph.FormatShape(p.OriginShape)), clean(text))
	}
}

// files are the dump files of an operator in the newest run of its debug id,
// the newest of each folder.
func (x *node) files(s *session) []*dump.Entry {
	var list []*dump.Entry
	for _, l := range s.dumpsOf(x.id).leaves {
		if s.set.Train && !strings.Contains(l.dir, x.op.Graph.Name) {
			continue
		}
		op := l.folder().Op(x.op.Name)
		if op == nil {
			continue
		}
		e := op.Newest()
		if e.Name.OpType == dump.Normalise(x.op.Type) {
			list = append(list, e)
		}
	}
	return list
}

// recordings shows what the NPU recorded of an operator, with statistics.
func (n *niCmd) recordings(ctx context.Context, s *session, b *strings.Builder, x node) error {
	var blocks [2]strings.Builder
	for _, e := range x.files(s) {
		arrays, bad, err := array.Open(e.Path)
		if err != nil {
			bad = append(bad, err)
		}
		for _, a := range arrays {
			stats, err := a.Measure(ctx, s.set.Workers)
			a.Close()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				bad = append(bad, err)
				continue
			}
			_, input, index, _ := cutArrayName(a.Name)
			to := &blocks[1]
			if input {
				to = &blocks[0]
			}
			fmt.Fprintf(to, " -%s %s.npy\n   └─ %s\n", s.scr.green("["+strconv.Itoa(index)+"]"), clean(a.Name), s.summary(a, stats))
		}
		for _, err := range bad {
			fmt.Fprintf(&blocks[1], " - %s\n", s.scr.red(err.Error()))
		}
	}
	for _, l := range s.dumpsOf(x.id).leaves {
		for _, path := range l.statistics()[dump.Normalise(x.op.Type)+"."+dump.Normalise(x.op.Name)] {
			if err := n.statistics(s, &blocks, path); err != nil {
				fmt.Fprintf(&blocks[1], " - %s\n", s.scr.red(err.Error()))
			}
		}
	}
	for i, name := range []string{"NpuDumpInput:", "NpuDumpOutput:"} {
		text := blocks[i].String()
		if text == "" {
			text = s.t("ni.nodump") + "\n"
		}
		b.WriteString(name + "\n" + text)
	}
	return nil
}

// statistics shows a table of statistics: columns 0 direction, 1 index, 3 type,
// 5 shape, 6 to 8 max, min and mean.
func (n *niCmd) statistics(s *session, blocks *[2]strings.Builder, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	told := [2]bool{}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		to := slices.Index([]string{"Input", "Output"}, row[0])
		if to < 0 || len(row) < 9 {
			continue // the header
		}
		b := &blocks[to]
		if !told[to] {
			fmt.Fprintf(b, " - %s\n", clean(filepath.Base(path)))
			told[to] = true
		}
		fmt.Fprintf(b, "   └─ %s %s\n", s.scr.green("["+row[1]+"]"),
			s.scr.yellow(fmt.Sprintf("[Shape: %s] [Dtype: %s] [Max: %s] [Min: %s] [Mean: %s]", row[5], row[3], row[6], row[7], row[8])))
	}
}

// golden shows the golden arrays that the inputs and outputs of an operator
// stand for.
func (n *niCmd) golden(ctx context.Context, s *session, b *strings.Builder, x node) error {
	folder := s.goldenArrays()
	if folder == nil {
		return nil
	}
	for _, input := range []bool{true, false} {
		name := "TfDumpOutput:"
		if input {
			name = "TfDumpInput:"
		}
		var text strings.Builder
		for i, op := range s.goldenOps(folder, x, input) {
			if op == nil {
				continue
			}
			arrays, bad, err := array.Open(op.Newest().Path)
			if err != nil {
				bad = append(bad, err)
			}
			for _, a := range arrays {
				stats, err := a.Measure(ctx, s.set.Workers)
				a.Close()
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					bad = append(bad, err)
					continue
				}
				fmt.Fprintf(&text, " -%s %s\n   └─ %s\n", s.scr.green("["+strconv.Itoa(i)+"]"), clean(a.Name), s.summary(a, stats))
			}
			for _, err := range bad {
				fmt.Fprintf(&text, " - %s\n", s.scr.red(err.Error()))
			}
		}
		if text.Len() > 0 {
			b.WriteString(name + "\n" + text.String())
		}
	}
	return nil
}

// goldenOps finds the golden array of each input or output of an operator: the
// framework tensor the graph says it stands for, else for an output that of
// the operator's own name. nil where there is none.
func (s *session) goldenOps(folder *dump.Folder, x node, input bool) []*dump.Op {
	rules, err := x.file.rules()
	if err != nil {
		rules = nil
	}
	n := len(x.op.OutputDesc)
	if input {
		n = len(x.op.InputDesc)
	}
	list := make([]*dump.Op, n)
	for i := range list {
		if rules != nil {
			if op := rules.Op(x.op.Name); op != nil {
				var ref graph.GoldenRef
				if input {
					ref, err = rules.GoldenInput(op, i)
				} else {
					ref, err = rules.GoldenOutput(op, i)
				}
				if err == nil {
					list[i] = folder.Output(ref.Op, int(ref.Index))
				}
			}
		}
		if list[i] == nil && !input {
			list[i] = folder.Output(x.op.Name, i)
		}
	}
	return list
}

// result shows the comparison of the operator's tensors, if there is one.
func (n *niCmd) result(s *session, b *strings.Builder, x node, tables []*resultTable) {
	for _, t := range tables {
		o := t.op(x.op.Name)
		if o == nil {
			continue
		}
		fmt.Fprintf(b, "%s\n", s.t("ni.compared", clean(t.path)))
		for i, cells := range [][]cell{o.inputs, o.outputs} {
			for j := range cells {
				c := &cells[j]
				fmt.Fprintf(b, " - %s:%d  CosSim %s  MaxAbsErr %.6g", []string{"input", "output"}[i], c.slot, s.cosine(c, s.set.CosSim), c.maxAbs)
				if c.reason != "" {
					b.WriteString("  " + clean(c.reason))
				}
				b.WriteString("\n")
			}
		}
	}
}

// draw writes the neighbourhood of an operator as Graphviz text and as a
// picture, coloured by the newest comparison if there is one.
func (n *niCmd) draw(ctx context.Context, s *session, x node, tables []*resultTable) int {
	// A depth of 1 is the operator alone.
	d := x.file.index.Neighborhood(x.op, n.save-1, 0, false)
	style := graph.Style{}
	for _, t := range tables {
		for _, o := range t.ops {
			for _, dn := range d.Nodes {
				if dn.Op.Name != o.op {
					continue
				}
				if style.Heat == nil {
					style.Heat, style.HeatName = map[*graph.Op]float64{}, "CosineSimilarity"
				}
				for _, c := range o.outputs {
					if old, ok := style.Heat[dn.Op]; !ok || !(c.cosine >= old) {
						style.Heat[dn.Op] = c.cosine
					}
				}
			}
		}
	}
	clear := func(name string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(`/\.: "<>|*?`, r) || unprintable(r) {
				return '_'
			}
			return r
		}, name)
	}
	base := fmt.Sprintf("%s.%s.%s.%s.%d.gv", clear(x.id.name), clear(x.op.Graph.Name), clear(x.op.Type), clear(x.op.Name), n.save)
	path := s.data.path("temp", "op_graph", base)
	if d.Cut > 0 {
		s.warn("ni.cut", len(d.Nodes), d.Cut)
	}
	for _, out := range []struct {
		path  string
		write func(io.Writer, graph.Style) error
	}{{path, d.WriteDOT}, {path + ".svg", d.WriteSVG}} {
		if err := writeFile(out.path, func(w io.Writer) error { return out.write(w, style) }); err != nil {
			return s.failed(ctx, err)
		}
		s.say("wrote", filepath.ToSlash(out.path))
	}
	return exitOK
}

// writeFile writes a file whole.
func writeFile(path string, write func(io.Writer) error) error {
	w, err := whole.Create(path, 0o600)
	if err != nil {
		return err
	}
	defer w.Discard()
	if err := write(w); err != nil {
		return err
	}
	return w.Commit()
}
