package repl

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"precision/compare/recording"
	"precision/console"
	"precision/dump"
	"precision/graph"
	"precision/internal/nd"
)

// lsCmd is the command ls: it lists operators of the graphs, or dump files.
type lsCmd struct {
	query graph.Query
}

var lsCommand = &command{
	name:  "ls",
	words: oneOf("dump"),
	takes: 1,
	make:  func(*session) action { return &lsCmd{} },
}

func (l *lsCmd) define(o *options) {
	o.text(&l.query.Name, "n", "name", operators)
	o.text(&l.query.Type, "t", "type", types)
	o.text(&l.query.Pass, "f", "fusion", passes)
	o.text(&l.query.Kernel, "k", "kernel_name")
}

func (l *lsCmd) run(ctx context.Context, s *session, words []string) int {
	switch {
	case len(words) == 1 && words[0] == "dump":
		return l.dumps(s)
	case len(words) == 1 && recording.Is(words[0]):
		return l.recordedCalls(s, words[0])
	case len(words) > 0:
		return s.tooMany("ls", words)
	}
	var blocks []string
	any, matched := false, 0
	for _, id := range s.data.IDs() {
		g := s.graphsOf(id)
		if len(g.Files) == 0 {
			continue
		}
		any = true
		var ops []*graph.Op
		for _, f := range g.Files {
			ops = append(ops, f.Index.Model.Select(l.query)...)
		}
		matched += len(ops)
		if l.query.Empty() {
			var rows [][]string
			for _, c := range graph.TypeCounts(ops) {
				rows = append(rows, []string{s.Screen.Green(c.Name), strconv.Itoa(c.N)})
			}
			blocks = append(blocks, s.Screen.Table(id.Name, []string{"OpType", "Count"}, rows))
			continue
		}
		if len(ops) == 0 {
			continue
		}
		blocks = append(blocks, s.Screen.Panel(s.Screen.Green(id.Name), s.opLines(ops, true)))
	}
	switch {
	case !any:
		return s.noGraphs()
	case l.query.Empty():
		s.Page(s.Screen.Columns(blocks...))
		return exitOK
	case matched == 0:
		s.Say("ls.none")
		return exitNothing
	}
	s.Page(strings.Join(blocks, ""))
	s.Say("ls.count", matched)
	return exitOK
}

// opLines lists operators, one a line, with the passes that made them.
func (s *session) opLines(ops []*graph.Op, passes bool) string {
	var b strings.Builder
	for _, op := range ops {
		b.WriteString(s.Screen.Green("[" + op.Type + "]"))
		if passes {
			all := append(append([]string{}, op.Passes()...), op.UBPasses()...)
			b.WriteString(s.Screen.Yellow("[" + strings.Join(all, ",") + "]"))
		}
		b.WriteString(" " + console.Clean(op.Name) + "\n")
	}
	return b.String()
}

// dumps lists the dump files of the newest run of every debug id.
func (l *lsCmd) dumps(s *session) int {
	var out strings.Builder
	n, has := 0, strings.Contains
	for _, id := range s.data.IDs() {
		d := s.dumpsOf(id)
		for _, leaf := range d.Leaves {
			var rows [][]string
			for _, op := range leaf.Folder().Ops {
				for i := range op.Files {
					e := &op.Files[i]
					if has(e.Name.OpType, l.query.Type) && has(e.Name.OpName, dump.Normalise(l.query.Name)) {
						rows = append(rows, []string{e.Name.File, s.Screen.Green(e.Name.OpType), e.Name.OpName,
							number(e.Name.Task), number(e.Name.Stream), fmt.Sprint(e.Name.Time), fileSize(e.Path)})
					}
				}
			}
			if n += len(rows); len(rows) > 0 {
				out.WriteString(s.fileTable(id.Name+" "+leaf.Dir, rows))
			}
		}
	}
	tensors := 0
	for _, d := range s.h5Sides() {
		var rows [][]string
		for i := range d.Tensors {
			t := &d.Tensors[i]
			op, _, _ := strings.Cut(strings.TrimPrefix(t.Path, "/"), "/")
			if strings.Contains(op, l.query.Type) && strings.Contains(t.Path, l.query.Name) {
				rows = append(rows, []string{t.Path, s.Screen.Green(op), t.Type.String(), nd.Tuple(t.Shape)})
			}
		}
		if tensors += len(rows); len(rows) > 0 {
			out.WriteString(s.Screen.Table(d.Name+" "+d.File, []string{"Path", "OpType", "Dtype", "Shape"}, rows))
		}
	}
	if n+tensors == 0 && !s.anyDump() && len(s.h5Sides()) == 0 {
		return s.noDumps()
	}
	if n+tensors == 0 {
		s.Say("ls.nodump")
		return exitNothing
	}
	s.Page(out.String())
	if n > 0 {
		s.Say("ls.dumpcount", n)
	}
	if tensors > 0 {
		s.Say("ls.h5count", tensors)
	}
	return exitOK
}

// fileTable is a table of dump files, or where that is too wide their names, which
// say the same, with their sizes.
func (s *session) fileTable(title string, rows [][]string) string {
	head := []string{"File", "OpType", "OpName", "Task", "Stream", "Time", "Size"}
	if s.Screen.Fits(head, rows) {
		return s.Screen.Table(title, head, rows)
	}
	var b strings.Builder
	b.WriteString(s.Screen.Bold(title) + "\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "%10s  %s\n", row[6], row[0])
	}
	return b.String()
}

// anyDump reports whether there is any dump file, or a table of statistics, in
// a newest run.
func (s *session) anyDump() bool {
	for _, id := range s.data.IDs() {
		for _, l := range s.dumpsOf(id).Leaves {
			if len(l.Folder().Ops)+len(l.Statistics()) > 0 {
				return true
			}
		}
	}
	return false
}

// number is a number of a file name, "" if the name has none.
func number(n int64) string {
	if n < 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
