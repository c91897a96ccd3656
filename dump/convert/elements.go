package convert

import (
	"context"
	"fmt"
	"io"

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

// tileBytes is how much of a tensor is in memory on its way from file to file.
const tileBytes = 256 << 10

// elements yields the bytes of a tensor, in logical order, little-endian and of
// the type to write. It is an io.Reader and io.WriterTo.
type elements struct {
	ctx     context.Context
	r       *layout.Reader // nil for a tensor without elements
	next, n int64
	change  func(dst, src []byte) // nil if the elements are as they are written
	size    int                   // bytes of a written element
	src     []byte
	dst     []byte
	rest    []byte // of the current tile
}

// newElements yields what r reads, of type stored, as type typ.
func newElements(ctx context.Context, r *layout.Reader, stored, typ dtype.Type, bigEndian bool) *elements {
	e := &elements{ctx: ctx, r: r, n: r.Len(), size: typ.Bits() / 8}
	switch {
	case bigEndian:
		e.change = func(dst, src []byte) { dtype.Swap(stored, dst[:copy(dst, src)]) }
	case !dtype.SameForm(stored, typ):
		e.change = func(dst, src []byte) { dtype.AppendAs(dst[:0], typ, stored, src, stored.Count(int64(len(src)))) }
	}
	return e
}

// Len is the number of bytes.
func (e *elements) Len() int64 { return e.n * int64(e.size) }

// tile reads the next part.
func (e *elements) tile() ([]byte, error) {
	if e.next == e.n {
		return nil, io.EOF
	}
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	es := int64(e.r.ElemSize())
	if e.src == nil {
		e.src = make([]byte, min(max(tileBytes/es, 1), e.n)*es)
		if e.change != nil {
			e.dst = make([]byte, int64(len(e.src))/es*int64(e.size))
		}
	}
	k := min(int64(len(e.src))/es, e.n-e.next)
	src := e.src[:k*es]
	if err := e.r.ReadTile(src, e.next, k); err != nil {
		return nil, err
	}
	e.next += k
	if e.change == nil {
		return src, nil
	}
	dst := e.dst[:k*int64(e.size)]
	e.change(dst, src)
	return dst, nil
}

// Read is that of io.Reader.
func (e *elements) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		t, err := e.tile()
		if err != nil {
			return 0, err
		}
		e.rest = t
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// WriteTo is that of io.WriterTo.
func (e *elements) WriteTo(w io.Writer) (written int64, err error) {
	for {
		t := e.rest
		if e.rest = nil; len(t) == 0 {
			if t, err = e.tile(); err == io.EOF {
				return written, nil
			} else if err != nil {
				return written, err
			}
		}
		n, err := w.Write(t)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
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
