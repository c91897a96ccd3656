package engine

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/graph/fusion"
)

// A header may contradict the graph: of another build's dumps each does, of a recording in
// which something was exchanged or overwritten one or two.

const (
	// heldAgainst is how many operators are held against the graph to tell a damaged header
	// from another build: their headers are read once more, 4 KiB each.
	heldAgainst = 64
	// fewHeaders is with how many of them nothing is told about the build.
	fewHeaders = 4
)

// contradiction is what is wrong with the header of an output by the graph, nil if nothing is.
// Where most outputs differ it is the graph that is another one: then the headers hold, and the
// row says so.
func (e *engine) contradiction(row *result.Row, op *fusion.Op, f *dumpFile, t *dump.Tensor) error {
	if e.opt.dialect().terse || e.opt.Left.Simulated() || op == nil || f.Slices != nil || f.merged {
		return nil
	}
	err := contradicts(op, f.Path, t)
	if err == nil {
		return nil
	}
	if !e.asBuilt() {
		row.Add(result.Because(result.GraphUnlike, err.Error()))
		return nil
	}
	return err
}

func contradicts(op *fusion.Op, path string, t *dump.Tensor) error {
	if t.Input || t.Err != nil || t.Index >= len(op.Op.OutputDesc) {
		return nil
	}
	desc := op.Op.OutputDesc[t.Index]
	typ, _ := dtype.FromWire(desc.DType)
	return t.Contradicts(path, typ, desc.Layout, desc.Shape)
}

// mostHold holds dumps of some operators against what is known of them: held says of a dump in how many places it could be,
// and in how many of these it is wrong.
func (e *engine) mostHold(of func(op *fusion.Op) bool, held func(op *fusion.Op, f *dumpFile) (places, wrong int)) bool {
	looked, wrong := 0, 0
	for _, op := range e.opt.Rules.Ops {
		files := e.leftFiles(op.Name)
		if files == nil || files.Slicing != dump.Whole || !of(op) {
			continue
		}
		f, err := e.openDump(files)
		if err != nil {
			continue
		}
		n, bad := held(op, f)
		f.Close()
		wrong += bad
		if looked += n; looked >= heldAgainst {
			break
		}
	}
	return looked < fewHeaders || 2*wrong <= looked
}

// headersHold looks at the outputs of some operators, each of which is right or wrong.
func (e *engine) headersHold() bool {
	return e.mostHold(func(*fusion.Op) bool { return true }, func(op *fusion.Op, f *dumpFile) (places, wrong int) {
		if slices.ContainsFunc(f.tensors(false, true), func(t *dump.Tensor) bool { return contradicts(op, f.Path, t) != nil }) {
			wrong = 1
		}
		return 1, wrong
	})
}

// damaged are rows about an operator that is not compared, and whose dump cannot be believed
// either: without them nobody would know. Else there are none.
func (e *engine) damaged(base result.Row, op *fusion.Op, files *dump.Op) (rows []result.Row) {
	if files == nil || e.opt.dialect().terse || e.opt.Glance != nil {
		return nil
	}
	f, err := e.openDump(files)
	if err != nil {
		return e.perOutput(base, op, unreadable(result.BadDump, files.Newest().Path, err, err.Error()))
	}
	defer f.Close()
	return e.damagedIn(base, op, f, true, true)
}

// damagedIn are rows about inputs or outputs of an open dump that are not compared.
func (e *engine) damagedIn(base result.Row, op *fusion.Op, f *dumpFile, inputs, outputs bool) (rows []result.Row) {
	for _, t := range f.tensors(inputs, outputs) {
		row, err := base, t.Err
		if err == nil {
			err = e.contradiction(&row, op, f, t)
		}
		if err == nil {
			err = e.unlikeProducer(op, f, t)
		}
		if err == nil || dump.Code(err) == dump.CodeType { // of a type that nobody reads
			continue
		}
		row.Role, row.Slot = role(t.Input), t.Index
		row.Unreadable(result.Because(result.BadTensor, row.Op, err.Error()), f.Path, err)
		rows = append(rows, row)
	}
	return rows
}

// unlikeProducer is what is wrong with the values of an input that has no golden tensor: they are not those that the
// operator that made them recorded as its output, byte for byte where both are stored alike; nil where nothing is, or
// nothing tells. Where most such inputs differ, the recorder kept them otherwise, and none is wrong.
func (e *engine) unlikeProducer(op *fusion.Op, f *dumpFile, t *dump.Tensor) error {
	if _, err := e.heldAgainstProducer(op, f, t); err != nil && e.handedOn() {
		return err
	}
	return nil
}

// heldAgainstProducer is held if an input could be held against the output that it is.
func (e *engine) heldAgainstProducer(op *fusion.Op, f *dumpFile, t *dump.Tensor) (held bool, err error) {
	if op == nil || !t.Input || t.Err != nil || t.Index >= len(op.Inputs) || f.Slices != nil || f.merged {
		return false, nil
	}
	from := e.producer(op, t.Index)
	files := e.leftFiles(from.Op)
	if files == nil || files.Slicing != dump.Whole {
		return false, nil
	}
	by, err := e.openDump(files)
	if err != nil {
		return false, nil // which is told where the producer is compared
	}
	defer by.Close()
	if from.Index >= len(by.Outputs) {
		return false, nil
	}
	o := &by.Outputs[from.Index]
	if o.Err != nil || o.Type != t.Type || o.Format != t.Format || o.Size != t.Size || !slices.Equal(o.Shape, t.Shape) {
		return false, nil
	}
	input, output := io.NewSectionReader(f, t.Offset, int64(t.Size)), io.NewSectionReader(by, o.Offset, int64(o.Size))
	at, err := firstUnlike(input, output)
	if err != nil || at < 0 {
		return err == nil, nil
	}
	return true, &dump.Error{Path: f.Path, Code: dump.CodeInvalid, Offset: t.Offset + at, Text: fmt.Sprintf(
		"input %d: found other bytes than those of output %d of %s, which it is, from here on", t.Index, from.Index, from.Op)}
}

// firstUnlike is where two readers of the same length differ first, -1 if they do not.
func firstUnlike(a, b io.Reader) (int64, error) {
	var x, y [32 << 10]byte
	for at := int64(0); ; {
		n, err := io.ReadFull(a, x[:])
		m, errOther := io.ReadFull(b, y[:])
		for i := range min(n, m) {
			if x[i] != y[i] {
				return at + int64(i), nil
			}
		}
		at += int64(n)
		if n < len(x) || m < len(y) {
			if ended := errors.Join(err, errOther); n != m || !errors.Is(ended, io.EOF) && !errors.Is(ended, io.ErrUnexpectedEOF) {
				return -1, ended
			}
			return -1, nil
		}
	}
}

// inputsHold looks at some inputs that have no golden tensors.
func (e *engine) inputsHold() bool {
	return e.mostHold(func(op *fusion.Op) bool { return dequantiser(op) || op.Inner() }, func(op *fusion.Op, f *dumpFile) (places, wrong int) {
		for _, t := range f.tensors(true, false) {
			held, err := e.heldAgainstProducer(op, f, t)
			if held {
				places++
			}
			if err != nil {
				wrong++
			}
		}
		return places, wrong
	})
}

// perOutput makes of a row about an operator whose dump cannot be believed one for each
// output that the graph gives it, so that none of them vanishes.
func (e *engine) perOutput(base result.Row, op *fusion.Op, why *PairError) []result.Row {
	n := 0
	if op != nil && why.Reason.Kind.Class() == result.Unreadable && !e.opt.dialect().terse {
		n = len(op.Op.OutputDesc)
	}
	rows := make([]result.Row, max(n, 1))
	for i := range rows {
		rows[i] = base
		if n > 0 {
			rows[i].Role, rows[i].Slot = result.Output, i
		}
		refuse(&rows[i], why)
	}
	return rows
}

// producer is the output that made what arrives at an input, over the borders of
// called graphs; the zero Port where the graph does not tell. Of several branches
// it is the one that ran, as far as recordings tell.
func (e *engine) producer(op *fusion.Op, slot int) result.Port {
	sources, err := e.opt.Rules.Sources(op, slot)
	if err != nil || len(sources) == 0 {
		return result.Port{}
	}
	from := sources[0]
	for _, s := range sources[1:] {
		if e.leftFiles(from.Op.Name) != nil {
			break
		}
		if e.leftFiles(s.Op.Name) != nil {
			from = s
		}
	}
	return result.Port{Op: from.Op.Name, Index: from.Output}
}
