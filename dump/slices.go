package dump

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"precision/internal/nd"
)

// Slices tells how FFTS+ cut an operator into slices that ran one by one, each
// of which is a file of its own. It is an attribute of the header, as JSON.
type Slices struct {
	// Auto means that the tensors of a file are the part of one thread, whose
	// shapes are in Input and Output; else they are as the header says.
	Auto bool
	// Count is the number of slices, and so of files.
	Count int
	// OutputCut tells of every axis of every output into how many parts it was
	// cut; 1 is not at all.
	OutputCut [][]int64
	// Input and Output hold the part that each thread has of each axis of each
	// tensor: [thread][tensor][axis].
	Input, Output [][][]Range
}

// Range is the part [Lower, Higher) of an axis.
type Range struct {
	Lower  int64 `json:"lower"`
	Higher int64 `json:"higher"`
}

// threadMode is 0, 1, false or true.
type threadMode bool

func (m *threadMode) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "0", "false":
		*m = false
	case "1", "true":
		*m = true
	default:
		return fmt.Errorf("threadMode is %.20s, expected 0, 1, false or true", b)
	}
	return nil
}

func parseSlices(text string) (*Slices, error) {
	var v struct {
		Mode      *threadMode `json:"threadMode"`
		Count     int         `json:"slice_instance_num"`
		OutputCut [][]int64   `json:"outputCutList"`
		Input     [][][]Range `json:"input_tensor_slice"`
		Output    [][][]Range `json:"output_tensor_slice"`
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	if v.Mode == nil {
		return nil, errors.New("no key threadMode")
	}
	return &Slices{bool(*v.Mode), v.Count, v.OutputCut, v.Input, v.Output}, nil
}

// readSlices looks for the slices among the attributes and, if they are made
// by thread, gives the tensors the shapes of this file's thread. Attributes
// that do not fit are passed over: then the shapes of the header hold.
func (f *File) readSlices() {
	for i, a := range f.Attrs {
		s, err := parseSlices(a.Value)
		if err != nil {
			f.warnf(1, "attribute %d (%.40q) tells nothing about slices: %v", i, a.Name, err)
			continue
		}
		f.Slices = s
		break
	}
	if f.Slices == nil || !f.Slices.Auto {
		return
	}
	f.shapeByThread(f.Inputs, f.Slices.Input)
	f.shapeByThread(f.Outputs, f.Slices.Output)
}

func (f *File) shapeByThread(tensors []Tensor, table [][][]Range) {
	if len(table) == 0 || len(tensors) == 0 {
		return
	}
	thread := f.Name.Thread
	if thread < 0 || thread >= int64(len(table)) {
		f.warnf(CodePath, "the file name gives thread %d of %d, the shapes of the header are used", thread, len(table))
		return
	}
	row := table[thread]
	if len(row) != len(tensors) {
		f.warnf(CodeSlices, "thread %d has %d slices for %d tensors, the shapes of the header are used", thread, len(row), len(tensors))
		return
	}
	for i := range tensors {
		t := &tensors[i]
		if len(row[i]) == 0 {
			continue
		}
		shape, ok := extents(row[i])
		n, fits := nd.Count(shape...)
		if need := t.Type.Bytes(n); !ok || !fits || need < 0 || uint64(need) > t.Size {
			f.warnf(CodeSlices, "%s: slice %v does not fit its %d bytes, the shape of the header is used", t.label(), row[i], t.Size)
			continue
		}
		t.Shape = shape
	}
}

func extents(axes []Range) ([]int64, bool) {
	shape := make([]int64, len(axes))
	for i, r := range axes {
		if r.Lower < 0 || r.Higher < r.Lower || r.Higher > math.MaxInt32 {
			return nil, false
		}
		shape[i] = r.Higher - r.Lower
	}
	return shape, true
}
