// Command arm64 writes the arm64 kernels of package metric as Go assembly. See
// the Go loops there for what they compute, and the command amd64 for its
// kernels, which these resemble.
package main

import (
	"flag"
	"log"
	"strconv"

	"precision/tools/gen/neon"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "", "the `file` to write")
	flag.Parse()
	a := neon.New("command: go run ./metric/arm64", "arm64 && !noasm")
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
	if err := a.WriteFile(*out); err != nil {
		log.Fatal(err)
	}
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

// widened is a round of elements as two registers of float64.
func (e element) widened(a *neon.Asm, v []neon.V) [2]neon.V {
	if e.bits == 64 {
		return [2]neon.V{v[0], v[1]}
	}
	w := [2]neon.V{a.V(), a.V()}
	a.Widen(neon.D2, false, w[0], v[0])
	a.Widen(neon.D2, true, w[1], v[0])
	return w
}
