// Command amd64 writes the vector kernels of package metric as Go assembly. See
// the Go loops there for what they compute.
package main

import (
	"fmt"
	"strconv"

	. "github.com/mmcloughlin/avo/build"

	"precision/internal/kernel"
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, e := range []element{{bits: 32}, {bits: 64}} {
		sumTile512(e)
		sumTile256(e)
		sumKL(avx512, e)
		sumKL(avx2, e)
		sumSpread(avx512, e)
		sumSpread(avx2, e)
		for _, l := range []level{avx512, avx2} {
			firstApart(l, e)
			outside(l, e)
		}
	}
	for _, l := range []level{avx512, avx2} {
		sumNarrow(l)
		refFirst(l)
		refSecond(l)
		refThird(l)
	}
	addTree()
	readStreams()
	for _, l := range []level{avx512, avx2} {
		vectorPeak(l)
	}
	Generate()
}

// element is the type of the elements of a tile.
type element struct{ bits int }

func (e element) size() int      { return e.bits / 8 }
func (e element) suffix() string { return strconv.Itoa(e.bits) }
func (e element) name() string   { return "float" + e.suffix() }

// sumsType is the type of sumTile.
func sumsType(e element) string {
	return fmt.Sprintf("func(out *[%d]float64, x, y *%s, n int)", kernel.SumSlots, e.name())
}

// prefetchAhead is how far ahead of the loads, in bytes, both streams are
// fetched: a page, since hardware prefetchers stop at its end. Over 2 × 256 MB
// in 4 KB pages the first pass reads 34 GB/s with it, 32 without, and 23 to 29
// with shorter distances, which get into the way of the hardware (AMD Zen 5).
const prefetchAhead = 4096
