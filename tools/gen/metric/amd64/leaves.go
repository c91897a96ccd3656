package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The Reference kernels sum in eight float32 lanes per leaf, which is the
// shape of the sums that they reproduce: one 256-bit accumulator per sum. A
// leaf is up to 16 groups of 8 elements; every leaf puts its sums into a row
// of the output, and rows are added afterwards.

// level is an instruction set.
type level struct {
	name string
	wide bool // AVX-512: 32 registers, masks, and float64 in eight lanes
}

var (
	avx2   = level{name: "AVX2"}
	avx512 = level{name: "AVX512", wide: true}
)

// leaves emits the head of a kernel, its loop over leaves around body, and
// the code after it, last. body gets the number of groups of the leaf and advances
// x and y; rows and doubles point to the row of the leaf.
func leaves(name, doc, params string, start func(), body func(x, y, groups, rows, doubles reg.Register), last func()) {
	function(name, "func(rows *[128][8]float32, doubles *[128][2]float64, "+params+"x, y *float32, groups *[128]uint8, leaves int)",
		fmt.Sprintf("%s is %s over leaves of groups of 8 elements.", name, doc))
	start()
	rows, doubles := Load(Param("rows"), GP64()), Load(Param("doubles"), GP64())
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	groups, n := Load(Param("groups"), GP64()), Load(Param("leaves"), GP64())
	count := GP64()
	loop("leaf", n, func() {
		MOVBQZX(Mem{Base: groups}, count)
		body(x, y, count, rows, doubles)
		INCQ(groups)
		ADDQ(Imm(32), rows)
		ADDQ(Imm(16), doubles)
	})
	last()
	end()
}

func zeroed(v reg.VecVirtual, l level) reg.VecVirtual {
	if l.wide {
		VPXORQ(v, v, v) // reaches all registers
	} else {
		VXORPS(v, v, v)
	}
	return v
}

// pairSums is [a0+a1 a2+a3 b0+b1 b2+b3] of either half.
func pairSums(a, b reg.VecVirtual) reg.VecVirtual {
	s, t := YMM(), YMM()
	VSHUFPS(Imm(0x88), b, a, s)
	VSHUFPS(Imm(0xdd), b, a, t)
	VADDPS(t, s, s)
	return s
}

// fourSums stores ((a0+a1)+(a2+a3))+((a4+a5)+(a6+a7)) of four accumulators.
func fourSums(l level, a, b, c, d reg.VecVirtual, to Mem) {
	s := pairSums(pairSums(a, b), pairSums(c, d))
	t := XMM()
	if l.wide {
		VEXTRACTF32X4(Imm(1), s, t)
	} else {
		VEXTRACTF128(Imm(1), s, t)
	}
	VADDPS(t, s.AsX(), t)
	VMOVUPS(t, to)
}

// doubleSums stores the sums of two groups of eight float64 lanes, each a pair
// of registers, in the same order.
func doubleSums(l level, a0, a4, b0, b4 reg.VecVirtual, to Mem) {
	half := func(lo, hi reg.VecVirtual) reg.VecVirtual {
		s, t := YMM(), YMM()
		VUNPCKLPD(hi, lo, s)
		VUNPCKHPD(hi, lo, t)
		VADDPD(t, s, s) // l0+l1 h0+h1 l2+l3 h2+h3
		x := XMM()
		if l.wide {
			VEXTRACTF64X2(Imm(1), s, x)
		} else {
			VEXTRACTF128(Imm(1), s, x)
		}
		VADDPD(x, s.AsX(), x) // low half, high half
		return x
	}
	a, b := half(a0, a4), half(b0, b4)
	s, t := XMM(), XMM()
	VUNPCKLPD(b, a, s)
	VUNPCKHPD(b, a, t)
	VADDPD(t, s, s)
	VMOVUPD(s, to)
}

// upper is the upper half of a 512-bit register.
func upper(z reg.VecVirtual) reg.VecVirtual {
	y := YMM()
	VEXTRACTF64X4(Imm(1), z, y)
	return y
}

// lower is a 512-bit register as a 256-bit one.
func lower(z reg.VecVirtual) reg.VecVirtual {
	y := YMM()
	VMOVUPD(z.AsY(), y)
	return y
}

// addTree adds the rows of a full block: row 64+i becomes row 2i + row 2i+1,
// so that row 126 is the sum of 64 rows, pairwise.
func addTree() {
	function("addTree", "func(rows *[128][8]float32, doubles *[128][2]float64)", "addTree adds rows 0 to 63 pairwise into row 126.")
	rows, doubles := Load(Param("rows"), GP64()), Load(Param("doubles"), GP64())
	toRows, toDoubles, n := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: rows, Disp: 64 * 32}, toRows)
	LEAQ(Mem{Base: doubles, Disp: 64 * 16}, toDoubles)
	MOVQ(U32(63), n)
	loop("loop", n, func() {
		y, x := YMM(), XMM()
		VMOVUPS(Mem{Base: rows}, y)
		VADDPS(Mem{Base: rows, Disp: 32}, y, y)
		VMOVUPS(y, Mem{Base: toRows})
		VMOVUPD(Mem{Base: doubles}, x)
		VADDPD(Mem{Base: doubles, Disp: 16}, x, x)
		VMOVUPD(x, Mem{Base: toDoubles})
		ADDQ(Imm(64), rows)
		advance(32, doubles, toRows)
		ADDQ(Imm(16), toDoubles)
	})
	end()
}
