// Command arm64 writes the arm64 kernels of package metric as Go assembly. See
// the Go loops there for what they compute, and the command amd64 for its
// kernels, which these resemble.
package main

import (
	"strconv"

	"precision/tools/gen/neon"
)

func main() {
	neon.Main("metric", func(a *neon.Asm) {
		for _, e := range []element{{bits: 32}, {bits: 64}} {
			sumTile(a, e)
			sumKL(a, e)
			sumSpread(a, e)
			firstApart(a, e)
			outside(a, e)
		}
		sumNarrow(a)
		refFirst(a)
		refSecond(a)
		refThird(a)
	})
}

// element is the type of the elements of a tile.
type element struct{ bits int }

func (e element) suffix() string { return strconv.Itoa(e.bits) }

func (e element) lanes() neon.Lanes {
	if e.bits == 32 {
		return neon.S4
	}
	return neon.D2
}

// step is the number of elements that a round of the kernels takes.
const step = 4

// load loads a round of elements at p, as they are, and advances p: one register
// of float32, two of float64.
func (e element) load(a *neon.Asm, p neon.R) []neon.V {
	v := []neon.V{a.V()}
	if e.bits == 32 {
		a.Go("FMOVQ.P 16(%s), %s", p, v[0].F())
		return v
	}
	v = append(v, a.V())
	a.Go("FLDPQ.P 32(%s), (%s, %s)", p, v[0].F(), v[1].F())
	return v
}

// widened are rounds of elements as two registers of float64 each, which take their place.
func (e element) widened(a *neon.Asm, rounds ...[]neon.V) (wide [][]neon.V) {
	if e.bits == 64 {
		return rounds
	}
	for _, v := range rounds {
		w := []neon.V{a.V(), a.V()}
		a.Widen(neon.D2, false, w[0], v[0])
		a.Widen(neon.D2, true, w[1], v[0])
		wide = append(wide, w)
	}
	for _, v := range rounds {
		a.Free(v[0])
	}
	return wide
}
