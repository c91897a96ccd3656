package h5

import (
	"fmt"
)

// Node types of version 1 B-trees.
const (
	btree1Group = 0
	btree1Chunk = 1
)

// btree1 calls leaf for each child of the leaf nodes of the version 1 B-tree at
// addr, in key order, with the key in front of the child. Keys have keyLen
// bytes.
func (s *source) btree1(addr uint64, typ, keyLen int, leaf func(key *cursor, child uint64) error) error {
	v := s.visits()
	return s.btree1Node(v, addr, typ, -1, keyLen, leaf)
}

// btree1Node reads the node at addr, which must be of the given level unless
// that is negative. Levels fall by one from parent to child, so that the depth
// is at most the 256 that a byte can state.
func (s *source) btree1Node(v *visits, addr uint64, typ, level, keyLen int, leaf func(*cursor, uint64) error) error {
	const what = "B-tree node"
	lead := int64(8 + 2*s.offLen)
	c, err := s.block(addr, lead, "TREE", what, false)
	if err != nil {
		return err
	}
	gotType, gotLevel, used := c.u8(), c.u8(), c.u16()
	if c.err != nil {
		return c.err
	}
	if gotType != typ {
		return s.bad(addr, what, fmt.Sprintf("type %d", gotType), fmt.Sprint(typ))
	}
	if level >= 0 && gotLevel != level {
		return s.bad(addr, what, fmt.Sprintf("level %d", gotLevel), fmt.Sprint(level))
	}
	// The key behind the last child is not needed and may even be missing.
	n := lead + int64(used)*int64(keyLen+s.offLen)
	if err := v.enter(addr, n, what); err != nil {
		return err
	}
	b, err := s.read(addr, n, what)
	if err != nil {
		return err
	}
	c = s.cursor(b, addr, what)
	c.pos = int(lead)
	for range used {
		key := s.cursor(nil, addr+uint64(c.pos), "B-tree key")
		key.b = c.bytes(keyLen)
		child := c.addr()
		if c.err != nil {
			return c.err
		}
		if gotLevel > 0 {
			err = s.btree1Node(v, child, typ, gotLevel-1, keyLen, leaf)
		} else {
			err = leaf(key, child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
