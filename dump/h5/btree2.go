package h5

import (
	"fmt"
	"math/bits"
)

// Record types of version 2 B-trees.
const (
	btreeHugeIndirect = 1 // huge heap objects: address, length, id
	btreeLinkNames    = 5
	btreeAttrNames    = 8
)

// btree2Prefix is what every node has besides records and pointers: signature,
// version, type and checksum.
const btree2Prefix = 4 + 1 + 1 + 4

// btree2 is a version 2 B-tree with the field widths of its levels; level 0
// are the leaves.
type btree2 struct {
	src      *source
	typ      int
	nodeLen  int64
	recLen   int
	countLen int   // bytes of a child's number of records
	totalLen []int // bytes of the number of records below a child, by its level
	seen     *visits
	visit    func(rec *cursor) error
}

// btree2 calls visit for each record of the tree at addr, in order.
func (s *source) btree2(addr uint64, typ int, visit func(rec *cursor) error) error {
	const what = "B-tree header"
	n := int64(4 + 1 + 1 + 4 + 2 + 2 + 1 + 1 + s.offLen + 2 + s.lenLen + 4)
	c, err := s.block(addr, n, "BTHD", what, true)
	if err != nil {
		return err
	}
	c.version(0, 0)
	gotType := c.u8()
	t := &btree2{src: s, typ: typ, seen: s.visits(), visit: visit}
	t.nodeLen = int64(c.u32())
	t.recLen = c.u16()
	depth := c.u16()
	c.skip(2) // split and merge percentages
	root := c.addr()
	count := c.u16()
	if c.err != nil {
		return c.err
	}
	if gotType != typ {
		return s.bad(addr, what, fmt.Sprintf("type %d", gotType), fmt.Sprint(typ))
	}
	if root == undefined {
		return nil
	}
	if t.recLen == 0 || t.nodeLen < int64(btree2Prefix+t.recLen) {
		return s.bad(addr, what, fmt.Sprintf("records of %d bytes in nodes of %d", t.recLen, t.nodeLen), "room for one")
	}
	if err := t.widths(addr, depth); err != nil {
		return err
	}
	return t.node(root, depth, count)
}

// widths computes how wide the counts in internal nodes are: as wide as the
// most records that could stand there need.
func (t *btree2) widths(addr uint64, depth int) error {
	most := uint64(t.nodeLen-btree2Prefix) / uint64(t.recLen)
	t.countLen = limitLen(most)
	t.totalLen = []int{0}
	below := most // records in a full subtree
	for level := 1; level <= depth; level++ {
		ptr := uint64(t.src.offLen + t.countLen + t.totalLen[level-1])
		if uint64(t.nodeLen) < btree2Prefix+ptr {
			return t.src.bad(addr, "B-tree header", fmt.Sprintf("nodes of %d bytes", t.nodeLen), "room for a pointer")
		}
		n := (uint64(t.nodeLen) - btree2Prefix - ptr) / (uint64(t.recLen) + ptr)
		hi, lo := bits.Mul64(n+1, below)
		lo, carry := bits.Add64(lo, n, 0)
		if hi != 0 || carry != 0 || n == 0 {
			return t.src.bad(addr, "B-tree header", fmt.Sprintf("depth %d", depth), "one its nodes allow")
		}
		below = lo
		t.totalLen = append(t.totalLen, limitLen(below))
	}
	return nil
}

// limitLen returns the bytes needed for numbers up to limit.
func limitLen(limit uint64) int {
	return max(bits.Len64(limit)-1, 0)/8 + 1
}

// node reads the node at addr, count records on the given level.
func (t *btree2) node(addr uint64, level, count int) error {
	what, sig := "B-tree leaf", "BTLF"
	n := int64(btree2Prefix) + int64(count)*int64(t.recLen)
	if level > 0 {
		what, sig = "B-tree internal node", "BTIN"
		n += int64(count+1) * int64(t.src.offLen+t.countLen+t.totalLen[level-1])
	}
	if n > t.nodeLen {
		return t.src.bad(addr, what, fmt.Sprintf("%d records", count), fmt.Sprintf("what fits into %d bytes", t.nodeLen))
	}
	if err := t.seen.enter(addr, n, what); err != nil {
		return err
	}
	c, err := t.src.block(addr, n, sig, what, true)
	if err != nil {
		return err
	}
	c.version(0, 0)
	if typ := c.u8(); c.err == nil && typ != t.typ {
		c.pos--
		c.fail(fmt.Sprintf("type %d", typ), fmt.Sprint(t.typ))
	}
	recs := t.src.cursor(nil, addr+uint64(c.pos), what)
	recs.b = c.bytes(count * t.recLen)
	for i := 0; c.err == nil; i++ {
		if level > 0 {
			child, childCount := c.addr(), int(c.uint(t.countLen))
			c.uint(t.totalLen[level-1])
			if c.err != nil {
				break
			}
			if err := t.node(child, level-1, childCount); err != nil {
				return err
			}
		}
		if i == count {
			break
		}
		rec := t.src.cursor(recs.b[i*t.recLen:][:t.recLen], addr, "B-tree record")
		rec.at = recs.at + int64(i*t.recLen)
		if err := t.visit(rec); err != nil {
			return err
		}
	}
	return c.err
}
