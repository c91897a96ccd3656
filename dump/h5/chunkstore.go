package h5

import (
	"cmp"
	"fmt"
	"precision/internal/nd"
	"slices"
	"sync"
)

// What a dataset keeps of decoded chunks for ReadAt, beside the last one.
const (
	cacheBytes  = 16 << 20
	cacheChunks = 512
)

// chunkStore reads elements of a chunked dataset.
type chunkStore struct {
	d    *Dataset
	g    *grid
	refs []chunkRef // that exist, by number

	mu     sync.Mutex
	recent []decoded // least recently used first
	held   int64
}

// decoded is a chunk in the cache.
type decoded struct {
	at   int64
	data []byte
}

// openChunks reads the index of chunks.
func (d *Dataset) openChunks() (*chunkStore, error) {
	g := &grid{shape: d.Shape, chunk: d.layout.chunk, bytes: d.layout.elemSize}
	for i, n := range d.Shape {
		c := g.chunk[i]
		count := n / c
		if n%c != 0 {
			count++
		}
		g.counts = append(g.counts, count)
		g.bytes *= c
	}
	refs, err := d.readIndex(g)
	if err != nil {
		return nil, err
	}
	return &chunkStore{d: d, g: g, refs: refs}, nil
}

// backed returns how many bytes of elements the chunks that exist stand for.
func (s *chunkStore) backed() int64 {
	n, ok := nd.Count(int64(len(s.refs)), s.g.bytes)
	if !ok {
		return s.d.count * int64(s.d.elem.stored)
	}
	return n
}

// find returns the place of chunk number at among those that exist.
func (s *chunkStore) find(at int64) (int, bool) {
	return slices.BinarySearchFunc(s.refs, at, func(r chunkRef, n int64) int { return cmp.Compare(r.at, n) })
}

// chunk returns the stored elements of chunk number at, nil if it does not exist.
func (s *chunkStore) chunk(at int64, cache bool) ([]byte, error) {
	i, ok := s.find(at)
	if !ok {
		return nil, nil
	}
	if !cache {
		return s.decode(s.refs[i])
	}
	if data := s.cached(at); data != nil {
		return data, nil
	}
	data, err := s.decode(s.refs[i])
	if err == nil {
		s.keep(at, data)
	}
	return data, err
}

// decode reads a chunk and undoes its filters.
func (s *chunkStore) decode(r chunkRef) ([]byte, error) {
	const what = "chunk"
	// Chunks of the index lie inside the file, so this is memory the file has.
	b := make([]byte, r.stored)
	if err := s.d.src.readInto(b, r.addr, what); err != nil {
		return nil, err
	}
	b, err := s.d.filters.undo(b, s.g.bytes, r.mask, s.d.src.abs(r.addr))
	if err != nil {
		return nil, fmt.Errorf("chunk %d: %w", r.at, err)
	}
	return b, nil
}

func (s *chunkStore) cached(at int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.recent) - 1; i >= 0; i-- {
		if e := s.recent[i]; e.at == at {
			s.recent = append(slices.Delete(s.recent, i, i+1), e)
			return e.data
		}
	}
	return nil
}

func (s *chunkStore) keep(at int64, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent = append(s.recent, decoded{at, data})
	s.held += int64(len(data))
	drop := 0
	for (s.held > cacheBytes || len(s.recent)-drop > cacheChunks) && drop < len(s.recent)-1 {
		s.held -= int64(len(s.recent[drop].data))
		drop++
	}
	s.recent = slices.Delete(s.recent, 0, drop)
}

// read fills p with the stored elements from number a up to b.
func (s *chunkStore) read(p []byte, a, b int64, cache bool) error {
	r := &boxReader{s: s, p: p, first: a, size: s.g.bytes / nd.Size(s.g.chunk), cache: cache}
	rank := len(s.g.shape)
	r.strides = nd.Strides(s.g.shape)
	r.chunkStrides = nd.Strides(s.g.chunk)
	r.lo, r.hi = make([]int64, rank), make([]int64, rank)
	r.at, r.from, r.to = make([]int64, rank), make([]int64, rank), make([]int64, rank)
	return r.split(0, a, b)
}

// boxReader copies a range of elements out of the chunks it touches.
type boxReader struct {
	s            *chunkStore
	p            []byte
	first        int64 // number of the element at p[0]
	size         int64 // bytes of an element
	cache        bool
	strides      []int64
	chunkStrides []int64
	lo, hi       []int64 // the box being read
	at           []int64 // grid coordinates of the chunk being read
	from, to     []int64 // the part of the box in it
}

// split cuts the range a to b, counted within the hyperplane that lo fixes in
// the dimensions before d, into boxes, and reads those.
func (r *boxReader) split(d int, a, b int64) error {
	shape := r.s.g.shape
	if d >= len(shape)-1 {
		if d < len(shape) {
			r.lo[d], r.hi[d] = a, b
		}
		return r.box(0)
	}
	step := r.strides[d]
	first, last := a/step, (b-1)/step
	within := func(i, a, b int64) error {
		r.lo[d], r.hi[d] = i, i+1
		return r.split(d+1, a, b)
	}
	if first == last {
		return within(first, a-first*step, b-first*step)
	}
	if odd := a % step; odd != 0 {
		if err := within(first, odd, step); err != nil {
			return err
		}
		first++
	}
	tail := b % step
	if tail == 0 {
		last++
	}
	if first < last {
		r.lo[d], r.hi[d] = first, last
		for i := d + 1; i < len(shape); i++ {
			r.lo[i], r.hi[i] = 0, shape[i]
		}
		if err := r.box(0); err != nil {
			return err
		}
	}
	if tail != 0 {
		return within(last, 0, tail)
	}
	return nil
}

// box reads all chunks that the box touches, dimension d and inner ones varying.
func (r *boxReader) box(d int) error {
	if d == len(r.lo) {
		return r.part()
	}
	c := r.s.g.chunk[d]
	for x := r.lo[d] / c; x*c < r.hi[d]; x++ {
		r.at[d] = x
		r.from[d], r.to[d] = max(r.lo[d], x*c), min(r.hi[d], x*c+c)
		if err := r.box(d + 1); err != nil {
			return err
		}
	}
	return nil
}

// part copies what one chunk has of the box.
func (r *boxReader) part() error {
	number := int64(0)
	for d, x := range r.at {
		number = number*r.s.g.counts[d] + x
	}
	data, err := r.s.chunk(number, r.cache)
	if err != nil {
		return err
	}
	src, dst := int64(0), -r.first
	for d := range r.at {
		src += (r.from[d] - r.at[d]*r.s.g.chunk[d]) * r.chunkStrides[d]
		dst += r.from[d] * r.strides[d]
	}
	r.rows(0, src, dst, data)
	return nil
}

// rows copies the part row by row from element src of the chunk to element dst
// of the result, dimension d and inner ones varying. A chunk that does not exist
// has no data.
func (r *boxReader) rows(d int, src, dst int64, data []byte) {
	if d >= len(r.at)-1 {
		n := int64(1)
		if d < len(r.at) {
			n = r.to[d] - r.from[d]
		}
		out := r.p[dst*r.size : (dst+n)*r.size]
		if data == nil {
			r.s.d.fillIn(out)
		} else {
			copy(out, data[src*r.size:])
		}
		return
	}
	for range r.to[d] - r.from[d] {
		r.rows(d+1, src, dst, data)
		src += r.chunkStrides[d]
		dst += r.strides[d]
	}
}
