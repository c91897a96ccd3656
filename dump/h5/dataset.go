package h5

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// Dataset is a tensor.
type Dataset struct {
	node

	// Type is that of the elements as ReadAll and ReadAt hand them out. It is
	// dtype.Undefined if the file has them in a type that is not supported;
	// reading then tells why.
	Type dtype.Type
	// Shape holds the dimensions, outermost first: none for a scalar, {0} for a
	// null dataspace.
	Shape []int64

	elem    element
	count   int64 // elements
	layout  *layout
	filters *pipeline
	fill    []byte // an element as stored; nil: zero
	err     error  // why elements cannot be read

	chunkOnce sync.Once
	chunks    *chunkStore
	chunkErr  error
}

// init decodes the messages of the header. What is merely unsupported is kept
// for the time when elements are wanted.
func (d *Dataset) init() error {
	need := func(typ int, what string) (*cursor, error) {
		m, ok := d.h.find(typ)
		if !ok {
			return nil, d.src.bad(d.h.addr, "dataset", "no "+what+" message", "one")
		}
		m, err := d.src.resolve(m)
		if err != nil {
			return nil, err
		}
		return d.src.cursor(m.data, m.addr, what), nil
	}
	later := func(err error) error {
		if u := (*UnsupportedError)(nil); errors.As(err, &u) {
			if d.err == nil {
				d.err = err
			}
			return nil
		}
		return err
	}

	c, err := need(msgDataspace, "dataspace")
	if err != nil {
		return later(err)
	}
	space, err := d.src.dataspace(c)
	if err != nil {
		return err
	}
	d.Shape = space.dims

	if c, err = need(msgDatatype, "datatype"); err != nil {
		return later(err)
	}
	typ, err := d.src.datatype(c, 8)
	if err != nil {
		return err
	}
	if d.elem, err = typ.element(); err == nil {
		d.Type = d.elem.typ
	} else if err = later(err); err != nil {
		return err
	}
	// Below this no sum of an offset and a chunk can overflow.
	count, ok := nd.Count(d.Shape...)
	if size, ok2 := nd.Count(append([]int64{int64(d.elem.out)}, d.Shape...)...); !ok || !ok2 || size > 1<<62 {
		return d.src.bad(d.h.addr, "dataset", fmt.Sprintf("shape %d", d.Shape), "at most 2^62 bytes")
	}
	d.count = count

	if c, err = need(msgLayout, "layout"); err != nil {
		return later(err)
	}
	if d.layout, err = d.src.layout(c); err != nil {
		return later(err)
	}
	d.filters = &pipeline{}
	if m, ok := d.h.find(msgFilters); ok {
		if m, err = d.src.resolve(m); err != nil {
			return later(err)
		}
		if d.filters, err = d.src.filters(d.src.cursor(m.data, m.addr, "filter pipeline")); err != nil {
			return err
		}
	}
	if _, ok := d.h.find(msgExternal); ok {
		later(&UnsupportedError{d.src.abs(d.h.addr), "elements in external files"})
	}
	if d.layout.class == layoutVirtual {
		later(&UnsupportedError{d.layout.at, "virtual dataset"})
	}
	if d.layout.class == layoutChunked && d.layout.index > indexSingle {
		later(&UnsupportedError{d.layout.at, fmt.Sprintf("chunk index %d, which h5py writes with libver=\"latest\"", d.layout.index)})
	}
	if err := d.readFill(); err != nil {
		return later(err)
	}
	if d.err == nil && d.count > 0 {
		return later(d.checkLayout())
	}
	return nil
}

// checkLayout compares the layout with shape and element type.
func (d *Dataset) checkLayout() error {
	l := d.layout
	bad := func(what, found, expected string) error { return &FormatError{l.at, what, found, expected} }
	size := d.count * int64(d.elem.stored)
	switch l.class {
	case layoutCompact:
		if int64(len(l.data)) < size {
			return bad("compact layout", fmt.Sprintf("%d bytes", len(l.data)), fmt.Sprintf("%d", size))
		}
	case layoutContiguous:
		if l.addr == undefined {
			return nil
		}
		if l.size >= 0 && l.size < size {
			return bad("contiguous layout", fmt.Sprintf("%d bytes", l.size), fmt.Sprintf("%d", size))
		}
		return d.src.within(l.addr, size, "contiguous elements")
	case layoutChunked:
		if len(l.chunk) != len(d.Shape) {
			return bad("chunked layout", fmt.Sprintf("%d chunk dimensions", len(l.chunk)), fmt.Sprintf("%d", len(d.Shape)))
		}
		if l.elemSize != int64(d.elem.stored) {
			return bad("chunked layout", fmt.Sprintf("elements of %d bytes", l.elemSize), fmt.Sprintf("%d", d.elem.stored))
		}
		if n, ok := nd.Count(append([]int64{l.elemSize}, l.chunk...)...); !ok || n > maxChunk {
			return fmt.Errorf("%w: %w", ErrLimit, bad("chunked layout", fmt.Sprintf("chunks of %d × %d bytes", l.chunk, l.elemSize), fmt.Sprintf("at most %d bytes", maxChunk)))
		}
		return d.filters.check()
	}
	return nil
}

// readFill takes the value of elements that were never written.
func (d *Dataset) readFill() error {
	if m, ok := d.h.find(msgFill); ok {
		m, err := d.src.resolve(m)
		if err != nil {
			return err
		}
		c := d.src.cursor(m.data, m.addr, "fill value")
		version := c.version(1, 3)
		defined := true
		if version == 3 {
			defined = c.u8()&(1<<5) != 0
		} else {
			c.skip(2) // when space is taken and the value written
			isSet := c.u8() != 0
			defined = isSet || version == 1
		}
		return d.setFill(c, defined)
	}
	if m, ok := d.h.find(msgOldFill); ok {
		m, err := d.src.resolve(m)
		if err != nil {
			return err
		}
		return d.setFill(d.src.cursor(m.data, m.addr, "fill value"), true)
	}
	return nil
}

func (d *Dataset) setFill(c *cursor, defined bool) error {
	if c.err != nil || !defined {
		return c.err
	}
	n := int(int32(c.u32())) // -1 stands for none in old files
	if c.err != nil || n <= 0 || d.Type == dtype.Undefined {
		return c.err
	}
	if n != d.elem.stored {
		c.fail(fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d like an element", d.elem.stored))
	}
	d.fill = c.bytes(n)
	return c.err
}

// Len returns the number of elements.
func (d *Dataset) Len() int64 { return d.count }

// Size returns the number of bytes ReadAll yields.
func (d *Dataset) Size() int64 { return d.count * int64(d.elem.out) }

// ReadAll returns all elements in row-major order as little-endian bytes of
// Type. Each chunk is read once. Memory is taken only if the file really
// has about as much, compressed or not; a shape that nearly nothing stands
// behind gives an error that wraps ErrLimit, though ReadAt can read it.
func (d *Dataset) ReadAll() ([]byte, error) {
	p, err := d.readAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.path, err)
	}
	return p, nil
}

// Backed reports, with an error that wraps ErrLimit, a shape that nearly nothing
// in the file stands behind: more than 64 MB of elements that were never
// written. ReadAt makes them up from the fill value; whoever reads a dataset
// from front to back is better off without them.
func (d *Dataset) Backed() error {
	if err := d.checkBacked(); err != nil {
		return fmt.Errorf("%s: %w", d.path, err)
	}
	return nil
}

func (d *Dataset) checkBacked() error {
	if d.err != nil {
		return d.err
	}
	backed := d.Size()
	if d.count > 0 {
		switch d.layout.class {
		case layoutContiguous:
			if d.layout.addr == undefined {
				backed = 0
			}
		case layoutChunked:
			store, err := d.store()
			if err != nil {
				return err
			}
			backed = store.backed() / int64(d.elem.stored) * int64(d.elem.out)
		}
	}
	if d.Size()-backed > maxFill {
		return fmt.Errorf("%w: %w", ErrLimit, d.src.bad(d.h.addr, "dataset",
			fmt.Sprintf("shape %d with about %d bytes of elements in the file", d.Shape, backed),
			fmt.Sprintf("%d less at most %d", d.Size(), maxFill)))
	}
	return nil
}

func (d *Dataset) readAll() ([]byte, error) {
	if err := d.checkBacked(); err != nil {
		return nil, err
	}
	if int64(int(d.Size())) != d.Size() {
		return nil, fmt.Errorf("%w: %d bytes", ErrLimit, d.Size())
	}
	p := make([]byte, d.Size())
	return p, d.readElements(p, 0, d.count, false)
}

// ReadAt fills p with the bytes from off on of what ReadAll would return. It is
// an io.ReaderAt, so that io.NewSectionReader(d, 0, d.Size()) streams the
// elements. Chunks decoded last are kept up to a few megabytes; reading a
// dataset in order therefore decodes each chunk once if a row of chunks fits,
// and otherwise once for every call that touches it. The chunk
// read last is kept whatever its size.
func (d *Dataset) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.readAt(p, off)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: %w", d.path, err)
	}
	return n, err
}

func (d *Dataset) readAt(p []byte, off int64) (int, error) {
	switch {
	case d.err != nil:
		return 0, d.err
	case off < 0:
		return 0, fmt.Errorf("hdf5: read at %d", off)
	case off >= d.Size():
		return 0, io.EOF
	}
	var end error
	if int64(len(p)) > d.Size()-off {
		p, end = p[:d.Size()-off], io.EOF
	}
	size := int64(d.elem.out)
	done := 0
	// part reads some bytes of one element.
	part := func(n int) error {
		var e [8]byte
		first := (off + int64(done)) / size
		if err := d.readElements(e[:size], first, first+1, true); err != nil {
			return err
		}
		copy(p[done:done+n], e[off+int64(done)-first*size:])
		done += n
		return nil
	}
	if odd := off % size; odd != 0 {
		if err := part(int(min(size-odd, int64(len(p))))); err != nil {
			return 0, err
		}
	}
	if n := int64(len(p)-done) / size; n > 0 {
		first := (off + int64(done)) / size
		if err := d.readElements(p[done:done+int(n*size)], first, first+n, true); err != nil {
			return done, err
		}
		done += int(n * size)
	}
	if n := len(p) - done; n > 0 {
		if err := part(n); err != nil {
			return done, err
		}
	}
	return done, end
}

// readElements fills p with the elements from number a up to b.
func (d *Dataset) readElements(p []byte, a, b int64, cache bool) error {
	if a == b {
		return nil
	}
	stored := int64(d.elem.stored)
	raw := p[int64(len(p))-(b-a)*stored:]
	switch d.layout.class {
	case layoutCompact:
		copy(raw, d.layout.data[a*stored:])
	case layoutContiguous:
		if d.layout.addr == undefined {
			d.fillIn(raw)
		} else if err := d.src.readInto(raw, d.layout.addr+uint64(a*stored), "contiguous elements"); err != nil {
			return err
		}
	case layoutChunked:
		store, err := d.store()
		if err != nil {
			return err
		}
		if err := store.read(raw, a, b, cache); err != nil {
			return err
		}
	}
	d.elem.convert(p)
	return nil
}

// fillIn sets stored elements to the fill value.
func (d *Dataset) fillIn(raw []byte) {
	if d.fill == nil {
		clear(raw)
		return
	}
	for n := copy(raw, d.fill); n < len(raw); n *= 2 {
		copy(raw[n:], raw[:n])
	}
}

// store returns the chunks, reading their index when first asked.
func (d *Dataset) store() (*chunkStore, error) {
	d.chunkOnce.Do(func() {
		d.chunks, d.chunkErr = d.openChunks()
	})
	return d.chunks, d.chunkErr
}
