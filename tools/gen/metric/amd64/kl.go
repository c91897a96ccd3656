package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"precision/internal/kernel"
)

func klStart(level string, e element) (out, k, x, y, n reg.Register) {
	name := "sumKL" + e.suffix() + level
	function(name, "func(out *[3]float64, k *[4]float64, x, y *"+e.name()+", n int)", fmt.Sprintf("%s is sumKL for n elements, a multiple of 8 and not 0. k holds lo and inverse of x and of y.", name))
	return Load(Param("out"), GP64()), Load(Param("k"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
}

func sumKL512(e element) {
	out, k, x, y, n := klStart("AVX512", e)
	var scale [4]reg.VecVirtual
	for i := range scale {
		scale[i] = ZMM()
		VBROADCASTSD(Mem{Base: k, Disp: 8 * i}, scale[i])
	}
	constant := func(m Mem) reg.VecVirtual {
		z := ZMM()
		VMOVUPD(m, z)
		return z
	}
	// Exponents stay where they are in the bits: 2^52 times too large.
	floor, half, exponent, ln2 := constant(f64(0x1p-23)), constant(q64(kernel.HalfExponent)), constant(q64(kernel.ExponentMask)), constant(f64(math.Ln2/(1<<52)))
	var series [kernel.Terms + 1]reg.VecVirtual
	for i := 1; i <= kernel.Terms; i++ {
		series[i] = constant(f64(1 / float64(2*i+1)))
	}
	var acc [3]reg.VecVirtual
	for i := range acc {
		acc[i] = ZMM()
		VPXORQ(acc[i], acc[i], acc[i])
	}
	width := 8 * e.size()
	SHRQ(Imm(3), n)
	loop("loop", n, func() {
		prefetch(x, y)
		p, q, b, s, z, t := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
		e.load(Mem{Base: x}, p)
		e.load(Mem{Base: y}, q)
		VSUBPD(scale[0], p, p)
		VMULPD(scale[1], p, p)
		VMAXPD(p, floor, p)
		VSUBPD(scale[2], q, q)
		VMULPD(scale[3], q, q)
		VMAXPD(q, floor, q)
		VADDPD(p, acc[1], acc[1])
		VADDPD(q, acc[2], acc[2])
		VPADDQ(half, p, b)
		VPSUBQ(q, b, b)
		VPANDQ(exponent, b, b)
		VPADDQ(b, q, q) // q·2^e
		VCVTQQ2PD(b, b)
		VADDPD(q, p, t)
		VSUBPD(q, p, s)
		VDIVPD(t, s, s)
		VMULPD(s, s, z)
		VMOVAPD(series[kernel.Terms], t)
		for i := kernel.Terms - 1; i >= 1; i-- {
			VFMADD213PD(series[i], z, t)
		}
		VADDPD(s, s, s)      // 2s
		VMULPD(z, t, t)      // z·P(z)
		VFMADD213PD(s, s, t) // 2s + 2s·z·P(z)
		VFMADD231PD(ln2, b, t)
		VFMADD231PD(t, p, acc[0])
		advance(width, x, y)
	})
	for i := range acc {
		VMOVSD(fold512(acc[i], VADDPD), Mem{Base: out, Disp: 8 * i})
	}
	VZEROUPPER()
	RET()
}

func sumKL256(e element) {
	out, k, x, y, n := klStart("AVX2", e)
	var scale [4]reg.VecVirtual
	for i := range scale {
		scale[i] = YMM()
		VBROADCASTSD(Mem{Base: k, Disp: 8 * i}, scale[i])
	}
	var acc [3]reg.VecVirtual
	for i := range acc {
		acc[i] = YMM()
		VXORPD(acc[i], acc[i], acc[i])
	}
	floor := YMM()
	VMOVUPD(f64(0x1p-23), floor)
	// Without a conversion of 64-bit integers: exponents are non-negative
	// with a bias, and become the low bits of the mantissa of 2^52.
	const bias = 1023
	width := 4 * e.size()
	SHRQ(Imm(2), n)
	loop("loop", n, func() {
		prefetch(x, y)
		p, q, b, s, z, t := YMM(), YMM(), YMM(), YMM(), YMM(), YMM()
		e.load(Mem{Base: x}, p)
		e.load(Mem{Base: y}, q)
		VSUBPD(scale[0], p, p)
		VMULPD(scale[1], p, p)
		VMAXPD(p, floor, p)
		VSUBPD(scale[2], q, q)
		VMULPD(scale[3], q, q)
		VMAXPD(q, floor, q)
		VADDPD(p, acc[1], acc[1])
		VADDPD(q, acc[2], acc[2])
		VPADDQ(q64(kernel.HalfExponent), p, b)
		VPSUBQ(q, b, b)
		VANDPD(q64(kernel.ExponentMask), b, b)
		VPADDQ(b, q, q) // q·2^e
		VPADDQ(q64(bias<<52), b, b)
		VPSRLQ(Imm(52), b, b)
		VORPD(f64(0x1p52), b, b)
		VSUBPD(f64(0x1p52+bias), b, b)
		VADDPD(q, p, t)
		VSUBPD(q, p, s)
		VDIVPD(t, s, s)
		VMULPD(s, s, z)
		VMOVUPD(f64(1/float64(2*kernel.Terms+1)), t)
		for i := kernel.Terms - 1; i >= 1; i-- {
			VFMADD213PD(f64(1/float64(2*i+1)), z, t)
		}
		VADDPD(s, s, s)
		VMULPD(z, t, t)
		VFMADD213PD(s, s, t)
		VFMADD231PD(f64(math.Ln2), b, t)
		VFMADD231PD(t, p, acc[0])
		advance(width, x, y)
	})
	for i := range acc {
		VMOVSD(fold256(acc[i], VADDPD), Mem{Base: out, Disp: 8 * i})
	}
	VZEROUPPER()
	RET()
}
