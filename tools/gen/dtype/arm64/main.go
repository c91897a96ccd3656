// Command arm64 writes the arm64 kernels that widen halves and bytes as Go
// assembly.
package main

import (
	"precision/tools/gen/neon"
)

// perRound is the number of elements a kernel widens in one go.
const perRound = 32

func main() {
	neon.Main("dtype", func(a *neon.Asm) {
		kernel(a, "float16Rounds", 2, func(v neon.V, store func(neon.V)) {
			for half := range 2 {
				w := a.V()
				a.Widen(neon.S4, half == 1, w, v)
				store(w)
			}
		})
		kernel(a, "bfloat16Rounds", 2, func(v neon.V, store func(neon.V)) {
			for half := range 2 {
				w := a.V()
				a.Raise(half == 1, w, v)
				store(w)
			}
		})
		bytes(a, "int8Rounds", a.Signed, "scvtf")
		bytes(a, "uint8Rounds", a.Unsigned, "ucvtf")
	})
}

// kernel writes a loop over rounds. widen gets a register full of elements of so
// many bytes and stores them widened, in their order.
func kernel(a *neon.Asm, name string, size int, widen func(v neon.V, store func(neon.V))) {
	// func(dst *float32, src *byte, rounds int)
	a.Func(name, 24)
	dst, src, rounds := a.Arg("dst", 0), a.Arg("src", 8), a.Arg("rounds", 16)
	a.Loop("loop", rounds, func() {
		var in []neon.V
		for range perRound * size / 32 {
			v := []neon.V{a.V(), a.V()}
			a.Go("FLDPQ.P 32(%s), (%s, %s)", src, v[0].F(), v[1].F())
			in = append(in, v...)
		}
		for _, v := range in {
			var first *neon.V
			widen(v, func(w neon.V) {
				if first == nil {
					first = &w
					return
				}
				a.Go("FSTPQ.P (%s, %s), 32(%s)", first.F(), w.F(), dst)
				a.Free(*first, w)
				first = nil
			})
			a.Free(v)
		}
	})
	a.Ret()
}

// bytes writes a kernel that lengthens bytes twice and converts the integers.
func bytes(a *neon.Asm, name string, lengthen func(bytes, upper bool, d, n neon.V), convert string) {
	kernel(a, name, 1, func(v neon.V, store func(neon.V)) {
		for i := range 2 {
			h := a.V()
			lengthen(true, i == 1, h, v)
			for j := range 2 {
				w := a.V()
				lengthen(false, j == 1, w, h)
				a.Op2(convert, neon.S4, w, w)
				store(w)
			}
			a.Free(h)
		}
	})
}
