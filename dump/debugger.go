package dump

import (
	"fmt"
	"io/fs"
	"slices"

	"precision/dump/layout"
	"precision/dump/tfdbg"
	"precision/internal/lazy"
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
	r, err := f.events(names)
	if err != nil {
		return nil, err
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
	f.describe(r)
	return f, nil
}

// events reads files of the debugger.
func (f *Folder) events(files []string) (*tfdbg.Recording, error) {
	r, err := tfdbg.Read(f.Dir, files)
	if err != nil {
		return nil, &Error{Path: f.Dir, Code: CodePath, Offset: -1, Err: pathCause(err)}
	}
	f.Damaged = r.Damaged
	for _, d := range r.Damaged {
		f.warnf(d.File, CodeInvalid, "offset %d: %s; what stands before it is read", d.Offset, d.What)
	}
	return r, nil
}

// recorded takes what the kit's recorder wrote of graphs out of the files of a folder of arrays.
func (f *Folder) recorded(files []fs.DirEntry) ([]fs.DirEntry, error) {
	var names []string
	rest := slices.DeleteFunc(slices.Clone(files), func(e fs.DirEntry) bool {
		is := tfdbg.OfRecorder(e.Name())
		if is {
			names = append(names, e.Name())
		}
		return is
	})
	if len(names) == 0 {
		return files, nil
	}
	r, err := f.events(names)
	if err == nil {
		f.describe(r)
	}
	return rest, err
}

// again is the ending of names of outputs that ran several times in a step, in the recorder's files.
var again = lazy.Regexp(`--(call|body|cond|pipeline)-[0-9]+$`)

// describe lets a folder tell what a recording says of how operators were made.
func (f *Folder) describe(r *tfdbg.Recording) {
	made := map[string]string{}
	for op := range r.Operators() {
		made[Normalise(op)] = op
	}
	for i := range r.Traces {
		made[Normalise(r.Traces[i].Op)] = r.Traces[i].Op
	}
	plain := func(op string) (name, run string) {
		op = Normalise(op)
		if _, known := made[op]; !known {
			run = again().FindString(op)
		}
		return made[op[:len(op)-len(run)]], run
	}
	f.lines = func(op string) []string {
		name, _ := plain(op)
		return r.Lines(name)
	}
	f.made = func(op string) (string, []Port) {
		name, run := plain(op)
		typ, inputs := r.Made(name)
		ports := make([]Port, len(inputs))
		for i, in := range inputs {
			for range mostPassed { // the recorder passes over what hands its input on
				typ, from := r.Made(in.Op)
				if f.Output(Normalise(in.Op)+run, int(in.Slot)) != nil || typ != "Identity" && typ != "IdentityN" || in.Slot >= int64(len(from)) {
					break
				}
				in = from[in.Slot]
			}
			ports[i] = Port{Normalise(in.Op) + run, int(in.Slot)}
		}
		return typ, ports
	}
}

// mostPassed is how many operators in a row hand an input on.
const mostPassed = 64

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
	return &Reader{File: &File{Path: e.Path, Name: e.Name, Form: Numpy, Size: size, OpName: t.Op, Outputs: []Tensor{tensor}}, ReaderAt: r, close: r.Close}, nil
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
