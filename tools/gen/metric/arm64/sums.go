package main

import (
	"math"

	"precision/internal/kernel"
	"precision/tools/gen/neon"
)

// sumTile sums four elements a round, in two float64 lanes. Extrema and zeros
// are found in the lanes that the elements come in. The accumulators
// stay in registers; a round has work for both vector units of a core for longer
// than the additions of the round before it take.
func sumTile(a *neon.Asm, e element) {
	// func(out *[kernel.SumSlots]float64, x, y *T, n int)
	a.Func("tileKernel"+e.suffix(), 32)
	out, x, y, n := a.Arg("out", 0), a.Arg("x", 8), a.Arg("y", 16), a.Arg("n", 24)
	tmp := a.R()
	own := e.lanes()
	var acc [kernel.SumSlots]neon.V
	for i := range acc {
		acc[i] = a.Zero(a.V())
	}
	plus, minus := math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1))
	if e.bits == 32 {
		plus, minus = uint64(math.Float32bits(float32(math.Inf(1)))), uint64(math.Float32bits(float32(math.Inf(-1))))
	}
	a.Bits(own, acc[kernel.SlotLoX], plus, tmp)
	a.Bits(own, acc[kernel.SlotHiX], minus, tmp)
	a.Bits(own, acc[kernel.SlotLoY], plus, tmp)
	a.Bits(own, acc[kernel.SlotHiY], minus, tmp)

	elements := a.R()
	a.Go("MOVD %s, %s", n, elements)
	a.Go("LSR $2, %s", n)
	a.Loop("loop", n, func() {
		vx, vy := e.load(a, x), e.load(a, y)
		for i := range vx {
			u, v := vx[i], vy[i]
			a.Op3("fmin", own, acc[kernel.SlotLoX], acc[kernel.SlotLoX], u)
			a.Op3("fmax", own, acc[kernel.SlotHiX], acc[kernel.SlotHiX], u)
			a.Op3("fmin", own, acc[kernel.SlotLoY], acc[kernel.SlotLoY], v)
			a.Op3("fmax", own, acc[kernel.SlotHiY], acc[kernel.SlotHiY], v)
			zero, other := a.V(), a.V()
			a.Op3("fcmeq", own, zero, u, v)
			a.Op3("sub", own, acc[kernel.SlotDiffer], acc[kernel.SlotDiffer], zero)
			a.IsZero(own, zero, v)
			a.IsZero(own, other, u)
			a.Op3("sub", own, acc[kernel.SlotNonzeroX], acc[kernel.SlotNonzeroX], other)
			a.Op3("sub", own, acc[kernel.SlotNonzeroY], acc[kernel.SlotNonzeroY], zero)
			a.Bit("bic", zero, zero, other) // x is not 0 where y is
			a.Op3("sub", own, acc[kernel.SlotZeroGolden], acc[kernel.SlotZeroGolden], zero)
			a.Op2("fabs", own, other, u)
			a.Bit("and", other, other, zero)
			a.Op3("fmax", own, acc[kernel.SlotZeroMax], acc[kernel.SlotZeroMax], other)
			a.Free(zero, other)
		}
		w := e.widened(a, vx, vy)
		for i, u := range w[0] {
			v, d, m := w[1][i], a.V(), a.V()
			a.Op3("fmla", neon.D2, acc[kernel.SlotXY], u, v)
			a.Op3("fmla", neon.D2, acc[kernel.SlotXX], u, u)
			a.Op3("fmla", neon.D2, acc[kernel.SlotYY], v, v)
			a.Op3("fadd", neon.D2, acc[kernel.SlotX], acc[kernel.SlotX], u)
			a.Op3("fadd", neon.D2, acc[kernel.SlotY], acc[kernel.SlotY], v)
			a.Op3("fabd", neon.D2, d, u, v)
			a.IsZero(neon.D2, m, v)
			a.Op2("fabs", neon.D2, v, v)
			a.Op3("fmla", neon.D2, acc[kernel.SlotDD], d, d)
			a.Op3("fadd", neon.D2, acc[kernel.SlotAD], acc[kernel.SlotAD], d)
			a.Op3("fmax", neon.D2, acc[kernel.SlotMaxAbs], acc[kernel.SlotMaxAbs], d)
			a.Op3("fdiv", neon.D2, d, d, v)
			a.Bit("bic", d, d, m)
			a.Op3("fadd", neon.D2, acc[kernel.SlotRel], acc[kernel.SlotRel], d)
			a.Op3("fmax", neon.D2, acc[kernel.SlotMaxRel], acc[kernel.SlotMaxRel], d)
			a.Free(u, v, d, m)
		}
	})

	for i, v := range acc {
		op, lanes := "sum", neon.D2
		switch i {
		case kernel.SlotMaxAbs, kernel.SlotMaxRel:
			op = "max"
		case kernel.SlotHiX, kernel.SlotHiY, kernel.SlotZeroMax:
			op, lanes = "max", own
		case kernel.SlotLoX, kernel.SlotLoY:
			op, lanes = "min", own
		case kernel.SlotZeroGolden, kernel.SlotNonzeroX, kernel.SlotNonzeroY, kernel.SlotDiffer:
			op, lanes = "add", own
		}
		a.Across(op, lanes, v, v)
		switch {
		case op == "add":
			// The upper bits are 0, and counts are below 2^31.
			a.Go("FMOVD %s, %s", v.F(), tmp)
			if i != kernel.SlotZeroGolden {
				// What was counted are the elements of which it does not hold.
				a.Go("SUB %s, %s, %[1]s", tmp, elements)
			}
			a.Go("SCVTFD %s, %s", tmp, v.F())
		case lanes == neon.S4:
			a.Go("FCVTSD %s, %[1]s", v.F())
		}
		a.Go("FMOVD %s, %d(%s)", v.F(), 8*i, out)
	}
	a.Ret()
}

// sumSpread writes Σd and Σd² of d = v - mean.
func sumSpread(a *neon.Asm, e element) {
	// func(out *[2]float64, v *T, mean float64, n int)
	a.Func("spreadKernel"+e.suffix(), 32)
	out, p, n := a.Arg("out", 0), a.Arg("v", 8), a.Arg("n", 24)
	tmp := a.R()
	mean := a.V()
	a.Go("MOVD mean+16(FP), %s", tmp)
	a.Go("VDUP %s, %s.D2", tmp, mean)
	var s, ss [2]neon.V
	for i := range s {
		s[i], ss[i] = a.Zero(a.V()), a.Zero(a.V())
	}
	a.Go("LSR $2, %s", n)
	a.Loop("loop", n, func() {
		for i, d := range e.widened(a, e.load(a, p))[0] {
			a.Op3("fsub", neon.D2, d, d, mean)
			a.Op3("fadd", neon.D2, s[i], s[i], d)
			a.Op3("fmla", neon.D2, ss[i], d, d)
			a.Free(d)
		}
	})
	for i, v := range [][2]neon.V{s, ss} {
		a.Op3("fadd", neon.D2, v[0], v[0], v[1])
		a.Across("sum", neon.D2, v[0], v[0])
		a.Go("FMOVD %s, %d(%s)", v[0].F(), 8*i, out)
	}
	a.Ret()
}
