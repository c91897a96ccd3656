package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/graph/fusion"
	"precision/internal/must"
	"precision/internal/nd"
	catalogue "precision/op"
)

// openLeft opens the newest dump of an operator of the graph.
func (e *engine) openLeft(op string) (*dumpFile, error) {
	files := e.leftFiles(op)
	if files == nil {
		return nil, &MissingError{op}
	}
	return e.openDump(files)
}

// leftFiles are the recordings of an operator. Of a quantised framework model
// the first output is all there is.
func (e *engine) leftFiles(op string) *dump.Op {
	return e.opt.Left.Holding(op, 0)
}

// leftTime is when the newest dump of an operator was written.
func (e *engine) leftTime(op string) (uint64, bool) {
	files := e.leftFiles(op)
	if files == nil {
		return 0, false
	}
	return newestTime(files), true
}

// missingLeft is why an operator has no dump. The old tool says the same of a file
// it cannot read; here the cause is added.
func (e *engine) missingLeft(op, opType string, err error) *PairError {
	if _, missing := err.(*MissingError); missing {
		return &PairError{Reason: result.Because(result.NoLeftDump, op, opType), Cause: err}
	}
	kind := result.BadLeftDump
	if tiny(err) {
		kind = result.TinyLeftDump
	}
	return unreadable(kind, e.leftFiles(op).Newest().Path, err, op, opType, err.Error())
}

// tiny tells whether err is about a file that is too short for a header. The
// old tool takes it for a dump without tensors.
func tiny(err error) bool {
	var e *dump.Error
	if !errors.As(err, &e) || e.Code != dump.CodeSize {
		return false
	}
	info, err := os.Stat(e.Path)
	return err == nil && info.Size() <= 8
}

// allBad is the error of the first tensor when the old tool can use none of the
// dump: it then has no dump at all, where ours has a row for each tensor. There
// are fewer types that it reads.
func (f *dumpFile) allBad() (first error) {
	for _, t := range f.tensors(true, true) {
		err := t.Err
		if _, known := t.Type.Reference(); err == nil && !known {
			err = &dump.Error{Path: f.Path, Code: dump.CodeType, Offset: -1, Text: fmt.Sprintf("element type %s (%d) cannot be read", t.Type, t.Type)}
		}
		if err == nil || dump.Code(err) == dump.CodeShape {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// cut is the error of the first tensor whose bytes are not all there. The old tool has no dump then, and its exit
// code says so; here the other tensors have their rows.
func (f *dumpFile) cut() error {
	for _, t := range f.tensors(true, true) {
		if dump.Code(t.Err) == dump.CodeInvalid {
			return t.Err
		}
	}
	return nil
}

// tensors lists the inputs, the outputs or both.
func (f *dumpFile) tensors(inputs, outputs bool) (list []*dump.Tensor) {
	if inputs {
		for i := range f.Inputs {
			list = append(list, &f.Inputs[i])
		}
	}
	if outputs {
		for i := range f.Outputs {
			list = append(list, &f.Outputs[i])
		}
	}
	return list
}

// rightTensor is the right side of a pair.
type rightTensor struct {
	file   *dumpFile
	tensor *dump.Tensor
	// array: the file is a framework array and not a device dump.
	array bool
	view  layout.View
	skip  int64 // elements before the first of the view
}

func (g *rightTensor) Close()          { g.file.Close() }
func (g *rightTensor) path() string    { return g.file.Path }
func (g *rightTensor) typ() dtype.Type { return g.tensor.Type }
func (g *rightTensor) shape() []int64  { return shapeOf(g.tensor) }
func (g *rightTensor) operand() (*operand, error) {
	return viewOperand(g.file, g.tensor.Offset+g.tensor.Type.Bytes(g.skip), g.tensor.Type, g.tensor.BigEndian, g.view)
}

// openRight opens the golden tensor the graph names.
func (e *engine) openRight(row *result.Row, ref fusion.GoldenRef) *rightTensor {
	if !e.opt.Right.Device() {
		return e.rightArray(row, ref.Op, int(ref.Index))
	}
	file := e.openGolden(row, e.opt.Right.Op(ref.Op))
	if ref.Index < 0 || ref.Index >= int64(len(file.Outputs)) {
		file.Close()
		must.Do(planFailed(result.FewOutputs, row.Op, file.Path, count(len(file.Outputs)), count(ref.Index)))
	}
	return e.asGolden(row, file, &file.Outputs[ref.Index])
}

// rightArray opens the newest array of output index of a framework operator.
func (e *engine) rightArray(row *result.Row, op string, index int) *rightTensor {
	file := e.openGolden(row, e.opt.Right.Output(op, index))
	if len(file.Outputs) == 0 {
		file.Close()
		must.Do(unreadable(result.NoTensor, file.Path, nil, row.Op, file.Path))
	}
	g := e.asGolden(row, file, &file.Outputs[0])
	g.array = e.opt.Right.Numpy
	return g
}

// openGolden opens the dump of the right side for a row.
func (e *engine) openGolden(row *result.Row, files *dump.Op) *dumpFile {
	if files == nil {
		must.Do(noRight(row.Op, row.Tensor()))
	}
	file, err := e.openDump(files)
	if err != nil {
		must.Do(unreadable(result.BadTensor, files.Newest().Path, err, row.Op, err.Error()))
	}
	return file
}

// asGolden checks a tensor and takes it as the right side. It closes the file
// when that fails.
func (e *engine) asGolden(row *result.Row, file *dumpFile, t *dump.Tensor) *rightTensor {
	g := &rightTensor{file: file, tensor: t}
	err := t.Err
	if err == nil {
		g.view, err = t.View()
	}
	if err != nil {
		file.Close()
		must.Do(unreadable(result.BadTensor, file.Path, err, row.Op, err.Error()))
	}
	row.Right.File = file.Path
	return g
}

// quantiser tells whether the outputs of an operator have no counterpart,
// dequantiser whether its inputs have none: they are in another scale.
func quantiser(op *fusion.Op) bool { return op.Type == "AscendQuant" }

func dequantiser(op *fusion.Op) bool {
	if op.Type == "AscendDequant" {
		return true
	}
	return slices.ContainsFunc([]string{"_dequant_layer", "AscendDequant", "_dequant"}, func(end string) bool { return strings.HasSuffix(op.Name, end) })
}

// absolute is the full path of a file, or the path as it is when the current
// folder is not known.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

func noRight(op, tensor string) *PairError {
	return planFailed(result.NoRightTensor, op, tensor)
}

// role is the role of a tensor of a dump.
func role(input bool) result.Role {
	if input {
		return result.Input
	}
	return result.Output
}

// shapeOf is the shape a dump stores for a tensor; a scalar has an empty one.
func shapeOf(t *dump.Tensor) []int64 {
	if t.Shape == nil {
		return []int64{}
	}
	return t.Shape
}

// storedOf describes a tensor for the planners.
func storedOf(t *dump.Tensor) stored {
	s := stored{format: t.Format, group: int(t.SubFormat), shape: shapeOf(t), origin: t.OriginShape}
	s.elements = t.Type.Count(int64(t.Size))
	if n, ok := nd.Count(s.shape...); ok {
		s.elements = min(s.elements, n)
	}
	return s
}

// openDump opens the newest dump of an operator, or all its slices as one.
func (e *engine) openDump(op *dump.Op) (*dumpFile, error) {
	if op.Slicing == dump.Whole || len(op.Files) == 1 {
		r, err := op.Newest().Open()
		if err == nil && !e.opt.dialect().terse {
			err = r.Misnamed()
		}
		if err != nil {
			if r != nil {
				r.Close()
			}
			return nil, err
		}
		f := &dumpFile{Reader: r, op: op.Key}
		if r.Slices != nil && len(op.Files) == 1 && r.OpName != "" {
			f.op = r.OpName
		}
		return f, nil
	}
	return mergeSlices(op)
}

// reference asks the graph which golden tensor belongs to t.
func (e *engine) reference(op *fusion.Op, t *dump.Tensor) (fusion.GoldenRef, *PairError) {
	find := e.opt.Rules.GoldenOutput
	if t.Input {
		find = e.opt.Rules.GoldenInput
	}
	ref, err := find(op, t.Index)
	if err == nil {
		return ref, nil
	}
	tensor := result.TensorName(op.Name, role(t.Input), t.Index)
	var lookup *fusion.GoldenError
	if !errors.As(err, &lookup) {
		return ref, planFailed(result.GraphSilent, op.Name, err.Error())
	}
	switch lookup.Failure {
	case fusion.GoldenNoInput:
		return ref, planFailed(result.GraphInput, op.Name, err.Error())
	case fusion.GoldenBadEntry:
		return ref, planFailed(result.GraphEntry, err.Error())
	case fusion.GoldenNoProducer:
		return ref, planFailed(result.GraphProducer, lookup.Part)
	case fusion.GoldenNoOrigin:
		// The graph names the framework's tensor of what a kernel computes; a weight has
		// its own name on both sides.
		if catalogue.Is(lookup.Type, catalogue.Constant) && !e.opt.dialect().terse {
			return fusion.GoldenRef{Op: lookup.Op, Index: int64(lookup.Index)}, nil
		}
	}
	return ref, noRight(op.Name, tensor)
}
