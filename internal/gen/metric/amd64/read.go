package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// readStreams only reads two arrays: the yardstick of the benchmarks.
func readStreams() {
	TEXT("readStreams", NOSPLIT, "func(x, y *float32, n int) uint64")
	Doc("readStreams reads n elements of x and y, n being a multiple of 32 and not 0, and does nothing with them:",
		"what memory allows, for benchmarks. It needs AVX2.")
	Pragma("noescape")
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
		ADDQ(Imm(128), x)
		ADDQ(Imm(128), y)
	})
	VPOR(a, b, a)
	r := GP64()
	VMOVQ(a.AsX(), r)
	Store(r, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
