package h5

import (
	"fmt"
)

// Types of object header messages.
const (
	msgNil          = 0x00
	msgDataspace    = 0x01
	msgLinkInfo     = 0x02
	msgDatatype     = 0x03
	msgOldFill      = 0x04
	msgFill         = 0x05
	msgLink         = 0x06
	msgExternal     = 0x07
	msgLayout       = 0x08
	msgGroupInfo    = 0x0a
	msgFilters      = 0x0b
	msgAttribute    = 0x0c
	msgContinuation = 0x10
	msgSymbolTable  = 0x11
	msgAttrInfo     = 0x15
	msgLastKnown    = 0x18
)

// Flags of an object header message.
const (
	flagShared        = 1 << 1
	flagFailIfUnknown = 1 << 7
)

// message is one object header message.
type message struct {
	typ   int
	flags int
	data  []byte
	addr  uint64 // of data
}

// header is the object header at addr with the messages of all its blocks.
type header struct {
	addr uint64
	msgs []message
}

// find returns the first message of a type.
func (h *header) find(typ int) (message, bool) {
	for _, m := range h.msgs {
		if m.typ == typ {
			return m, true
		}
	}
	return message{}, false
}

// continuation is a further block of an object header.
type continuation struct {
	addr   uint64
	length int64
}

// header reads the object header at addr.
func (s *source) header(addr uint64) (*header, error) {
	lead, err := s.read(addr, 4, "object header")
	if err != nil {
		return nil, err
	}
	h := &header{addr: addr}
	if string(lead) == "OHDR" {
		err = s.header2(h)
	} else {
		err = s.header1(h)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// header1 reads a version 1 header: 16 bytes, then messages aligned to eight.
func (s *source) header1(h *header) error {
	const what = "object header"
	b, err := s.read(h.addr, 16, what)
	if err != nil {
		return err
	}
	c := s.cursor(b, h.addr, what)
	c.version(1, 1)
	c.skip(1)
	count := c.u16()
	c.skip(4) // reference count
	size := int64(c.u32())
	if c.err != nil {
		return c.err
	}
	v := s.visits()
	todo := []continuation{{h.addr + 16, size}}
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		if err := v.enter(next.addr, next.length, what); err != nil {
			return err
		}
		b, err := s.read(next.addr, next.length, what)
		if err != nil {
			return err
		}
		c := s.cursor(b, next.addr, what)
		for c.left() >= 8 && count > 0 {
			typ := c.u16()
			n := c.u16()
			flags := c.u8()
			c.skip(3)
			m := message{typ: typ, flags: flags, addr: next.addr + uint64(c.pos)}
			m.data = c.bytes(n)
			if c.err != nil {
				return c.err
			}
			count--
			if todo, err = s.keep(h, m, todo); err != nil {
				return err
			}
		}
	}
	return nil
}

// header2 reads a version 2 header: a prefix whose parts depend on flags, then
// messages without alignment, in blocks that end in a checksum.
func (s *source) header2(h *header) error {
	const what = "object header"
	room := min(int64(4+1+1+16+4+8), s.size-s.abs(h.addr))
	b, err := s.read(h.addr, room, what)
	if err != nil {
		return err
	}
	c := s.cursor(b, h.addr, what)
	c.signature("OHDR")
	c.version(2, 2)
	flags := c.u8()
	if flags&(1<<5) != 0 {
		c.skip(16) // times
	}
	if flags&(1<<4) != 0 {
		c.skip(4) // when attributes become dense
	}
	size := c.uint(1 << (flags & 3))
	if c.err != nil {
		return c.err
	}
	prefix := c.pos
	if size > uint64(s.size) {
		return s.bad(h.addr, what, fmt.Sprintf("%d bytes of messages", size),
			fmt.Sprintf("a range inside the file of %d bytes", s.size))
	}
	ordered := flags&(1<<2) != 0 // messages carry their order of creation

	v := s.visits()
	todo := []continuation{{h.addr, int64(prefix) + int64(size) + 4}}
	for first := true; len(todo) > 0; first = false {
		next := todo[0]
		todo = todo[1:]
		if err := v.enter(next.addr, next.length, what); err != nil {
			return err
		}
		sig := "OCHK"
		if first {
			sig = "OHDR"
		}
		c, err := s.block(next.addr, next.length, sig, what, true)
		if err != nil {
			return err
		}
		if first {
			c.pos = prefix
		}
		lead := 4
		if ordered {
			lead = 6
		}
		for c.left() >= lead { // what is less than a message's lead is a gap
			typ := c.u8()
			n := c.u16()
			flags := c.u8()
			if ordered {
				c.skip(2)
			}
			m := message{typ: typ, flags: flags, addr: next.addr + uint64(c.pos)}
			m.data = c.bytes(n)
			if c.err != nil {
				return c.err
			}
			if todo, err = s.keep(h, m, todo); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep adds a message to the header, or the block it points to to the list of
// those still to be read.
func (s *source) keep(h *header, m message, todo []continuation) ([]continuation, error) {
	switch {
	case m.typ == msgNil:
	case m.typ == msgContinuation:
		c := s.cursor(m.data, m.addr, "object header continuation")
		addr, n := c.addr(), c.length()
		if c.err != nil {
			return nil, c.err
		}
		if n > uint64(s.size) {
			return nil, s.bad(addr, "object header continuation", fmt.Sprintf("%d bytes", n),
				fmt.Sprintf("a range inside the file of %d bytes", s.size))
		}
		return append(todo, continuation{addr, int64(n)}), nil
	case m.typ > msgLastKnown && m.flags&flagFailIfUnknown != 0:
		return nil, &UnsupportedError{s.abs(m.addr), fmt.Sprintf("object header message type %#x", m.typ)}
	default:
		h.msgs = append(h.msgs, m)
	}
	return todo, nil
}

// resolve returns the message itself or, if it is shared, the one of the same
// type in the object header it refers to (a committed datatype).
func (s *source) resolve(m message) (message, error) {
	if m.flags&flagShared == 0 {
		return m, nil
	}
	return s.shared(s.cursor(m.data, m.addr, "shared message"), m.typ)
}

// shared follows a reference to a message of type typ.
func (s *source) shared(c *cursor, typ int) (message, error) {
	version := c.version(1, 3)
	where := c.u8()
	switch {
	case version == 1:
		c.skip(6 + c.lenLen) // reserved, and the name of a symbol table entry
	case version == 3 && where != 2:
		if c.err == nil {
			return message{}, &UnsupportedError{c.at, "message in the shared message heap"}
		}
	}
	addr := c.addr()
	if c.err != nil {
		return message{}, c.err
	}
	h, err := s.header(addr)
	if err != nil {
		return message{}, err
	}
	m, ok := h.find(typ)
	if !ok || m.flags&flagShared != 0 {
		return message{}, s.bad(addr, "shared message", "an object header without it",
			fmt.Sprintf("a message of type %#x", typ))
	}
	return m, nil
}
