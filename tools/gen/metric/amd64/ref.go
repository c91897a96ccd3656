package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"precision/internal/kernel"
)

// refFirst emits the first pass. Rows are xx yy ad dd rel; doubles are x y.
func refFirst(l level) {
	var ext [kernel.Extrema]reg.VecVirtual
	var pe reg.Register
	var abs, one, eps Op
	leaves("refFirst"+l.name, "refFirst", "ext *[6][8]float32, ", func() {
		pe = Load(Param("ext"), GP64())
		for i := range ext {
			ext[i] = YMM()
			VMOVUPS(Mem{Base: pe, Disp: 32 * i}, ext[i])
		}
		abs, one, eps = d32(abs32Mask), f32(1), f32(0x1p-52)
		if l.wide {
			for _, c := range []*Op{&abs, &one, &eps} {
				y := YMM()
				VMOVUPS(*c, y)
				*c = y
			}
		}
	}, func(x, y, groups, rows, doubles reg.Register) {
		var acc [5]reg.VecVirtual
		for i := range acc {
			acc[i] = zeroed(YMM(), l)
		}
		if l.wide {
			sx, sy := zeroed(ZMM(), l), zeroed(ZMM(), l)
			loop("group", groups, func() {
				prefetch(x, y)
				a, b := loaded(YMM, VMOVUPS, x, y)
				firstSums(l, a, b, acc[:], ext[:], abs, one, eps)
				firstExtrema(a, b, ext[:])
				p, q := loaded(ZMM, VCVTPS2PD, x, y)
				VADDPD(p, sx, sx)
				VADDPD(q, sy, sy)
				advance(32, x, y)
			})
			doubleSums(l, lower(sx), upper(sx), lower(sy), upper(sy), Mem{Base: doubles})
			fourSums(l, acc[0], acc[1], acc[2], acc[3], Mem{Base: rows})
			fourSums(l, acc[4], acc[4], acc[4], acc[4], Mem{Base: rows, Disp: 16})
			return
		}
		again := ahead(x, y, groups, func(x, y reg.Register) {
			a, b := loaded(YMM, VMOVUPS, x, y)
			firstSums(l, a, b, acc[:], ext[:], abs, one, eps)
		})
		fourSums(l, acc[0], acc[1], acc[2], acc[3], Mem{Base: rows})
		fourSums(l, acc[4], acc[4], acc[4], acc[4], Mem{Base: rows, Disp: 16})
		sumDoubles(l, again, x, y, Mem{Base: doubles}, func() {
			a, b := loaded(YMM, VMOVUPS, x, y)
			firstExtrema(a, b, ext[:])
		}, func(int, reg.Register) {})
	}, func() {
		for i := range ext {
			VMOVUPS(ext[i], Mem{Base: pe, Disp: 32 * i})
		}
	})
}

// ahead goes over a leaf that is gone over again, for want of registers; again counts its groups.
func ahead(x, y, groups reg.Register, body func(x, y reg.Register)) (again reg.GPVirtual) {
	px, py, again := GP64(), GP64(), GP64()
	MOVQ(x, px)
	MOVQ(y, py)
	MOVQ(groups, again)
	loop("group", groups, func() {
		prefetch(px, py)
		body(px, py)
		advance(32, px, py)
	})
	return again
}

// sumDoubles goes over a leaf with AVX2 and stores the sums in float64 of what term makes of each side's elements.
func sumDoubles(l level, groups, x, y reg.Register, to Mem, first func(), term func(side int, t reg.Register)) {
	var sum [4]reg.VecVirtual
	for i := range sum {
		sum[i] = zeroed(YMM(), l)
	}
	loop("again", groups, func() {
		first()
		for i := range sum {
			t := YMM()
			VCVTPS2PD(Mem{Base: []reg.Register{x, y}[i/2], Disp: 16 * (i % 2)}, t)
			term(i/2, t)
			VADDPD(t, sum[i], sum[i])
		}
		advance(32, x, y)
	})
	doubleSums(l, sum[0], sum[1], sum[2], sum[3], to)
}

func firstSums(l level, a, b reg.VecVirtual, acc, ext []reg.VecVirtual, abs, one, eps Op) {
	t := YMM()
	VMULPS(a, a, t)
	VADDPS(t, acc[0], acc[0])
	t = YMM()
	VMULPS(b, b, t)
	VADDPS(t, acc[1], acc[1])
	t = YMM()
	VSUBPS(b, a, t)
	VANDPS(abs, t, t)
	VADDPS(t, acc[2], acc[2])
	VMAXPS(t, ext[kernel.ExtMaxAbs], ext[kernel.ExtMaxAbs])
	VMULPS(t, t, t)
	VADDPS(t, acc[3], acc[3])
	r, m := YMM(), YMM()
	VDIVPS(b, a, r)
	VANDPS(abs, b, m)
	if l.wide {
		k := K()
		VCMPPS(gtOQ, eps, m, k)
		VSUBPS_Z(one, r, k, r)
		VANDPS(abs, r, r)
	} else {
		VCMPPS(gtOQ, eps, m, m)
		VSUBPS(one, r, r)
		VANDPS(abs, r, r)
		VANDPS(m, r, r)
	}
	VADDPS(r, acc[4], acc[4])
	VMAXPS(r, ext[kernel.ExtMaxRel], ext[kernel.ExtMaxRel])
}

func firstExtrema(a, b reg.VecVirtual, ext []reg.VecVirtual) {
	VMINPS(a, ext[kernel.ExtLoX], ext[kernel.ExtLoX])
	VMAXPS(a, ext[kernel.ExtHiX], ext[kernel.ExtHiX])
	VMINPS(b, ext[kernel.ExtLoY], ext[kernel.ExtLoY])
	VMAXPS(b, ext[kernel.ExtHiY], ext[kernel.ExtHiY])
}

// lane loads scale i.
func lane(k reg.Register, i int) reg.VecVirtual {
	y := YMM()
	VMOVUPS(Mem{Base: k, Disp: 32 * i}, y)
	return y
}

// share scales v to at least 2^-23.
func share(v, lo, spread, floor reg.Register) {
	VSUBPS(lo, v, v)
	VDIVPS(spread, v, v)
	VMAXPS(v, floor, v)
}

// refSecond emits the second pass. Rows are cos px py; doubles are vx vy.
func refSecond(l level) {
	var k, means reg.Register
	var scale [kernel.LaneSumX]reg.VecVirtual
	var floor, meanX, meanY reg.VecVirtual
	leaves("refSecond"+l.name, "refSecond", "k *[8][8]float32, means *[2][8]float64, ", func() {
		k, means = Load(Param("k"), GP64()), Load(Param("means"), GP64())
		if l.wide {
			meanX, meanY = ZMM(), ZMM()
			VMOVUPD(Mem{Base: means}, meanX)
			VMOVUPD(Mem{Base: means, Disp: 64}, meanY)
			for i := range scale {
				scale[i] = lane(k, i)
			}
			floor = YMM()
			VMOVUPS(f32(0x1p-23), floor)
		}
	}, func(x, y, groups, rows, doubles reg.Register) {
		if !l.wide {
			for i := range scale {
				scale[i] = lane(k, i)
			}
			floor = YMM()
			VMOVUPS(f32(0x1p-23), floor)
		}
		var acc [3]reg.VecVirtual
		for i := range acc {
			acc[i] = zeroed(YMM(), l)
		}
		sums := func(x, y reg.Register) {
			a, b, s, t := YMM(), YMM(), YMM(), YMM()
			VMOVUPS(Mem{Base: x}, a)
			VMOVUPS(Mem{Base: y}, b)
			VDIVPS(scale[kernel.LaneNormX], a, s)
			VDIVPS(scale[kernel.LaneNormY], b, t)
			VMULPS(t, s, s)
			VADDPS(s, acc[0], acc[0])
			share(a, scale[kernel.LaneLoX], scale[kernel.LaneSpreadX], floor)
			VADDPS(a, acc[1], acc[1])
			share(b, scale[kernel.LaneLoY], scale[kernel.LaneSpreadY], floor)
			VADDPS(b, acc[2], acc[2])
		}
		if l.wide {
			vx, vy := zeroed(ZMM(), l), zeroed(ZMM(), l)
			loop("group", groups, func() {
				prefetch(x, y)
				sums(x, y)
				p, q := loaded(ZMM, VCVTPS2PD, x, y)
				VSUBPD(meanX, p, p)
				VSUBPD(meanY, q, q)
				VMULPD(p, p, p)
				VMULPD(q, q, q)
				VADDPD(p, vx, vx)
				VADDPD(q, vy, vy)
				advance(32, x, y)
			})
			doubleSums(l, lower(vx), upper(vx), lower(vy), upper(vy), Mem{Base: doubles})
			fourSums(l, acc[0], acc[1], acc[2], acc[2], Mem{Base: rows})
			return
		}
		again := ahead(x, y, groups, sums)
		fourSums(l, acc[0], acc[1], acc[2], acc[2], Mem{Base: rows})
		mean := []reg.VecVirtual{lane(means, 0), lane(means, 2)}
		sumDoubles(l, again, x, y, Mem{Base: doubles}, func() {}, func(side int, t reg.Register) {
			VSUBPD(mean[side], t, t)
			VMULPD(t, t, t)
		})
	}, func() {})
}

// refThird emits the third pass. Rows are the divergence; there are no
// doubles. Quotients must be normal numbers. With AVX-512 two groups are
// computed at a time, and then added one after the other.
func refThird(l level) {
	var k reg.Register
	leaves("refThird"+l.name, "refThird", "k *[8][8]float32, ", func() {
		k = Load(Param("k"), GP64())
	}, func(x, y, groups, rows, doubles reg.Register) {
		acc := zeroed(YMM(), l)
		if !l.wide {
			c := newThird(l, YMM, k)
			loop("group", groups, func() {
				VADDPS(c.terms(x, y), acc, acc)
				advance(32, x, y)
			})
			fourSums(l, acc, acc, acc, acc, Mem{Base: rows})
			return
		}
		c := newThird(l, ZMM, k)
		pairs := GP64()
		MOVQ(groups, pairs)
		SHRQ(Imm(1), pairs)
		JZ(LabelRef("odd"))
		loop("pair", pairs, func() {
			t := c.terms(x, y)
			VADDPS(t.AsY(), acc, acc)
			VADDPS(upper(t), acc, acc)
			advance(64, x, y)
		})
		Label("odd")
		TESTQ(U32(1), groups)
		JZ(LabelRef("done"))
		VADDPS(c.as(YMM).terms(x, y), acc, acc)
		advance(32, x, y)
		Label("done")
		fourSums(l, acc, acc, acc, acc, Mem{Base: rows})
	}, func() {})
}

// third are the constants of the third pass in registers of one width.
type third struct {
	level
	vec             func() reg.VecVirtual
	lo, spread, sum [2]reg.Register
	floor           reg.Register
}

func newThird(l level, vec func() reg.VecVirtual, k reg.Register) third {
	c := third{level: l, vec: vec}
	all := func(i int) reg.Register {
		v := vec()
		VBROADCASTSS(Mem{Base: k, Disp: 32 * i}, v)
		return v
	}
	c.lo = [2]reg.Register{all(kernel.LaneLoX), all(kernel.LaneLoY)}
	c.spread = [2]reg.Register{all(kernel.LaneSpreadX), all(kernel.LaneSpreadY)}
	c.sum = [2]reg.Register{all(kernel.LaneSumX), all(kernel.LaneSumY)}
	floor := vec()
	VMOVUPS(f32(0x1p-23), floor)
	c.floor = floor
	return c
}

// as is c with the lower halves of the same registers.
func (c third) as(vec func() reg.VecVirtual) third {
	half := func(r *reg.Register) { *r = (*r).(reg.Vec).AsY() }
	for i := range 2 {
		half(&c.lo[i])
		half(&c.spread[i])
		half(&c.sum[i])
	}
	half(&c.floor)
	c.vec = vec
	return c
}

// terms are p·ln(p/q) of the elements at x and y; see log32.
func (c third) terms(x, y reg.Register) reg.VecVirtual {
	prefetch(x, y)
	p, q := loaded(c.vec, VMOVUPS, x, y)
	share(p, c.lo[0], c.spread[0], c.floor)
	share(q, c.lo[1], c.spread[1], c.floor)
	VDIVPS(c.sum[0], p, p)
	VDIVPS(c.sum[1], q, q)
	b, m, s, z, t := c.vec(), c.vec(), c.vec(), c.vec(), c.vec()
	VDIVPS(q, p, b)
	VPSUBD(d32(kernel.LogSplit), b, b)
	c.and(d32(1<<23-1), b, m)
	VPADDD(d32(kernel.LogSplit), m, m)
	VPSRAD(Imm(23), b, b)
	VCVTDQ2PS(b, b) // exponent
	VSUBPS(f32(1), m, m)
	VMOVUPS(f32(kernel.LogP[0]), s)
	for _, f := range kernel.LogP[1:] {
		VMULPS(m, s, s)
		VADDPS(f32(f), s, s)
	}
	VMULPS(m, m, z)
	VMULPS(m, s, s)
	VMULPS(z, s, s)
	VMULPS(f32(kernel.LogLn2Lo), b, t)
	VADDPS(t, s, s)
	VMULPS(f32(0.5), z, z)
	VSUBPS(z, s, s)
	VADDPS(m, s, s)
	VMULPS(f32(kernel.LogLn2Hi), b, b)
	VADDPS(b, s, s)
	VMULPS(s, p, p)
	return p
}
