package h5

import (
	"fmt"
	"math/bits"
)

// fractalHeap is the storage of links and attributes of objects that have many.
//
// Its address space of objects is a table of blocks: width columns, and rows
// whose block size is that of the first row twice and then doubles. Blocks up
// to maxDirect bytes are direct and hold objects (a block's own header counts
// as space); larger ones are indirect, tables themselves.
type fractalHeap struct {
	src  *source
	addr uint64

	idLen      int
	offsetLen  int // bytes of an offset in the heap's space
	lengthLen  int // bytes of a managed object's length
	checksums  bool
	width      uint64
	start      uint64 // block size of the first rows
	maxDirect  uint64
	directRows int // rows of direct blocks in an indirect block
	root       uint64
	rootRows   int // 0: the root is a direct block
	hugeTree   uint64
	hugeIDLen  int
	hugeDirect bool
	seen       *visits
	directs    map[uint64][]byte     // by address
	indirects  map[uint64][]uint64   // by address
	huge       map[uint64]hugeObject // by id; nil: not yet read
}

// hugeObject is the place of an object too large for the heap's blocks.
type hugeObject struct{ addr, length uint64 }

// fractalHeap reads the heap header at addr.
func (s *source) fractalHeap(addr uint64) (*fractalHeap, error) {
	const what = "fractal heap header"
	n := int64(4 + 1 + 2 + 2 + 1 + 4 + 12*s.lenLen + 3*s.offLen + 2 + 2 + 2 + 2 + 4)
	// The filter length stands in the fixed part that precedes what depends on it.
	c, err := s.block(addr, 9, "FRHP", what, false)
	if err != nil {
		return nil, err
	}
	c.version(0, 0)
	c.skip(2)
	if filters := c.u16(); c.err == nil && filters != 0 {
		return nil, &UnsupportedError{c.at, "fractal heap with filters"}
	}
	if c, err = s.block(addr, n, "FRHP", what, true); err != nil {
		return nil, err
	}
	c.skip(1)
	h := &fractalHeap{src: s, addr: addr, seen: s.visits(), directs: map[uint64][]byte{}, indirects: map[uint64][]uint64{}}
	h.idLen = c.u16()
	c.skip(2)
	h.checksums = c.u8()&2 != 0
	maxManaged := uint64(c.u32())
	c.length() // next huge id
	h.hugeTree = c.addr()
	c.length() // free space
	c.addr()   // free space manager
	c.skip(8 * s.lenLen)
	h.width = uint64(c.u16())
	h.start = c.length()
	h.maxDirect = c.length()
	heapBits := c.u16()
	c.skip(2) // rows the root indirect block starts with
	h.root = c.addr()
	h.rootRows = c.u16()
	if c.err != nil {
		return nil, c.err
	}

	power := func(v uint64) bool { return v != 0 && v&(v-1) == 0 }
	switch {
	case !power(h.width), !power(h.start), !power(h.maxDirect), h.maxDirect < h.start, h.maxDirect > 1<<32,
		heapBits > 64, heapBits == 0:
		return nil, s.bad(addr, what, fmt.Sprintf("width %d, blocks of %d to %d, %d address bits",
			h.width, h.start, h.maxDirect, heapBits), "powers of two in order")
	case h.rootRows > 64:
		return nil, s.bad(addr, what, fmt.Sprintf("%d rows", h.rootRows), "at most 64")
	}
	h.offsetLen = (heapBits + 7) / 8
	h.lengthLen = min((bits.Len64(h.maxDirect)-1+7)/8, limitLen(maxManaged))
	h.directRows = bits.TrailingZeros64(h.maxDirect) - bits.TrailingZeros64(h.start) + 2
	// Huge objects are named by place if the id has room for that, else by number.
	h.hugeDirect = h.idLen-1 >= s.offLen+s.lenLen
	h.hugeIDLen = min(h.idLen-1, 8)
	return h, nil
}

// object returns the bytes of the object with a heap id and their address.
func (h *fractalHeap) object(id []byte) ([]byte, uint64, error) {
	const what = "fractal heap object id"
	c := h.src.cursor(id, h.addr, what)
	lead := c.u8()
	if c.err != nil {
		return nil, 0, c.err
	}
	if lead>>6 != 0 {
		return nil, 0, h.src.bad(h.addr, what, fmt.Sprintf("version %d", lead>>6), "0")
	}
	switch lead >> 4 & 3 {
	case 0:
		off, n := c.uint(h.offsetLen), c.uint(h.lengthLen)
		if c.err != nil {
			return nil, 0, c.err
		}
		return h.managed(off, n)
	case 1:
		return h.hugeObject(c)
	case 2:
		n := lead&15 + 1
		if h.idLen-1 > 17 { // longer ids have room for longer objects
			n = (lead&15)<<8 + c.u8() + 1
		}
		b := c.bytes(n)
		return b, h.addr, c.err
	}
	return nil, 0, h.src.bad(h.addr, what, "type 3", "0 to 2")
}

// managed returns the object of n bytes at an offset of the heap's space.
func (h *fractalHeap) managed(off, n uint64) ([]byte, uint64, error) {
	outside := func() ([]byte, uint64, error) {
		return nil, 0, h.src.bad(h.addr, "fractal heap", fmt.Sprintf("object of %d bytes at heap offset %d", n, off),
			"one inside a block")
	}
	block, rows := h.root, h.rootRows
	base, size := uint64(0), h.start
	if rows == 0 && block != undefined {
		return h.inDirect(block, base, size, off, n, outside)
	}
	for block != undefined {
		children, err := h.indirect(block, base, rows)
		if err != nil {
			return nil, 0, err
		}
		row, col, at := h.locate(off - base)
		if row >= rows {
			break
		}
		base += at
		size = h.rowSize(row)
		block = children[row*int(h.width)+col]
		if row < h.directRows {
			if block == undefined {
				break
			}
			return h.inDirect(block, base, size, off, n, outside)
		}
		// An indirect block spans size bytes, which tells its rows. That is fewer
		// than the parent's, so the descent ends.
		rows = bits.TrailingZeros64(size) - bits.TrailingZeros64(h.start*h.width) + 1
		if rows <= 0 || rows > row {
			break
		}
	}
	return outside()
}

// rowSize returns the size of the blocks in a row.
func (h *fractalHeap) rowSize(row int) uint64 {
	if row == 0 {
		return h.start
	}
	return h.start << (row - 1)
}

// locate returns row and column of the block that holds an offset, relative to
// the indirect block, and where that block begins.
func (h *fractalHeap) locate(off uint64) (row, col int, at uint64) {
	first := h.start * h.width // bytes of a row of the smallest blocks
	row = bits.Len64(off / first)
	rowAt := uint64(0)
	if row > 0 {
		rowAt = first << (row - 1)
	}
	size := h.rowSize(row)
	col = int((off - rowAt) / size)
	return row, col, rowAt + uint64(col)*size
}

// inDirect returns an object of the direct block at addr, which covers size
// bytes from base.
func (h *fractalHeap) inDirect(addr, base, size, off, n uint64, outside func() ([]byte, uint64, error)) ([]byte, uint64, error) {
	b, ok := h.directs[addr]
	if !ok {
		var err error
		if b, err = h.direct(addr, base, size); err != nil {
			return nil, 0, err
		}
		h.directs[addr] = b
	}
	from := off - base
	if from > uint64(len(b)) || n > uint64(len(b))-from {
		return outside()
	}
	return b[from : from+n : from+n], addr + from, nil
}

// direct reads the direct block at addr.
func (h *fractalHeap) direct(addr, base, size uint64) ([]byte, error) {
	const what = "fractal heap direct block"
	if err := h.seen.enter(addr, int64(size), what); err != nil {
		return nil, err
	}
	b, err := h.src.read(addr, int64(size), what)
	if err != nil {
		return nil, err
	}
	c := h.src.cursor(b, addr, what)
	h.lead(c, "FHDB", base)
	if h.checksums {
		at := c.pos
		stored := c.u32()
		if c.err == nil && h.src.verify {
			// The sum was taken with its own place zero.
			plain := append([]byte(nil), b...)
			copy(plain[at:], []byte{0, 0, 0, 0})
			if sum := lookup3(plain); sum != stored {
				c.pos = at
				c.fail(fmt.Sprintf("checksum %#08x", stored), fmt.Sprintf("%#08x", sum))
			}
		}
	}
	return b, c.err
}

// lead checks what every block of the heap begins with.
func (h *fractalHeap) lead(c *cursor, sig string, base uint64) {
	c.signature(sig)
	c.version(0, 0)
	if heap := c.addr(); c.err == nil && heap != h.addr {
		c.fail(fmt.Sprintf("a block of the heap at %#x", heap), fmt.Sprintf("%#x", h.addr))
	}
	if off := c.uint(h.offsetLen); c.err == nil && off != base {
		c.fail(fmt.Sprintf("block offset %d", off), fmt.Sprint(base))
	}
}

// indirect returns the addresses of the children of the indirect block at addr.
func (h *fractalHeap) indirect(addr, base uint64, rows int) ([]uint64, error) {
	if list, ok := h.indirects[addr]; ok {
		if len(list) != rows*int(h.width) {
			return nil, h.src.bad(addr, "fractal heap indirect block", "a second use with other rows", "one use")
		}
		return list, nil
	}
	const what = "fractal heap indirect block"
	count := int64(rows) * int64(h.width)
	n := int64(4+1+h.src.offLen+h.offsetLen+4) + count*int64(h.src.offLen)
	if err := h.seen.enter(addr, n, what); err != nil {
		return nil, err
	}
	b, err := h.src.read(addr, n, what)
	if err != nil {
		return nil, err
	}
	if err := h.src.checksum(b, addr, what); err != nil {
		return nil, err
	}
	c := h.src.cursor(b, addr, what)
	h.lead(c, "FHIB", base)
	list := make([]uint64, 0, count)
	for range count {
		list = append(list, c.addr())
	}
	if c.err != nil {
		return nil, c.err
	}
	h.indirects[addr] = list
	return list, nil
}

// hugeObject returns an object that lies outside the heap's blocks.
func (h *fractalHeap) hugeObject(c *cursor) ([]byte, uint64, error) {
	var o hugeObject
	if h.hugeDirect {
		o = hugeObject{c.addr(), c.length()}
	} else {
		id := c.uint(h.hugeIDLen)
		if c.err == nil && h.huge == nil {
			if err := h.readHuge(); err != nil {
				return nil, 0, err
			}
		}
		var ok bool
		if o, ok = h.huge[id]; !ok && c.err == nil {
			return nil, 0, h.src.bad(h.addr, "fractal heap", fmt.Sprintf("no huge object %d", id), "the object referred to")
		}
	}
	if c.err != nil {
		return nil, 0, c.err
	}
	const what = "huge heap object"
	if o.length > uint64(h.src.size) {
		return nil, 0, h.src.bad(o.addr, what, fmt.Sprintf("%d bytes", o.length),
			fmt.Sprintf("a range inside the file of %d bytes", h.src.size))
	}
	b, err := h.src.read(o.addr, int64(o.length), what)
	return b, o.addr, err
}

// readHuge reads the index of huge objects.
func (h *fractalHeap) readHuge() error {
	huge := map[uint64]hugeObject{}
	if h.hugeTree != undefined {
		err := h.src.btree2(h.hugeTree, btreeHugeIndirect, func(rec *cursor) error {
			o := hugeObject{rec.addr(), rec.length()}
			huge[rec.length()] = o
			return rec.err
		})
		if err != nil {
			return err
		}
	}
	h.huge = huge
	return nil
}
