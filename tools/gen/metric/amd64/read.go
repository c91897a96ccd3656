package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// readStreams only reads two arrays: the yardstick of the benchmarks.
func readStreams() {
	function("readStreams", "func(x, y *float32, n int) uint64",
		"readStreams reads n elements of x and y, n being a multiple of 32 and not 0, and does nothing with them:",
		"what memory allows, for benchmarks. It needs AVX2.")
	x, y, n := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	a, b := YMM(), YMM()
	VPXOR(a, a, a)
	VPXOR(b, b, b)
	SHRQ(Imm(5), n)
	loop("loop", n, func() {
		for i := range 4 {
			VPOR(Mem{Base: x, Disp: 32 * i}, a, a)
			VPOR(Mem{Base: y, Disp: 32 * i}, b, b)
		}
		advance(128, x, y)
	})
	VPOR(a, b, a)
	r := GP64()
	VMOVQ(a.AsX(), r)
	Store(r, ReturnIndex(0))
	end()
}

// vectorPeak does nothing but multiply, add and mask in registers: how fast vector
// instructions can go, for benchmarks.
func vectorPeak(l level) {
	name := "vectorPeak" + l.name
	function(name, "func(n int)", name+" does n rounds, at least one, of fourteen vector instructions that do not wait for each other: fused multiplications and additions,",
		"additions and masks in turn. That is what the vector units allow, for benchmarks.")
	n := Load(Param("n"), GP64())
	var acc [14]reg.VecVirtual
	for i := range acc {
		acc[i] = zeroed(l.vec(), l)
	}
	loop("loop", n, func() {
		for i, v := range acc {
			switch i % 3 {
			case 0:
				VFMADD231PS(v, v, v)
			case 1:
				VADDPS(v, v, v)
			default:
				l.and(v, v, v)
			}
		}
	})
	end()
}
