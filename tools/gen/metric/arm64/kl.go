package main

import (
	"math"

	"precision/internal/kernel"
	"precision/tools/gen/neon"
)

func sumKL(a *neon.Asm, e element) {
	// func(out *[3]float64, k *[4]float64, x, y *T, n int)
	a.Func("klKernel"+e.suffix(), 40)
	out, k, x, y, n := a.Arg("out", 0), a.Arg("k", 8), a.Arg("x", 16), a.Arg("y", 24), a.Arg("n", 32)
	tmp := a.R()
	const d2 = neon.D2
	var scale [4]neon.V
	for i := range scale {
		scale[i] = a.V()
		a.Go("MOVD %d(%s), %s", 8*i, k, tmp)
		a.Go("VDUP %s, %s.D2", tmp, scale[i])
	}
	constant := func(f float64) neon.V { return a.Bits(d2, a.V(), math.Float64bits(f), tmp) }
	// Exponents stay where they are in the bits: 2^52 times too large.
	floor, ln2 := constant(0x1p-23), constant(math.Ln2/(1<<52))
	half, exponent := a.Bits(d2, a.V(), kernel.HalfExponent, tmp), a.Bits(d2, a.V(), kernel.ExponentMask, tmp)
	var series [kernel.Terms + 1]neon.V
	for i := 1; i <= kernel.Terms; i++ {
		series[i] = constant(1 / float64(2*i+1))
	}
	var acc [3]neon.V
	for i := range acc {
		acc[i] = a.Zero(a.V())
	}
	a.Go("LSR $2, %s", n)
	a.Loop("loop", n, func() {
		w := e.widened(a, e.load(a, x), e.load(a, y))
		// One half after the other: the processor looks far enough ahead to work on
		// the next one while a division lasts.
		for i, p := range w[0] {
			q, e, s := w[1][i], a.V(), a.V()
			a.Op3("fsub", d2, p, p, scale[0])
			a.Op3("fsub", d2, q, q, scale[2])
			a.Op3("fmul", d2, p, p, scale[1])
			a.Op3("fmul", d2, q, q, scale[3])
			a.Op3("fmax", d2, p, p, floor)
			a.Op3("fmax", d2, q, q, floor)
			a.Op3("fadd", d2, acc[1], acc[1], p)
			a.Op3("fadd", d2, acc[2], acc[2], q)
			a.Op3("add", d2, e, p, half)
			a.Op3("sub", d2, e, e, q)
			a.Bit("and", e, e, exponent)
			a.Op3("add", d2, q, q, e) // q·2^e
			a.Op2("scvtf", d2, e, e)
			a.Op3("fsub", d2, s, p, q)
			a.Op3("fadd", d2, q, p, q)
			a.Op3("fdiv", d2, s, s, q)
			z := q
			a.Op3("fmul", d2, z, s, s)
			a.Op3("fadd", d2, s, s, s) // 2s
			z2, z4, t, u, v := a.V(), a.V(), a.V(), a.V(), a.V()
			const _ = uint(9 - kernel.Terms) // the nine terms below
			// atanh(s)/s - 1 by pairs of terms, which are short chains and few copies.
			pair := func(to neon.V, i int) {
				a.Move(to, series[i])
				a.Op3("fmla", d2, to, series[i+1], z)
			}
			a.Op3("fmul", d2, z2, z, z)
			pair(t, 1)
			pair(u, 3)
			pair(v, 5)
			pair(z4, 7)
			a.Op3("fmla", d2, t, u, z2)
			a.Op3("fmla", d2, v, z4, z2)
			a.Op3("fmul", d2, z4, z2, z2)
			a.Op3("fmla", d2, v, series[9], z4)
			a.Op3("fmla", d2, t, v, z4)
			a.Op3("fmul", d2, t, t, z) // z·P(z)
			a.Move(u, s)
			a.Op3("fmla", d2, u, t, s) // 2s + 2s·z·P(z)
			a.Op3("fmla", d2, u, e, ln2)
			a.Op3("fmla", d2, acc[0], u, p)
			a.Free(p, q, e, s, z2, z4, t, u, v)
		}
	})
	for i, v := range acc {
		a.Across("sum", d2, v, v)
		a.Go("FMOVD %s, %d(%s)", v.F(), 8*i, out)
	}
	a.Ret()
}
