package layout

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// DefaultWindow is how many bytes of the stored tensor a [Reader] holds at most.
// A channel block of a 512 × 512 image of 2-byte elements just fits.
const DefaultWindow = 8 << 20

// Reader reads a stored tensor through a View, in tiles of any size. It holds
// one window of stored bytes, so that tiles read one after the other load what
// they share once: a tile takes part of a channel block, and the next ones the
// rest of it. A Reader is for one goroutine; see [Reader.Clone].
type Reader struct {
	src  io.ReaderAt
	base int64
	es   int
	view View
	mem  []byte // the whole stored tensor, instead of src
	most int64  // bytes of window

	buf    []byte
	lo, hi int64 // logical elements the window serves
	nest   *nest // their places in the window
	origin int64 // element of nest at buf[0]

	stats ReadStats
}

// ReadStats counts what a Reader has read.
type ReadStats struct {
	Reads int64 // calls of ReadAt
	Bytes int64 // bytes read by them
}

// NewReader returns a Reader of the stored tensor whose first byte lies at base
// of src, with elements of elemSize bytes (1, 2, 4, 8 or 16). The tensor must
// reach over [View.Extent] elements; that is found out on reading.
func NewReader(src io.ReaderAt, base int64, elemSize int, v View) (*Reader, error) {
	if !validElemSize(elemSize) {
		return nil, fmt.Errorf("layout: %w: %d", ErrElemSize, elemSize)
	}
	if size, ok := mul(v.Extent(), int64(elemSize)); base < 0 || !ok || base+size < 0 {
		return nil, fmt.Errorf("layout: %d elements of %d bytes at offset %d: %w", v.Extent(), elemSize, base, ErrTooBig)
	}
	return &Reader{src: src, base: base, es: elemSize, view: v, most: DefaultWindow}, nil
}

// NewBytesReader is [NewReader] over the bytes of the stored tensor, which are
// used in place.
func NewBytesReader(stored []byte, elemSize int, v View) (*Reader, error) {
	if !validElemSize(elemSize) {
		return nil, fmt.Errorf("layout: %w: %d", ErrElemSize, elemSize)
	}
	if have := int64(len(stored) / elemSize); v.Extent() > have {
		return nil, fmt.Errorf("layout: stored tensor has %d elements, %d needed: %w", have, v.Extent(), ErrRange)
	}
	return &Reader{mem: stored, es: elemSize, view: v}, nil
}

// SetWindow limits the window to n bytes, a few elements at the least.
func (r *Reader) SetWindow(n int64) {
	r.most = max(n, 64)
	r.lo, r.hi, r.buf = 0, 0, nil
}

// Clone returns a Reader of the same tensor with a window of its own.
func (r *Reader) Clone() *Reader {
	return &Reader{src: r.src, base: r.base, es: r.es, view: r.view, mem: r.mem, most: r.most}
}

// View returns the View the Reader reads through.
func (r *Reader) View() View { return r.view }

// Len returns the number of logical elements.
func (r *Reader) Len() int64 { return r.view.Len() }

// ElemSize returns the bytes of an element.
func (r *Reader) ElemSize() int { return r.es }

// Stats returns what was read so far.
func (r *Reader) Stats() ReadStats { return r.stats }

// ReadTile reads the logical elements [first, first+n) to the front of dst, side
// by side in logical order, bytes as stored. A stored tensor that ends early
// gives io.ErrUnexpectedEOF with the offset.
func (r *Reader) ReadTile(dst []byte, first, n int64) error {
	if r.mem != nil {
		return r.view.Gather(dst, r.mem, r.es, first, n)
	}
	if err := r.view.checkTile(dst, r.es, first, n); err != nil {
		return err
	}
	es := int64(r.es)
	if r.view.IsContiguous() {
		return r.readAt(dst[:n*es], first*es)
	}
	for n > 0 {
		if first < r.lo || first >= r.hi {
			if err := r.load(first, n); err != nil {
				return err
			}
		}
		k := min(n, r.hi-first)
		r.nest.gather(dst, r.buf, r.origin, r.es, first, k)
		dst, first, n = dst[k*es:], first+k, n-k
	}
	return nil
}

// load fills the window with the elements at and after first.
func (r *Reader) load(first, n int64) error {
	w := r.view.nest.window(first, n, int64(r.es), r.most)
	r.lo, r.hi = 0, 0
	size := w.bytes(int64(r.es))
	r.buf = slices.Grow(r.buf[:0], int(size))[:size]
	if err := w.load(r); err != nil {
		return err
	}
	r.lo, r.hi = w.lo, w.hi
	r.nest, r.origin = w.nest()
	return nil
}

// readAt fills p from the stored tensor, off bytes into it.
func (r *Reader) readAt(p []byte, off int64) error {
	n, err := r.src.ReadAt(p, r.base+off)
	r.stats.Reads++
	r.stats.Bytes += int64(n)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("layout: %d of %d bytes at offset %d: %w", n, len(p), r.base+off, err)
}
