package repl

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"precision/dump/overflow"
	"precision/internal/whole"
	"precision/repl/array"
	"precision/repl/msg"
)

// overflowed is the operator of an overflow to look at.
type overflowed struct {
	kind, name string
	dump       string // path of its dump
	advice     overflow.Message
	producers  []string // operators that feed it extreme values
}

// overflows shows the first records of overflows in time order. found is the
// operator to look at: of the first record with a dump, those of an AI Core
// before those of atomic additions. any tells whether there was a record.
func (s *session) overflows(ctx context.Context, limit int) (found *overflowed, any bool) {
	run, runs := newestRun(s.data.overflow())
	if !isDir(run) {
		s.say("ovf.nodata", run)
		return nil, false
	}
	if runs > 1 {
		s.info("run.chosen", "overflow", runs, run)
	}
	tree, err := overflow.Find(run)
	if err != nil {
		s.fail("error", err)
		return nil, false
	}
	for _, w := range tree.Warnings {
		s.warn("error", w)
	}
	if len(tree.Records) == 0 {
		s.say("ovf.none", run)
		return nil, false
	}
	s.say("ovf.count", len(tree.Records), min(limit, len(tree.Records)))
	if limit == 0 { // for Analyse this means all
		return nil, true
	}
	atomic := false
	for i, e := range overflow.Analyse(tree, overflow.Options{Top: limit}) {
		if ctx.Err() != nil {
			return found, true
		}
		body, first := s.overflowEvent(ctx, &e)
		s.print(s.scr.panel(s.t("ovf.title", i+1, len(tree.Records)), body))
		isAtomic := len(e.Detected) > 0 && (e.Detected[0].Detector == overflow.DHAAtomicAdd || e.Detected[0].Detector == overflow.L2AtomicAdd)
		if first != nil && (found == nil || atomic && !isAtomic) {
			found, atomic = first, isAtomic
		}
	}
	return found, true
}

// overflowLanguage is the session's language for texts about overflows.
func (s *session) overflowLanguage() overflow.Language {
	if s.lang == msg.Chinese {
		return overflow.Chinese
	}
	return overflow.English
}

func (s *session) overflowEvent(ctx context.Context, e *overflow.Event) (body string, first *overflowed) {
	lang := s.overflowLanguage()
	var b strings.Builder
	for i := range e.Ops {
		op := &e.Ops[i]
		name := op.Name
		if name == "" {
			name = op.Entry.Name.OpName
		}
		fmt.Fprintf(&b, "%s %s\n", s.scr.green(fmt.Sprintf("[%s][%d]", op.Type, op.Entry.Name.Task)), clean(name))
		if op.Others > 0 {
			b.WriteString("  " + s.t("ovf.others", op.Others) + "\n")
		}
	}
	for _, d := range e.Detected {
		status := make([]string, len(d.Status))
		for i, w := range d.Status {
			status[i] = fmt.Sprintf("%d (0x%x)", w, w)
		}
		fmt.Fprintf(&b, " - [%s][Status: %s][TaskId: %d][StreamId: %d]\n", d.Detector, strings.Join(status, ", "), d.Task, d.Stream)
		for _, m := range overflow.Explain(d) {
			b.WriteString("   " + s.scr.red(m.In(lang)) + "\n")
		}
	}
	fmt.Fprintf(&b, " - %s\n", s.t("ovf.time", e.Entry.Name.Time))
	for _, w := range e.Warnings {
		b.WriteString(s.scr.yellow(w.Text) + "\n")
	}
	if e.Err != nil {
		b.WriteString(s.scr.red(e.Err.Error()) + "\n")
	}
	if len(e.Detected) > 0 && len(e.Ops) == 0 {
		b.WriteString(s.scr.yellow(s.t("ovf.noop")) + "\n")
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		s.overflowTensors(&b, op, s.decodeOverflow(ctx, op))
		if op.Err != nil {
			b.WriteString(s.scr.red(op.Err.Error()) + "\n")
			continue
		}
		advice := op.Advice()
		b.WriteString(s.t("ovf.advice", advice.In(lang)) + "\n")
		o := &overflowed{kind: op.Type, name: op.Name, dump: op.Entry.Path, advice: advice}
		if advice == overflow.AdviceUpstream {
			o.producers = s.producers(op)
			if len(o.producers) > 0 {
				b.WriteString(s.t("ovf.producer", clean(strings.Join(o.producers, ", "))) + "\n")
			}
		}
		if first == nil {
			first = o
		}
	}
	s.saveRecords(e)
	return b.String(), first
}

// decodeOverflow decodes the tensors of an operator that overflowed below
// temp/decode/overflow_decode and returns the names of those that are there.
func (s *session) decodeOverflow(ctx context.Context, op *overflow.Op) map[string]bool {
	there := map[string]bool{}
	arrays, _, _ := array.Open(op.Entry.Path) // what is wrong is told with the tensors
	for _, a := range arrays {
		if s.decoded(ctx, a, a.Name, "overflow_decode") != "" {
			there[a.Name+".npy"] = true
		}
		a.Close()
	}
	return there
}

// overflowTensors lists tensors by the names of their arrays; those that are
// not in decoded have none.
func (s *session) overflowTensors(b *strings.Builder, op *overflow.Op, decoded map[string]bool) {
	for i := range op.Tensors {
		t := &op.Tensors[i]
		name := t.File
		if !decoded[name] {
			name = strings.TrimSuffix(name, ".npy")
		}
		fmt.Fprintf(b, " ├─ %s\n", clean(name))
		text := fmt.Sprintf("[Format: %s] [Shape: %s] [Dtype: %s]", t.Format, array.ShapeText(t.Shape), t.Type)
		if t.Stats.Max != "" {
			text += fmt.Sprintf(" [Max: %s] [Min: %s] [Mean: %s]", t.Stats.Max, t.Stats.Min, t.Stats.Mean)
		}
		text = s.scr.yellow(text)
		if t.Err != nil {
			text += " " + s.scr.red(t.Err.Error())
		} else if t.Stats.Extreme {
			text += " " + s.scr.red(s.t("ovf.extreme"))
		}
		fmt.Fprintf(b, "  └─ %s\n", text)
	}
}

// producers are the operators that feed the inputs with extreme values, as far
// as a graph tells.
func (s *session) producers(op *overflow.Op) []string {
	nodes, exact := s.search(op.Name, "")
	if !exact {
		return nil
	}
	var names []string
	seen := map[string]bool{}
	for _, x := range nodes {
		for i := range op.Tensors {
			t := &op.Tensors[i]
			if !t.Input || !t.Stats.Extreme {
				continue
			}
			for _, p := range s.sources(x, t.Index) {
				if !seen[p] {
					seen[p] = true
					names = append(names, p)
				}
			}
		}
	}
	return names
}

// sources are the operators behind the i-th connected input of an operator:
// dumps number those that are connected.
func (s *session) sources(x node, i int) []string {
	for _, in := range x.file.index.Inputs(x.op) {
		if in.Slot < 0 || in.Edge.IsEmpty() {
			continue
		}
		if i--; i >= 0 {
			continue
		}
		var names []string
		for _, p := range x.file.index.Sources(x.op, in.Slot) {
			names = append(names, p.Op.Name)
		}
		return names
	}
	return nil
}

// saveRecords writes the decoded records below temp/decode/overflow_decode.
func (s *session) saveRecords(e *overflow.Event) {
	for i, r := range e.Records {
		if r == nil {
			continue
		}
		name := fmt.Sprintf("%s.output.%d.json", e.Entry.Name.File, i)
		if err := whole.Write(filepath.Join(s.data.decode(), "overflow_decode", name), r.JSON(), 0o600); err != nil {
			s.warn("text.failed", err)
			return
		}
	}
}
