package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"precision/internal/kernel"
)

// sumTile256 is sumTile512 with AVX2 and FMA. Sixteen registers do not hold
// all accumulators, so that stretches of 512 elements, which stay in the
// first-level cache, are looked at twice: once for extrema and zeros, once for
// the sums.
func sumTile256(e element) {
	function("sumTile"+e.suffix()+"AVX2", sumsType(e), "sumTile"+e.suffix()+"AVX2 is sumTile for n elements, a multiple of 8 and not 0.")
	out, x, y, n := Load(Param("out"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())

	store := AllocLocal(32 * kernel.SumSlots)
	slot := func(i int) Mem { return store.Offset(32 * i) }
	start := YMM()
	VXORPD(start, start, start)
	for i := range kernel.SumSlots {
		VMOVUPD(start, slot(i))
	}
	plus, minus := e.infinities()
	VMOVUPD(plus, start)
	VMOVUPD(start, slot(kernel.SlotLoX))
	VMOVUPD(start, slot(kernel.SlotLoY))
	VMOVUPD(minus, start)
	VMOVUPD(start, slot(kernel.SlotHiX))
	VMOVUPD(start, slot(kernel.SlotHiY))

	// with keeps the accumulators from..to in registers while body runs.
	with := func(slots []int, body func(acc []reg.VecVirtual)) {
		acc := make([]reg.VecVirtual, kernel.SumSlots)
		for _, i := range slots {
			acc[i] = YMM()
			VMOVUPD(slot(i), acc[i])
		}
		body(acc)
		for _, i := range slots {
			VMOVUPD(acc[i], slot(i))
		}
	}

	stretch, count, px, py := GP64(), GP64(), GP64(), GP64()
	Label("stretch")
	MOVQ(U32(512), stretch)
	CMPQ(n, stretch)
	CMOVQLT(n, stretch)
	MOVQ(x, px)
	MOVQ(y, py)
	MOVQ(stretch, count)
	if e.bits == 32 {
		SHRQ(Imm(3), count)
	} else {
		SHRQ(Imm(2), count)
	}
	with([]int{kernel.SlotLoX, kernel.SlotHiX, kernel.SlotLoY, kernel.SlotHiY, kernel.SlotZeroMax, kernel.SlotZeroGolden,
		kernel.SlotNonzeroX, kernel.SlotNonzeroY, kernel.SlotDiffer}, func(acc []reg.VecVirtual) {
		abs, zero := YMM(), YMM()
		VXORPD(zero, zero, zero)
		if e.bits == 32 {
			VMOVUPD(d32(abs32Mask), abs)
		} else {
			VMOVUPD(q64(abs64Mask), abs)
		}
		loop("extrema", count, func() {
			a, b, m, k := YMM(), YMM(), YMM(), YMM()
			VMOVUPD(Mem{Base: px}, a)
			VMOVUPD(Mem{Base: py}, b)
			lo, hi, and, andn, sub := VMINPS, VMAXPS, VANDPS, VANDNPS, VPSUBD
			cmp := VCMPPS
			if e.bits == 64 {
				lo, hi, and, andn, sub = VMINPD, VMAXPD, VANDPD, VANDNPD, VPSUBQ
				cmp = VCMPPD
			}
			lo(a, acc[kernel.SlotLoX], acc[kernel.SlotLoX])
			hi(a, acc[kernel.SlotHiX], acc[kernel.SlotHiX])
			lo(b, acc[kernel.SlotLoY], acc[kernel.SlotLoY])
			hi(b, acc[kernel.SlotHiY], acc[kernel.SlotHiY])
			cmp(neqUQ, b, a, m)
			sub(m, acc[kernel.SlotDiffer], acc[kernel.SlotDiffer])
			cmp(neqUQ, zero, b, m)
			cmp(neqUQ, zero, a, k)
			sub(m, acc[kernel.SlotNonzeroY], acc[kernel.SlotNonzeroY])
			sub(k, acc[kernel.SlotNonzeroX], acc[kernel.SlotNonzeroX])
			andn(k, m, m)
			sub(m, acc[kernel.SlotZeroGolden], acc[kernel.SlotZeroGolden])
			and(abs, a, a)
			and(m, a, a)
			hi(a, acc[kernel.SlotZeroMax], acc[kernel.SlotZeroMax])
			prefetch(px, py)
			advance(32, px, py)
		})
	})
	MOVQ(stretch, count)
	SHRQ(Imm(3), count)
	with([]int{kernel.SlotXY, kernel.SlotXX, kernel.SlotYY, kernel.SlotDD, kernel.SlotAD, kernel.SlotRel, kernel.SlotX, kernel.SlotY, kernel.SlotMaxAbs, kernel.SlotMaxRel}, func(acc []reg.VecVirtual) {
		abs := q64(abs64Mask)
		zero := q64(0)
		step := func(at int) {
			a, b, d, m := YMM(), YMM(), YMM(), YMM()
			e.load(Mem{Base: x, Disp: at}, a)
			e.load(Mem{Base: y, Disp: at}, b)
			addPair(a, b, d, abs, VANDPD, acc)
			VCMPPD(neqUQ, zero, b, m)
			VANDPD(abs, b, b)
			VDIVPD(b, d, d)
			VANDPD(m, d, d)
			VADDPD(d, acc[kernel.SlotRel], acc[kernel.SlotRel])
			VMAXPD(d, acc[kernel.SlotMaxRel], acc[kernel.SlotMaxRel])
		}
		loop("sums", count, func() {
			step(0)
			step(4 * e.size())
			advance(8*e.size(), x, y)
		})
	})
	SUBQ(stretch, n)
	JNZ(LabelRef("stretch"))

	for i := range kernel.SumSlots {
		v := YMM()
		VMOVUPD(slot(i), v)
		if counted(i) {
			x := XMM()
			VEXTRACTF128(Imm(1), v, x)
			if e.bits == 32 {
				VPADDD(x, v.AsX(), x)
			} else {
				// Counts are below 2^32: the upper halves are free.
				VPADDQ(x, v.AsX(), x)
			}
			VCVTDQ2PD(x, v)
		}
		VMOVSD(avx2.folded(e, i, v), Mem{Base: out, Disp: 8 * i})
	}
	end()
}
