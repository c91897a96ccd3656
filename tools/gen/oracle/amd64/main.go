// Command amd64 generates the assembly of package compare/oracle for amd64; see
// its go:generate line.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernel adds to a tile of 6 rows and 16 columns: 12 of the 16 registers
// hold it, two hold a row of b, and two the numbers of a in turn.
const (
	rows = 6
	wide = 2 // registers of eight float32 a row
)

func main() {
	ConstraintExpr("amd64,!noasm")
	TEXT("tile6x16", NOSPLIT, "func(k int, a, b, c *float32)")
	Doc("tile6x16 adds a·b to c: a is k columns of 6 numbers, b is k rows of 16, and c 6 rows of 16, without gaps.")
	Pragma("noescape")
	k, a := Load(Param("k"), GP64()), Load(Param("a"), GP64())
	b, c := Load(Param("b"), GP64()), Load(Param("c"), GP64())
	all := []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
	sums, row, number := all[:rows*wide], all[12:14], all[14:]
	for i, y := range sums {
		VMOVUPS(Mem{Base: c, Disp: 32 * i}, y)
	}
	Label("loop")
	TESTQ(k, k)
	JZ(LabelRef("done"))
	for i, y := range row {
		VMOVUPS(Mem{Base: b, Disp: 32 * i}, y)
	}
	for r := range rows {
		x := number[r%2]
		VBROADCASTSS(Mem{Base: a, Disp: 4 * r}, x)
		for i, y := range row {
			VFMADD231PS(x, y, sums[r*wide+i])
		}
	}
	ADDQ(Imm(4*rows), a)
	ADDQ(Imm(32*wide), b)
	DECQ(k)
	JMP(LabelRef("loop"))
	Label("done")
	for i, y := range sums {
		VMOVUPS(y, Mem{Base: c, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
	Generate()
}
