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
// one window of stored bytes and one group of restored rows, so that tiles read
// one after the other load and transpose what they share once: a tile takes a
// few rows of a channel block, and the next ones the rest of it. It holds twice
// the window at most. A Reader is for one goroutine; see [Reader.Clone].
type Reader struct {
	src  io.ReaderAt
	base int64
	es   int
	view View
	mem  bool  // buf is the whole stored tensor, src is not used
	most int64 // bytes of window

	buf    []byte
	spare  []byte // room for buf of the next Reader, while this one needs none
	lo, hi int64  // logical elements the window serves
	nest   *nest  // their places in the window
	origin int64  // element of nest at buf[0]

	group            []byte // restored elements [groupLo, groupHi)
	groupLo, groupHi int64
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
	r := &Reader{es: elemSize, view: v, mem: true, buf: stored, most: DefaultWindow}
	r.hi, r.nest = v.Len(), v.nest
	return r, nil
}

// Clone returns a Reader of the same tensor with a window of its own.
func (r *Reader) Clone() *Reader {
	c := &Reader{src: r.src, base: r.base, es: r.es, view: r.view, mem: r.mem, most: r.most}
	if r.mem {
		c.buf, c.hi, c.nest = r.buf, r.hi, r.nest
	}
	return c
}

// Inherit takes over the buffers of a Reader that is no longer in use, so that
// reading one tensor after the other does not allocate anew for each.
func (r *Reader) Inherit(old *Reader) {
	if old == nil || old == r {
		return
	}
	r.group, r.spare = old.group[:0], old.spare
	r.groupLo, r.groupHi = 0, 0
	if !old.mem {
		r.spare, old.lo, old.hi = old.buf, 0, 0
		old.buf = nil
	}
	if !r.mem {
		r.buf, r.spare = r.spare[:0], nil
		r.lo, r.hi = 0, 0
	}
	old.group, old.spare = nil, nil
	old.groupLo, old.groupHi = 0, 0
}

// View returns the View the Reader reads through.
func (r *Reader) View() View { return r.view }

// Len returns the number of logical elements.
func (r *Reader) Len() int64 { return r.view.Len() }

// ElemSize returns the bytes of an element.
func (r *Reader) ElemSize() int { return r.es }

// ReadTile reads the logical elements [first, first+n) to the front of dst, side
// by side in logical order, bytes as stored. A stored tensor that ends early
// gives io.ErrUnexpectedEOF with the offset.
func (r *Reader) ReadTile(dst []byte, first, n int64) error {
	if err := r.view.checkTile(dst, r.es, first, n); err != nil {
		return err
	}
	es := int64(r.es)
	if r.view.IsContiguous() {
		return r.readAt(dst[:n*es], first*es)
	}
	for n > 0 {
		k, err := r.readSome(dst, first, n)
		if err != nil {
			return err
		}
		dst, first, n = dst[k*es:], first+k, n-k
	}
	return nil
}

// readSome reads the first k of n elements, k > 0, those that come from one
// place: the group held, a group newly restored, or the window.
func (r *Reader) readSome(dst []byte, first, n int64) (k int64, err error) {
	es := int64(r.es)
	if first >= r.groupLo && first < r.groupHi {
		k = min(n, r.groupHi-first)
		copy(dst[:k*es], r.group[(first-r.groupLo)*es:])
		return k, nil
	}
	nest := r.view.nest
	end := first + n
	if nest.grouped() {
		lo, hi := nest.group(first, es, r.most)
		if first > lo || end < hi { // part of a group
			if (hi-lo)*es <= r.most {
				if done, err := r.restore(lo, hi, max(hi, end)); err != nil {
					return 0, err
				} else if done {
					return r.readSome(dst, first, n)
				}
			}
			end = min(end, hi)
		} else if lo, hi = nest.group(end-1, es, r.most); hi > end {
			end = lo // whole groups first
		}
	}
	if first < r.lo || first >= r.hi {
		if err := r.need(first, end); err != nil {
			return 0, err
		}
	}
	k = min(end, r.hi) - first
	r.nest.gather(dst, r.buf, r.origin, r.es, first, k)
	return k, nil
}

// restore fills the group with elements [lo, hi), looking ahead to end. It
// reports false if no window can hold what that takes.
func (r *Reader) restore(lo, hi, end int64) (bool, error) {
	if lo < r.lo || hi > r.hi {
		w := r.view.nest.window(lo, end-lo, int64(r.es), r.most)
		if w.lo > lo || w.hi < hi {
			return r.restoreStrips(lo, hi)
		}
		if err := r.load(w); err != nil {
			return false, err
		}
	}
	r.setGroup(lo, hi)
	r.nest.gather(r.group, r.buf, r.origin, r.es, lo, hi-lo)
	return true, nil
}

// setGroup makes room for a group of elements [lo, hi).
func (r *Reader) setGroup(lo, hi int64) {
	size := (hi - lo) * int64(r.es)
	r.group = slices.Grow(r.group[:0], int(size))[:size]
	r.groupLo, r.groupHi = lo, hi
}

// stripBytes is how much of the stored tensor restoreStrips reads at once.
const stripBytes = 1 << 20

// restoreStrips is restore for rows too long for the window: it loads some
// columns of all rows at a time. It reports false if the unit axis is not the
// last but one, where a strip is no box of the stored tensor.
func (r *Reader) restoreStrips(lo, hi int64) (bool, error) {
	n, es := r.view.nest, int64(r.es)
	last := n.unit + 1
	if last != len(n.axes)-1 {
		return false, nil
	}
	cols := n.rows[n.unit]
	rows := (hi - lo) / cols
	width := max(min(stripBytes, r.most)/es/n.axes[last].step, 1)
	r.lo, r.hi = 0, 0
	r.setGroup(lo, hi)
	for x0 := int64(0); x0 < cols; x0 += width {
		x1 := min(x0+width, cols)
		w := n.strip(lo, rows, x0, x1, es, r.most)
		if w == nil {
			r.groupLo, r.groupHi = 0, 0
			return false, nil
		}
		if err := r.load(w); err != nil {
			r.groupLo, r.groupHi = 0, 0
			return false, err
		}
		g := gatherer{nest: r.nest, dst: r.group, src: r.buf, base: r.origin, es: r.es, last: last}
		g.block(last, r.nest.rowOffset(lo/cols), x0, x1, x0, rows, cols)
	}
	return true, nil
}

// grouped reports whether neighbours in store are rows apart in logical order.
func (n *nest) grouped() bool { return n.unit >= 0 && n.unit < len(n.axes)-1 }

// group returns the range of elements around first that are best restored
// together: rows of the unit axis that share lines of memory, as many as one
// block or a line holds and most bytes can take. The nest must be grouped.
func (n *nest) group(first, es, most int64) (lo, hi int64) {
	a, row := n.axes[n.unit], n.rows[n.unit]
	at := first / row
	i := at % a.dim
	rows, block := 64/es, a.dim
	if a.block > 0 {
		rows, block = a.block, a.block
	}
	rows = min(rows, max(most/es/row, 1))
	start := at - i%block%rows
	end := min(at-i%block+block, at-i+a.dim)
	return start * row, min(start+rows, end) * row
}

// need loads a window with element lo in it, and more of [lo, hi) if it fits.
func (r *Reader) need(lo, hi int64) error {
	if r.mem {
		return nil
	}
	return r.load(r.view.nest.window(lo, hi-lo, int64(r.es), r.most))
}

// load reads a window.
func (r *Reader) load(w *window) error {
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
	if r.mem {
		copy(p, r.buf[off:])
		return nil
	}
	n, err := r.src.ReadAt(p, r.base+off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("layout: %d of %d bytes at offset %d: %w", n, len(p), r.base+off, err)
}
