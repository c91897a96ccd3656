package h5

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"precision/internal/must"
	"precision/internal/nd"
	"precision/internal/order"
)

// Filters that are undone.
const (
	filterDeflate = 1
	filterShuffle = 2
)

var filterNames = map[int]string{3: "fletcher32", 4: "szip", 5: "nbit", 6: "scale-offset", 32000: "lzf", 32001: "blosc",
	32004: "lz4", 32008: "bitshuffle", 32015: "zstd"}

// filter is one step of what was done to a chunk's bytes before they were stored, in the order of writing.
type filter struct {
	id   int
	size int // shuffle: bytes of an element
}

// filters decodes a filter pipeline message.
func filters(c *cursor) (steps []filter) {
	c.version(1, 1)
	count := c.u8()
	if count > maxFilters {
		c.fail(fmt.Sprintf("%d filters", count), fmt.Sprintf("at most %d", maxFilters))
	}
	c.skip(6)
	for range count {
		f := filter{id: c.u16()}
		name := c.u16()
		c.skip(2) // optional or not
		n := c.u16()
		c.skip((name + 7) &^ 7)
		values := c.bytes(4 * n)
		c.skip(n % 2 * 4)
		switch {
		case f.id == filterShuffle && len(values) > 0:
			f.size = int(binary.LittleEndian.Uint32(values) & math.MaxInt32)
		case f.id == filterDeflate && !slices.ContainsFunc(steps, func(f filter) bool { return f.id == filterDeflate }):
			// Once it expands by a thousand at most, which bounds what a chunk can cost. Twice would square that.
		default:
			unsupported(c.at, "filter %d (%s)", f.id, cmp.Or(filterNames[f.id], "unknown, or not as usual"))
		}
		steps = append(steps, f)
	}
	return steps
}

// chunkStore reads elements of a chunked dataset.
type chunkStore struct {
	d      *Dataset
	counts []int64    // chunks, per dimension
	bytes  int64      // of a chunk without filters
	refs   []chunkRef // that exist, by number

	mu     sync.Mutex
	recent []decoded // least recently used first
	held   int64
}

// chunkRef is a chunk that exists in the file.
type chunkRef struct {
	at     int64 // number of the chunk in the grid, row-major
	addr   uint64
	stored int64  // bytes in the file
	mask   uint32 // filters left out
}

// decoded is a chunk in the cache.
type decoded struct {
	at   int64
	data []byte
}

// What a dataset keeps of decoded chunks for ReadAt, beside the last one.
const (
	cacheBytes  = 16 << 20
	cacheChunks = 512
)

// deflateRatio is more than the largest expansion of the deflate format, 1032.
const deflateRatio = 1040

// openChunks reads the index of chunks.
func (d *Dataset) openChunks() *chunkStore {
	s := &chunkStore{d: d, bytes: int64(d.elem.size) * nd.Size(d.chunk)}
	for i, n := range d.Shape {
		s.counts = append(s.counts, (n-1)/d.chunk[i]+1)
	}
	if d.addr == undefined {
		return s
	}
	const what = "chunk"
	left := d.src.size // bytes chunks may still claim
	d.src.btree(d.addr, btreeChunk, 8+8*(len(s.counts)+1), func(key *cursor, addr uint64) {
		r := chunkRef{addr: addr, stored: int64(key.u32()), mask: key.u32()}
		outside := addr == undefined // or beyond the shape, which a dataset that has shrunk leaves behind
		for i, n := range s.counts {
			x := key.u64()
			if x%uint64(d.chunk[i]) != 0 {
				d.src.refuse(addr, "chunk key", fmt.Sprintf("offset %d", x), fmt.Sprintf("a multiple of %d", d.chunk[i]))
			}
			x /= uint64(d.chunk[i])
			outside = outside || x >= uint64(n)
			r.at = r.at*n + int64(x)
		}
		if outside {
			return
		}
		d.src.within(addr, r.stored, what)
		if left -= r.stored; left < 0 {
			d.src.refuse(addr, what, fmt.Sprintf("%d bytes, more with the other chunks than the file has", r.stored), "chunks that do not overlap")
		}
		ok := r.stored == s.bytes
		for i, f := range d.steps {
			if f.id == filterDeflate && r.mask>>i&1 == 0 {
				ok = r.stored > 0 && s.bytes/deflateRatio <= r.stored
			}
		}
		if !ok {
			d.src.refuse(addr, what, fmt.Sprintf("%d bytes stored", r.stored), fmt.Sprintf("as many as %d can become with the dataset's filters", s.bytes))
		}
		s.refs = append(s.refs, r)
	})
	order.Stable(s.refs, func(a, b chunkRef) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(s.refs); i++ {
		if s.refs[i].at == s.refs[i-1].at {
			d.src.refuse(s.refs[i].addr, "chunk index", fmt.Sprintf("chunk %d twice", s.refs[i].at), "once")
		}
	}
	return s
}

// read fills p with the stored elements from number first on.
func (s *chunkStore) read(p []byte, first int64, cache bool) {
	s.d.fillIn(p)
	shape, chunk, size := s.d.Shape, s.d.chunk, int64(s.d.elem.size)
	strides, within := nd.Strides(shape), nd.Strides(chunk)
	last := first + int64(len(p))/size
	// Chunks are numbered by rows of the outermost dimension.
	lo, hi := int64(0), int64(len(s.refs))
	if len(shape) > 0 {
		row, each := strides[0]*chunk[0], nd.Size(s.counts[1:])
		search := func(at int64) int64 {
			i, _ := slices.BinarySearchFunc(s.refs, at, func(r chunkRef, at int64) int { return cmp.Compare(r.at, at) })
			return int64(i)
		}
		lo, hi = search(first/row*each), search(((last-1)/row+1)*each)
	}
	for _, r := range s.refs[lo:hi] {
		var data []byte
		// copyRows copies the rows of the chunk that are wanted, dimension dim and inner ones varying, from element
		// src of the chunk, which is dst of the dataset, on.
		var copyRows func(dim int, src, dst int64)
		from, to := make([]int64, len(shape)), make([]int64, len(shape))
		start, number := int64(0), r.at
		for i := len(shape) - 1; i >= 0; i-- {
			from[i] = number % s.counts[i] * chunk[i]
			to[i] = min(from[i]+chunk[i], shape[i])
			start += from[i] * strides[i]
			number /= s.counts[i]
		}
		copyRows = func(dim int, src, dst int64) {
			end := dst + 1
			for i := dim; i < len(shape); i++ {
				end += (to[i] - from[i] - 1) * strides[i]
			}
			if end <= first || dst >= last {
				return
			}
			if dim >= len(shape)-1 {
				if data == nil {
					data = s.chunk(r, cache)
				}
				a, b := max(dst, first), min(end, last)
				copy(p[(a-first)*size:(b-first)*size], data[(src+a-dst)*size:])
				return
			}
			for i := range to[dim] - from[dim] {
				copyRows(dim+1, src+i*within[dim], dst+i*strides[dim])
			}
		}
		copyRows(0, 0, start)
	}
}

// chunk returns the stored elements of a chunk.
func (s *chunkStore) chunk(r chunkRef, cache bool) []byte {
	if !cache {
		return s.decode(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := decoded{at: r.at}
	if i := slices.IndexFunc(s.recent, func(e decoded) bool { return e.at == r.at }); i >= 0 {
		e = s.recent[i]
		s.recent = slices.Delete(s.recent, i, i+1)
	} else {
		e.data = s.decode(r)
		s.held += s.bytes
	}
	s.recent = append(s.recent, e)
	for len(s.recent) > 1 && (s.held > cacheBytes || len(s.recent) > cacheChunks) {
		s.recent = slices.Delete(s.recent, 0, 1) // which lets go of the data
		s.held -= s.bytes
	}
	return e.data
}

// decode reads a chunk and undoes its filters.
func (s *chunkStore) decode(r chunkRef) []byte {
	// Chunks of the index lie inside the file, so this is memory the file has.
	b := make([]byte, r.stored)
	s.d.src.readInto(b, r.addr, "chunk")
	for i, f := range slices.Backward(s.d.steps) {
		switch {
		case r.mask>>i&1 != 0:
		case f.id == filterDeflate:
			var err error
			if b, err = must.Of(func() []byte { return inflate(b, s.bytes) }); err != nil {
				must.Do(fmt.Errorf("chunk %d: %w", r.at, &FormatError{int64(r.addr), "deflated chunk", err.Error(), fmt.Sprintf("%d bytes", s.bytes)}))
			}
		default:
			b = unshuffle(b, f.size)
		}
	}
	return b
}

// inflate expands b to exactly want bytes.
func inflate(b []byte, want int64) []byte {
	z := must.Get(zlib.NewReader(bytes.NewReader(b)))
	out := make([]byte, want)
	n, err := io.ReadFull(z, out)
	must.Not(err != nil, "%w after %d bytes", err, n)
	// Only reading the end verifies the stream's own checksum.
	var one [1]byte
	n, err = io.ReadFull(z, one[:])
	must.Not(n > 0, "more bytes")
	if err != io.EOF {
		must.Do(err)
	}
	return out
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
		for i, v := range b[j*n : (j+1)*n] {
			out[i*size+j] = v
		}
	}
	copy(out[n*size:], b[n*size:])
	return out
}
