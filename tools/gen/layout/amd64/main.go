// Command amd64 writes the vector kernels of package layout as Go assembly.
package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, size := range []int{1, 2, 4, 8} {
		kernel(size, true)
	}
	for _, size := range []int{1, 2, 4} {
		kernel(size, false)
	}
	Generate()
}

// unpack holds the instructions that interleave the lower and the upper lanes
// of n bytes of two registers.
var unpack = map[int][2]func(...Op){
	1: {VPUNPCKLBW, VPUNPCKHBW},
	2: {VPUNPCKLWD, VPUNPCKHWD},
	4: {VPUNPCKLDQ, VPUNPCKHDQ},
	8: {VPUNPCKLQDQ, VPUNPCKHQDQ},
}

// kernel emits the transposition of 16 bytes of rows. A register holds one
// column; wide kernels have a second one, regs columns further on, in the upper
// half, so that unpacking, which works within halves, leaves longer rows.
func kernel(size int, wide bool) {
	rows := 16 / size
	regs := min(rows, 8)
	cols, suffix := regs, "Narrow"
	if wide {
		cols, suffix = 2*regs, "Wide"
	}
	name := fmt.Sprintf("transpose%d%s", 8*size, suffix)
	TEXT(name, NOSPLIT, "func(dst *byte, dPitch int, src *byte, sPitch int, blocks int)")
	Doc(fmt.Sprintf("%s moves %d rows of blocks × %d columns of %d-byte elements.", name, rows, cols, size))
	Pragma("noescape")

	dst, dp := Load(Param("dst"), GP64()), Load(Param("dPitch"), GP64())
	src, sp := Load(Param("src"), GP64()), Load(Param("sPitch"), GP64())
	n := Load(Param("blocks"), GP64())
	skip := GP64() // from column 0 to column regs
	IMUL3Q(Imm(uint64(regs)), sp, skip)

	// Registers are handed out here: the allocator of avo would take those
	// above 15, which need AVX-512.
	free := []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9}
	vec := func() VecPhysical {
		y := free[0]
		free = free[1:]
		if wide {
			return y
		}
		return y.AsX().(VecPhysical)
	}
	Label("loop")
	x := make([]VecPhysical, regs)
	for i := range x {
		x[i] = vec()
		VMOVDQU(Mem{Base: src}, x[i].AsX())
		if wide {
			VINSERTI128(Imm(1), Mem{Base: src, Index: skip, Scale: 1}, x[i].AsY(), x[i].AsY())
		}
		ADDQ(sp, src)
	}
	if wide {
		ADDQ(skip, src)
	}

	// In each stage neighbouring registers exchange lanes, twice as wide as in
	// the stage before, until a register holds one row (or two rows of bytes).
	// Rows come out by the bit-reversed register number.
	for w := size; w < size*regs; w *= 2 {
		next := make([]VecPhysical, regs)
		for i := 0; i < regs/2; i++ {
			lo, up := vec(), vec()
			unpack[w][0](x[2*i+1], x[2*i], lo)
			unpack[w][1](x[2*i+1], x[2*i], up)
			next[i], next[i+regs/2] = lo, up
			free = append(free, x[2*i].AsY().(VecPhysical), x[2*i+1].AsY().(VecPhysical))
		}
		x = next
	}
	out := GP64()
	MOVQ(dst, out)
	for i := range regs {
		y := x[bits.Reverse8(uint8(i))>>(8-bits.Len(uint(regs-1)))]
		switch {
		case size > 1:
			VMOVDQU(y, Mem{Base: out})
		case wide:
			VPERMQ(Imm(0xd8), y, y) // the parts of a row together
			VMOVDQU(y.AsX(), Mem{Base: out})
			ADDQ(dp, out)
			VEXTRACTI128(Imm(1), y, Mem{Base: out})
		default:
			VMOVQ(y, Mem{Base: out})
			ADDQ(dp, out)
			VPEXTRQ(Imm(1), y, Mem{Base: out})
		}
		if i < regs-1 {
			ADDQ(dp, out)
		}
	}
	ADDQ(Imm(uint64(cols*size)), dst)
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
