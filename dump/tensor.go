package dump

import (
	"math"
	"strconv"

	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/internal/nd"
)

// Tensor is one input or output of a recorded operator.
type Tensor struct {
	// Input tells inputs from outputs; Index counts within each.
	Input bool
	Index int

	// Type is the type of the elements, Format their layout on the device.
	// SubFormat is the group count of a grouped convolution, 0 or 1 for none.
	Type      dtype.Type
	Format    layout.Format
	SubFormat int32
	// Shape holds the dims as stored, in elements. A scalar has none. A tensor
	// of undefined type or with unknown dims is flat: one dim, the number of
	// elements that Size bytes hold.
	Shape []int64
	// OriginShape holds the dims the framework gave the tensor, nil if the dump
	// does not say.
	OriginShape []int64

	// Offset is where the elements start in the file and Size how many bytes
	// are theirs; there may be padding after the last element.
	Offset int64
	Size   uint64
	// BigEndian and Fortran describe the elements of a numpy array: multi-byte
	// elements stored big-endian, the first axis varying fastest. Dumps of
	// devices are neither.
	BigEndian, Fortran bool

	// Address is where the tensor was on the device.
	Address uint64
	// OriginFormat is the layout of the framework's output that an output stands for.
	OriginFormat layout.Format
	// InputType says what an input of an exception dump is.
	InputType uint32

	// Err tells why the elements cannot be used; it is an [*Error]. The other
	// fields are as the header has them, so that the raw bytes can still be
	// looked at.
	Err error
}

// The kinds of input that an exception dump tells apart.
const (
	InputGeneral   = 1 // stored after all other payload
	InputInput     = 2
	InputOutput    = 3
	InputWorkspace = 4
)

// Elements is the number of elements the shape asks for; 0 when that number is
// too large to be true.
func (t *Tensor) Elements() int64 {
	n, _ := nd.Count(t.Shape...)
	return n
}

// Bytes is the space the elements take, without padding. For a type whose size
// is not known it is all of Size.
func (t *Tensor) Bytes() int64 {
	if n := t.Type.Bytes(t.Elements()); n >= 0 {
		return n
	}
	return int64(min(t.Size, math.MaxInt64))
}

// Stored is the number of whole elements that Size bytes hold. Less than
// Elements means that the recording is short.
func (t *Tensor) Stored() int64 { return t.Type.Count(int64(min(t.Size, math.MaxInt64))) }

// View reads the elements in logical order.
func (t *Tensor) View() (layout.View, error) {
	if t.Fortran {
		return layout.Fortran(t.Shape)
	}
	return layout.Contiguous(t.Shape)
}

// label names the tensor in messages.
func (t *Tensor) label() string {
	return SideOf(t.Input) + " " + strconv.Itoa(t.Index)
}

// SideOf is what names of files and messages call an input or an output.
func SideOf(input bool) string {
	if input {
		return "input"
	}
	return "output"
}

// Blob is a buffer or a work space of the operator: bytes without a type.
type Blob struct {
	Kind   int32 // 0 is the L1 buffer, or the log among work spaces
	Offset int64
	Size   uint64
	Err    error
}
