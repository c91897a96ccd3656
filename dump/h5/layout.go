package h5

import (
	"fmt"
)

// Storage classes of a layout message.
const (
	layoutCompact    = 0
	layoutContiguous = 1
	layoutChunked    = 2
	layoutVirtual    = 3
)

// Chunk indexes. The first is that of layout messages before version 4, which
// are what h5py writes unless it is asked for the latest format; of those of
// version 4 a dataset of one chunk is read.
const (
	indexBtree1 = 0
	indexSingle = 1
	lastIndex   = 5
)

// layout says where a dataset's elements are.
type layout struct {
	class int
	at    int64 // file offset of the message

	data []byte // compact: the elements
	addr uint64 // contiguous: the elements; chunked: the index
	size int64  // contiguous: bytes stored; -1 if the message does not tell

	chunk       []int64 // chunked: elements per dimension
	elemSize    int64   // chunked: bytes of an element
	index       int
	singleSize  int64  // single chunk with filters: stored bytes
	singleMask  uint32 // and the filters skipped
	singleFilts bool
}

// layout decodes a layout message, versions 1 to 4, of a dataset.
func (s *source) layout(c *cursor) (*layout, error) {
	l := &layout{at: c.at, addr: undefined, size: -1}
	version := c.u8()
	if c.err == nil && version == 5 {
		return nil, &UnsupportedError{l.at, "layout message version 5"}
	}
	if c.err == nil && (version < 1 || version > 4) {
		c.pos--
		c.fail(fmt.Sprintf("version %d", version), "1 to 4")
	}
	if version < 3 {
		s.layout1(c, l)
	} else {
		l.class = c.u8()
		switch l.class {
		case layoutCompact:
			l.data = c.bytes(c.u16())
		case layoutContiguous:
			l.addr = c.addr()
			l.setSize(c)
		case layoutChunked:
			if version == 3 {
				n := c.u8()
				l.addr = c.addr()
				l.setChunk(c, n, 4)
			} else {
				l.chunked4(c)
			}
		case layoutVirtual: // reported when elements are wanted
		default:
			c.fail(fmt.Sprintf("layout class %d", l.class), "0 to 3")
		}
	}
	return l, c.err
}

// layout1 decodes versions 1 and 2, which state dimensions for every class.
func (s *source) layout1(c *cursor, l *layout) {
	n := c.u8()
	l.class = c.u8()
	c.skip(5)
	if l.class != layoutCompact {
		l.addr = c.addr()
	}
	switch l.class {
	case layoutCompact:
		c.skip(4 * n)
		l.data = c.bytes(int(c.u32()))
	case layoutContiguous:
		c.skip(4 * n)
	case layoutChunked:
		l.setChunk(c, n, 4)
	default:
		c.fail(fmt.Sprintf("layout class %d", l.class), "0 to 2")
	}
}

func (l *layout) setSize(c *cursor) {
	n := c.length()
	if l.size = int64(n); l.size < 0 {
		c.fail(fmt.Sprintf("%d bytes", n), "less than 2^63")
	}
}

// setChunk takes n dimensions of the given width; the last is the element size.
func (l *layout) setChunk(c *cursor, n, width int) {
	if c.err == nil && (n < 1 || n > maxRank+1) {
		c.fail(fmt.Sprintf("%d chunk dimensions", n), fmt.Sprintf("1 to %d with the element size", maxRank+1))
	}
	if c.err != nil {
		return
	}
	for range n {
		d := int64(c.uint(width))
		if c.err == nil && d <= 0 {
			c.fail(fmt.Sprintf("chunk dimension %d", d), "at least 1")
		}
		l.chunk = append(l.chunk, d)
	}
	if c.err == nil {
		l.elemSize = l.chunk[n-1]
		l.chunk = l.chunk[:n-1]
	}
}

// chunked4 decodes a version 4 chunked layout.
func (l *layout) chunked4(c *cursor) {
	flags := c.u8()
	n, width := c.u8(), c.u8()
	if c.err == nil && (width < 1 || width > 8) {
		c.fail(fmt.Sprintf("chunk dimensions of %d bytes", width), "1 to 8")
	}
	l.setChunk(c, n, width)
	l.index = c.u8()
	switch {
	case c.err != nil:
	case l.index < indexSingle || l.index > lastIndex:
		c.fail(fmt.Sprintf("chunk index type %d", l.index), fmt.Sprintf("%d to %d", indexSingle, lastIndex))
	case l.index != indexSingle: // reported when elements are wanted
	default:
		if flags&2 != 0 {
			l.singleFilts = true
			n := c.length()
			if l.singleSize = int64(n); l.singleSize < 0 {
				c.fail(fmt.Sprintf("chunk of %d bytes", n), "less than 2^63")
			}
			l.singleMask = c.u32()
		}
		l.addr = c.addr()
	}
}
