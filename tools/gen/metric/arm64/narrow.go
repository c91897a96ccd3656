package main

import (
	"precision/internal/kernel"
	"precision/tools/gen/neon"
)

// sumNarrow writes the divergence in float32 lanes; the Go loop sumNarrowGo has the order of
// its steps.
func sumNarrow(a *neon.Asm) {
	// func(out *[3][8]float64, k *narrowScale, x, y *float32, n int)
	a.Func("narrowKernel", 40)
	out, k, x, y, n := a.Arg("out", 0), a.Arg("k", 8), a.Arg("x", 16), a.Arg("y", 24), a.Arg("n", 32)
	tmp, rows := a.R(), a.R()
	const s4 = neon.S4
	load := func(i int) neon.V {
		v := a.V()
		a.Go("FMOVQ %d(%s), %s", 4*kernel.NarrowLanes*i, k, v.F())
		return v
	}
	// The floors are loaded where they are used: there is a register too few.
	loX, inverseX, loY, inverseY := load(kernel.NarrowLoX), load(kernel.NarrowInverseX), load(kernel.NarrowLoY), load(kernel.NarrowInverseY)
	half, exponent := a.Bits(s4, a.V(), kernel.NarrowHalf, tmp), a.Bits(s4, a.V(), kernel.NarrowExponent, tmp)
	ln2 := all(a, kernel.NarrowLn2, tmp)
	var series [len(kernel.NarrowSeries)]neon.V
	for i, f := range kernel.NarrowSeries {
		series[i] = all(a, f, tmp)
	}
	const parts = kernel.NarrowLanes / 4
	var acc [3][parts]neon.V
	for i := range acc {
		for j := range acc[i] {
			acc[i][j] = a.V()
		}
	}
	a.Go("LSR $4, %s", n)
	a.Label("block")
	for i := range acc {
		for _, v := range acc[i] {
			a.Zero(v)
		}
	}
	a.Go("MOVD $%d, %s", kernel.NarrowRows, rows)
	a.Go("CMP %s, %s", rows, n)
	a.Go("CSEL LT, %s, %s, %s", n, rows, rows)
	a.Go("SUB %s, %s", rows, n)
	a.Loop("row", rows, func() {
		for i := range parts {
			p, q := next(a, x), next(a, y)
			a.Op3("fsub", s4, p, p, loX)
			a.Op3("fsub", s4, q, q, loY)
			a.Op3("fmul", s4, p, p, inverseX)
			a.Op3("fmul", s4, q, q, inverseY)
			floorX, floorY := load(kernel.NarrowFloorX), load(kernel.NarrowFloorY)
			a.Op3("fmax", s4, p, p, floorX)
			a.Op3("fmax", s4, q, q, floorY)
			a.Free(floorX, floorY)
			a.Op3("fadd", s4, acc[1][i], acc[1][i], p)
			a.Op3("fadd", s4, acc[2][i], acc[2][i], q)
			e, near, d, s, z, t, u := a.V(), a.V(), a.V(), a.V(), a.V(), a.V(), a.V()
			a.Op3("add", s4, e, p, half)
			a.Op3("sub", s4, e, e, q)
			a.Bit("and", e, e, exponent)
			a.Op3("add", s4, near, q, e)
			a.Op3("fsub", s4, d, p, near)
			a.Op3("fadd", s4, s, p, near)
			a.Op3("fdiv", s4, s, d, s)
			a.Op3("fsub", s4, q, q, near) // q - q'
			a.Op3("fadd", s4, near, p, p)
			a.Op3("fmul", s4, z, s, s)
			a.Move(t, series[1])
			a.Op3("fmla", s4, t, series[2], z)
			a.Move(u, series[0])
			a.Op3("fmla", s4, u, t, z)
			a.Op3("fmul", s4, z, z, near)
			a.Op3("fmla", s4, d, u, z)
			a.Op2("scvtf", s4, e, e)
			a.Op3("fmul", s4, e, e, ln2)
			a.Op3("fmla", s4, q, e, p)
			a.Op3("fmla", s4, q, d, s)
			a.Op3("fadd", s4, acc[0][i], acc[0][i], q)
			a.Free(p, q, e, near, d, s, z, t, u)
		}
	})
	// The four registers of a sum hold lanes 0 to 15; lanes 0 to 7 are added before 8 to 15.
	sum, wide := a.V(), a.V()
	for i := range acc {
		for j := range 2 {
			for upper := range 2 {
				at := 4*kernel.NarrowLanes*i + 32*j + 16*upper
				a.Go("FMOVQ %d(%s), %s", at, out, sum.F())
				for _, v := range []neon.V{acc[i][j], acc[i][j+2]} {
					a.Widen(neon.D2, upper == 1, wide, v)
					a.Op3("fadd", neon.D2, sum, sum, wide)
				}
				a.Go("FMOVQ %s, %d(%s)", sum.F(), at, out)
			}
		}
	}
	a.Go("CBNZ %s, block", n)
	a.Ret()
}
