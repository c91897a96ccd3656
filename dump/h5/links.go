package h5

import (
	"bytes"
	"fmt"
)

// links reads the links of a group in the order in which they are stored.
func (s *source) links(h *header) ([]link, error) {
	var list []link
	add := func(m message) error {
		l, err := s.link(m)
		if err == nil {
			list = append(list, l)
		}
		return err
	}
	for _, m := range h.msgs {
		var err error
		switch m.typ {
		case msgSymbolTable:
			err = s.symbolTable(m, func(l link) { list = append(list, l) })
		case msgLink:
			err = add(m)
		case msgLinkInfo:
			err = s.denseLinks(m, add)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// symbolTable reads the links of an old group: a B-tree whose leaves are nodes
// of entries, with the names in a local heap.
func (s *source) symbolTable(m message, add func(link)) error {
	c := s.cursor(m.data, m.addr, "symbol table message")
	tree, heapAddr := c.addr(), c.addr()
	if c.err != nil {
		return c.err
	}
	heap, err := s.localHeap(heapAddr)
	if err != nil {
		return err
	}
	v := s.visits()
	return s.btree1(tree, btree1Group, s.lenLen, func(_ *cursor, child uint64) error {
		return s.symbolNode(child, heap, v, add)
	})
}

// symbolNode reads one symbol table node.
func (s *source) symbolNode(addr uint64, heap *cursor, v *visits, add func(link)) error {
	const what = "symbol table node"
	c, err := s.block(addr, 8, "SNOD", what, false)
	if err != nil {
		return err
	}
	c.version(1, 1)
	c.skip(1)
	count := c.u16()
	if c.err != nil {
		return c.err
	}
	entry := 2*s.offLen + 4 + 4 + 16
	n := 8 + int64(count)*int64(entry)
	if err := v.enter(addr, n, what); err != nil {
		return err
	}
	b, err := s.read(addr, n, what)
	if err != nil {
		return err
	}
	c = s.cursor(b, addr, what)
	c.pos = 8
	for range count {
		l := link{at: c.at + int64(c.pos)}
		nameAt := c.addr()
		l.addr = c.addr()
		cached := c.u32()
		c.skip(4)
		scratch := s.cursor(c.bytes(16), addr, what)
		if c.err != nil {
			return c.err
		}
		if l.name, err = heapText(heap, nameAt); err != nil {
			return err
		}
		if cached == 2 { // the scratch space holds the place of a soft link's path
			l.kind = linkSoft
			if l.target, err = heapText(heap, uint64(scratch.u32())); err != nil {
				return err
			}
		}
		add(l)
	}
	return nil
}

// localHeap returns the data of the local heap at addr.
func (s *source) localHeap(addr uint64) (*cursor, error) {
	const what = "local heap"
	c, err := s.block(addr, int64(8+2*s.lenLen+s.offLen), "HEAP", what, false)
	if err != nil {
		return nil, err
	}
	c.version(0, 0)
	c.skip(3)
	size := c.length()
	c.length() // free list
	data := c.addr()
	if c.err != nil {
		return nil, c.err
	}
	if size > uint64(s.size) {
		return nil, s.bad(addr, what, fmt.Sprintf("%d bytes", size),
			fmt.Sprintf("a range inside the file of %d bytes", s.size))
	}
	b, err := s.read(data, int64(size), what)
	if err != nil {
		return nil, err
	}
	return s.cursor(b, data, what), nil
}

// heapText returns the zero-terminated text at an offset of a local heap.
func heapText(heap *cursor, at uint64) (string, error) {
	c := *heap
	if at >= uint64(len(c.b)) {
		c.fail(fmt.Sprintf("offset %d", at), fmt.Sprintf("less than %d", len(c.b)))
		return "", c.err
	}
	c.pos = int(at)
	text := c.text()
	return text, c.err
}

// denseLinks reads the links kept in a fractal heap, if there is one.
func (s *source) denseLinks(m message, add func(message) error) error {
	c := s.cursor(m.data, m.addr, "link info")
	c.version(0, 0)
	flags := c.u8()
	if flags&1 != 0 {
		c.skip(8) // largest creation index
	}
	heapAddr, index := c.addr(), c.addr()
	if c.err != nil {
		return c.err
	}
	if heapAddr == undefined || index == undefined {
		return nil // links are messages
	}
	heap, err := s.fractalHeap(heapAddr)
	if err != nil {
		return err
	}
	return s.btree2(index, btreeLinkNames, func(rec *cursor) error {
		rec.skip(4) // hash of the name
		id := rec.bytes(rec.left())
		if rec.err != nil {
			return rec.err
		}
		b, addr, err := heap.object(id)
		if err != nil {
			return err
		}
		return add(message{typ: msgLink, data: b, addr: addr})
	})
}

// link decodes a link message.
func (s *source) link(m message) (link, error) {
	c := s.cursor(m.data, m.addr, "link")
	c.version(1, 1)
	flags := c.u8()
	l := link{at: c.at}
	if flags&(1<<3) != 0 {
		l.kind = c.u8()
	}
	if flags&(1<<2) != 0 {
		c.skip(8) // order of creation
	}
	if flags&(1<<4) != 0 {
		c.skip(1) // character set
	}
	n := c.uint(1 << (flags & 3))
	if c.err == nil && n > uint64(c.left()) {
		c.fail(fmt.Sprintf("name of %d bytes", n), fmt.Sprintf("at most %d", c.left()))
	}
	l.name = string(bytes.TrimRight(c.bytes(int(n)), "\x00"))
	switch l.kind {
	case linkHard:
		l.addr = c.addr()
	case linkSoft:
		l.target = string(c.bytes(c.u16()))
	}
	return l, c.err
}
