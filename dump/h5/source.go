package h5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
)

// undefined is the address of something that was never allocated: all bits
// set, whatever the width of addresses in the file.
const undefined = math.MaxUint64

// source is the file as a sequence of checked byte ranges. Addresses are
// relative to the base address, as they stand in the file.
type source struct {
	r      io.ReaderAt
	size   int64
	base   int64 // position of the superblock, which is that of address 0
	offLen int   // bytes of an address
	lenLen int   // bytes of a length
	verify bool  // check metadata checksums
	values *globalHeap

	// left, if set, counts down the metadata bytes that may still be read: one
	// walk over structures that overlap each other must come to an end.
	left *atomic.Int64
}

// metered returns a view of the source that reads at most n metadata bytes.
func (s *source) metered(n int64) *source {
	m := *s
	m.left = new(atomic.Int64)
	m.left.Store(n)
	return &m
}

// abs turns an address into a file offset, for messages.
func (s *source) abs(addr uint64) int64 {
	if addr > math.MaxInt64-uint64(s.base) {
		return math.MaxInt64
	}
	return int64(addr) + s.base
}

// within checks that n bytes at addr lie inside the file.
func (s *source) within(addr uint64, n int64, what string) error {
	room := uint64(s.size - s.base)
	switch {
	case addr == undefined:
		return s.bad(addr, what, "the undefined address", "an address")
	case n < 0, addr > room, uint64(n) > room-addr:
		return s.bad(addr, what, fmt.Sprintf("%d bytes claimed", n),
			fmt.Sprintf("a range inside the file of %d bytes", s.size))
	}
	return nil
}

// readInto fills p from addr.
func (s *source) readInto(p []byte, addr uint64, what string) error {
	if err := s.within(addr, int64(len(p)), what); err != nil {
		return err
	}
	n, err := s.r.ReadAt(p, s.abs(addr))
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return s.bad(addr, what, fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d", len(p)))
	}
	return fmt.Errorf("hdf5: offset %#x: %s: %w", s.abs(addr), what, err)
}

// read returns n bytes of metadata at addr.
func (s *source) read(addr uint64, n int64, what string) ([]byte, error) {
	if err := s.within(addr, n, what); err != nil {
		return nil, err
	}
	if n > maxMetadata {
		return nil, fmt.Errorf("%w: %w", ErrLimit, s.bad(addr, what, fmt.Sprintf("%d bytes", n),
			fmt.Sprintf("at most %d", maxMetadata)))
	}
	if s.left != nil && s.left.Add(-n) < 0 {
		return nil, fmt.Errorf("%w: %w", ErrLimit, s.bad(addr, what, "metadata read over and over",
			"structures that do not overlap"))
	}
	p := make([]byte, n)
	if err := s.readInto(p, addr, what); err != nil {
		return nil, err
	}
	return p, nil
}

// block reads n bytes at addr and checks the signature in front and, with sum
// set, the checksum in the last four bytes. The cursor stands behind the
// signature and ends before the checksum.
func (s *source) block(addr uint64, n int64, sig, what string, sum bool) (*cursor, error) {
	b, err := s.read(addr, n, what)
	if err != nil {
		return nil, err
	}
	c := s.cursor(b, addr, what)
	c.signature(sig)
	if c.err != nil {
		return nil, c.err
	}
	if sum {
		if n < int64(len(sig))+4 {
			return nil, s.bad(addr, what, fmt.Sprintf("%d bytes", n), "room for a checksum")
		}
		if err := s.checksum(b, addr, what); err != nil {
			return nil, err
		}
		c.b = b[:n-4]
	}
	return c, nil
}

// checksum verifies the last four bytes of a structure against the rest.
func (s *source) checksum(b []byte, addr uint64, what string) error {
	if !s.verify {
		return nil
	}
	body := b[:len(b)-4]
	stored, sum := binary.LittleEndian.Uint32(b[len(b)-4:]), lookup3(body)
	if stored != sum {
		return s.bad(addr, what+" checksum", fmt.Sprintf("%#08x", stored), fmt.Sprintf("%#08x", sum))
	}
	return nil
}

// cursor returns a reader over b, which was read from addr.
func (s *source) cursor(b []byte, addr uint64, what string) *cursor {
	return &cursor{b: b, at: s.abs(addr), what: what, offLen: s.offLen, lenLen: s.lenLen}
}

// cursor decodes little-endian fields from a slice. The first read beyond the
// end sets err, after which every read yields zero values.
type cursor struct {
	b              []byte
	pos            int
	at             int64 // file offset of b[0]
	what           string
	offLen, lenLen int
	err            error
}

func (c *cursor) fail(found, expected string) {
	if c.err == nil {
		c.err = &FormatError{Offset: c.at + int64(c.pos), What: c.what, Found: found, Expected: expected}
	}
}

func (c *cursor) left() int { return len(c.b) - c.pos }

// bytes takes the next n bytes; they alias the underlying slice.
func (c *cursor) bytes(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > c.left() {
		c.fail(fmt.Sprintf("%d bytes left", c.left()), fmt.Sprintf("%d", n))
		return nil
	}
	p := c.b[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return p
}

func (c *cursor) skip(n int) { c.bytes(n) }

// align skips to a multiple of eight bytes from position from.
func (c *cursor) align(from int) {
	if odd := (c.pos - from) % 8; odd != 0 {
		c.skip(8 - odd)
	}
}

// uint takes an unsigned number of n bytes, n at most 8.
func (c *cursor) uint(n int) uint64 {
	return littleUint(c.bytes(n))
}

func (c *cursor) u8() int  { return int(c.uint(1)) }
func (c *cursor) u16() int { return int(c.uint(2)) }

func (c *cursor) u32() uint32 { return uint32(c.uint(4)) }

// length takes a "size of lengths" field.
func (c *cursor) length() uint64 { return c.uint(c.lenLen) }

// addr takes a "size of offsets" field.
func (c *cursor) addr() uint64 {
	v := c.uint(c.offLen)
	if c.err == nil && v == math.MaxUint64>>(64-8*c.offLen) {
		return undefined
	}
	return v
}

// text takes bytes up to a zero byte, which is consumed.
func (c *cursor) text() string {
	if c.err != nil {
		return ""
	}
	n := bytes.IndexByte(c.b[c.pos:], 0)
	if n < 0 {
		c.fail("text without an end", "a zero byte behind it")
		return ""
	}
	return string(c.bytes(n + 1)[:n])
}

// signature takes and compares the letters that mark a structure.
func (c *cursor) signature(want string) {
	if got := c.bytes(len(want)); c.err == nil && string(got) != want {
		c.pos -= len(want)
		c.fail(fmt.Sprintf("signature %q", got), fmt.Sprintf("%q", want))
	}
}

// version takes a version byte that must be in lo to hi.
func (c *cursor) version(lo, hi int) int {
	v := c.u8()
	if c.err == nil && (v < lo || v > hi) {
		c.pos--
		if lo == hi {
			c.fail(fmt.Sprintf("version %d", v), fmt.Sprintf("%d", lo))
		} else {
			c.fail(fmt.Sprintf("version %d", v), fmt.Sprintf("%d to %d", lo, hi))
		}
	}
	return v
}

// littleUint decodes up to eight little-endian bytes.
func littleUint(b []byte) uint64 {
	var v uint64
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// visits guards the traversal of one structure: no block twice, and no more
// bytes altogether than the file has.
type visits struct {
	src  *source
	seen map[uint64]bool
	left int64
}

func (s *source) visits() *visits {
	return &visits{src: s, seen: map[uint64]bool{}, left: s.size}
}

// enter notes a block of n bytes at addr.
func (v *visits) enter(addr uint64, n int64, what string) error {
	if v.seen[addr] {
		return v.src.bad(addr, what, "a second reference to the block", "one")
	}
	v.seen[addr] = true
	if n > v.left || n < 0 {
		return v.src.bad(addr, what, fmt.Sprintf("%d bytes, more with their siblings than the file has", n),
			"blocks that do not overlap")
	}
	v.left -= n
	return nil
}
