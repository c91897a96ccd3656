package h5

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// linkHeap is the fractal heap that holds the links of a group of more than eight objects, if a name in it is not
// ASCII or a link leads to another file. Its space is a table of blocks: rows of the same number of columns, the
// blocks of the first two rows of the smallest size and of each further row twice as large. Up to a size blocks hold
// objects, behind a head that counts as space; larger ones are tables themselves. Checksums are not verified: the
// rest of the format's earliest version has none.
type linkHeap struct {
	addr             uint64
	offsets, lengths int    // bytes of an offset in the space and of an object's length
	width, smallest  uint64 // columns, and bytes of the smallest blocks
	largest          uint64 // bytes of the largest blocks with objects
	seen             *visits
	blocks           []heapBlock // by base
}

// heapBlock is a block with objects.
type heapBlock struct {
	base uint64 // where it begins in the heap's space
	addr uint64
	data []byte
}

// denseLinks reads the links of a heap, to which the B-tree by the hashes of the names leads.
func (s *source) denseLinks(heap, tree uint64) (list []link) {
	h := s.linkHeap(heap)
	names := s.size // bytes: few records may lead to the same link
	s.hashTree(tree, 4+1+h.offsets+h.lengths, func(record *cursor) {
		record.skip(4) // hash
		if kind := record.u8(); kind != 0 {
			unsupported(record.at, "link of more than four kB")
		}
		off, n := record.uint(h.offsets), record.uint(h.lengths)
		i, _ := slices.BinarySearchFunc(h.blocks, off, func(b heapBlock, off uint64) int { return cmp.Compare(b.base, off+1) })
		if i--; i < 0 || off-h.blocks[i].base > uint64(len(h.blocks[i].data)) {
			s.refuse(heap, "heap of links", fmt.Sprintf("link at %d", off), "one inside a block")
		}
		b := h.blocks[i]
		c := s.cursor(b.data, b.addr, "link")
		c.skip(int(off - b.base))
		c = s.cursor(c.bytes(int(n)), b.addr+off-b.base, "link")
		list = append(list, s.link(c))
		if names -= int64(n); names < 0 {
			s.refuse(uint64(record.at), "heap of links", "links that overlap", "links apart from each other")
		}
	})
	return list
}

// linkHeap reads the heap at addr with all its blocks.
func (s *source) linkHeap(addr uint64) *linkHeap {
	const what = "fractal heap header"
	c := s.head(addr, 146, "FRHP", what)
	c.version(0, 0)
	id, filtered, _, managed := c.u16(), c.u16(), c.u8(), uint64(c.u32())
	c.skip(12 * 8) // objects outside the blocks, free space, amounts
	h := &linkHeap{addr: addr, width: uint64(c.u16()), smallest: c.u64(), largest: c.u64(), seen: s.visits()}
	h.offsets = (c.u16() + 7) / 8
	c.skip(2)
	root, rows := c.u64(), c.u16()
	power := func(n uint64) bool { return bits.OnesCount64(n) == 1 }
	switch {
	case filtered != 0:
		unsupported(c.at, "links in a heap with filters")
	case !power(h.width), !power(h.smallest), !power(h.largest), h.smallest > h.largest, h.largest > maxMetadata, managed == 0, rows > 32:
		s.refuse(addr, what, fmt.Sprintf("%d rows of %d blocks, %d to %d bytes", rows, h.width, h.smallest, h.largest), "powers of two in order, at most 32 rows")
	}
	h.lengths = min(bytesFor(h.largest-1), bytesFor(managed))
	if h.offsets > 8 || 1+h.offsets+h.lengths != id {
		s.refuse(addr, what, fmt.Sprintf("names of objects of %d bytes", id), fmt.Sprint(1+h.offsets+h.lengths))
	}
	if rows == 0 {
		h.block(root, 0, h.smallest, -1)
	} else {
		h.block(root, 0, 0, rows)
	}
	return h
}

// bytesFor returns the bytes that numbers up to most need.
func bytesFor(most uint64) int { return (max(bits.Len64(most), 1) + 7) / 8 }

// block reads the block at addr, which begins at base of the heap's space: one of size bytes with objects, or, with
// rows, a table and what it leads to.
func (h *linkHeap) block(addr, base, size uint64, rows int) {
	what, sig, n := "fractal heap direct block", "FHDB", int64(size)
	if addr == undefined {
		return
	}
	if rows >= 0 {
		what, sig, n = "fractal heap indirect block", "FHIB", int64(4+1+8+h.offsets)+8*int64(rows)*int64(h.width)
	}
	c := h.seen.block(addr, n, what)
	if c.signature(sig); c.version(0, 0) != 0 || c.u64() != h.addr || c.uint(h.offsets) != base {
		c.fail("a block of another place", fmt.Sprintf("one of the heap at %#x from %d on", h.addr, base))
	}
	if rows < 0 {
		h.blocks = append(h.blocks, heapBlock{base, addr, c.b})
	}
	for row := range max(rows, 0) {
		size := h.smallest << max(row-1, 0)
		below := -1 // rows; a table spans as many bytes as a block of its row, so that it has fewer than this one
		if size > h.largest {
			below = max(bits.Len64(size/(h.smallest*h.width)), 1)
		}
		for range h.width {
			h.block(c.u64(), base, size, below)
			base += size
		}
	}
}

// hashTree calls leaf for each record of the version 2 B-tree at addr, which has them in nodes of all levels.
func (s *source) hashTree(addr uint64, recordLen int, leaf func(record *cursor)) {
	c := s.head(addr, 38, "BTHD", "B-tree header")
	c.version(0, 0)
	typ, nodeLen, length, depth := c.u8(), int64(c.u32()), c.u16(), c.u16()
	c.skip(2) // when nodes are split and merged
	root, count := c.u64(), c.u16()
	if typ != 5 || length != recordLen || nodeLen < 64 || depth > 16 {
		c.fail(fmt.Sprintf("type %d, records of %d bytes, nodes of %d, %d levels", typ, length, nodeLen, depth), fmt.Sprintf("a tree of names with records of %d bytes", recordLen))
	}
	if root == undefined {
		return
	}
	// Counts in a node are as wide as the most records that fit need, of a child and below it.
	const lead = 4 + 1 + 1 // and a checksum at the end
	most := uint64(nodeLen-lead-4) / uint64(recordLen)
	own, total := bytesFor(most), []int{0}
	for range depth {
		ptr := 8 + own + total[len(total)-1]
		n := (uint64(nodeLen) - lead - 4 - uint64(ptr)) / uint64(recordLen+ptr)
		most = min((n+1)*most+n, 1<<56)
		total = append(total, bytesFor(most))
	}
	v := s.visits()
	var node func(addr uint64, level, count int)
	node = func(addr uint64, level, count int) {
		what, sig, ptr := "B-tree leaf", "BTLF", 0
		if level > 0 {
			what, sig, ptr = "B-tree internal node", "BTIN", 8+own+total[level-1]
		}
		c := v.block(addr, int64(lead+count*recordLen+(count+1)*ptr), what)
		c.signature(sig)
		c.version(0, 0)
		c.skip(1)
		at := addr + uint64(c.pos)
		records := s.cursor(c.bytes(count*recordLen), at, "B-tree record")
		for i := range count + 1 {
			if level > 0 {
				child, below := c.u64(), int(c.uint(own))
				c.skip(total[level-1])
				node(child, level-1, below)
			}
			if i < count {
				leaf(s.cursor(records.bytes(recordLen), at+uint64(i*recordLen), "B-tree record"))
			}
		}
	}
	node(root, depth, count)
}
