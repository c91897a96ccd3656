package torch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"precision/dump/dtype"
	"precision/dump/layout"
)

// Tensor is a tensor of a file: where its elements lie and how.
type Tensor struct {
	// Name leads to the tensor through the containers of the file, keys and
	// indexes with points between: model.weight, or layers.0. It is empty when
	// the file is the tensor.
	Name string
	Type dtype.Type
	// Shape and Stride have one entry an axis; strides count elements, and may
	// be 0, which shows one element many times.
	Shape, Stride []int64
	// Start is where the first element lies, in bytes from the start of the
	// file.
	Start int64
	// BigEndian means that elements of several bytes are stored big-endian.
	BigEndian bool
	// Conj and Neg tell that the stored elements are the conjugates, the
	// negatives, of the tensor's: PyTorch puts these operations off. Such a
	// tensor has no [Tensor.View].
	Conj, Neg bool
	// Offset is the place of the first element in the storage, in elements.
	Offset int64

	of *storage
}

// costTensor is what a tensor takes in memory, besides its dims.
const costTensor = 320

// Elements is the number of elements, 1 for a scalar.
func (t *Tensor) Elements() int64 {
	n, _ := elements(t.Shape)
	return n
}

// View returns the order in which the elements are stored, counted from Start.
// It fails for tensors whose elements have yet to be conjugated or negated, and with an [*ExcessError] for those that show
// elements again and again.
func (t *Tensor) View() (layout.View, error) {
	switch {
	case t.Conj && t.Type.IsComplex():
		return layout.View{}, &UnsupportedError{Offset: -1, What: "the tensor is to be conjugated (conj bit), its stored elements are not its own"}
	case t.Neg:
		return layout.View{}, &UnsupportedError{Offset: -1, What: "the tensor is to be negated (neg bit), its stored elements are not its own"}
	}
	v, err := layout.Strided(t.Shape, t.Stride)
	if err == nil && v.Len() > mostShown && v.Len()/mostTimes > v.Extent() {
		err = &ExcessError{Shown: v.Len(), Stored: v.Extent()}
	}
	return v, err
}

// A view may show mostShown elements whatever is stored, as a number that was expanded to a layer's size, and each
// stored one mostTimes, as a mask that was expanded to all heads of all samples. Beyond that reading it costs
// what no file holds: 500 bytes can show 2^40 elements.
const (
	mostShown = 1 << 26
	mostTimes = 1 << 10
)

// ExcessError: a tensor shows far more elements than are stored.
type ExcessError struct{ Shown, Stored int64 }

func (e *ExcessError) Error() string {
	return fmt.Sprintf("the tensor shows %d elements of %d that are stored, too many to read one by one", e.Shown, e.Stored)
}

// Once is the tensor with each axis taken out along which it shows the same elements again, and how many times
// that shows each.
func (t *Tensor) Once() (_ *Tensor, times int64) {
	once := *t
	once.Shape, once.Stride = nil, nil
	times = 1
	for k, dim := range t.Shape {
		if dim > 1 && t.Stride[k] == 0 {
			times *= dim
			continue
		}
		once.Shape, once.Stride = append(once.Shape, dim), append(once.Stride, t.Stride[k])
	}
	return &once, times
}

// Reader returns a reader of the elements in logical order, from the file that
// the tensor was found in.
func (t *Tensor) Reader(file io.ReaderAt) (*layout.Reader, error) {
	v, err := t.View()
	if err != nil {
		return nil, err
	}
	return layout.NewReader(file, t.Start, t.Type.Bits()/8, v)
}

// storage is a run of elements that tensors are views of.
type storage struct {
	key     string
	typ     dtype.Type
	untyped bool  // the tensor says what the elements are
	size    int64 // bytes
	device  string
	// start is where it lies in the file, or in the storage that it is a part
	// of. A legacy file tells it after the pickle.
	start int64
	of    *storage
}

// at returns where the storage lies in the file.
func (s *storage) at() int64 {
	if s.of == nil {
		return s.start
	}
	return s.of.at() + s.start
}

// maxDims is what PyTorch allows.
const maxDims = 64

// tensor makes a tensor of the arguments storage, offset, size and stride, after checking that its elements are in the storage.
func (m *machine) tensor(s *storage, typ dtype.Type, args tuple, meta any) *Tensor {
	offset, ok := args[1].(int64)
	if !ok || offset < 0 {
		m.bad("the offset "+describe(args[1]), "a number of elements")
	}
	shape := m.dims(args[2])
	stride := m.dims(args[3])
	t := &Tensor{Type: typ, Shape: shape, Stride: stride, Offset: offset, of: s}
	switch meta := meta.(type) {
	case nil:
	case *dict:
		for i, k := range meta.keys {
			on, _ := meta.values[i].(bool)
			switch k {
			case "conj":
				t.Conj = on
			case "neg":
				t.Neg = on
			default:
				m.refuse("a tensor with the property %s cannot be read", describe(k))
			}
		}
	default:
		m.bad("tensor properties that are "+describe(meta), "a dict")
	}
	v, err := layout.Strided(shape, stride)
	if err != nil {
		m.bad(fmt.Sprintf("a tensor of shape %v and strides %v (%v)", shape, stride, err), "one that memory could hold")
	}
	width := int64(typ.Bits() / 8)
	if have := s.size / width; v.Extent() > have || offset > have-v.Extent() {
		if v.Len() > 0 {
			m.bad(fmt.Sprintf("a tensor of shape %v, strides %v and offset %d over %d elements in storage %s", shape, stride, offset, have, quoted(s.key)),
				"one that lies inside its storage")
		}
		t.Offset = 0
	}
	m.spend(costTensor + 16*int64(len(shape)))
	return t
}

func (m *machine) dims(v any) []int64 {
	var items []any
	switch v := v.(type) {
	case tuple:
		items = v
	case *list:
		items = v.items
	default:
		m.bad("dims that are "+describe(v), "a tuple")
	}
	if len(items) > maxDims {
		m.bad(fmt.Sprintf("%d dims", len(items)), fmt.Sprintf("at most %d", maxDims))
	}
	dims := make([]int64, len(items))
	for i, d := range items {
		n, ok := d.(int64)
		if !ok || n < 0 {
			m.bad("a dim that is "+describe(d), "a number that is not negative")
		}
		dims[i] = n
	}
	return dims
}

// storageID reads the common part of a persistent id, ('storage', class, key,
// device, elements), and returns the storage without its place.
func (m *machine) storageID(id tuple) *storage {
	if len(id) < 5 || id[0] != "storage" {
		m.bad("the persistent id "+describeID(id), "that of a storage")
	}
	class, ok := id[1].(name)
	key, ok2 := id[2].(string)
	n, ok3 := id[4].(int64)
	if !ok || !ok2 || !ok3 || n < 0 {
		m.bad("the storage "+describeID(id), "class, key, device and number of elements")
	}
	s := &storage{key: key}
	s.device, _ = id[3].(string)
	width := int64(1)
	if class.name == "UntypedStorage" {
		s.untyped = true
	} else if s.typ, ok = dtype.FromTorchStorage(class.name); !ok || class.module != "torch" {
		m.refuse("elements of a %s cannot be read", class)
	} else {
		width = int64(s.typ.Bits() / 8)
	}
	if n > math.MaxInt64/width {
		m.bad(fmt.Sprintf("a storage of %d elements", n), "one that a file could hold")
	}
	s.size = n * width
	m.spend(costTensor)
	return s
}

func describeID(id tuple) string {
	s := "("
	for i, v := range id[:min(len(id), 6)] {
		if i > 0 {
			s += ", "
		}
		s += describe(v)
	}
	return s + ")"
}

// Part reports whether the storage holds more than the tensor: a view of another
// one was saved.
func (t *Tensor) Part() bool {
	return t.Offset != 0 || t.Elements()*int64(t.Type.Bits()/8) < t.of.size
}

// Device is where the tensor was when it was saved, "cpu" or "npu:0"; empty if the file
// does not say.
func (t *Tensor) Device() string { return t.of.device }

// chunk is the number of elements that are converted at a time.
const chunk = 1 << 14

// copyElements copies n elements of type t as PyTorch keeps them.
func copyElements(w io.Writer, r io.Reader, t dtype.Type, n int64) error {
	_, kept, _ := t.TorchStorage()
	convert := converter(t, kept)
	in, out := t.Bits()/8, kept.Bits()/8
	src := make([]byte, int(min(n, chunk))*in)
	dst := src
	if in != out {
		dst = make([]byte, int(min(n, chunk))*out)
	}
	for done := int64(0); done < n; {
		count := min(n-done, chunk)
		s, d := src[:int(count)*in], dst[:int(count)*out]
		if got, err := io.ReadFull(r, s); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("found %d bytes, expected %d for %d elements of %s: %w", done*int64(in)+int64(got), n*int64(in), n, t, err)
		}
		if convert != nil {
			if bad := convert(d, s); bad >= 0 {
				return &RangeError{done + int64(bad), binary.LittleEndian.Uint64(s[8*bad:])}
			}
		}
		if _, err := w.Write(d); err != nil {
			return err
		}
		done += count
	}
	return nil
}

// converter returns what turns elements into those kept, nil if they are the
// same. The function returns the index of an element that does not fit, or -1.
func converter(t, kept dtype.Type) func(dst, src []byte) int {
	in, out := t.Bits()/8, kept.Bits()/8
	switch {
	case t.IsBool():
		// PyTorch takes bytes other than 0 and 1 for undefined.
		return func(dst, src []byte) int {
			for i, b := range src {
				if b != 0 {
					b = 1
				}
				dst[i] = b
			}
			return -1
		}
	case !t.IsInteger() || t.Signed() || !kept.Signed():
		return nil
	case in < out: // the upper bytes of a number without sign are zeros
		return func(dst, src []byte) int {
			for i := range len(src) / in {
				d := dst[i*out : i*out+out]
				clear(d[copy(d, src[i*in:i*in+in]):])
			}
			return -1
		}
	}
	return func(_, src []byte) int {
		for i := in - 1; i < len(src); i += in {
			if src[i] >= 0x80 {
				return i / in
			}
		}
		return -1
	}
}
