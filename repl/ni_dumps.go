package repl

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/console"
	"precision/dump"
	"precision/dump/stats"
	"precision/graph/fusion"
	"precision/internal/must"
	"precision/internal/order"
	"precision/internal/plainfile"
	"precision/repl/array"
	"precision/repl/workspace"
)

// dumpFile is a dump file of an operator, and the folder it is in.
type dumpFile struct {
	*dump.Entry
	leaf *workspace.Leaf
}

// files are the dump files of an operator in the newest run of its debug id.
// There are several in a folder when the operator ran more than once.
func (x *node) files(s *session) (list []dumpFile) {
	for _, l := range s.dumpsOf(x.id).Leaves {
		if s.set.Train && !strings.Contains(l.Dir, x.op.Graph.Name) {
			continue
		}
		op := l.Folder().Op(x.op.Name)
		if op == nil {
			continue
		}
		for i := range op.Files {
			if e := &op.Files[i]; e.Name.OpType == dump.Normalise(x.op.Type) {
				list = append(list, dumpFile{e, l})
			}
		}
	}
	return list
}

// decodeFolder is where the tensors of a dump of a debug id are decoded, below
// temp/decode. Runs of several devices, models or steps have a folder for each,
// as files of the same name may be in them.
func (s *session) decodeFolder(id *workspace.DebugID, l *workspace.Leaf) []string {
	folder := []string{"dump_decode", id.Name}
	d := s.dumpsOf(id)
	if rel, err := filepath.Rel(d.Run, l.Dir); err == nil && len(d.Leaves) > 1 {
		folder = append(folder, rel)
	}
	return folder
}

// tensorsOf measures the tensors of a file and hands them on; bad are those that cannot be read. It ends with the context.
func (s *session) tensorsOf(ctx context.Context, e *dump.Entry, take func(a *array.Array, stats array.Stats)) (bad []error) {
	arrays, bad := workspace.WholeFile(e).Open()
	for _, a := range arrays {
		stats, err := s.measure(ctx, "ni", a)
		if err == nil {
			take(a, stats)
		} else {
			bad = append(bad, err)
		}
		a.Close()
		must.Do(ctx.Err())
	}
	return bad
}

// recordings shows what the NPU recorded of an operator, with statistics, and
// decodes it for other programs.
func (n *niCmd) recordings(ctx context.Context, s *session, b *strings.Builder, id *workspace.DebugID, opType, name string, files []dumpFile) {
	var blocks [2]strings.Builder
	var folders []string
	type tensor struct {
		input bool
		index int
		text  string
	}
	var tensors []tensor
	var failed []error
	for _, e := range files {
		failed = append(failed, s.tensorsOf(ctx, e.Entry, func(a *array.Array, stats array.Stats) {
			name := a.Name
			if path := s.decoded(ctx, a, a.Name, s.decodeFolder(id, e.leaf)...); path != "" {
				name += ".npy"
				if dir := filepath.Dir(path); !slices.Contains(folders, dir) {
					folders = append(folders, dir)
				}
			}
			if d := s.dumpsOf(id); len(d.Leaves) > 1 { // which device and step
				if rel, err := filepath.Rel(d.Run, e.leaf.Dir); err == nil {
					name = filepath.Join(rel, name)
				}
			}
			_, input, index, _ := workspace.CutArrayName(a.Name)
			tensors = append(tensors, tensor{input, index,
				fmt.Sprintf(" -%s %s\n   └─ %s\n", s.Screen.Green("["+strconv.Itoa(index)+"]"), console.Clean(name), s.summary(a, stats))})
		})...)
	}
	// By index, then by time as the files are.
	order.Stable(tensors, func(a, b tensor) int { return cmp.Compare(a.index, b.index) })
	for _, t := range tensors {
		to := &blocks[1]
		if t.input {
			to = &blocks[0]
		}
		to.WriteString(t.text)
	}
	for _, err := range failed {
		blocks[1].WriteString(" - " + n.failed(s, err))
	}
	for _, l := range s.dumpsOf(id).Leaves {
		for _, path := range l.Statistics()[dump.Normalise(opType)+"."+dump.Normalise(name)] {
			if err := n.statistics(s, &blocks, path); err != nil {
				blocks[1].WriteString(" - " + n.failed(s, err))
			}
		}
	}
	for i, title := range []string{"NpuDumpInput:", "NpuDumpOutput:"} {
		text := cmp.Or(blocks[i].String(), s.T("ni.nodump")+"\n")
		b.WriteString(title + "\n" + text)
	}
	for _, dir := range folders {
		b.WriteString(s.T("ni.decoded", console.Clean(dir)) + "\n")
	}
}

// statistics shows a table of statistics: direction and index come first, all others by their headings, as users choose
// which statistics a dump has.
func (n *niCmd) statistics(s *session, blocks *[2]strings.Builder, path string) error {
	f, _, err := plainfile.Open(path, "a table of statistics")
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	certain := [2]bool{}
	// Which statistics a table has its headings say; one without is of the first ones that there were.
	at := map[stats.Column]int{stats.ColDType: 3, stats.ColShape: 5, stats.ColMax: 6, stats.ColMin: 7, stats.ColMean: 8}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		to := slices.Index([]string{"Input", "Output"}, row[0])
		if to < 0 {
			titles := stats.Columns(row)
			if _, is := titles[stats.ColShape]; is {
				at = titles
			}
			continue
		}
		b := &blocks[to]
		if !certain[to] {
			fmt.Fprintf(b, " - %s\n", console.Clean(filepath.Base(path)))
			certain[to] = true
		}
		cell := func(c stats.Column) (text string, has bool) {
			if i, ok := at[c]; ok && i < len(row) {
				return row[i], true
			}
			return "", false
		}
		var says []string
		for _, c := range []struct {
			name string
			of   stats.Column
		}{{"Shape", stats.ColShape}, {"Dtype", stats.ColDType}, {"Max", stats.ColMax}, {"Min", stats.ColMin}, {"Mean", stats.ColMean}, {"Norm", stats.ColNorm}} {
			if text, has := cell(c.of); has {
				says = append(says, "["+c.name+": "+text+"]")
			}
		}
		slot := ""
		if len(row) > 1 {
			slot = row[1]
		}
		fmt.Fprintf(b, "   └─ %s %s", s.Screen.Green("["+console.Clean(slot)+"]"), s.Screen.Yellow(console.Clean(strings.Join(says, " "))))
		count := func(c stats.Column) int64 {
			text, _ := cell(c)
			n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return max(n, 0)
		}
		if n := count(stats.ColNaN); n > 0 {
			b.WriteString(s.Screen.Red(fmt.Sprintf(" [NaN: %d]", n)))
		}
		if n := count(stats.ColNegInf) + count(stats.ColPosInf); n > 0 {
			b.WriteString(s.Screen.Red(fmt.Sprintf(" [Inf: %d]", n)))
		}
		b.WriteString("\n")
	}
}

// golden shows the golden arrays that the inputs and outputs of an operator
// stand for.
func (n *niCmd) golden(ctx context.Context, s *session, b *strings.Builder, x node) {
	if folder := s.data.GoldenArrays(); folder != nil {
		n.goldenArrays(ctx, s, b, "TfDumpInput:", s.goldenOps(folder, x, true))
		n.goldenArrays(ctx, s, b, "TfDumpOutput:", s.goldenOps(folder, x, false))
	}
}

// goldenArrays shows a block of golden arrays with their statistics.
func (n *niCmd) goldenArrays(ctx context.Context, s *session, b *strings.Builder, title string, ops []*dump.Op) {
	var text strings.Builder
	for i, op := range ops {
		if op == nil {
			continue
		}
		bad := s.tensorsOf(ctx, op.Newest(), func(a *array.Array, stats array.Stats) {
			fmt.Fprintf(&text, " -%s %s\n   └─ %s\n", s.Screen.Green("["+strconv.Itoa(i)+"]"), console.Clean(a.Name), s.summary(a, stats))
		})
		for _, err := range bad {
			text.WriteString(" - " + n.failed(s, err))
		}
	}
	if text.Len() > 0 {
		b.WriteString(title + "\n" + text.String())
	}
}

// goldenOps finds the golden array of each input or output of an operator: the
// framework tensor the graph says it stands for, else for an output that of
// the operator's own name. nil where there is none.
func (s *session) goldenOps(folder *dump.Folder, x node, input bool) []*dump.Op {
	rules, err := x.file.Rules()
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
				var ref fusion.GoldenRef
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
