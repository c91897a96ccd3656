// Command gen writes the vector kernels of package metric as Go assembly. See
// the Go loops there for what they compute.
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, e := range []element{{bits: 32}, {bits: 64}} {
		sumTile512(e)
		sumTile256(e)
		sumKL512(e)
		sumKL256(e)
	}
	for _, l := range []level{avx512, avx2} {
		refFirst(l)
		refSecond(l)
		refThird(l)
	}
	addTree()
	readStreams()
	Generate()
}

// element is the type of the elements of a tile.
type element struct{ bits int }

func (e element) size() int    { return e.bits / 8 }
func (e element) name() string { return map[int]string{32: "float32", 64: "float64"}[e.bits] }
func (e element) suffix() string {
	return map[int]string{32: "32", 64: "64"}[e.bits]
}

// prefetchAhead is how far ahead of the loads, in bytes, both streams are
// fetched. Hardware prefetchers stop at page borders.
const prefetchAhead = 4096
