package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sumSlots are the results of sumTile, in the order of the output array.
const (
	slotXY = iota
	slotXX
	slotYY
	slotDD
	slotAD
	slotRel
	slotX
	slotY
	slotMaxAbs
	slotMaxRel
	slotLoX
	slotHiX
	slotLoY
	slotHiY
	slotZeroMax
	slotZeroGolden
	sumSlots
)

const (
	infinity64 = 0x7ff0000000000000
	infinity32 = 0x7f800000
	sign64     = 1 << 63
	sign32     = 1 << 31
)

// sumTile512 sums sixteen float32 or eight float64 elements at a time, in
// eight float64 lanes.
func sumTile512(e element) {
	TEXT("sumTile"+e.suffix()+"AVX512", NOSPLIT, "func(out *[16]float64, x, y *"+e.name()+", n int)")
	Doc("sumTile" + e.suffix() + "AVX512 is sumTile for n elements, a multiple of 16 and not 0.")
	Pragma("noescape")
	out, x, y, n := Load(Param("out"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())

	var acc [sumSlots]reg.VecVirtual
	for i := range acc {
		acc[i] = ZMM()
		VPXORQ(acc[i], acc[i], acc[i])
	}
	plus, minus := q64(infinity64), q64(infinity64|sign64)
	if e.bits == 32 {
		plus, minus = d32(infinity32), d32(infinity32|sign32)
	}
	VMOVUPD(plus, acc[slotLoX])
	VMOVUPD(minus, acc[slotHiX])
	VMOVUPD(plus, acc[slotLoY])
	VMOVUPD(minus, acc[slotHiY])
	abs, zero, ones := ZMM(), ZMM(), ZMM()
	VMOVUPD(q64(abs64Mask), abs)
	VPXORQ(zero, zero, zero)
	if e.bits == 32 {
		VMOVUPD(d32(1), ones)
	} else {
		VMOVUPD(q64(1), ones)
	}

	// sums adds eight elements; nonzero tells where b is not 0.
	sums := func(a, b reg.VecVirtual, nonzero reg.OpmaskVirtual) {
		d, m := ZMM(), ZMM()
		VFMADD231PD(b, a, acc[slotXY])
		VFMADD231PD(a, a, acc[slotXX])
		VFMADD231PD(b, b, acc[slotYY])
		VADDPD(a, acc[slotX], acc[slotX])
		VADDPD(b, acc[slotY], acc[slotY])
		VSUBPD(b, a, d)
		VFMADD231PD(d, d, acc[slotDD])
		VPANDQ(abs, d, d)
		VADDPD(d, acc[slotAD], acc[slotAD])
		VMAXPD(d, acc[slotMaxAbs], acc[slotMaxAbs])
		VPANDQ(abs, b, m)
		VDIVPD_Z(m, d, nonzero, m)
		VADDPD(m, acc[slotRel], acc[slotRel])
		VMAXPD(m, acc[slotMaxRel], acc[slotMaxRel])
	}

	if e.bits == 32 {
		SHRQ(Imm(4), n)
	} else {
		SHRQ(Imm(3), n)
	}
	loop("loop", n, func() {
		prefetch(x)
		prefetch(y)
		a, b := ZMM(), ZMM()
		nonzero, zeroGolden := K(), K()
		if e.bits == 32 {
			VMOVUPS(Mem{Base: x}, a)
			VMOVUPS(Mem{Base: y}, b)
			VMINPS(a, acc[slotLoX], acc[slotLoX])
			VMAXPS(a, acc[slotHiX], acc[slotHiX])
			VMINPS(b, acc[slotLoY], acc[slotLoY])
			VMAXPS(b, acc[slotHiY], acc[slotHiY])
			VCMPPS(eqOQ, zero, b, zeroGolden)
			VCMPPS(neqUQ, zero, b, nonzero)
			VCMPPS(neqUQ, zero, a, zeroGolden, zeroGolden)
			VPADDD(ones, acc[slotZeroGolden], zeroGolden, acc[slotZeroGolden])
			VRANGEPS(absoluteMax, a, acc[slotZeroMax], zeroGolden, acc[slotZeroMax])
			a, b := ZMM(), ZMM()
			VCVTPS2PD(Mem{Base: x}, a)
			VCVTPS2PD(Mem{Base: y}, b)
			sums(a, b, nonzero)
			upper := K()
			KSHIFTRW(Imm(8), nonzero, upper)
			c, d := ZMM(), ZMM()
			VCVTPS2PD(Mem{Base: x, Disp: 32}, c)
			VCVTPS2PD(Mem{Base: y, Disp: 32}, d)
			sums(c, d, upper)
		} else {
			VMOVUPD(Mem{Base: x}, a)
			VMOVUPD(Mem{Base: y}, b)
			VMINPD(a, acc[slotLoX], acc[slotLoX])
			VMAXPD(a, acc[slotHiX], acc[slotHiX])
			VMINPD(b, acc[slotLoY], acc[slotLoY])
			VMAXPD(b, acc[slotHiY], acc[slotHiY])
			VCMPPD(eqOQ, zero, b, zeroGolden)
			VCMPPD(neqUQ, zero, b, nonzero)
			VCMPPD(neqUQ, zero, a, zeroGolden, zeroGolden)
			VPADDQ(ones, acc[slotZeroGolden], zeroGolden, acc[slotZeroGolden])
			VRANGEPD(absoluteMax, a, acc[slotZeroMax], zeroGolden, acc[slotZeroMax])
			sums(a, b, nonzero)
		}
		ADDQ(Imm(64), x)
		ADDQ(Imm(64), y)
	})

	for i, z := range acc {
		op := VADDPD
		half := func(wide, narrow func(...Op)) {
			op = wide
			if e.bits == 32 {
				y := YMM()
				VEXTRACTF64X4(Imm(1), z, y)
				narrow(y, z.AsY(), y)
				VCVTPS2PD(y, z)
			}
		}
		switch i {
		case slotMaxAbs, slotMaxRel:
			op = VMAXPD
		case slotHiX, slotHiY, slotZeroMax:
			half(VMAXPD, VMAXPS)
		case slotLoX, slotLoY:
			half(VMINPD, VMINPS)
		case slotZeroGolden:
			if e.bits == 32 {
				y := YMM()
				VEXTRACTI64X4(Imm(1), z, y)
				VPADDD(y, z.AsY(), y)
				VCVTDQ2PD(y, z)
			} else {
				VCVTQQ2PD(z, z)
			}
		}
		VMOVSD(fold512(z, op), Mem{Base: out, Disp: 8 * i})
	}
	VZEROUPPER()
	RET()
}

// absoluteMax makes VRANGE the larger magnitude.
var absoluteMax = Imm(0x0b)
