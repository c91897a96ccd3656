package msprobe

import (
	"fmt"
	"slices"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// Record is what a scan yields: a [Call] or a [SyntaxError].
type Record interface {
	// Pos is where the record is in its file, in bytes.
	Pos() (file string, offset int64)
}

// Header is what dump.json says ahead of the calls.
type Header struct {
	Task      string // statistics, tensor, structure, nan_check
	Level     string // L0, L1, mix, debug
	Framework string // pytorch, mindspore, mindtorch
	// DataDir is the folder of the tensors when they were recorded, maybe on
	// another machine; they lie beside dump.json.
	DataDir string
}

// Call is one entry: a call of a function or module, the gradients of
// parameters, or a value saved by hand.
type Call struct {
	// Name is the entry as the file has it, Parsed its parts.
	Name   string
	Parsed Name
	// Values are the arguments and results in the order of the file. A None has
	// a place here, an empty list has none.
	Values []Value
	// Recompute tells a forward call that was run again for its gradients, as
	// far as the recorder says so.
	Recompute bool
	// NaN tells whether the device found NaN or infinities in a call, of the task nan_check.
	NaN Tristate
	// Outputs tells that the entry has a list of results, be it empty.
	Outputs bool
	// Cut tells that the entry could not be read to its end: Values has what
	// came before.
	Cut bool

	file   string
	offset int64
}

// Pos is where the name of the entry is.
func (c *Call) Pos() (file string, offset int64) { return c.file, c.offset }

// Clone returns a copy that stays when the scan goes on.
func (c *Call) Clone() *Call {
	d := *c
	d.Values = slices.Clone(c.Values)
	for i := range d.Values {
		v := &d.Values[i]
		v.Shape, v.Items, v.Extra = slices.Clone(v.Shape), slices.Clone(v.Items), slices.Clone(v.Extra)
	}
	return &d
}

// Section is the part of a call that a value belongs to.
type Section uint8

// The sections of a call.
const (
	Input      Section = iota // arguments; of a backward call the gradients of the outputs
	Kwargs                    // keyword arguments
	Output                    // results; of a backward call the gradients of the inputs
	Parameters                // of a module
	Gradients                 // of parameters
	Saved                     // by hand
)

func (s Section) String() string {
	return [...]string{"input", "kwargs", "output", "parameters", "parameters_grad", "debug"}[s]
}

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	None         Kind = iota // null: None, and what the recorder does not know
	Tensor                   // of any class
	Array                    // of numpy
	Scalar                   // a number, truth value or text of Python or numpy
	Slice                    // Items: start, stop, step
	Ellipsis                 // ...
	Size                     // torch.Size, in Items
	DType                    // an element type, its name in Value
	Device                   // its name in Value
	MemoryFormat             // its name in Value
	Group                    // of processes: the ranks in Items
	ReduceOp                 // its name in Value
	Bare                     // a number or text without a type, in Value
	Unknown                  // an object with a type that is not known
)

// Tristate is a truth value that may be missing.
type Tristate uint8

// The values of a Tristate.
const (
	NotRecorded Tristate = iota
	No
	Yes
)

// Value is one argument or result of a call.
type Value struct {
	Section Section
	// Path leads to the value in its section, indexes and keys with points
	// between: 0, 1.mask. It is empty for a value saved by hand.
	Path string
	Kind Kind
	// Type is the class as the file names it: torch.Tensor, int, slice.
	Type string

	// Of tensors and arrays. DType is as the file has it, Elem what it means;
	// Known is false for names that are not known, such as <U2.
	DType string
	Elem  dtype.Type
	Known bool
	Shape []int64
	// Statistics. Absent where the recording has none, Null where the recorder
	// did not compute them.
	Max, Min, Mean, Norm Number
	RequiresGrad         Tristate
	// Odd tells of a statistic that is no number where it should be one: a text, or a truth
	// value of numbers. It is Null then. NaN and infinities are numbers as the recorder
	// writes them.
	Odd *SyntaxError
	// MD5 is the checksum as the file has it: a CRC-32 of eight hexadecimal
	// digits or an xor of 0x and sixteen. Recordings with xor give scalars as
	// their value, which may be a number.
	MD5 Number
	// Raw tells that MD5 is of the memory where the tensor begins, whatever its strides: so it is in
	// recordings that were compared with another one as they were made (bench_path), which have
	// it ahead of DataName, and files of the calls alone that differed there.
	Raw bool
	// DataName is the file of the elements, in the folder dump_tensor_data.
	DataName string

	// Value is what is no tensor; Items are those of a slice, size or group.
	Value Number
	Items []Number
	// Extra are the keys that are not known, with the JSON of their values.
	Extra []Extra
}

// Extra is a key of a value that this package gives no meaning to.
type Extra struct {
	Key string
	// JSON is the value as the file has it, cut after a kilobyte.
	JSON string
}

// Elements is the number of elements of a tensor; false if the shape is not
// known or is larger than anything.
func (v *Value) Elements() (int64, bool) {
	if v.Shape == nil {
		return 0, false
	}
	return nd.Count(v.Shape...)
}

// A SyntaxError tells of a part of a file that cannot be read.
type SyntaxError struct {
	File            string
	Offset          int64
	Found, Expected string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s: offset %d: found %s, expected %s", e.File, e.Offset, e.Found, e.Expected)
}

// Pos is where the part that cannot be read starts.
func (e *SyntaxError) Pos() (file string, offset int64) { return e.File, e.Offset }
