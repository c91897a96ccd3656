package h5

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// Storage classes of a layout message.
const (
	layoutCompact    = 0
	layoutContiguous = 1
	layoutChunked    = 2
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

	elem   element
	count  int64 // elements
	layout int
	data   []byte  // compact: the elements
	addr   uint64  // contiguous: the elements; chunked: the index
	chunk  []int64 // chunked: elements per dimension
	steps  []filter
	fill   []byte // an element as stored; nil: zero
	err    error  // why elements cannot be read

	chunkOnce sync.Once
	chunks    *chunkStore
	chunkErr  error
}

// init decodes the messages of the header. What is merely unsupported is kept
// for the time when elements are wanted.
func (d *Dataset) init() error {
	err := d.decode()
	if u := (*UnsupportedError)(nil); errors.As(err, &u) {
		d.err = err
		return nil
	}
	return err
}

func (d *Dataset) decode() error {
	need := func(typ int, what string) *cursor {
		m, ok := d.h.find(typ)
		c := d.src.message(m, what)
		if !ok {
			c.err = d.src.bad(d.h.addr, "dataset", "no "+what+" message", "one")
		}
		return c
	}
	var err error
	if d.Shape, err = decodeSpace(need(msgDataspace, "dataspace")); err != nil {
		return err
	}
	if d.elem, err = decodeType(need(msgDatatype, "datatype")); err != nil {
		return err
	}
	d.Type = d.elem.typ
	// Below this no sum of an offset and a chunk can overflow.
	size, ok := nd.Count(append([]int64{int64(d.elem.size)}, d.Shape...)...)
	if !ok || size > 1<<62 {
		return d.src.bad(d.h.addr, "dataset", fmt.Sprintf("shape %d", d.Shape), "at most 2^62 bytes")
	}
	d.count = size / int64(d.elem.size)
	if _, ok := d.h.find(msgExternal); ok {
		return &UnsupportedError{int64(d.h.addr), "elements in external files"}
	}
	if m, ok := d.h.find(msgFill); ok {
		if err := d.readFill(d.src.cursor(m.data, m.addr, "fill value")); err != nil {
			return err
		}
	}
	if m, ok := d.h.find(msgFilters); ok {
		if d.steps, err = filters(d.src.cursor(m.data, m.addr, "filter pipeline")); err != nil {
			return err
		}
	}
	return d.readLayout(need(msgLayout, "layout"), size)
}

// readLayout decodes a layout message and compares it with shape and element type.
func (d *Dataset) readLayout(c *cursor, size int64) error {
	if version := c.version(1, 5); c.err == nil && version != 3 {
		return &UnsupportedError{c.at, fmt.Sprintf("layout message version %d, %s", version, latest)}
	}
	d.layout = c.u8()
	bad := func(what, found string, expected any) error {
		return &FormatError{c.at, what, found, fmt.Sprint(expected)}
	}
	switch d.layout {
	case layoutCompact:
		d.data = c.bytes(c.u16())
		if c.err == nil && int64(len(d.data)) < size {
			return bad("compact layout", fmt.Sprintf("%d bytes", len(d.data)), size)
		}
	case layoutContiguous:
		var stored uint64
		d.addr, stored = c.u64(), c.u64()
		if c.err != nil || d.addr == undefined || size == 0 {
			break
		}
		if stored < uint64(size) {
			return bad("contiguous layout", fmt.Sprintf("%d bytes", stored), size)
		}
		return d.src.within(d.addr, size, "contiguous elements")
	case layoutChunked:
		n := c.u8() - 1 // the last is the size of an element
		d.addr = c.u64()
		for range n {
			d.chunk = append(d.chunk, int64(c.u32()))
		}
		elem := int64(c.u32())
		if c.err != nil || size == 0 {
			break
		}
		if n != len(d.Shape) {
			return bad("chunked layout", fmt.Sprintf("%d chunk dimensions", n), len(d.Shape))
		}
		if elem != int64(d.elem.size) {
			return bad("chunked layout", fmt.Sprintf("elements of %d bytes", elem), d.elem.size)
		}
		if n, ok := nd.Count(append([]int64{elem}, d.chunk...)...); !ok || n == 0 || n > maxChunk {
			return fmt.Errorf("%w: %w", ErrLimit, bad("chunked layout", fmt.Sprintf("chunks of %d × %d bytes", d.chunk, elem), fmt.Sprintf("1 to %d bytes", maxChunk)))
		}
	default:
		c.fail(fmt.Sprintf("layout class %d", d.layout), "0 to 2")
	}
	return c.err
}

// readFill takes the value of elements that were never written.
func (d *Dataset) readFill(c *cursor) error {
	version := c.version(1, 3)
	defined := true
	if version == 3 {
		defined = c.u8()&(1<<5) != 0
	} else {
		c.skip(2) // when space is taken and the value written
		defined = c.u8() != 0 || version == 1
	}
	if c.err != nil || !defined {
		return c.err
	}
	n := int(int32(c.u32())) // -1 stands for none
	if c.err != nil || n <= 0 {
		return c.err
	}
	if n != d.elem.size {
		c.fail(fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d like an element", d.elem.size))
	}
	d.fill = c.bytes(n)
	return c.err
}

// Len returns the number of elements.
func (d *Dataset) Len() int64 { return d.count }

// Size returns the number of bytes ReadAll yields.
func (d *Dataset) Size() int64 { return d.count * int64(d.elem.size) }

// ReadAll returns all elements in row-major order as little-endian bytes of
// Type. Each chunk is read once. Memory is taken only if the file really
// has about as much, compressed or not; a shape that nearly nothing stands
// behind gives an error that wraps ErrLimit, though ReadAt can read it.
func (d *Dataset) ReadAll() ([]byte, error) {
	if err := d.Backed(); err != nil {
		return nil, err
	}
	if d.Size() > math.MaxInt {
		return nil, fmt.Errorf("%s: %w: %d bytes", clip(d.path), ErrLimit, d.Size())
	}
	p := make([]byte, d.Size())
	if err := d.read(p, 0, false); err != nil {
		return nil, fmt.Errorf("%s: %w", clip(d.path), err)
	}
	return p, nil
}

// Backed reports, with an error that wraps ErrLimit, a shape that nearly nothing
// in the file stands behind: more than 64 MB of elements that were never
// written. ReadAt makes them up from the fill value; whoever reads a dataset
// from front to back is better off without them.
func (d *Dataset) Backed() error {
	err := d.err
	backed := d.Size()
	if err == nil && d.layout == layoutContiguous && d.addr == undefined {
		backed = 0
	}
	if err == nil && d.layout == layoutChunked && d.count > 0 {
		var store *chunkStore
		if store, err = d.store(); err == nil {
			backed = min(int64(len(store.refs))*store.bytes, d.Size())
		}
	}
	if err == nil && d.Size()-backed > maxFill {
		err = fmt.Errorf("%w: %w", ErrLimit, d.src.bad(d.h.addr, "dataset",
			fmt.Sprintf("shape %d with about %d bytes of elements in the file", d.Shape, backed), fmt.Sprintf("%d less at most %d", d.Size(), maxFill)))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", clip(d.path), err)
	}
	return nil
}

// ReadAt fills p with the bytes from off on of what ReadAll would return. It is
// an io.ReaderAt, so that io.NewSectionReader(d, 0, d.Size()) streams the
// elements. Chunks decoded last are kept up to a few megabytes; reading a
// dataset in order therefore decodes each chunk once if a row of chunks fits,
// and otherwise once for every call that touches it. The chunk
// read last is kept whatever its size.
func (d *Dataset) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case d.err != nil:
		return 0, fmt.Errorf("%s: %w", clip(d.path), d.err)
	case off < 0:
		return 0, fmt.Errorf("hdf5: %s: read at %d", d.path, off)
	case off >= d.Size():
		return 0, io.EOF
	}
	var end error
	if int64(len(p)) > d.Size()-off {
		p, end = p[:d.Size()-off], io.EOF
	}
	size := int64(d.elem.size)
	whole, first := p, off/size
	if odd := off % size; odd != 0 || int64(len(p))%size != 0 { // elements are read whole
		whole = make([]byte, (odd+int64(len(p))+size-1)/size*size)
		defer func() { copy(p, whole[odd:]) }()
	}
	if err := d.read(whole, first, true); err != nil {
		return 0, fmt.Errorf("%s: %w", clip(d.path), err)
	}
	return len(p), end
}

// read fills p with the elements from number first on.
func (d *Dataset) read(p []byte, first int64, cache bool) error {
	if len(p) == 0 {
		return nil
	}
	at := first * int64(d.elem.size)
	switch {
	case d.layout == layoutCompact:
		copy(p, d.data[at:])
	case d.layout == layoutChunked:
		store, err := d.store()
		if err == nil {
			err = store.read(p, first, cache)
		}
		if err != nil {
			return err
		}
	case d.addr == undefined:
		d.fillIn(p)
	default:
		if err := d.src.readInto(p, d.addr+uint64(at), "contiguous elements"); err != nil {
			return err
		}
	}
	d.elem.convert(p)
	return nil
}

// fillIn sets stored elements to the fill value.
func (d *Dataset) fillIn(p []byte) {
	clear(p)
	if d.fill == nil {
		return
	}
	for n := copy(p, d.fill); n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}

// store returns the chunks, reading their index when first asked.
func (d *Dataset) store() (*chunkStore, error) {
	d.chunkOnce.Do(func() {
		d.chunks, d.chunkErr = d.openChunks()
	})
	return d.chunks, d.chunkErr
}
