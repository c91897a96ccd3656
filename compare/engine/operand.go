package engine

import (
	"encoding/binary"
	"fmt"
	"io"
	"unsafe"

	"precision/dump/dtype"
	"precision/dump/layout"
)

// operand is one side of a pair: elements of one type, read in the order of
// the golden array whatever order they are stored in.
type operand struct {
	typ dtype.Type
	big bool // multi-byte elements are stored big-endian
	// count is the number of elements that are compared.
	count int64
	// open starts a reader of the elements. A reader serves one goroutine.
	open func() Elements
}

// viewOperand reads the elements of a view over stored elements that start at
// byte base of r.
func viewOperand(r io.ReaderAt, base int64, typ dtype.Type, big bool, v layout.View) (*operand, error) {
	n := v.Len()
	if typ.Bits()%8 != 0 {
		if !v.IsContiguous() {
			return nil, fmt.Errorf("elements of %s are packed %d bits each and cannot be re-ordered", typ, typ.Bits())
		}
		return &operand{typ: typ, count: n, open: func() Elements { return &packed{r: r, base: base, typ: typ} }}, nil
	}
	size := int(typ.Bits() / 8)
	reader, err := layout.NewReader(r, base, size, v)
	if err != nil {
		return nil, err
	}
	return &operand{typ: typ, big: big, count: n, open: func() Elements { return reader.Clone() }}, nil
}

// tensor is the operand with its shape.
func (o *operand) tensor(shape []int64) Tensor {
	return Tensor{Type: o.typ, Shape: shape, Count: o.count, BigEndian: o.big, Open: o.open}
}

// packed reads elements smaller than a byte. Tiles start at whole bytes.
type packed struct {
	r    io.ReaderAt
	base int64
	typ  dtype.Type
}

func (p *packed) ReadTile(dst []byte, first, n int64) error {
	bits := int64(p.typ.Bits())
	if first*bits%8 != 0 {
		return fmt.Errorf("element %d of %s does not start at a byte", first, p.typ)
	}
	return readFull(p.r, dst[:p.typ.Bytes(n)], p.base+first*bits/8)
}

func readFull(r io.ReaderAt, dst []byte, at int64) error {
	n, err := r.ReadAt(dst, at)
	if n == len(dst) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("offset %d: read %d bytes, expected %d: %w", at, n, len(dst), err)
}

// swap turns big-endian elements into little-endian ones in place.
func (o *operand) swap(b []byte) { dtype.Swap(o.typ, b) }

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// float32Bytes is the memory of dst as bytes when the elements of o can be read
// straight into it: float32 in the byte order of this machine. Golden arrays
// mostly are, and a copy less counts at the speed of memory. Otherwise nil.
func float32Bytes(o *operand, dst []float32) []byte {
	if o.typ != dtype.Float32 || o.big == littleEndian || len(dst) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst))
}

// Elements yields the elements of a tensor as bytes.
type Elements interface {
	// ReadTile fills dst with n elements from element first on. Calls go
	// forward, but for a new pass, which begins at a multiple of
	// metric.TileLen.
	ReadTile(dst []byte, first, n int64) error
}
