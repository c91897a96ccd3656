package convert

import (
	"context"
	"fmt"
	"io"
	"slices"

	"precision/dump/dtype"
	"precision/dump/layout"
)

// array is a tensor to write: elements of a type that numpy has, in C order.
type array struct {
	typ   dtype.Type
	named dtype.Type // the type in the file's name
	shape []int64
	elems *elements // nil without any
	// release, if not nil, ends the use of the memory that a tensor needs as a
	// whole.
	release func()
}

// elements are those of a tensor, in logical order and little-endian, on their way to a type to write.
type elements struct {
	ctx         context.Context
	r           *layout.Reader
	stored, typ dtype.Type
	bigEndian   bool
	next        int64 // of Read
	raw         []byte
}

// tile fills dst with elements as they are stored.
func (e *elements) tile(dst []byte, first, n int64) error {
	err := e.r.ReadTile(dst, first, n)
	if e.bigEndian {
		dtype.Swap(e.stored, dst)
	}
	return err
}

// copyTo writes the elements.
func (e *elements) copyTo(w io.Writer) error {
	return dtype.Copy(e.ctx, w, e.r.Len(), e.stored, e.typ, e.tile)
}

// Read is that of io.Reader, and gives whole elements only.
func (e *elements) Read(p []byte) (int, error) {
	n := min(e.typ.Count(int64(len(p))), e.r.Len()-e.next)
	if n == 0 {
		return 0, io.EOF
	}
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	size := int(e.stored.Bytes(n))
	e.raw = slices.Grow(e.raw[:0], size)[:size]
	if err := e.tile(e.raw, e.next, n); err != nil {
		return 0, err
	}
	e.next += n
	return len(dtype.AppendAs(p[:0], e.typ, e.stored, e.raw, n)), nil
}

// writtenType returns the type that elements of a stored type are written as;
// ok is false if they cannot be decoded or, with compat, if msaccucmp.py cannot.
func writtenType(t dtype.Type, compat bool) (typ dtype.Type, ok bool) {
	if compat {
		return t.Reference()
	}
	return t.Array()
}

// unpacked presents a tensor of several elements to a byte as one of a type
// with whole bytes: int8 or uint8 for integers, float32 for floats. Offsets
// count in its bytes.
type unpacked struct {
	src  io.ReaderAt
	base int64
	t    dtype.Type
	typ  dtype.Type
	n    int64 // elements
}

// ReadAt reads whole elements.
func (u *unpacked) ReadAt(p []byte, off int64) (int, error) {
	size := int64(u.typ.Bits() / 8)
	if off < 0 || off%size != 0 || int64(len(p))%size != 0 {
		return 0, fmt.Errorf("read of %d bytes at %d: elements have %d", len(p), off, size)
	}
	const span = 1 << 12 // elements decoded at a time, a multiple of all that share a byte
	var raw [span]byte
	var v [4 * span]byte
	per := int64(8 / u.t.Bits())
	at, end := off/size, min((off+int64(len(p)))/size, u.n)
	done := 0
	for at < end {
		first := at / per * per
		last := min(first+span, end)
		b := raw[:u.t.Bytes(last-first)]
		if n, err := u.src.ReadAt(b, u.base+first/per); n < len(b) {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return done, err
		}
		made := dtype.AppendAs(v[:0], u.typ, u.t, b, last-first)
		done += copy(p[done:], made[(at-first)*size:])
		at = last
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}
