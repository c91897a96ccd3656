// Command amd64 generates the assembly of package compare/oracle for amd64; see
// its go:generate line.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels add to a tile of 6 rows and two registers of columns: 12 of the 16 registers that
// AVX2 has hold it, two hold a row of b, and two the numbers of a in turn. That is enough to keep
// both multipliers of AVX-512 busy as well.
const (
	rows = 6
	wide = 2
)

func main() {
	ConstraintExpr("amd64,!noasm")
	y := []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
	z := []VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15}
	tile("float32", 4, 32, y)
	tile("float64", 8, 32, y)
	tile("float32", 4, 64, z)
	tile("float64", 8, 64, z)
	Generate()
}

// tile generates the kernel of a type of so many bytes, in registers of so many.
func tile(of string, size, width int, all []VecPhysical) {
	cols := wide * width / size
	broadcast, add := VBROADCASTSS, VFMADD231PS
	move := VMOVUPS
	if size == 8 {
		broadcast, add, move = VBROADCASTSD, VFMADD231PD, VMOVUPD
	}
	name := fmt.Sprintf("%sTile%d", of, cols)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(k int, a, b, c *%s, ld int)", of))
	Doc(fmt.Sprintf("%s adds a·b to c: a is k columns of 6 numbers and b k rows of %d, without gaps, and c 6 rows of %d, ld numbers apart.", name, cols, cols))
	Pragma("noescape")
	k, a := Load(Param("k"), GP64()), Load(Param("a"), GP64())
	b, c := Load(Param("b"), GP64()), Load(Param("c"), GP64())
	ld, at := Load(Param("ld"), GP64()), GP64()
	sums, row, number := all[:rows*wide], all[12:14], all[14:]
	SHLQ(Imm(uint64(size/8+2)), ld)
	through := func(f func(m Mem, v VecPhysical)) {
		MOVQ(c, at)
		for r := range rows {
			for i := range wide {
				f(Mem{Base: at, Disp: width * i}, sums[r*wide+i])
			}
			ADDQ(ld, at)
		}
	}
	through(func(m Mem, v VecPhysical) { move(m, v) })
	loop, done := name+"loop", name+"done"
	Label(loop)
	TESTQ(k, k)
	JZ(LabelRef(done))
	for i, v := range row {
		move(Mem{Base: b, Disp: width * i}, v)
	}
	for r := range rows {
		x := number[r%2]
		broadcast(Mem{Base: a, Disp: size * r}, x)
		for i, v := range row {
			add(x, v, sums[r*wide+i])
		}
	}
	ADDQ(Imm(uint64(size*rows)), a)
	ADDQ(Imm(uint64(width*wide)), b)
	DECQ(k)
	JMP(LabelRef(loop))
	Label(done)
	through(func(m Mem, v VecPhysical) { move(v, m) })
	VZEROUPPER()
	RET()
}
