package h5

import (
	"fmt"
	"slices"
)

// chunkRef is a chunk that exists in the file.
type chunkRef struct {
	at     int64 // number of the chunk in the grid, row-major
	addr   uint64
	stored int64 // bytes in the file
	mask   uint32
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

// indexReader collects the chunks of a dataset.
type indexReader struct {
	src  *source
	d    *Dataset
	g    *grid
	list []chunkRef
	left int64 // bytes chunks may still claim
}

// readIndex returns the chunks of a dataset that exist, by number.
func (d *Dataset) readIndex(g *grid) ([]chunkRef, error) {
	r := &indexReader{src: d.src, d: d, g: g, left: d.src.size}
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
	if !r.d.filters.stored(stored, r.g.bytes, mask) {
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
