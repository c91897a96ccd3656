package h5

import (
	"fmt"
	"sync"
)

// globalHeap reads objects of global heap collections, where variable-length
// values live. The last collection is kept, as values tend to share one.
type globalHeap struct {
	mu   sync.Mutex
	addr uint64
	objs map[int][]byte // of the collection at addr, nil at first
}

// object returns the bytes of an object of the collection at addr.
func (g *globalHeap) object(s *source, addr uint64, index int) ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if addr != g.addr || g.objs == nil {
		objs, err := s.collection(addr)
		if err != nil {
			return nil, err
		}
		g.addr, g.objs = addr, objs
	}
	b, ok := g.objs[index]
	if !ok {
		return nil, s.bad(addr, "global heap", fmt.Sprintf("no object %d", index), "the object referred to")
	}
	return b, nil
}

// aligned rounds a length up to a multiple of eight.
func aligned(n int) int { return (n + 7) &^ 7 }

// collection reads all objects of a global heap collection.
func (s *source) collection(addr uint64) (map[int][]byte, error) {
	const what = "global heap"
	lead := int64(aligned(8 + s.lenLen))
	c, err := s.block(addr, lead, "GCOL", what, false)
	if err != nil {
		return nil, err
	}
	c.version(1, 1)
	c.skip(3)
	size := c.length()
	if c.err != nil {
		return nil, c.err
	}
	if size < uint64(lead) || size > uint64(s.size) {
		return nil, s.bad(addr, what, fmt.Sprintf("%d bytes", size), fmt.Sprintf("%d to %d", lead, s.size))
	}
	b, err := s.read(addr, int64(size), what)
	if err != nil {
		return nil, err
	}
	c = s.cursor(b, addr, what)
	c.pos = int(lead)
	objs := map[int][]byte{}
	for c.left() >= aligned(8+s.lenLen) {
		from := c.pos
		index := c.u16()
		c.skip(2 + 4) // references, reserved
		n := c.length()
		c.align(from)
		if index == 0 { // free space up to the end
			break
		}
		if n > uint64(c.left()) {
			c.fail(fmt.Sprintf("object of %d bytes", n), fmt.Sprintf("at most %d", c.left()))
		}
		objs[index] = c.bytes(int(n))
		if pad := (8 - n%8) % 8; pad <= uint64(c.left()) {
			c.skip(int(pad))
		}
		if c.err != nil {
			return nil, c.err
		}
	}
	return objs, nil
}
