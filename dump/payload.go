package dump

import (
	"fmt"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// generalLast tells whether the payload has the order of an exception dump:
// general tensors are listed among the inputs, but their bytes come last.
func (f *File) generalLast() bool {
	if len(f.Outputs) == 0 && len(f.Spaces) == 0 {
		return false
	}
	for i := range f.Inputs {
		if f.Inputs[i].InputType == InputGeneral {
			f.warnf(0, "the dump has general tensors, their bytes are taken from the end of the payload")
			return true
		}
	}
	return false
}

// place gives every part its offset, in the order in which the payload has
// them: inputs, outputs, buffers, spaces, and general inputs last if so asked.
// A part that the file does not have in full gets an error. It returns where
// the payload ends.
func (f *File) place(start int64, generalLast bool) (end int64) {
	at := start
	put := func(what func() string, size uint64, offset *int64, err *error) {
		*offset = at
		if left := uint64(f.Size - at); size > left {
			*err = errorf(f.Path, CodeInvalid, at, "%s: found %d bytes, expected %d", what(), left, size)
			at = f.Size // nothing after it can be where it ought to be
			return
		}
		at += int64(size)
	}
	tensor := func(t *Tensor) { put(t.label, t.Size, &t.Offset, &t.Err) }
	general := func(t *Tensor) bool { return generalLast && t.InputType == InputGeneral }
	for i := range f.Inputs {
		if t := &f.Inputs[i]; !general(t) {
			tensor(t)
		}
	}
	for i := range f.Outputs {
		tensor(&f.Outputs[i])
	}
	for i := range f.Buffers {
		b := &f.Buffers[i]
		put(func() string { return fmt.Sprintf("buffer %d", i) }, b.Size, &b.Offset, &b.Err)
	}
	for i := range f.Spaces {
		b := &f.Spaces[i]
		put(func() string { return fmt.Sprintf("space %d", i) }, b.Size, &b.Offset, &b.Err)
	}
	for i := range f.Inputs {
		if t := &f.Inputs[i]; general(t) {
			tensor(t)
		}
	}
	return at
}

// settle decides the shape of every tensor and whether its elements are there.
func (f *File) settle() {
	for i := range f.Inputs {
		f.Inputs[i].settle(f.Path)
	}
	for i := range f.Outputs {
		f.Outputs[i].settle(f.Path)
	}
}

func (t *Tensor) settle(path string) {
	if len(t.Shape) == 0 && t.Size == 0 || t.Type == dtype.Undefined && t.Size > 0 {
		t.Shape = []int64{t.Stored()}
	}
	if t.Err != nil {
		return
	}
	n, ok := nd.Count(t.Shape...)
	switch need := t.Type.Bytes(n); {
	case !t.Type.Readable():
		t.Err = errorf(path, CodeType, t.Offset, "%s: elements of type %s cannot be read", t.label(), t.Type.Wire())
	case !ok || need < 0:
		t.Err = errorf(path, CodeShape, t.Offset, "%s: shape %v of %s is larger than any file", t.label(), t.Shape, t.Type)
	case uint64(need) > t.Size:
		t.Err = errorf(path, CodeShape, t.Offset, "%s: found %d bytes, expected %d for shape %v of %s",
			t.label(), t.Size, need, t.Shape, t.Type)
	}
}
