package h5

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"sync"
)

// A chunk of more than wholeChunk bytes is not held in memory. It is read
// through a window: filters are undone as far as a read needs it. Tests make it
// smaller.
var wholeChunk int64 = cacheBytes

const (
	// maxInflaters bounds how many places of one deflated sequence are kept
	// open, for as many readers at different places.
	maxInflaters = 4
	// maxOpen bounds the places of all chunks of a dataset; each takes some
	// 130 kB.
	maxOpen = 128
	// maxShuffle is the largest element whose bytes are gathered this way, as
	// each has a place of its own.
	maxShuffle = 16
	// readAhead is what is read, or expanded, at once.
	readAhead = 64 << 10
)

// layer is the bytes of a chunk after some of its filters have been undone.
type layer interface {
	// read fills p from off on.
	read(p []byte, off int64) error
	size() int64
}

// chunkStream is a large chunk.
type chunkStream struct {
	at   int64 // its number
	open int   // places it may keep open

	mu    sync.Mutex
	layer layer
}

func (c *chunkStream) read(p []byte, off int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.layer.read(p, off)
}

// stream returns large chunk number at, nil if it does not exist.
func (s *chunkStore) stream(at int64) (*chunkStream, error) {
	i, ok := s.find(at)
	if !ok {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.streams, func(c *chunkStream) bool { return c.at == at }); i >= 0 {
		c := s.streams[i]
		s.streams = append(slices.Delete(s.streams, i, i+1), c)
		return c, nil
	}
	c := &chunkStream{at: at}
	var err error
	if c.layer, c.open, err = s.layers(s.refs[i]); err != nil {
		return nil, fmt.Errorf("chunk %d: %w", at, err)
	}
	s.streams = append(s.streams, c)
	open := 0
	for i := len(s.streams) - 1; i >= 0; i-- {
		if open += s.streams[i].open; open > maxOpen && i < len(s.streams)-1 {
			s.streams = slices.Delete(s.streams, 0, i+1)
			break
		}
	}
	return c, nil
}

// layers undoes the filters of a chunk, one layer each. It tells how many
// places they keep open at most.
func (s *chunkStore) layers(r chunkRef) (l layer, open int, err error) {
	at := s.d.src.abs(r.addr)
	bad := func(what, found, expected string) error { return &FormatError{at, what, found, expected} }
	l = &fileLayer{src: s.d.src, addr: r.addr, n: r.stored}
	if r.plain {
		return l, 0, nil
	}
	p, open := s.d.filters, 0
	for i := len(p.steps) - 1; i >= 0; i-- {
		if r.mask>>i&1 != 0 {
			continue
		}
		switch f := p.steps[i]; f.id {
		case filterFletcher:
			if l.size() < 4 {
				return nil, 0, bad("fletcher32 checksum", fmt.Sprintf("chunk of %d bytes", l.size()), "at least 4")
			}
			body := &headLayer{l, l.size() - 4}
			if err := checkFletcher(body, l, bad); err != nil {
				return nil, 0, err
			}
			l = body
		case filterDeflate:
			want := s.g.bytes
			for j, before := range p.steps[:i] {
				if before.id == filterFletcher && r.mask>>j&1 == 0 {
					want += 4
				}
			}
			if want/deflateRatio > l.size() {
				return nil, 0, bad("deflated chunk", fmt.Sprintf("%d deflated bytes", l.size()), fmt.Sprintf("%d bytes", want))
			}
			l, open = &inflateLayer{src: l, want: want, bad: bad}, maxInflaters
		case filterShuffle:
			if len(f.values) == 0 {
				return nil, 0, bad("shuffle filter", "no element size", "one")
			}
			n := int64(f.values[0])
			if n <= 1 || l.size() < 2*n {
				continue
			}
			if n > maxShuffle {
				return nil, 0, &UnsupportedError{p.at, fmt.Sprintf("shuffled elements of %d bytes in a chunk of %d", n, s.g.bytes)}
			}
			sh := &shuffleLayer{rest: l, n: l.size() / n}
			for range n {
				plane := l
				if z, ok := l.(*inflateLayer); ok { // each plane reads on from its own place
					c := *z
					plane = &c
				}
				sh.planes = append(sh.planes, plane)
			}
			l, open = sh, open*int(n+1)
		}
	}
	if l.size() != s.g.bytes {
		return nil, 0, bad("chunk", fmt.Sprintf("%d bytes", l.size()), fmt.Sprintf("%d", s.g.bytes))
	}
	return l, open, nil
}

// fileLayer is what is stored. Short reads are served from the bytes read last.
type fileLayer struct {
	src  *source
	addr uint64
	n    int64
	buf  []byte
	at   int64
}

func (f *fileLayer) size() int64 { return f.n }

func (f *fileLayer) read(p []byte, off int64) error {
	if len(p) > readAhead/8 || int64(len(p)) > f.n-off {
		return f.src.readInto(p, f.addr+uint64(off), "chunk")
	}
	if off < f.at || off+int64(len(p)) > f.at+int64(len(f.buf)) {
		n := min(readAhead, f.n-off)
		f.buf, f.at = slices.Grow(f.buf[:0], int(n))[:n], off
		if err := f.src.readInto(f.buf, f.addr+uint64(off), "chunk"); err != nil {
			f.buf = f.buf[:0]
			return err
		}
	}
	copy(p, f.buf[off-f.at:])
	return nil
}

// headLayer is another without its end.
type headLayer struct {
	layer
	n int64
}

func (h *headLayer) size() int64 { return h.n }

// checkFletcher compares the checksum that follows body in l.
func checkFletcher(body, l layer, bad func(what, found, expected string) error) error {
	var sum fletcher
	b := make([]byte, readAhead)
	for off := int64(0); off < body.size(); off += int64(len(b)) {
		b = b[:min(int64(len(b)), body.size()-off)]
		if err := l.read(b, off); err != nil {
			return err
		}
		sum.add(b)
	}
	var stored [4]byte
	if err := l.read(stored[:], body.size()); err != nil {
		return err
	}
	got := binary.LittleEndian.Uint32(stored[:])
	old := bits.ReverseBytes32(sum.value()) // of some old writers, as in undo
	if old = old<<16 | old>>16; got != sum.value() && got != old {
		return bad("fletcher32 checksum", fmt.Sprintf("%#08x", got), fmt.Sprintf("%#08x", sum.value()))
	}
	return nil
}

// inflateLayer expands a deflated layer. Deflate is read from its start only,
// so some places are kept open, each with what it gave last, and a read goes on
// from the nearest one.
type inflateLayer struct {
	src  layer
	want int64
	bad  func(what, found, expected string) error
	open []*inflater // least recently used first
}

// inflater is a place: buf is what lies before pos.
type inflater struct {
	z   io.ReadCloser
	pos int64
	buf []byte
}

func (f *inflateLayer) size() int64 { return f.want }

func (f *inflateLayer) read(p []byte, off int64) error {
	z, err := f.seek(off)
	for err == nil && len(p) > 0 {
		if off == z.pos {
			err = f.advance(z)
			continue
		}
		n := copy(p, z.buf[off-(z.pos-int64(len(z.buf))):])
		p, off = p[n:], off+int64(n)
	}
	if err == nil {
		return nil
	}
	f.open = slices.DeleteFunc(f.open, func(o *inflater) bool { return o == z })
	if errors.As(err, new(*FormatError)) {
		return err
	}
	return f.bad("deflated chunk", err.Error(), fmt.Sprintf("%d bytes", f.want))
}

// advance expands the next piece. Behind the last byte it looks for the
// checksum.
func (f *inflateLayer) advance(z *inflater) error {
	size := min(readAhead, f.want-z.pos)
	if size == 0 {
		return errors.New("less bytes")
	}
	z.buf = slices.Grow(z.buf[:0], int(size))[:size]
	n, err := io.ReadFull(z.z, z.buf)
	z.pos += int64(n)
	if err != nil {
		return fmt.Errorf("%w after %d bytes", err, z.pos)
	}
	if z.pos < f.want {
		return nil
	}
	var one [1]byte
	switch n, err := io.ReadFull(z.z, one[:]); {
	case n > 0:
		return errors.New("more bytes")
	case err != io.EOF:
		return err
	}
	return nil
}

// seek returns a place that has off, or is at it: the nearest before it, moved
// on, or a new one if that is hardly farther, so that the other stays for who
// reads there.
func (f *inflateLayer) seek(off int64) (*inflater, error) {
	best := -1
	for i, z := range f.open {
		if z.pos-int64(len(z.buf)) <= off && (best < 0 || z.pos > f.open[best].pos) {
			best = i
		}
	}
	var z *inflater
	if best >= 0 {
		if z = f.open[best]; off-z.pos > readAhead && off-z.pos > off/8 && len(f.open) < maxInflaters {
			z = nil
		}
	}
	if z == nil {
		in, err := zlib.NewReader(bufio.NewReaderSize(&layerReader{f.src, 0}, 16<<10))
		if err != nil {
			return nil, err
		}
		z = &inflater{z: in}
		if f.open = append(f.open, z); len(f.open) > maxInflaters {
			f.open = slices.Delete(f.open, 0, 1)
		}
	} else {
		f.open = append(slices.Delete(f.open, best, best+1), z)
	}
	for off > z.pos {
		if err := f.advance(z); err != nil {
			return z, err
		}
	}
	return z, nil
}

// layerReader reads a layer from front to back.
type layerReader struct {
	l   layer
	off int64
}

func (r *layerReader) Read(p []byte) (int, error) {
	left := r.l.size() - r.off
	if left == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), left)]
	if err := r.l.read(p, r.off); err != nil {
		return 0, err
	}
	r.off += int64(len(p))
	return len(p), nil
}

// shuffleLayer puts the bytes of elements together again, of which all first
// bytes come first, then all second ones, and so on. Bytes beyond the last whole
// element are at the end.
type shuffleLayer struct {
	planes []layer
	rest   layer
	n      int64 // elements
	buf    []byte
}

func (s *shuffleLayer) size() int64 { return s.rest.size() }

func (s *shuffleLayer) read(p []byte, off int64) error {
	w := int64(len(s.planes))
	if end := w * s.n; off+int64(len(p)) > end {
		head := max(end-off, 0)
		if err := s.rest.read(p[head:], off+head); err != nil {
			return err
		}
		p = p[:head]
	}
	for len(p) > 0 {
		first, skip := off/w, off%w
		count := min((skip+int64(len(p))+w-1)/w, readAhead)
		s.buf = slices.Grow(s.buf[:0], int(count))[:count]
		n := min(int64(len(p)), count*w-skip)
		for k, plane := range s.planes {
			if err := plane.read(s.buf, int64(k)*s.n+first); err != nil {
				return err
			}
			for i, v := range s.buf {
				if to := int64(i)*w + int64(k) - skip; to >= 0 && to < n {
					p[to] = v
				}
			}
		}
		p, off = p[n:], off+n
	}
	return nil
}
