package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"precision/internal/kernel"
)

// sumNarrow emits the divergence in float32 lanes; the Go loop sumNarrowGo has the order of its steps, which
// each kernel keeps, so that all give the same bits.
func sumNarrow(l level) {
	name := "sumNarrow" + l.name
	function(name, fmt.Sprintf("func(out *[3][%d]float64, k *[%d][%d]float32, x, y *float32, n int)",
		kernel.NarrowLanes/2, kernel.NarrowScales, kernel.NarrowLanes), fmt.Sprintf("%s is sumNarrowGo for n elements, a multiple of %d and not 0.", name, kernel.NarrowLanes))
	out, k, x, y, n := Load(Param("out"), GP64()), Load(Param("k"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	parts, width := 8/l.lanes(), 8*l.lanes()
	c := narrow{level: l}
	for i := range c.k {
		c.k[i] = Mem{Base: k, Disp: 4 * kernel.NarrowLanes * i}
		if l.wide {
			r := l.vec()
			VMOVUPS(c.k[i], r)
			c.k[i] = r
		}
	}
	var acc [3][]reg.VecVirtual
	for i := range acc {
		for range parts {
			acc[i] = append(acc[i], l.vec())
		}
	}
	SHRQ(Imm(4), n) // rows
	Label("block")
	for i := range acc {
		for _, v := range acc[i] {
			zeroed(v, l)
		}
	}
	rows := GP64()
	MOVQ(U32(kernel.NarrowRows), rows)
	CMPQ(n, rows)
	CMOVQLT(n, rows)
	SUBQ(rows, n)
	loop("row", rows, func() {
		prefetch(x, y)
		for i := range parts {
			c.add(acc[0][i], acc[1][i], acc[2][i], Mem{Base: x, Disp: width * i}, Mem{Base: y, Disp: width * i})
		}
		advance(64, x, y)
	})
	for i := range acc {
		c.flush(acc[i], Mem{Base: out, Disp: 4 * kernel.NarrowLanes * i})
	}
	TESTQ(n, n)
	JNZ(LabelRef("block"))
	end()
}

// narrow are the scales, in registers where there are enough.
type narrow struct {
	level
	k [kernel.NarrowScales]Op
}

// add adds the terms, p and q̂ of the elements at x and y; see narrowTerm.
func (c *narrow) add(g, sumP, sumQ reg.VecVirtual, x, y Mem) {
	p, q := c.vec(), c.vec()
	VMOVUPS(x, p)
	VMOVUPS(y, q)
	VSUBPS(c.k[kernel.NarrowLoX], p, p)
	VSUBPS(c.k[kernel.NarrowLoY], q, q)
	VMULPS(c.k[kernel.NarrowInverseX], p, p)
	VMULPS(c.k[kernel.NarrowInverseY], q, q)
	VMAXPS(c.k[kernel.NarrowFloorX], p, p)
	VMAXPS(c.k[kernel.NarrowFloorY], q, q)
	VADDPS(p, sumP, sumP)
	VADDPS(q, sumQ, sumQ)
	e, near, d, s, z, a := c.vec(), c.vec(), c.vec(), c.vec(), c.vec(), c.vec()
	VPADDD(d32(kernel.NarrowHalf), p, e)
	VPSUBD(q, e, e)
	c.and(d32(kernel.NarrowExponent), e, e)
	VPADDD(e, q, near)
	VSUBPS(near, p, d)
	VADDPS(near, p, s)
	VDIVPS(s, d, s)
	VMULPS(s, s, z)
	VMOVUPS(f32(kernel.NarrowSeries[2]), a)
	VFMADD213PS(f32(kernel.NarrowSeries[1]), z, a)
	VFMADD213PS(f32(kernel.NarrowSeries[0]), z, a)
	VSUBPS(near, q, q) // q - q'
	VADDPS(p, p, near)
	VMULPS(near, z, z)
	VFMADD213PS(d, z, a)
	VCVTDQ2PS(e, e)
	VMULPS(f32(kernel.NarrowLn2), e, e)
	VFMADD231PS(e, p, q)
	VFMADD213PS(q, s, a)
	VADDPS(a, g, g)
}

// flush adds float32 lanes to the float64 sums at out, the lower half first.
func (c *narrow) flush(acc []reg.VecVirtual, out Mem) {
	if c.wide {
		sum, t := ZMM(), ZMM()
		VCVTPS2PD(acc[0].AsY(), sum)
		VADDPD(out, sum, sum)
		half := YMM()
		VEXTRACTF32X8(Imm(1), acc[0], half)
		VCVTPS2PD(half, t)
		VADDPD(t, sum, sum)
		VMOVUPD(sum, out)
		return
	}
	for i := range 2 {
		to := out.Offset(32 * i)
		sum, t := YMM(), YMM()
		VMOVUPD(to, sum)
		for _, v := range acc {
			half := XMM()
			VEXTRACTF128(Imm(uint64(i)), v, half)
			VCVTPS2PD(half, t)
			VADDPD(t, sum, sum)
		}
		VMOVUPD(sum, to)
	}
}
