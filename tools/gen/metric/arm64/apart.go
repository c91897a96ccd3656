package main

import "precision/tools/gen/neon"

// firstApart searches for |x-y| >= by in the type of the elements, sixteen at a
// time.
func firstApart(a *neon.Asm, e element) {
	// func(x, y *T, n int, by T) int
	a.Func("apartKernel"+e.suffix(), 40)
	x, y, n := a.Arg("x", 0), a.Arg("y", 8), a.Arg("n", 16)
	start, tmp := a.R(), a.R()
	own := e.lanes()
	by := a.V()
	if e.bits == 32 {
		a.Go("MOVWU by+24(FP), %s", tmp)
		a.Go("VDUP %s, %s.S4", tmp, by)
	} else {
		a.Go("MOVD by+24(FP), %s", tmp)
		a.Go("VDUP %s, %s.D2", tmp, by)
	}
	a.Go("MOVD %s, %s", n, start)
	a.Go("LSR $4, %s", n)
	a.Label("loop")
	hits := a.Zero(a.V())
	for range 16 / step {
		vx, vy := e.load(a, x), e.load(a, y)
		for i, d := range vx {
			a.Op3("fabd", own, d, d, vy[i])
			a.Op3("fcmge", own, d, d, by)
			a.Bit("orr", hits, hits, d)
			a.Free(d, vy[i])
		}
	}
	// Minus the number of lanes that met one.
	a.Across("add", own, hits, hits)
	a.Go("FMOVD %s, %s", hits.F(), tmp)
	a.Go("CBNZ %s, found", tmp)
	a.Go("SUBS $1, %s", n)
	a.Go("BNE loop")
	a.Label("found")
	a.Go("SUB %s<<4, %s, %[2]s", n, start)
	a.Go("MOVD %s, ret+32(FP)", start)
	a.Ret()
}

// outside counts |x-y| > abs + rel·|y| in float64, where the product and the sum are
// rounded one by one.
func outside(a *neon.Asm, e element) {
	// func(x, y *T, n int, abs, rel float64) int
	a.Func("outsideKernel"+e.suffix(), 48)
	x, y, n, tmp := a.Arg("x", 0), a.Arg("y", 8), a.Arg("n", 16), a.R()
	abs, rel := a.V(), a.V()
	a.Go("MOVD abs+24(FP), %s", tmp)
	a.Go("VDUP %s, %s.D2", tmp, abs)
	a.Go("MOVD rel+32(FP), %s", tmp)
	a.Go("VDUP %s, %s.D2", tmp, rel)
	count := a.Zero(a.V())
	a.Go("LSR $2, %s", n)
	a.Loop("loop", n, func() {
		w := e.widened(a, e.load(a, x), e.load(a, y))
		for i, u := range w[0] {
			v := w[1][i]
			a.Op3("fabd", neon.D2, u, u, v)
			a.Op2("fabs", neon.D2, v, v)
			a.Op3("fmul", neon.D2, v, v, rel)
			a.Op3("fadd", neon.D2, v, v, abs)
			a.Op3("fcmgt", neon.D2, u, u, v)
			a.Op3("sub", neon.D2, count, count, u)
			a.Free(u, v)
		}
	})
	a.Across("add", neon.D2, count, count)
	a.Go("FMOVD %s, %s", count.F(), tmp)
	a.Go("MOVD %s, ret+40(FP)", tmp)
	a.Ret()
}
