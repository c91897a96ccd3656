package dump

import (
	"fmt"
	"io/fs"

	"precision/dump/layout"
	"precision/dump/tfdbg"
	"precision/internal/plainfile"
)

// debugger lists what the debugger of TensorFlow 2 recorded: outputs of operators as arrays are, but many in a file.
func (f *Folder) debugger(files []fs.DirEntry) (*Folder, error) {
	var names []string
	for _, e := range files {
		if tfdbg.Is(e.Name()) {
			names = append(names, e.Name())
		} else {
			f.warnf(e.Name(), 0, "passed over: no events of TensorFlow's debugger, among such")
		}
	}
	r, err := tfdbg.Read(f.Dir, names)
	if err != nil {
		return nil, &Error{Path: f.Dir, Code: CodePath, Offset: -1, Err: pathCause(err)}
	}
	for _, d := range r.Damaged {
		f.warnf(d.File, CodeInvalid, "offset %d: %s; what stands before it is read", d.Offset, d.What)
	}
	if h := r.Without; h != nil && len(r.Traces) == 0 {
		return nil, withoutValues(f.Dir, r, h)
	}
	if len(r.Traces) == 0 {
		return nil, errorf(f.Dir, CodeFolder, -1, "the events of TensorFlow's debugger hold no tensors of operators in functions (%d operators ran outside of these, and have no names)", r.Eager)
	}
	if r.Eager > 0 {
		f.warnf(f.Dir, 0, "%d operators and functions ran eagerly: these have no names in a graph, passed over", r.Eager)
	}
	f.Kind, f.Numpy = Array, true
	for i := range r.Traces {
		t := &r.Traces[i]
		n := Name{File: fmt.Sprintf("%s.%d.%d.npy", Normalise(t.Op), t.Slot, t.Time), Kind: Array, OpName: t.Op, Index: t.Slot, Time: t.Time, HasTime: true}
		f.add(candidate{Entry: Entry{Path: t.File, Name: n, trace: t}, kind: Array, key: outputKey(t.Op, t.Slot)})
	}
	f.sort()
	f.SetQuantised(false)
	made := map[string]string{}
	for op := range r.Operators() {
		made[Normalise(op)] = op
	}
	for i := range r.Traces {
		made[Normalise(r.Traces[i].Op)] = r.Traces[i].Op
	}
	f.lines = func(op string) []string { return r.Lines(made[Normalise(op)]) }
	f.made = func(op string) (string, []Port) {
		typ, inputs := r.Made(made[Normalise(op)])
		ports := make([]Port, len(inputs))
		for i, in := range inputs {
			ports[i] = Port{Normalise(in.Op), int(in.Slot)}
		}
		return typ, ports
	}
	return f, nil
}

// withoutValues is the error for a mode that keeps no values, with what it counted.
func withoutValues(dir string, r *tfdbg.Recording, h *tfdbg.Health) error {
	switch {
	case h.Bad == 0:
		return errorf(dir, CodeFolder, -1, "TensorFlow's debugger recorded in the mode %s, which keeps no values (FULL_TENSOR does): %d outputs of %d operators, none with NaN or infinities", h.Mode, h.Tensors, h.Ops)
	case h.NaN < 0:
		return errorf(dir, CodeFolder, -1, "TensorFlow's debugger recorded in the mode %s, which keeps no values (FULL_TENSOR does): %d outputs of %d operators, %d with NaN or infinities, first %s%s",
			h.Mode, h.Tensors, h.Ops, h.Bad, h.First, at(r, h.First))
	}
	return errorf(dir, CodeFolder, -1, "TensorFlow's debugger recorded in the mode %s, which keeps no values (FULL_TENSOR does): %d outputs of %d operators, %d with NaN or infinities, first %s with %d NaN and %d infinities%s",
		h.Mode, h.Tensors, h.Ops, h.Bad, h.First, h.NaN, h.Inf, at(r, h.First))
}

// at is the line that made an output, in brackets.
func at(r *tfdbg.Recording, output string) string {
	op := output
	for i := len(op) - 1; i >= 0; i-- {
		if op[i] == ':' {
			op = op[:i]
			break
		}
	}
	if lines := r.Lines(op); len(lines) > 0 {
		return " (" + lines[0] + ")"
	}
	return ""
}

// openTrace opens the file of an output at its elements.
func openTrace(e *Entry) (*Reader, error) {
	r, size, err := plainfile.Open(e.Path, "events of TensorFlow's debugger")
	if err != nil {
		return nil, &Error{Path: e.Path, Code: CodePath, Offset: -1, Err: pathCause(err)}
	}
	t := e.trace
	tensor := Tensor{Type: t.Type, Format: layout.Reserved, Shape: t.Shape, Size: uint64(t.Size), Offset: t.Offset}
	if n := tensor.Bytes(); n != t.Size || t.Offset+t.Size > size {
		r.Close()
		return nil, errorf(e.Path, CodeShape, t.Offset, "%s:%d has %d bytes, its shape asks for %d", t.Op, t.Slot, t.Size, n)
	}
	return &Reader{File: &File{Path: e.Path, Name: e.Name, Form: Numpy, Size: size, Version: "2.0", Time: t.Time, OpName: t.Op, Outputs: []Tensor{tensor}}, ReaderAt: r, close: r.Close}, nil
}

// Lines are the lines of the program that made an operator, the innermost first, if the recording tells them.
func (f *Folder) Lines(op string) []string {
	if f.lines == nil {
		return nil
	}
	return f.lines(op)
}

// Port is an output of an operator, by the name that is the start of its key.
type Port struct {
	Op     string
	Output int
}

// Made is the type of an operator and the outputs that go into it, if the recording tells them.
func (f *Folder) Made(op string) (typ string, inputs []Port) {
	if f.made == nil {
		return "", nil
	}
	return f.made(op)
}
