package h5

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"precision/dump/dtype"
	"precision/internal/must"
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
func (d *Dataset) init() {
	err := must.Try(d.decode)
	if u := (*UnsupportedError)(nil); errors.As(err, &u) {
		d.err, err = err, nil
	}
	must.Do(err)
}

func (d *Dataset) decode() {
	need := func(typ int, what string) *cursor {
		m, ok := d.h.find(typ)
		if !ok {
			d.src.refuse(d.h.addr, "dataset", "no "+what+" message", "one")
		}
		return d.src.message(m, what)
	}
	d.Shape = decodeSpace(need(msgDataspace, "dataspace"))
	d.elem = decodeType(need(msgDatatype, "datatype"))
	d.Type = d.elem.typ
	// Below this no sum of an offset and a chunk can overflow.
	size, ok := nd.Count(append([]int64{int64(d.elem.size)}, d.Shape...)...)
	if !ok || size > 1<<62 {
		d.src.refuse(d.h.addr, "dataset", fmt.Sprintf("shape %d", d.Shape), "at most 2^62 bytes")
	}
	d.count = size / int64(d.elem.size)
	if _, ok := d.h.find(msgExternal); ok {
		unsupported(int64(d.h.addr), "elements in external files")
	}
	if m, ok := d.h.find(msgFill); ok {
		d.readFill(d.src.cursor(m.data, m.addr, "fill value"))
	}
	if m, ok := d.h.find(msgFilters); ok {
		d.steps = filters(d.src.cursor(m.data, m.addr, "filter pipeline"))
	}
	d.readLayout(need(msgLayout, "layout"), size)
}

// readLayout decodes a layout message and compares it with shape and element type.
func (d *Dataset) readLayout(c *cursor, size int64) {
	if version := c.version(1, 5); version != 3 {
		unsupported(c.at, "layout message version %d, %s", version, latest)
	}
	d.layout = c.u8()
	bad := func(what, found string, expected any) error {
		return &FormatError{c.at, what, found, fmt.Sprint(expected)}
	}
	switch d.layout {
	case layoutCompact:
		d.data = c.bytes(c.u16())
		if int64(len(d.data)) < size {
			must.Do(bad("compact layout", fmt.Sprintf("%d bytes", len(d.data)), size))
		}
	case layoutContiguous:
		var stored uint64
		d.addr, stored = c.u64(), c.u64()
		if d.addr == undefined || size == 0 {
			break
		}
		if stored < uint64(size) {
			must.Do(bad("contiguous layout", fmt.Sprintf("%d bytes", stored), size))
		}
		d.src.within(d.addr, size, "contiguous elements")
	case layoutChunked:
		n := c.u8() - 1 // the last is the size of an element
		d.addr = c.u64()
		for range n {
			d.chunk = append(d.chunk, int64(c.u32()))
		}
		elem := int64(c.u32())
		if size == 0 {
			break
		}
		if n != len(d.Shape) {
			must.Do(bad("chunked layout", fmt.Sprintf("%d chunk dimensions", n), len(d.Shape)))
		}
		if elem != int64(d.elem.size) {
			must.Do(bad("chunked layout", fmt.Sprintf("elements of %d bytes", elem), d.elem.size))
		}
		if n, ok := nd.Count(append([]int64{elem}, d.chunk...)...); !ok || n == 0 || n > maxChunk {
			must.Do(fmt.Errorf("%w: %w", ErrLimit, bad("chunked layout", fmt.Sprintf("chunks of %d × %d bytes", d.chunk, elem), fmt.Sprintf("1 to %d bytes", maxChunk))))
		}
	default:
		c.fail(fmt.Sprintf("layout class %d", d.layout), "0 to 2")
	}
}

// readFill takes the value of elements that were never written.
func (d *Dataset) readFill(c *cursor) {
	version := c.version(1, 3)
	defined := true
	if version == 3 {
		defined = c.u8()&(1<<5) != 0
	} else {
		c.skip(2) // when space is taken and the value written
		defined = c.u8() != 0 || version == 1
	}
	if !defined {
		return
	}
	n := int(int32(c.u32())) // -1 stands for none
	if n <= 0 {
		return
	}
	if n != d.elem.size {
		c.fail(fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d like an element", d.elem.size))
	}
	d.fill = c.bytes(n)
}

// Len returns the number of elements.
func (d *Dataset) Len() int64 { return d.count }

// Size returns the number of bytes ReadAll yields.
func (d *Dataset) Size() int64 { return d.count * int64(d.elem.size) }

// ReadAll returns all elements in row-major order as little-endian bytes of
// Type. Each chunk is read once. Memory is taken only if the file really
// has about as much, compressed or not; a shape that nearly nothing stands
// behind gives an error that wraps ErrLimit, though ReadAt can read it.
func (d *Dataset) ReadAll() (_ []byte, err error) {
	defer must.Catch(&err)
	must.Do(d.Backed())
	if d.Size() > math.MaxInt {
		return nil, fmt.Errorf("%s: %w: %d bytes", clip(d.path), ErrLimit, d.Size())
	}
	p := make([]byte, d.Size())
	must.Do(d.read(p, 0, false))
	return p, nil
}

// Backed reports, with an error that wraps ErrLimit, a shape that nearly nothing
// in the file stands behind: more than 64 MB of elements that were never
// written. ReadAt makes them up from the fill value; whoever reads a dataset
// from front to back is better off without them.
func (d *Dataset) Backed() error {
	return named(d.path, must.Try(func() {
		must.Do(d.err)
		backed := d.Size()
		if d.layout == layoutContiguous && d.addr == undefined {
			backed = 0
		}
		if d.layout == layoutChunked && d.count > 0 {
			store := d.store()
			backed = min(int64(len(store.refs))*store.bytes, d.Size())
		}
		if d.Size()-backed > maxFill {
			must.Do(fmt.Errorf("%w: %w", ErrLimit, d.src.bad(d.h.addr, "dataset",
				fmt.Sprintf("shape %d with about %d bytes of elements in the file", d.Shape, backed), fmt.Sprintf("%d less at most %d", d.Size(), maxFill))))
		}
	}))
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
		return 0, named(d.path, d.err)
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
		return 0, err
	}
	return len(p), end
}

// read fills p with the elements from number first on.
func (d *Dataset) read(p []byte, first int64, cache bool) error {
	if len(p) == 0 {
		return nil
	}
	at := first * int64(d.elem.size)
	return named(d.path, must.Try(func() {
		switch {
		case d.layout == layoutCompact:
			copy(p, d.data[at:])
		case d.layout == layoutChunked:
			d.store().read(p, first, cache)
		case d.addr == undefined:
			d.fillIn(p)
		default:
			d.src.readInto(p, d.addr+uint64(at), "contiguous elements")
		}
		d.elem.convert(p)
	}))
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
func (d *Dataset) store() *chunkStore {
	d.chunkOnce.Do(func() {
		d.chunkErr = must.Try(func() { d.chunks = d.openChunks() })
	})
	must.Do(d.chunkErr)
	return d.chunks
}
