// Command amd64 writes the vector kernels of package dtype as Go assembly.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A round of a kernel widens 32 elements: four registers of eight float32, two
// of which the processor can work on at a time.
const round = 32

func main() {
	ConstraintExpr("amd64,!noasm")
	kernel("float16Rounds", "IEEE binary16", 2, func(src Mem, y VecPhysical) { VCVTPH2PS(src, y) })
	kernel("bfloat16Rounds", "the upper halves of binary32", 2, func(src Mem, y VecPhysical) {
		VPMOVZXWD(src, y)
		VPSLLD(Imm(16), y, y)
	})
	kernel("int8Rounds", "signed bytes", 1, func(src Mem, y VecPhysical) {
		VPMOVSXBD(src, y)
		VCVTDQ2PS(y, y)
	})
	kernel("uint8Rounds", "bytes", 1, func(src Mem, y VecPhysical) {
		VPMOVZXBD(src, y)
		VCVTDQ2PS(y, y)
	})
	Generate()
}

func kernel(name, what string, size int, widen func(src Mem, y VecPhysical)) {
	TEXT(name, NOSPLIT, "func(dst *float32, src *byte, rounds int)")
	Doc(name + " widens rounds of 32 elements, " + what + ", to float32.")
	Pragma("noescape")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("rounds"), GP64())
	Label("loop")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	regs := []VecPhysical{Y0, Y1, Y2, Y3}
	for i, y := range regs {
		widen(Mem{Base: src, Disp: 8 * i * size}, y)
	}
	for i, y := range regs {
		VMOVUPS(y, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(Imm(uint64(round*size)), src)
	ADDQ(Imm(4*round), dst)
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}
