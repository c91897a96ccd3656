package h5

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"precision/internal/must"
)

// undefined is the address of something that was never allocated.
const undefined = math.MaxUint64

// source is the file as a sequence of checked byte ranges.
type source struct {
	r    io.ReaderAt
	size int64

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

// bad builds a FormatError for the structure at addr.
func (s *source) bad(addr uint64, what, found, expected string) error {
	return &FormatError{int64(min(addr, math.MaxInt64)), what, found, expected}
}

// refuse ends the reading with the error of bad.
func (s *source) refuse(addr uint64, what, found, expected string) {
	must.Do(s.bad(addr, what, found, expected))
}

// unsupported ends the reading of what is not read here.
func unsupported(at int64, format string, args ...any) {
	must.Do(&UnsupportedError{at, fmt.Sprintf(format, args...)})
}

// within refuses n bytes at addr that do not lie inside the file.
func (s *source) within(addr uint64, n int64, what string) {
	switch {
	case addr == undefined:
		s.refuse(addr, what, "the undefined address", "an address")
	case n < 0, addr > uint64(s.size), n > s.size-int64(addr):
		s.refuse(addr, what, fmt.Sprintf("%d bytes claimed", n), fmt.Sprintf("a range inside the file of %d bytes", s.size))
	}
}

// readInto fills p from addr.
func (s *source) readInto(p []byte, addr uint64, what string) {
	s.within(addr, int64(len(p)), what)
	switch n, err := s.r.ReadAt(p, int64(addr)); {
	case n == len(p):
	case err == nil || errors.Is(err, io.EOF):
		s.refuse(addr, what, fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d", len(p)))
	default:
		must.Do(fmt.Errorf("hdf5: offset %#x: %s: %w", addr, what, err))
	}
}

// read reads n bytes of metadata at addr.
func (s *source) read(addr uint64, n int64, what string) *cursor {
	s.within(addr, n, what)
	switch {
	case n > maxMetadata:
		must.Do(fmt.Errorf("%w: %w", ErrLimit, s.bad(addr, what, fmt.Sprintf("%d bytes", n), fmt.Sprintf("at most %d", maxMetadata))))
	case s.left != nil && s.left.Add(-n) < 0:
		must.Do(fmt.Errorf("%w: %w", ErrLimit, s.bad(addr, what, "metadata read over and over", "structures that do not overlap")))
	}
	c := s.cursor(make([]byte, n), addr, what)
	s.readInto(c.b, addr, what)
	return c
}

// head reads the n bytes a structure at addr begins with and checks its signature, behind which the cursor stands.
func (s *source) head(addr uint64, n int64, sig, what string) *cursor {
	c := s.read(addr, n, what)
	c.signature(sig)
	return c
}

// cursor returns a reader over b, which was read from addr.
func (s *source) cursor(b []byte, addr uint64, what string) *cursor {
	return &cursor{b: b, at: int64(addr), what: what}
}

// cursor decodes little-endian fields from a slice. What is not as expected, and a read beyond the end, end the reading.
type cursor struct {
	b    []byte
	pos  int
	at   int64 // file offset of b[0]
	what string
}

func (c *cursor) fail(found, expected string) {
	must.Do(&FormatError{c.at + int64(c.pos), c.what, found, expected})
}

func (c *cursor) left() int { return len(c.b) - c.pos }

// bytes takes the next n bytes; they alias the underlying slice.
func (c *cursor) bytes(n int) []byte {
	if n < 0 || n > c.left() {
		c.fail(fmt.Sprintf("%d bytes left", c.left()), fmt.Sprint(n))
	}
	p := c.b[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return p
}

func (c *cursor) skip(n int) { c.bytes(n) }

// signature takes the bytes a structure begins with.
func (c *cursor) signature(want string) {
	if got := string(c.bytes(len(want))); got != want {
		c.pos -= len(want)
		c.fail(fmt.Sprintf("signature %q", got), fmt.Sprintf("%q", want))
	}
}

// uint takes an unsigned number of n bytes, n at most 8.
func (c *cursor) uint(n int) (v uint64) {
	for i, b := range c.bytes(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (c *cursor) u8() int     { return int(c.uint(1)) }
func (c *cursor) u16() int    { return int(c.uint(2)) }
func (c *cursor) u32() uint32 { return uint32(c.uint(4)) }

// u64 takes an address or a length.
func (c *cursor) u64() uint64 { return c.uint(8) }

// maxText is more than any name in a file needs; messages of object headers, which hold some, have no room for longer ones.
const maxText = 64 << 10

// text takes bytes up to a zero byte, which is consumed.
func (c *cursor) text() string {
	n := bytes.IndexByte(c.b[c.pos:][:min(c.left(), maxText+1)], 0)
	if n < 0 {
		c.fail("text without an end", fmt.Sprintf("a zero byte behind at most %d others", maxText))
	}
	return string(c.bytes(n + 1)[:n])
}

// version takes a version byte that must be in lo to hi.
func (c *cursor) version(lo, hi int) int {
	v := c.u8()
	if v < lo || v > hi {
		c.pos--
		c.fail(fmt.Sprintf("version %d", v), fmt.Sprintf("%d to %d", lo, hi))
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

// block reads the n bytes at addr.
func (v *visits) block(addr uint64, n int64, what string) *cursor {
	if v.seen[addr] {
		v.src.refuse(addr, what, "a second reference to the block", "one")
	}
	v.seen[addr] = true
	if v.left -= n; v.left < 0 {
		v.src.refuse(addr, what, fmt.Sprintf("%d bytes, more with their siblings than the file has", n), "blocks that do not overlap")
	}
	return v.src.read(addr, n, what)
}
