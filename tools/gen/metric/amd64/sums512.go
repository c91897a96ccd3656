package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"precision/internal/kernel"
)

const (
	infinity64 = 0x7ff0000000000000
	infinity32 = 0x7f800000
	sign64     = 1 << 63
	sign32     = 1 << 31
)

// infinities are vectors of either in the type of the elements.
func (e element) infinities() (plus, minus Mem) {
	plus, minus = q64(infinity64), q64(infinity64|sign64)
	if e.bits == 32 {
		plus, minus = d32(infinity32), d32(infinity32|sign32)
	}
	return plus, minus
}

// sumTile512 sums sixteen float32 or eight float64 elements at a time, in
// eight float64 lanes.
func sumTile512(e element) {
	function("sumTile"+e.suffix()+"AVX512", sumsType(e), "sumTile"+e.suffix()+"AVX512 is sumTile for n elements, a multiple of 16 and not 0.")
	out, x, y, n := Load(Param("out"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())

	var acc [kernel.SumSlots]reg.VecVirtual
	for i := range acc {
		if !counted(i) {
			acc[i] = zeroed(ZMM(), avx512)
		}
	}
	plus, minus := e.infinities()
	VMOVUPD(plus, acc[kernel.SlotLoX])
	VMOVUPD(minus, acc[kernel.SlotHiX])
	VMOVUPD(plus, acc[kernel.SlotLoY])
	VMOVUPD(minus, acc[kernel.SlotHiY])
	abs, zero := ZMM(), ZMM()
	VMOVUPD(q64(abs64Mask), abs)
	VPXORQ(zero, zero, zero)
	// Elements are counted outside of the vector units, which have enough to do.
	counts := map[int]reg.GPVirtual{}
	for i := range acc {
		if counted(i) {
			counts[i] = GP64()
			XORQ(counts[i], counts[i])
		}
	}
	tally := func(slot int, mask reg.OpmaskVirtual) {
		r := GP32()
		if e.bits == 32 {
			KMOVW(mask, r)
		} else {
			KMOVB(mask, r)
		}
		POPCNTL(r, r)
		ADDQ(r.As64(), counts[slot])
	}

	// sums adds eight elements; nonzero tells where b is not 0.
	sums := func(a, b reg.VecVirtual, nonzero reg.OpmaskVirtual) {
		d, m := ZMM(), ZMM()
		addPair(a, b, d, abs, VPANDQ, acc[:])
		VPANDQ(abs, b, m)
		VDIVPD_Z(m, d, nonzero, m)
		VADDPD(m, acc[kernel.SlotRel], acc[kernel.SlotRel])
		VMAXPD(m, acc[kernel.SlotMaxRel], acc[kernel.SlotMaxRel])
	}

	if e.bits == 32 {
		SHRQ(Imm(4), n)
	} else {
		SHRQ(Imm(3), n)
	}
	loop("loop", n, func() {
		prefetch(x, y)
		a, b := ZMM(), ZMM()
		nonzeroX, nonzeroY, zeroGolden, differ := K(), K(), K(), K()
		load, lo, hi, cmp, andn, magnitude := VMOVUPD, VMINPD, VMAXPD, VCMPPD, KANDNB, VRANGEPD
		if e.bits == 32 {
			load, lo, hi, cmp, andn, magnitude = VMOVUPS, VMINPS, VMAXPS, VCMPPS, KANDNW, VRANGEPS
		}
		load(Mem{Base: x}, a)
		load(Mem{Base: y}, b)
		lo(a, acc[kernel.SlotLoX], acc[kernel.SlotLoX])
		hi(a, acc[kernel.SlotHiX], acc[kernel.SlotHiX])
		lo(b, acc[kernel.SlotLoY], acc[kernel.SlotLoY])
		hi(b, acc[kernel.SlotHiY], acc[kernel.SlotHiY])
		cmp(neqUQ, zero, a, nonzeroX)
		cmp(neqUQ, zero, b, nonzeroY)
		cmp(neqUQ, b, a, differ)
		andn(nonzeroX, nonzeroY, zeroGolden)
		tally(kernel.SlotNonzeroX, nonzeroX)
		tally(kernel.SlotNonzeroY, nonzeroY)
		tally(kernel.SlotDiffer, differ)
		tally(kernel.SlotZeroGolden, zeroGolden)
		magnitude(absoluteMax, a, acc[kernel.SlotZeroMax], zeroGolden, acc[kernel.SlotZeroMax])
		if e.bits == 32 {
			a, b := loaded(ZMM, VCVTPS2PD, x, y)
			sums(a, b, nonzeroY)
			upper := K()
			KSHIFTRW(Imm(8), nonzeroY, upper)
			c, d := ZMM(), ZMM()
			VCVTPS2PD(Mem{Base: x, Disp: 32}, c)
			VCVTPS2PD(Mem{Base: y, Disp: 32}, d)
			sums(c, d, upper)
		} else {
			sums(a, b, nonzeroY)
		}
		advance(64, x, y)
	})

	for i, z := range acc {
		to := Mem{Base: out, Disp: 8 * i}
		if counted(i) {
			VCVTSI2SDQ(counts[i], zero.AsX(), zero.AsX())
			VMOVSD(zero.AsX(), to)
			continue
		}
		VMOVSD(avx512.folded(e, i, z), to)
	}
	end()
}

// addPair adds a and b to the sums that need no mask, and leaves |a-b| in d.
func addPair(a, b, d reg.VecVirtual, abs Op, and func(...Op), acc []reg.VecVirtual) {
	VFMADD231PD(b, a, acc[kernel.SlotXY])
	VFMADD231PD(a, a, acc[kernel.SlotXX])
	VFMADD231PD(b, b, acc[kernel.SlotYY])
	VADDPD(a, acc[kernel.SlotX], acc[kernel.SlotX])
	VADDPD(b, acc[kernel.SlotY], acc[kernel.SlotY])
	VSUBPD(b, a, d)
	VFMADD231PD(d, d, acc[kernel.SlotDD])
	and(abs, d, d)
	VADDPD(d, acc[kernel.SlotAD], acc[kernel.SlotAD])
	VMAXPD(d, acc[kernel.SlotMaxAbs], acc[kernel.SlotMaxAbs])
}

// folded is a result of sumTile, of its lanes. Extrema are in lanes of the elements' own type.
func (l level) folded(e element, slot int, v reg.VecVirtual) reg.VecVirtual {
	op := VADDPD
	half := func(wide, narrow func(...Op)) {
		if op = wide; e.bits == 64 {
			return
		}
		if l.wide {
			y := YMM()
			VEXTRACTF64X4(Imm(1), v, y)
			narrow(y, v.AsY(), y)
			VCVTPS2PD(y, v)
			return
		}
		x := XMM()
		VEXTRACTF128(Imm(1), v, x)
		narrow(x, v.AsX(), x)
		VCVTPS2PD(x, v)
	}
	switch slot {
	case kernel.SlotMaxAbs, kernel.SlotMaxRel:
		op = VMAXPD
	case kernel.SlotHiX, kernel.SlotHiY, kernel.SlotZeroMax:
		half(VMAXPD, VMAXPS)
	case kernel.SlotLoX, kernel.SlotLoY:
		half(VMINPD, VMINPS)
	}
	return l.fold(v, op)
}

// absoluteMax makes VRANGE the larger magnitude.
var absoluteMax = Imm(0x0b)

// counted tells which results of sumTile are numbers of elements.
func counted(slot int) bool {
	switch slot {
	case kernel.SlotZeroGolden, kernel.SlotNonzeroX, kernel.SlotNonzeroY, kernel.SlotDiffer:
		return true
	}
	return false
}
