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
	msgFill         = 0x05
	msgLink         = 0x06
	msgExternal     = 0x07
	msgLayout       = 0x08
	msgFilters      = 0x0b
	msgAttribute    = 0x0c
	msgContinuation = 0x10
	msgSymbolTable  = 0x11
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

// header reads the object header at addr: 16 bytes, then messages aligned to eight, some of which lead to
// further blocks of messages.
func (s *source) header(addr uint64) *header {
	const what = "object header"
	c := s.read(addr, 16, what)
	if string(c.b[:4]) == "OHDR" {
		unsupported(int64(addr), "object header version 2, %s", latest)
	}
	c.version(1, 1)
	c.skip(1)
	count := c.u16()
	c.skip(4) // reference count
	type block struct{ addr, length uint64 }
	todo := []block{{addr + 16, uint64(c.u32())}}
	h, v := &header{addr: addr}, s.visits()
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		if next.length > uint64(s.size) {
			s.refuse(next.addr, what, fmt.Sprintf("%d bytes", next.length), fmt.Sprintf("a range inside the file of %d bytes", s.size))
		}
		c := v.block(next.addr, int64(next.length), what)
		for ; c.left() >= 8 && count > 0; count-- {
			m := message{typ: c.u16()}
			n := c.u16()
			m.flags = c.u8()
			c.skip(3)
			m.addr, m.data = next.addr+uint64(c.pos), c.bytes(n)
			switch {
			case m.typ == msgNil:
			case m.typ == msgContinuation:
				to := s.cursor(m.data, m.addr, "object header continuation")
				todo = append(todo, block{to.u64(), to.u64()})
			case m.typ > msgLastKnown && m.flags&flagFailIfUnknown != 0:
				unsupported(int64(m.addr), "object header message type %#x", m.typ)
			default:
				h.msgs = append(h.msgs, m)
			}
		}
	}
	return h
}

// message returns a reader over a message, unless it only refers to another object's.
func (s *source) message(m message, what string) *cursor {
	if m.flags&flagShared != 0 {
		unsupported(int64(m.addr), "%s stored by itself and shared", what)
	}
	return s.cursor(m.data, m.addr, what)
}
