package repl

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"precision/console"
	"precision/dump"
	"precision/dump/overflow"
	"precision/internal/each"
	"precision/internal/nd"
	"precision/internal/plainfile"
	"precision/internal/whole"
	"precision/repl/array"
	"precision/repl/workspace"
)

// overflowed is the operator of an overflow to look at.
type overflowed struct {
	kind, name string
	dump       string // path of its dump
	advice     overflow.Message
	producers  []string // operators that feed it extreme values
	atomic     bool     // an atomic addition noticed it, not a core
	record, of int      // which of the records it is, from 1, if that was not shown
}

// overflows shows the first records of overflows in time order. found is the
// operator to look at: of the first record with a dump, those of an AI Core
// before those of atomic additions, whether they are shown or not. why is the
// message of the verdict if there are records but nothing was found. code is an
// error if not all of what is to be shown could be read.
func (s *session) overflows(ctx context.Context, limit int) (found *overflowed, why string, code int) {
	run, runs := workspace.NewestRun(s.data.OverflowDir())
	if !plainfile.IsFolder(run) {
		s.Say("ovf.nodata", run)
		return nil, "", exitOK
	}
	if runs > 1 {
		s.Info("run.chosen", "overflow", runs, run)
	}
	tree, err := overflow.Find(run)
	if err != nil {
		return nil, "", s.Fail("error", err)
	}
	tree.UseConverted()
	for _, w := range tree.Warnings {
		s.Warn("error", w)
	}
	if len(tree.Records) == 0 {
		s.Say("ovf.none", run)
		return nil, "", exitOK
	}
	s.Say("ovf.count", len(tree.Records), min(limit, len(tree.Records)))
	why = "verdict.norecord"
	analyser, place := overflow.NewAnalyser(tree, overflow.Options{}), newDecodePlace(tree)
	for i := range tree.Records {
		shown := i < limit
		if ctx.Err() != nil || !shown && found != nil && !found.atomic {
			break
		}
		// Tensors can be large: of what is not shown read no more than it takes.
		if !shown && found != nil && !noticedByCore(tree.Records[i]) {
			continue
		}
		e := analyser.Event(i)
		if len(e.Detected) > 0 {
			why = "verdict.noop"
		}
		if shown {
			s.Print(s.Screen.Panel(s.T("ovf.title", i+1, len(tree.Records)), s.overflowEvent(ctx, place, &e)))
			if overflow.Code([]overflow.Event{e}) != 0 {
				code = exitError
			}
		}
		if o := s.choose(&e); o != nil && (found == nil || found.atomic && !o.atomic) {
			found = o
			if !shown {
				found.record, found.of = i+1, len(tree.Records)
			}
		}
	}
	return found, why, code
}

// isAtomic tells the detectors of atomic additions from those of cores.
func isAtomic(d overflow.Detector) bool {
	return d == overflow.DHAAtomicAdd || d == overflow.L2AtomicAdd
}

// noticedByCore reports whether something else than an atomic addition noticed
// what a record is about.
func noticedByCore(e dump.Entry) bool {
	records, _ := overflow.Read(e)
	return slices.ContainsFunc(records, func(r *overflow.Record) bool {
		return r != nil && slices.ContainsFunc(r.Detected(), func(b *overflow.Block) bool { return !isAtomic(b.Detector) })
	})
}

// choose takes the operator to look at from a record: one whose dump could be
// read before another, and one of an AI Core before those of atomic additions.
func (s *session) choose(e *overflow.Event) (found *overflowed) {
	rank := func(o *overflowed) (n int) {
		if o.atomic {
			n++
		}
		if o.advice == overflow.AdviceNoTensors {
			n += 2
		}
		return n
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		o := &overflowed{kind: op.Type, name: op.Name, dump: op.Entry.Path, advice: op.Advice(), atomic: isAtomic(op.Block.Detector)}
		if o.advice == overflow.AdviceUpstream {
			o.producers = s.producers(op)
		}
		if found == nil || rank(o) < rank(found) {
			found = o
		}
	}
	return found
}

func (s *session) overflowEvent(ctx context.Context, place decodePlace, e *overflow.Event) string {
	lang := s.Lang
	var b strings.Builder
	head := func(op *overflow.Op) {
		fmt.Fprintf(&b, "%s %s\n", s.Screen.Green(fmt.Sprintf("[%s][%d]", console.Clean(op.Type), op.Entry.Name.Task)), console.Clean(op.Name))
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		head(op)
		if op.Others > 0 {
			b.WriteString("  " + s.T("ovf.others", op.Others) + "\n")
		}
	}
	for _, d := range e.Detected {
		status := each.Of(d.Status, func(w uint64) string { return fmt.Sprintf("%d (0x%x)", w, w) })
		fmt.Fprintf(&b, " - [%s][Status: %s][TaskId: %d][StreamId: %d]\n", d.Detector, strings.Join(status, ", "), d.Task, d.Stream)
		for _, m := range overflow.Explain(d) {
			b.WriteString("   " + s.Screen.Red(m.In(lang)) + "\n")
		}
	}
	fmt.Fprintf(&b, " - %s\n", s.T("ovf.time", e.Entry.Name.Time))
	for _, w := range e.Warnings {
		b.WriteString(s.Screen.Yellow(w.Text) + "\n")
	}
	if e.Err != nil {
		b.WriteString(s.Screen.Red(e.Err.Error()) + "\n")
	}
	for _, d := range e.Missing {
		b.WriteString(s.Screen.Yellow(s.T("ovf.noop", d.Task, d.Stream)) + "\n")
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		if len(e.Ops) > 1 {
			head(op)
		}
		s.overflowTensors(&b, op, s.decodeOverflow(ctx, place, op))
		if op.Err != nil {
			b.WriteString(s.Screen.Red(op.Err.Error()) + "\n")
			continue
		}
		advice := op.Advice()
		b.WriteString(s.T("ovf.advice", advice.In(lang)) + "\n")
		if advice == overflow.AdviceUpstream {
			if names := s.producers(op); len(names) > 0 {
				b.WriteString(s.T("ovf.producer", console.Clean(strings.Join(names, s.T("report.and")))) + "\n")
			}
		}
	}
	s.saveRecords(place, e)
	return b.String()
}

// decodePlace is where records and tensors of a run are decoded, below
// temp/decode: overflow_decode or, if files in several folders of the run have the
// same name, a folder in it for each of them.
type decodePlace struct {
	run   string
	split bool
}

func newDecodePlace(tree *overflow.Tree) decodePlace {
	place, at := decodePlace{run: tree.Dir}, map[string]string{}
	for _, list := range [][]dump.Entry{tree.Records, tree.Dumps} {
		for _, e := range list {
			name, dir := filepath.Base(e.Path), filepath.Dir(e.Path)
			if other, ok := at[name]; ok && other != dir {
				place.split = true
			}
			at[name] = dir
		}
	}
	return place
}

func (p decodePlace) folder(path string) []string {
	if rel, err := filepath.Rel(p.run, filepath.Dir(path)); err == nil && p.split {
		return []string{"overflow_decode", rel}
	}
	return []string{"overflow_decode"}
}

// decodeOverflow decodes the tensors of an operator that overflowed below
// temp/decode/overflow_decode and returns the names of those that are there.
func (s *session) decodeOverflow(ctx context.Context, place decodePlace, op *overflow.Op) map[string]bool {
	there := map[string]bool{}
	arrays, _, _ := array.Open(op.Entry.Path) // what is wrong is told with the tensors
	for _, a := range arrays {
		if s.decoded(ctx, a, a.Name, place.folder(op.Entry.Path)...) != "" {
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
		fmt.Fprintf(b, " ├─ %s\n", console.Clean(name))
		text := fmt.Sprintf("[Format: %s] [Shape: %s] [Dtype: %s]", t.Format, nd.Tuple(t.Shape), t.Type)
		if t.Stats.Max != "" {
			text += fmt.Sprintf(" [Max: %s] [Min: %s] [Mean: %s]", t.Stats.Max, t.Stats.Min, t.Stats.Mean)
		}
		text = s.Screen.Yellow(text)
		if t.Err != nil {
			text += " " + s.Screen.Red(t.Err.Error())
		} else if t.Stats.Extreme {
			text += " " + s.Screen.Red(s.T("ovf.extreme"))
		}
		fmt.Fprintf(b, "  └─ %s\n", text)
	}
}

// producers are the operators that feed the inputs with extreme values, as far
// as a graph tells.
func (s *session) producers(op *overflow.Op) (names []string) {
	nodes, exact := s.search(op.Name, "")
	if !exact {
		return nil
	}
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
	for _, in := range x.file.Index.Inputs(x.op) {
		if in.Slot < 0 || in.Edge.IsEmpty() {
			continue
		}
		if i--; i >= 0 {
			continue
		}
		var names []string
		for _, p := range x.file.Index.Sources(x.op, in.Slot) {
			names = append(names, p.Op.Name)
		}
		return names
	}
	return nil
}

// saveRecords writes the decoded records below temp/decode/overflow_decode.
func (s *session) saveRecords(place decodePlace, e *overflow.Event) {
	for i, r := range e.Records {
		if r == nil {
			continue
		}
		name := fmt.Sprintf("%s.output.%d.json", e.Entry.Name.File, i)
		path := filepath.Join(append(append([]string{s.data.DecodeDir()}, place.folder(e.Entry.Path)...), name)...)
		if err := whole.WriteOwn(path, r.JSON(), 0o600); err != nil {
			s.Warn("text.failed", err)
			return
		}
	}
}
