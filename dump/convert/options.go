package convert

import (
	"fmt"

	"precision/dump"
	"precision/dump/layout"
)

// Type is a kind of file to write tensors to.
type Type uint8

const (
	// Npy is a numpy array.
	Npy Type = iota
	// Bin is the elements alone, in C order.
	Bin
	// MSNpy is a numpy array under the name that MindSpore gives it: the
	// operator's own name instead of its scopes, and the layout.
	MSNpy
	// PT is a tensor for PyTorch's torch.load.
	PT
)

var typeNames = [...]string{Npy: "npy", Bin: "bin", MSNpy: "msnpy", PT: "pt"}

// ParseType returns the type of a name.
func ParseType(name string) (Type, bool) {
	for t, s := range typeNames {
		if s == name {
			return Type(t), true
		}
	}
	return 0, false
}

// Options says what to make of recordings. The zero value writes numpy arrays,
// as stored, to the current folder.
type Options struct {
	Type Type
	// Out is the folder to write to. It is made if it is missing.
	Out string
	// Format is the layout to convert tensors to, nil for none.
	Format *layout.Format
	// Shape is the shape that the tensors are meant to have, in the axis order
	// of Format or of the framework. It takes the place of the original shape
	// in the recording. It has a meaning only with Format.
	Shape []int64
	// Input and Output choose one tensor to convert to a layout. With both nil
	// all are converted. They have a meaning only with Format.
	Input, Output *int

	// Compat follows msaccucmp.py; see the package documentation.
	Compat bool
	// Single means that the user named one file: then failures are not listed
	// in a file.
	Single bool

	// Custom is a conversion of the user's own, HasCustom tells for which
	// layouts it is. It goes before the built-in one; nil is none.
	Custom    CustomFunc
	HasCustom func(from, to layout.Format) bool

	// Workers is how many files are converted at a time, 0 for one a CPU.
	Workers int
	// Progress, if not nil, is called after every file, not concurrently.
	Progress func(done, total int)
}

// Exit codes of msaccucmp.py that are not those of package dump.
const (
	CodeUnknown   = 1
	CodeParameter = 6  // bad parameter, or a shape that a FRACTAL_NZ tensor cannot have
	CodeIndex     = 12 // no such input or output
	CodeWrite     = 19 // a file cannot be written
	CodeFormat    = 22 // a layout without a name, or no way from one to the other
	CodeConvert   = 26 // a conversion failed
	CodeExists    = 45 // the file to write is that of another recording
)

func errorf(path string, code int, cause error, format string, args ...any) *dump.Error {
	return &dump.Error{Path: path, Code: code, Offset: -1, Text: fmt.Sprintf(format, args...), Err: cause}
}
