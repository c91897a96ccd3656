package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"precision/internal/kernel"
)

// sumKL emits the sums of p·ln(p/q), p and q. AVX-512 has registers for all constants.
func sumKL(l level, e element) {
	name := "sumKL" + e.suffix() + l.name
	function(name, "func(out *[3]float64, k *[4]float64, x, y *"+e.name()+", n int)", fmt.Sprintf("%s is sumKL for n elements, a multiple of 8 and not 0. k holds lo and inverse of x and of y.", name))
	out, k, x, y, n := Load(Param("out"), GP64()), Load(Param("k"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	held := func(m Mem) Op {
		v := l.vec()
		VMOVUPD(m, v)
		return v
	}
	var scale [4]reg.VecVirtual
	for i := range scale {
		scale[i] = l.vec()
		VBROADCASTSD(Mem{Base: k, Disp: 8 * i}, scale[i])
	}
	var floor, half, exponent, ln2 Op
	var series [kernel.Terms + 1]Op
	and, zero := VANDPD, VXORPD
	if l.wide {
		and, zero = VPANDQ, VPXORQ
		// Exponents stay where they are in the bits: 2^52 times too large.
		floor, half, exponent, ln2 = held(f64(0x1p-23)), held(q64(kernel.HalfExponent)), held(q64(kernel.ExponentMask)), held(f64(math.Ln2/(1<<52)))
	}
	for i := 1; i <= kernel.Terms; i++ {
		if series[i] = f64(1 / float64(2*i+1)); l.wide {
			series[i] = held(series[i].(Mem))
		}
	}
	var acc [3]reg.VecVirtual
	for i := range acc {
		acc[i] = l.vec()
		zero(acc[i], acc[i], acc[i])
	}
	if !l.wide {
		floor, half, exponent = held(f64(0x1p-23)), q64(kernel.HalfExponent), q64(kernel.ExponentMask)
	}
	SHRQ(Imm(map[int]uint64{4: 2, 8: 3}[l.lanes()]), n)
	loop("loop", n, func() {
		prefetch(x, y)
		p, q, b, s, z, t := l.vec(), l.vec(), l.vec(), l.vec(), l.vec(), l.vec()
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
		and(exponent, b, b)
		VPADDQ(b, q, q) // q·2^e
		move := VMOVAPD
		if l.wide {
			VCVTQQ2PD(b, b)
		} else {
			// Without a conversion of 64-bit integers: exponents are non-negative
			// with a bias, and become the low bits of the mantissa of 2^52.
			const bias = 1023
			VPADDQ(q64(bias<<52), b, b)
			VPSRLQ(Imm(52), b, b)
			VORPD(f64(0x1p52), b, b)
			VSUBPD(f64(0x1p52+bias), b, b)
			ln2, move = f64(math.Ln2), VMOVUPD
		}
		VADDPD(q, p, t)
		VSUBPD(q, p, s)
		VDIVPD(t, s, s)
		VMULPD(s, s, z)
		move(series[kernel.Terms], t)
		for i := kernel.Terms - 1; i >= 1; i-- {
			VFMADD213PD(series[i], z, t)
		}
		VADDPD(s, s, s)      // 2s
		VMULPD(z, t, t)      // z·P(z)
		VFMADD213PD(s, s, t) // 2s + 2s·z·P(z)
		VFMADD231PD(ln2, b, t)
		VFMADD231PD(t, p, acc[0])
		advance(l.lanes()*e.size(), x, y)
	})
	for i := range acc {
		VMOVSD(l.fold(acc[i], VADDPD), Mem{Base: out, Disp: 8 * i})
	}
	end()
}
