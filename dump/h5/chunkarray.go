package h5

import (
	"fmt"
	"math/bits"
)

// fixedArray reads the index of datasets whose dimensions are all limited: an
// entry for every chunk the limits allow, in one block. Beyond a number of
// entries the block is divided into pages, each with a checksum; a bitmap tells
// which of them were ever written.
func (r *indexReader) fixedArray() error {
	const what = "fixed array"
	head := r.d.layout.addr
	c, err := r.src.block(head, int64(4+1+1+1+1+r.src.lenLen+r.src.offLen+4), "FAHD", what, true)
	if err != nil {
		return err
	}
	c.version(0, 0)
	r.client(c)
	pageBits := c.u8()
	count := c.length()
	blockAddr := c.addr()
	if c.err != nil || blockAddr == undefined {
		return c.err
	}
	per, total, err := r.limits()
	if err != nil {
		return err
	}
	if count != total || pageBits > 62 {
		return r.src.bad(head, what, fmt.Sprintf("%d entries, pages of 2^%d", count, pageBits),
			fmt.Sprintf("%d entries, pages of at most 2^62", total))
	}
	if count > uint64(r.src.size)*8 { // not even a bitmap of pages could have room
		return r.src.bad(head, what, fmt.Sprintf("%d entries", count), "what a file of this size holds")
	}

	at := make([]uint64, len(per))
	visit := func(n uint64, c *cursor) error {
		addr, stored, mask := r.entry(c)
		if c.err != nil {
			return c.err
		}
		coordinates(at, n, per)
		return r.add(at, addr, stored, mask)
	}
	entryLen := uint64(r.entryLen())
	lead := uint64(4 + 1 + 1 + r.src.offLen)
	page := uint64(1) << pageBits
	if count <= page {
		c, err := r.block(blockAddr, lead+count*entryLen+4, "FADB", head)
		if err != nil {
			return err
		}
		for n := range count {
			if err := visit(n, c); err != nil {
				return err
			}
		}
		return nil
	}
	pages := (count + page - 1) / page
	mapLen := (pages + 7) / 8
	if c, err = r.block(blockAddr, lead+mapLen+4, "FADB", head); err != nil {
		return err
	}
	written := c.bytes(int(mapLen))
	next := blockAddr + lead + mapLen + 4
	for p := range pages {
		n := min(page, count-p*page)
		if written[p/8]&(0x80>>(p%8)) != 0 {
			err := r.page(next, n, func(i uint64, c *cursor) error { return visit(p*page+i, c) })
			if err != nil {
				return err
			}
		}
		next += page*entryLen + 4
	}
	return nil
}

// client takes the fields that say what an array's entries are.
func (r *indexReader) client(c *cursor) {
	want := 0
	if r.filtered {
		want = 1
	}
	if id := c.u8(); c.err == nil && id != want {
		c.fail(fmt.Sprintf("entries of client %d", id), fmt.Sprint(want))
	}
	if n := c.u8(); c.err == nil && n != r.entryLen() {
		c.fail(fmt.Sprintf("entries of %d bytes", n), fmt.Sprint(r.entryLen()))
	}
}

// block reads a block of an array of n bytes, which must belong to the header
// at head, up to what follows the header's address.
func (r *indexReader) block(addr, n uint64, sig string, head uint64) (*cursor, error) {
	const what = "chunk array block"
	if n > uint64(r.src.size) {
		return nil, r.src.bad(addr, what, fmt.Sprintf("%d bytes claimed", n),
			fmt.Sprintf("a range inside the file of %d bytes", r.src.size))
	}
	c, err := r.src.block(addr, int64(n), sig, what, true)
	if err != nil {
		return nil, err
	}
	c.version(0, 0)
	c.skip(1) // client, as in the header
	if got := c.addr(); c.err == nil && got != head {
		c.fail(fmt.Sprintf("a block of the array at %#x", got), fmt.Sprintf("%#x", head))
	}
	return c, c.err
}

// page reads n entries that are followed by a checksum.
func (r *indexReader) page(addr, n uint64, visit func(i uint64, c *cursor) error) error {
	const what = "chunk array page"
	c, err := r.src.block(addr, int64(n)*int64(r.entryLen())+4, "", what, true)
	if err != nil {
		return err
	}
	for i := range n {
		if err := visit(i, c); err != nil {
			return err
		}
	}
	return nil
}

// extArray is the header of an extensible array: an index block with the first
// entries, the addresses of the first data blocks, and those of super blocks,
// which hold the addresses of the others.
//
// Super block u stands for 2^(u/2) data blocks of 2^((u+1)/2) times minEntries
// entries each; the data blocks of the first few are referred to by the index
// block itself.
type extArray struct {
	r          *indexReader
	head       uint64
	seen       *visits
	indexLen   uint64 // entries in the index block
	minEntries uint64
	pageLen    uint64
	offsetLen  int
	visit      func(n uint64, c *cursor) error
}

// extensibleArray reads the index of datasets with one unlimited dimension. The
// array is numbered as if that dimension were the first.
func (r *indexReader) extensibleArray() error {
	const what = "extensible array"
	per, _, err := r.limits()
	if err != nil {
		return err
	}
	free := -1
	for d, n := range per {
		if n == 0 {
			if free >= 0 {
				free = -1
				break
			}
			free = d
		}
	}
	head := r.d.layout.addr
	if free < 0 {
		return r.src.bad(head, what, fmt.Sprintf("limits %v", r.d.max), "one unlimited dimension")
	}

	c, err := r.src.block(head, int64(4+1+1+6+6*r.src.lenLen+r.src.offLen+4), "EAHD", what, true)
	if err != nil {
		return err
	}
	c.version(0, 0)
	r.client(c)
	maxBits := c.u8()
	a := &extArray{r: r, head: head, seen: r.src.visits(), offsetLen: (maxBits + 7) / 8}
	a.indexLen = uint64(c.u8())
	a.minEntries = uint64(c.u8())
	minPointers := c.u8()
	pageBits := c.u8()
	c.skip(6 * r.src.lenLen) // statistics
	blockAddr := c.addr()
	if c.err != nil {
		return c.err
	}
	power := func(n int) bool { return n > 0 && n&(n-1) == 0 }
	minBits := bits.Len64(a.minEntries) - 1
	if maxBits > 64 || !power(int(a.minEntries)) || !power(minPointers) || pageBits > 62 || maxBits < minBits {
		return r.src.bad(head, what, fmt.Sprintf("%d index bits, blocks of %d entries, %d pointers, pages of 2^%d",
			maxBits, a.minEntries, minPointers, pageBits), "at most 64 bits and powers of two")
	}
	a.pageLen = 1 << pageBits
	if blockAddr == undefined {
		return nil
	}

	order := append([]uint64{0}, per[:free]...)
	order = append(order, per[free+1:]...)
	swizzled, at := make([]uint64, len(per)), make([]uint64, len(per))
	a.visit = func(n uint64, c *cursor) error {
		addr, stored, mask := r.entry(c)
		if c.err != nil {
			return c.err
		}
		coordinates(swizzled, n, order)
		copy(at, swizzled[1:free+1])
		at[free] = swizzled[0]
		copy(at[free+1:], swizzled[free+1:])
		return r.add(at, addr, stored, mask)
	}
	return a.index(blockAddr, 1+maxBits-minBits, minPointers)
}

// index reads the index block, of an array that can have the given number of
// super blocks.
func (a *extArray) index(addr uint64, supers, minPointers int) error {
	src := a.r.src
	entryLen := uint64(a.r.entryLen())
	direct := 2 * (bits.Len64(uint64(minPointers)) - 1) // super blocks without a block of their own
	dataPtrs := 2 * (minPointers - 1)
	superPtrs := max(supers-direct, 0)
	n := uint64(4+1+1+src.offLen) + a.indexLen*entryLen + uint64((dataPtrs+superPtrs)*src.offLen) + 4
	c, err := a.r.block(addr, n, "EAIB", a.head)
	if err != nil {
		return err
	}
	for i := range a.indexLen {
		if err := a.visit(i, c); err != nil {
			return err
		}
	}
	next := a.indexLen // number of the first entry of the next block
	for u := range supers {
		blocks, entries := a.super(u)
		if u < direct {
			for range blocks {
				if dataPtrs--; dataPtrs < 0 {
					break
				}
				if err := a.data(c.addr(), next, entries, func(uint64) bool { return true }); err != nil {
					return err
				}
				next += entries
			}
			continue
		}
		if err := a.superBlock(c.addr(), next, blocks, entries); err != nil {
			return err
		}
		next += blocks * entries
	}
	return c.err
}

// super returns how many data blocks super block u has, of how many entries.
func (a *extArray) super(u int) (blocks, entries uint64) {
	return 1 << (u / 2), a.minEntries << ((u + 1) / 2)
}

// superBlock reads the addresses of data blocks, whose entries start at number
// first.
func (a *extArray) superBlock(addr, first, blocks, entries uint64) error {
	if addr == undefined {
		return nil
	}
	src := a.r.src
	mapLen := uint64(0) // bytes of a data block's bitmap of pages
	if entries > a.pageLen {
		mapLen = (entries/a.pageLen + 7) / 8
	}
	lead := uint64(4 + 1 + 1 + src.offLen + a.offsetLen)
	hi, body := bits.Mul64(blocks, mapLen+uint64(src.offLen))
	if hi != 0 || body > uint64(src.size) {
		return src.bad(addr, "super block", fmt.Sprintf("%d data blocks", blocks), "what a file of this size holds")
	}
	if err := a.seen.enter(addr, int64(lead+body+4), "super block"); err != nil {
		return err
	}
	c, err := a.r.block(addr, lead+body+4, "EASB", a.head)
	if err != nil {
		return err
	}
	if n := c.uint(a.offsetLen); c.err == nil && n != first-a.indexLen {
		c.fail(fmt.Sprintf("block offset %d", n), fmt.Sprint(first-a.indexLen))
	}
	written := c.bytes(int(blocks * mapLen))
	if c.err != nil {
		return c.err
	}
	pages := entries / a.pageLen
	for i := range blocks {
		// The bits of the data blocks follow each other without gaps, although
		// the space for each is rounded up to bytes.
		isWritten := func(p uint64) bool { return written[(i*pages+p)/8]&(0x80>>((i*pages+p)%8)) != 0 }
		if err := a.data(c.addr(), first+i*entries, entries, isWritten); err != nil {
			return err
		}
	}
	return c.err
}

// data reads a data block of entries starting at number first. If it has pages,
// written tells which were ever written.
func (a *extArray) data(addr, first, entries uint64, written func(page uint64) bool) error {
	if addr == undefined {
		return nil
	}
	src := a.r.src
	entryLen := uint64(a.r.entryLen())
	lead := uint64(4 + 1 + 1 + src.offLen + a.offsetLen)
	hi, body := bits.Mul64(entries, entryLen)
	if hi != 0 || body > uint64(src.size) {
		return src.bad(addr, "data block", fmt.Sprintf("%d entries", entries), "what a file of this size holds")
	}
	if err := a.seen.enter(addr, int64(lead+body+4), "data block"); err != nil {
		return err
	}
	paged := entries > a.pageLen
	n := lead + body + 4
	if paged {
		n = lead + 4
	}
	c, err := a.r.block(addr, n, "EADB", a.head)
	if err != nil {
		return err
	}
	// The offset that follows is not the number of the first entry for blocks the
	// index block refers to: the library counts earlier blocks as if of this size.
	c.skip(a.offsetLen)
	if !paged {
		for i := range entries {
			if err := a.visit(first+i, c); err != nil {
				return err
			}
		}
		return c.err
	}
	if c.err != nil {
		return c.err
	}
	next := addr + n
	for p := range entries / a.pageLen {
		if written(p) {
			err := a.r.page(next, a.pageLen, func(i uint64, c *cursor) error { return a.visit(first+p*a.pageLen+i, c) })
			if err != nil {
				return err
			}
		}
		next += a.pageLen*entryLen + 4
	}
	return nil
}
