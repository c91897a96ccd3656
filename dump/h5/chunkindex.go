package h5

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// chunkRef is a chunk that exists in the file.
type chunkRef struct {
	at     int64 // number of the chunk in the grid, row-major
	addr   uint64
	stored int64 // bytes in the file
	mask   uint32
	plain  bool // not filtered, whatever the mask
}

// grid is the division of a dataset into chunks.
type grid struct {
	shape  []int64
	chunk  []int64 // elements of a chunk, per dimension
	counts []int64 // chunks, per dimension
	bytes  int64   // of a chunk, as stored without filters
}

// linear returns the number of the chunk at grid coordinates, or false if they
// lie outside the shape, which a dataset that has shrunk leaves behind.
func (g *grid) linear(at []uint64) (int64, bool) {
	n := int64(0)
	for d, x := range at {
		if x >= uint64(g.counts[d]) {
			return 0, false
		}
		n = n*g.counts[d] + int64(x)
	}
	return n, true
}

// indexReader collects the chunks of a dataset from whichever index it has.
type indexReader struct {
	src      *source
	d        *Dataset
	g        *grid
	filtered bool
	list     []chunkRef
	left     int64 // bytes chunks may still claim
}

// readIndex returns the chunks of a dataset that exist, by number.
func (d *Dataset) readIndex(g *grid) ([]chunkRef, error) {
	r := &indexReader{src: d.src, d: d, g: g, filtered: len(d.filters.steps) > 0, left: d.src.size}
	l := d.layout
	if l.addr == undefined {
		return nil, nil
	}
	var err error
	switch l.index {
	case indexBtree1:
		err = r.btree1()
	case indexSingle:
		n := g.bytes
		if l.singleFilts {
			n = l.singleSize
		}
		err = r.add(make([]uint64, len(g.counts)), l.addr, n, l.singleMask)
	case indexImplicit:
		err = r.implicit()
	case indexFixed:
		err = r.fixedArray()
	case indexExtensible:
		err = r.extensibleArray()
	case indexBtree2:
		err = r.btree2()
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(r.list, func(a, b chunkRef) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	for i := 1; i < len(r.list); i++ {
		if r.list[i].at == r.list[i-1].at {
			return nil, r.src.bad(r.list[i].addr, "chunk index", fmt.Sprintf("chunk %d twice", r.list[i].at), "once")
		}
	}
	return r.list, nil
}

// add notes the chunk at grid coordinates.
func (r *indexReader) add(at []uint64, addr uint64, stored int64, mask uint32) error {
	const what = "chunk"
	n, inside := r.g.linear(at)
	if !inside || addr == undefined {
		return nil
	}
	if err := r.src.within(addr, stored, what); err != nil {
		return err
	}
	if r.left -= stored; r.left < 0 {
		return r.src.bad(addr, what, fmt.Sprintf("%d bytes, more with the other chunks than the file has", stored),
			"chunks that do not overlap")
	}
	ref := chunkRef{at: n, addr: addr, stored: stored, mask: mask}
	if r.d.layout.plainEdges {
		for d, x := range at {
			ref.plain = ref.plain || int64(x+1) > r.g.shape[d]/r.g.chunk[d]
		}
	}
	ok := stored == r.g.bytes
	if !ref.plain {
		ok = r.d.filters.stored(stored, r.g.bytes, mask)
	}
	if !ok {
		return r.src.bad(addr, what, fmt.Sprintf("%d bytes stored", stored),
			fmt.Sprintf("as many as %d can become with the dataset's filters", r.g.bytes))
	}
	r.list = append(r.list, ref)
	return nil
}

// btree1 reads the index of layout versions before 4.
func (r *indexReader) btree1() error {
	rank := len(r.g.counts)
	at := make([]uint64, rank)
	return r.src.btree1(r.d.layout.addr, btree1Chunk, 4+4+8*(rank+1), func(key *cursor, child uint64) error {
		stored, mask := int64(key.u32()), key.u32()
		for d := range at {
			x := key.uint(8)
			c := uint64(r.g.chunk[d])
			if x%c != 0 {
				return r.src.bad(child, "chunk key", fmt.Sprintf("offset %d", x), fmt.Sprintf("a multiple of %d", c))
			}
			at[d] = x / c
		}
		if key.err != nil {
			return key.err
		}
		return r.add(at, child, stored, mask)
	})
}

// btree2 reads the index of datasets with several unlimited dimensions.
func (r *indexReader) btree2() error {
	typ := btreeChunks
	if r.filtered {
		typ = btreeChunksFiltered
	}
	at := make([]uint64, len(r.g.counts))
	return r.src.btree2(r.d.layout.addr, typ, func(rec *cursor) error {
		addr, stored, mask := r.entry(rec)
		for d := range at {
			at[d] = rec.uint(8)
		}
		if rec.err != nil {
			return rec.err
		}
		return r.add(at, addr, stored, mask)
	})
}

// entry takes address, stored size and filter mask of a chunk; the last two are
// there if the dataset has filters.
func (r *indexReader) entry(c *cursor) (addr uint64, stored int64, mask uint32) {
	addr = c.addr()
	if !r.filtered {
		return addr, r.g.bytes, 0
	}
	n := c.uint(r.sizeLen())
	mask = c.u32()
	if c.err == nil && addr != undefined && n > math.MaxInt64 {
		c.fail(fmt.Sprintf("chunk of %d bytes", n), "less than 2^63")
	}
	return addr, int64(n), mask
}

// sizeLen returns the bytes of a stored chunk's size: one more than the size
// without filters needs, as those may expand it.
func (r *indexReader) sizeLen() int {
	return min(1+(bits.Len64(uint64(r.g.bytes))-1+8)/8, 8)
}

// entryLen returns the bytes of an entry.
func (r *indexReader) entryLen() int {
	if r.filtered {
		return r.src.offLen + r.sizeLen() + 4
	}
	return r.src.offLen
}

// limits returns how many chunks the largest dimensions allow, per dimension,
// and how many in all; 0 stands for no limit, in all if any dimension has none.
func (r *indexReader) limits() (per []uint64, total uint64, err error) {
	total = 1
	for d, most := range r.d.max {
		n := uint64(0)
		if most != undefined {
			c := uint64(r.g.chunk[d])
			n = most / c
			if most%c != 0 {
				n++
			}
		}
		per = append(per, n)
		hi, lo := bits.Mul64(total, n)
		if hi != 0 {
			return nil, 0, &FormatError{r.d.layout.at, "chunk index", "more than 2^64 chunks", "fewer"}
		}
		total = lo
	}
	return per, total, nil
}

// implicit computes where chunks lie that follow each other without an index.
func (r *indexReader) implicit() error {
	per, total, err := r.limits()
	if err != nil {
		return err
	}
	const what = "chunks without an index"
	base := r.d.layout.addr
	if total == 0 {
		return r.src.bad(base, what, "an unlimited dimension", "limits for all")
	}
	if hi, n := bits.Mul64(total, uint64(r.g.bytes)); hi != 0 || n > math.MaxInt64 {
		return r.src.bad(base, what, "more than 2^63 bytes", "a range inside the file")
	} else if err := r.src.within(base, int64(n), what); err != nil {
		return err
	}
	at := make([]uint64, len(per))
	for n := range total {
		coordinates(at, n, per)
		if err := r.add(at, base+n*uint64(r.g.bytes), r.g.bytes, 0); err != nil {
			return err
		}
	}
	return nil
}

// coordinates splits the row-major number n in a grid of per entries per
// dimension. The first dimension takes what is left.
func coordinates(at []uint64, n uint64, per []uint64) {
	for d := len(per) - 1; d > 0; d-- {
		at[d] = n % per[d]
		n /= per[d]
	}
	if len(per) > 0 {
		at[0] = n
	}
}
