package h5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// Registered filters this package undoes.
const (
	filterDeflate  = 1
	filterShuffle  = 2
	filterFletcher = 3
)

var filterNames = map[int]string{4: "szip", 5: "nbit", 6: "scale-offset", 32000: "lzf", 32001: "blosc",
	32004: "lz4", 32008: "bitshuffle", 32015: "zstd"}

// filter is one step of a pipeline, in the order of writing.
type filter struct {
	id     int
	values []uint32
}

// pipeline is what was done to a chunk's bytes before they were stored.
type pipeline struct {
	at    int64 // file offset of the message
	steps []filter
}

// filters decodes a filter pipeline message, versions 1 and 2.
func (s *source) filters(c *cursor) (*pipeline, error) {
	p := &pipeline{at: c.at}
	version := c.version(1, 2)
	count := c.u8()
	if version == 1 {
		c.skip(6)
	}
	if c.err == nil && count > 32 {
		c.fail(fmt.Sprintf("%d filters", count), "at most 32")
	}
	if c.err != nil {
		return nil, c.err
	}
	for range count {
		f := filter{id: c.u16()}
		nameLen := 0
		if version == 1 || f.id >= 256 {
			nameLen = c.u16()
		}
		c.skip(2) // optional or not
		n := c.u16()
		c.skip(nameLen)
		if version == 1 && nameLen%8 != 0 {
			c.skip(8 - nameLen%8)
		}
		if c.err == nil && n > c.left()/4 {
			c.fail(fmt.Sprintf("%d filter values", n), fmt.Sprintf("at most %d", c.left()/4))
		}
		if c.err != nil {
			return nil, c.err
		}
		for range n {
			f.values = append(f.values, c.u32())
		}
		if version == 1 && n%2 != 0 {
			c.skip(4)
		}
		p.steps = append(p.steps, f)
	}
	return p, c.err
}

// check reports a pipeline that cannot be undone.
func (p *pipeline) check() error {
	deflates := 0
	for _, f := range p.steps {
		switch f.id {
		case filterDeflate:
			deflates++
		case filterShuffle, filterFletcher:
		default:
			name := filterNames[f.id]
			if name == "" {
				name = "unknown"
			}
			return &UnsupportedError{p.at, fmt.Sprintf("filter %d (%s)", f.id, name)}
		}
	}
	// Deflate once expands by a thousand at most, which bounds what a chunk can
	// cost. Twice would square that.
	if deflates > 1 {
		return &UnsupportedError{p.at, "deflate more than once"}
	}
	return nil
}

// deflateRatio is more than the largest expansion of the deflate format, 1032.
const deflateRatio = 1040

// stored checks whether n stored bytes can be a chunk of size bytes.
func (p *pipeline) stored(n, size int64, mask uint32) bool {
	want := size
	for i, f := range p.steps {
		if mask>>i&1 != 0 {
			continue
		}
		switch f.id {
		case filterFletcher:
			want += 4
		case filterDeflate:
			return n > 0 && want/deflateRatio <= n
		}
	}
	return n == want
}

// undo reverses the pipeline for a chunk of size bytes read from offset at.
// Steps with their bit set in mask were left out. It may work in place.
func (p *pipeline) undo(b []byte, size int64, mask uint32, at int64) ([]byte, error) {
	bad := func(what, found, expected string) error { return &FormatError{at, what, found, expected} }
	for i := len(p.steps) - 1; i >= 0; i-- {
		if mask>>i&1 != 0 {
			continue
		}
		switch f := p.steps[i]; f.id {
		case filterFletcher:
			if len(b) < 4 {
				return nil, bad("fletcher32 checksum", fmt.Sprintf("chunk of %d bytes", len(b)), "at least 4")
			}
			body := b[:len(b)-4]
			stored, sum := binary.LittleEndian.Uint32(b[len(b)-4:]), fletcher32(body)
			// Some old writers stored the two bytes of each half swapped.
			old := bits.ReverseBytes32(sum)
			if old = old<<16 | old>>16; stored != sum && stored != old {
				return nil, bad("fletcher32 checksum", fmt.Sprintf("%#08x", stored), fmt.Sprintf("%#08x", sum))
			}
			b = body
		case filterDeflate:
			want := size
			for j, before := range p.steps[:i] {
				if before.id == filterFletcher && mask>>j&1 == 0 {
					want += 4
				}
			}
			var err error
			if b, err = inflate(b, want); err != nil {
				return nil, bad("deflated chunk", err.Error(), fmt.Sprintf("%d bytes", want))
			}
		case filterShuffle:
			if len(f.values) == 0 {
				return nil, bad("shuffle filter", "no element size", "one")
			}
			b = unshuffle(b, int(min(f.values[0], 1<<30)))
		}
	}
	if int64(len(b)) != size {
		return nil, bad("chunk", fmt.Sprintf("%d bytes", len(b)), fmt.Sprintf("%d", size))
	}
	return b, nil
}

// inflate expands b to exactly want bytes.
func inflate(b []byte, want int64) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if want/deflateRatio > int64(len(b)) {
		return nil, fmt.Errorf("%d deflated bytes", len(b))
	}
	out := make([]byte, want)
	if n, err := io.ReadFull(z, out); err != nil {
		return nil, fmt.Errorf("%w after %d bytes", err, n)
	}
	// Only reading the end verifies the stream's own checksum.
	var one [1]byte
	switch n, err := io.ReadFull(z, one[:]); {
	case n > 0:
		return nil, fmt.Errorf("more bytes")
	case err != io.EOF:
		return nil, err
	}
	return out, nil
}

// unshuffle undoes the grouping of all first bytes of the elements, all second
// ones, and so on. Bytes beyond the last whole element stay at the end.
func unshuffle(b []byte, size int) []byte {
	if size <= 1 || len(b) < 2*size {
		return b
	}
	n := len(b) / size
	out := make([]byte, len(b))
	for j := range size {
		plane := b[j*n : (j+1)*n]
		for i, v := range plane {
			out[i*size+j] = v
		}
	}
	copy(out[n*size:], b[n*size:])
	return out
}

// fletcher32 is the checksum of that name over big-endian 16-bit words, an odd
// byte at the end taken as the high half of one.
func fletcher32(b []byte) uint32 {
	var f fletcher
	f.add(b)
	return f.value()
}

// fletcher is a checksum in the making.
type fletcher struct{ s1, s2 uint32 }

// add takes more bytes; only the last piece may have an odd number of them.
func (f *fletcher) add(b []byte) {
	s1, s2 := f.s1, f.s2
	for len(b) > 1 {
		n := min(len(b)/2, 360) // as many as cannot overflow the sums
		for range n {
			s1 += uint32(b[0])<<8 | uint32(b[1])
			s2 += s1
			b = b[2:]
		}
		s1 = s1&0xffff + s1>>16
		s2 = s2&0xffff + s2>>16
	}
	if len(b) == 1 {
		s1 += uint32(b[0]) << 8
		s2 += s1
		s1 = s1&0xffff + s1>>16
		s2 = s2&0xffff + s2>>16
	}
	f.s1, f.s2 = s1, s2
}

func (f *fletcher) value() uint32 {
	return (f.s2&0xffff+f.s2>>16)<<16 | (f.s1&0xffff + f.s1>>16)
}
