// Command arm64 writes the arm64 kernels that transpose tiles as Go assembly.
package main

import (
	"fmt"
	"math/bits"

	"precision/tools/gen/neon"
)

func main() {
	neon.Main("layout", func(a *neon.Asm) {
		for _, size := range []int{1, 2, 4, 8} {
			kernel(a, size)
		}
	})
}

// kernel writes the transposition of 16 bytes of rows and as many elements of
// columns. A register holds one column first. In each stage neighbouring registers
// exchange lanes, twice as wide as in the stage before, until a register holds one
// row. Rows come out by the bit-reversed register number.
func kernel(a *neon.Asm, size int) {
	// func(dst *byte, dPitch int, src *byte, sPitch int, blocks int)
	a.Func(fmt.Sprintf("transpose%dNEON", 8*size), 40)
	dst, dp, src, sp := a.Arg("dst", 0), a.Arg("dPitch", 8), a.Arg("src", 16), a.Arg("sPitch", 24)
	n, out := a.Arg("blocks", 32), a.R()
	a.Loop("loop", n, func() {
		x := make([]neon.V, 16/size)
		for i := range x {
			x[i] = a.V()
			a.Go("VLD1.P (%s)(%s), [%s.B16]", src, sp, x[i])
		}
		for w := size; w < 16; w *= 2 {
			lanes := map[int]string{1: "B16", 2: "H8", 4: "S4", 8: "D2"}[w]
			next := make([]neon.V, len(x))
			for i := range len(x) / 2 {
				even, odd := x[2*i], x[2*i+1]
				lower, upper := a.V(), a.V()
				a.Go("VZIP1 %[1]s.%[4]s, %[2]s.%[4]s, %[3]s.%[4]s", odd, even, lower, lanes)
				a.Go("VZIP2 %[1]s.%[4]s, %[2]s.%[4]s, %[3]s.%[4]s", odd, even, upper, lanes)
				next[i], next[i+len(x)/2] = lower, upper
				a.Free(even, odd)
			}
			x = next
		}
		a.Go("MOVD %s, %s", dst, out)
		for i := range x {
			a.Go("VST1.P [%s.B16], (%s)(%s)", x[bits.Reverse8(uint8(i))>>(8-bits.Len(uint(len(x)-1)))], out, dp)
		}
		a.Free(x...)
		a.Go("ADD $16, %s", dst)
	})
	a.Ret()
}
