package main

import (
	"math"

	"precision/internal/kernel"
	"precision/tools/gen/neon"
)

// The Reference kernels sum in eight float32 lanes per leaf, two registers. A
// leaf is up to 16 groups of 8 elements; every leaf puts its sums into a row of
// the output, and rows are added afterwards. Every operation is rounded by
// itself, as in the Go loops: there is no fused multiplication here.

// pair is eight float32 lanes.
type pair [2]neon.V

func newPair(a *neon.Asm) pair { return pair{a.V(), a.V()} }

// next loads four elements at p and advances p.
func next(a *neon.Asm, p neon.R) neon.V { return element{bits: 32}.load(a, p)[0] }

func all(a *neon.Asm, f float32, tmp neon.R) neon.V {
	return a.Bits(neon.S4, a.V(), uint64(math.Float32bits(f)), tmp)
}

// leaves writes the loop over leaves around body and the code after it. body gets
// the number of groups of the leaf and advances x and y; rows and doubles point to
// the row of the leaf. The arguments from offset on are x, y, groups and leaves.
func leaves(a *neon.Asm, offset int, body func(x, y, groups, rows, doubles neon.R), end func()) {
	rows, doubles := a.Arg("rows", 0), a.Arg("doubles", 8)
	x, y, groups, n := a.Arg("x", offset), a.Arg("y", offset+8), a.Arg("groups", offset+16), a.Arg("leaves", offset+24)
	count := a.R()
	a.Loop("leaf", n, func() {
		a.Go("MOVBU.P 1(%s), %s", groups, count)
		body(x, y, count, rows, doubles)
		a.Go("ADD $32, %s", rows)
		a.Go("ADD $16, %s", doubles)
	})
	end()
	a.Ret()
}

// fourSums stores ((a0+a1)+(a2+a3))+((a4+a5)+(a6+a7)) of four accumulators. They
// are used up.
func fourSums(a *neon.Asm, v [4]pair, to neon.R, offset int) {
	for _, p := range v {
		a.Op3("faddp", neon.S4, p[0], p[0], p[1])
	}
	a.Op3("faddp", neon.S4, v[0][0], v[0][0], v[1][0])
	a.Op3("faddp", neon.S4, v[2][0], v[2][0], v[3][0])
	a.Op3("faddp", neon.S4, v[0][0], v[0][0], v[2][0])
	a.Go("FMOVQ %s, %d(%s)", v[0][0].F(), offset, to)
}

// oneSum stores the sum of one accumulator, alone.
func oneSum(a *neon.Asm, p pair, to neon.R, offset int) {
	a.Op3("faddp", neon.S4, p[0], p[0], p[1])
	a.Op3("faddp", neon.S4, p[0], p[0], p[0])
	a.Op3("faddp", neon.S4, p[0], p[0], p[0])
	a.Go("FMOVS %s, %d(%s)", p[0].F(), offset, to)
}

// doubleSums stores the sums of two groups of eight float64 lanes in the same
// order.
func doubleSums(a *neon.Asm, x, y [4]neon.V, to neon.R) {
	for _, v := range [][4]neon.V{x, y} {
		a.Op3("faddp", neon.D2, v[0], v[0], v[1])
		a.Op3("faddp", neon.D2, v[2], v[2], v[3])
		a.Op3("faddp", neon.D2, v[0], v[0], v[2])
	}
	a.Op3("faddp", neon.D2, x[0], x[0], y[0])
	a.Go("FMOVQ %s, (%s)", x[0].F(), to)
}

// refFirst writes the first pass. Rows are xx yy ad dd rel; doubles are x y.
func refFirst(a *neon.Asm) {
	// func(rows, doubles, ext *[6][8]float32, x, y *float32, groups *[128]uint8, leaves int)
	a.Func("refFirstNEON", 56)
	pe, tmp := a.Arg("ext", 16), a.R()
	var ext [kernel.Extrema]neon.V
	for i := range ext {
		ext[i] = a.V()
		a.Go("FMOVQ %d(%s), %s", 32*i, pe, ext[i].F())
	}
	one, eps := all(a, 1, tmp), all(a, 0x1p-52, tmp)
	var acc [5]pair
	var sx, sy [4]neon.V
	for i := range acc {
		acc[i] = newPair(a)
	}
	for i := range sx {
		sx[i], sy[i] = a.V(), a.V()
	}
	leaves(a, 24, func(x, y, groups, rows, doubles neon.R) {
		for _, p := range acc {
			a.Zero(p[0])
			a.Zero(p[1])
		}
		for i := range sx {
			a.Zero(sx[i])
			a.Zero(sy[i])
		}
		a.Loop("group", groups, func() {
			for i := range 2 {
				u, v := next(a, x), next(a, y)
				t, m := a.V(), a.V()
				a.Op3("fmul", neon.S4, t, u, u)
				a.Op3("fmul", neon.S4, m, v, v)
				a.Op3("fadd", neon.S4, acc[0][i], acc[0][i], t)
				a.Op3("fadd", neon.S4, acc[1][i], acc[1][i], m)
				a.Op3("fminnm", neon.S4, ext[kernel.ExtLoX], ext[kernel.ExtLoX], u)
				a.Op3("fmaxnm", neon.S4, ext[kernel.ExtHiX], ext[kernel.ExtHiX], u)
				a.Op3("fminnm", neon.S4, ext[kernel.ExtLoY], ext[kernel.ExtLoY], v)
				a.Op3("fmaxnm", neon.S4, ext[kernel.ExtHiY], ext[kernel.ExtHiY], v)
				a.Op3("fabd", neon.S4, t, u, v)
				a.Op3("fadd", neon.S4, acc[2][i], acc[2][i], t)
				a.Op3("fmaxnm", neon.S4, ext[kernel.ExtMaxAbs], ext[kernel.ExtMaxAbs], t)
				a.Op3("fmul", neon.S4, t, t, t)
				a.Op3("fadd", neon.S4, acc[3][i], acc[3][i], t)
				for _, side := range []struct {
					v   neon.V
					sum [4]neon.V
				}{{u, sx}, {v, sy}} {
					a.Widen(neon.D2, false, t, side.v)
					a.Widen(neon.D2, true, m, side.v)
					a.Op3("fadd", neon.D2, side.sum[2*i], side.sum[2*i], t)
					a.Op3("fadd", neon.D2, side.sum[2*i+1], side.sum[2*i+1], m)
				}
				a.Op3("fdiv", neon.S4, t, u, v)
				a.Op2("fabs", neon.S4, m, v)
				a.Op3("fcmgt", neon.S4, m, m, eps)
				a.Op3("fabd", neon.S4, t, t, one)
				a.Bit("and", t, t, m)
				a.Op3("fadd", neon.S4, acc[4][i], acc[4][i], t)
				a.Op3("fmaxnm", neon.S4, ext[kernel.ExtMaxRel], ext[kernel.ExtMaxRel], t)
				a.Free(u, v, t, m)
			}
		})
		fourSums(a, [4]pair{acc[0], acc[1], acc[2], acc[3]}, rows, 0)
		oneSum(a, acc[4], rows, 16)
		doubleSums(a, sx, sy, doubles)
	}, func() {
		for i := range ext {
			a.Go("FMOVQ %s, %d(%s)", ext[i].F(), 32*i, pe)
		}
	})
}

// lane loads scale i.
func lane(a *neon.Asm, k neon.R, i int) neon.V {
	v := a.V()
	a.Go("FMOVQ %d(%s), %s", 32*i, k, v.F())
	return v
}

// share scales v to at least 2^-23, and keeps NaN.
func share(a *neon.Asm, v, lo, spread, floor neon.V) {
	a.Op3("fsub", neon.S4, v, v, lo)
	a.Op3("fdiv", neon.S4, v, v, spread)
	a.Op3("fmax", neon.S4, v, v, floor)
}

// refSecond writes the second pass. Rows are cos px py; doubles are vx vy.
func refSecond(a *neon.Asm) {
	// func(rows, doubles, k *[8][8]float32, means *[2][8]float64, x, y *float32, groups *[128]uint8, leaves int)
	a.Func("refSecondNEON", 64)
	k, means, tmp := a.Arg("k", 16), a.Arg("means", 24), a.R()
	var scale [kernel.LaneSumX]neon.V
	for i := range scale {
		scale[i] = lane(a, k, i)
	}
	floor := all(a, 0x1p-23, tmp)
	mean := [2]neon.V{lane(a, means, 0), lane(a, means, 2)}
	var acc [3]pair
	for i := range acc {
		acc[i] = newPair(a)
	}
	var sum [2][4]neon.V
	for i := range sum[0] {
		sum[0][i], sum[1][i] = a.V(), a.V()
	}
	leaves(a, 32, func(x, y, groups, rows, doubles neon.R) {
		for _, p := range acc {
			a.Zero(p[0])
			a.Zero(p[1])
		}
		for i := range sum[0] {
			a.Zero(sum[0][i])
			a.Zero(sum[1][i])
		}
		a.Loop("group", groups, func() {
			for i := range 2 {
				u, v := next(a, x), next(a, y)
				s, t := a.V(), a.V()
				for side, w := range []neon.V{u, v} {
					for half, d := range []neon.V{s, t} {
						a.Widen(neon.D2, half == 1, d, w)
						a.Op3("fsub", neon.D2, d, d, mean[side])
						a.Op3("fmul", neon.D2, d, d, d)
						to := sum[side][2*i+half]
						a.Op3("fadd", neon.D2, to, to, d)
					}
				}
				a.Op3("fdiv", neon.S4, s, u, scale[kernel.LaneNormX])
				a.Op3("fdiv", neon.S4, t, v, scale[kernel.LaneNormY])
				a.Op3("fmul", neon.S4, s, s, t)
				a.Op3("fadd", neon.S4, acc[0][i], acc[0][i], s)
				share(a, u, scale[kernel.LaneLoX], scale[kernel.LaneSpreadX], floor)
				a.Op3("fadd", neon.S4, acc[1][i], acc[1][i], u)
				share(a, v, scale[kernel.LaneLoY], scale[kernel.LaneSpreadY], floor)
				a.Op3("fadd", neon.S4, acc[2][i], acc[2][i], v)
				a.Free(u, v, s, t)
			}
		})
		doubleSums(a, sum[0], sum[1], doubles)
		for i, p := range acc {
			oneSum(a, p, rows, 4*i)
		}
	}, func() {})
}

// refThird writes the third pass: p·ln(p/q), the logarithm being log32. Rows are
// its sum.
func refThird(a *neon.Asm) {
	// func(rows, doubles, k *[8][8]float32, x, y *float32, groups *[128]uint8, leaves int)
	a.Func("refThirdNEON", 56)
	k, tmp := a.Arg("k", 16), a.R()
	var scale [kernel.Lanes]neon.V
	for i := kernel.LaneLoX; i < kernel.Lanes; i++ {
		scale[i] = lane(a, k, i)
	}
	floor, one := all(a, 0x1p-23, tmp), all(a, 1, tmp)
	split := a.Bits(neon.S4, a.V(), kernel.LogSplit, tmp)
	mantissa := a.Bits(neon.S4, a.V(), 1<<23-1, tmp)
	half, ln2Lo, ln2Hi := all(a, 0.5, tmp), all(a, kernel.LogLn2Lo, tmp), all(a, kernel.LogLn2Hi, tmp)
	var series [len(kernel.LogP)]neon.V
	for i, f := range kernel.LogP {
		series[i] = all(a, f, tmp)
	}
	acc := newPair(a)
	leaves(a, 24, func(x, y, groups, rows, _ neon.R) {
		a.Zero(acc[0])
		a.Zero(acc[1])
		a.Loop("group", groups, func() {
			for i := range 2 {
				p, q := next(a, x), next(a, y)
				share(a, p, scale[kernel.LaneLoX], scale[kernel.LaneSpreadX], floor)
				share(a, q, scale[kernel.LaneLoY], scale[kernel.LaneSpreadY], floor)
				a.Op3("fdiv", neon.S4, p, p, scale[kernel.LaneSumX])
				a.Op3("fdiv", neon.S4, q, q, scale[kernel.LaneSumY])
				e, s, m := a.V(), a.V(), a.V()
				a.Op3("fdiv", neon.S4, e, p, q)
				a.Op3("sub", neon.S4, e, e, split)
				a.Bit("and", m, e, mantissa)
				a.Op3("add", neon.S4, m, m, split)
				a.ShiftRight(e, e, 23)
				a.Op2("scvtf", neon.S4, e, e)
				a.Op3("fsub", neon.S4, m, m, one)
				a.Move(s, series[0])
				for _, c := range series[1:] {
					a.Op3("fmul", neon.S4, s, s, m)
					a.Op3("fadd", neon.S4, s, s, c)
				}
				a.Op3("fmul", neon.S4, q, m, m) // z
				a.Op3("fmul", neon.S4, s, s, m)
				a.Op3("fmul", neon.S4, s, s, q)
				a.Op3("fmul", neon.S4, q, q, half)
				// s + e·lo - z/2 + m + e·hi, from the left.
				t := a.V()
				a.Op3("fmul", neon.S4, t, e, ln2Lo)
				a.Op3("fadd", neon.S4, s, s, t)
				a.Op3("fsub", neon.S4, s, s, q)
				a.Op3("fadd", neon.S4, s, s, m)
				a.Op3("fmul", neon.S4, e, e, ln2Hi)
				a.Op3("fadd", neon.S4, s, s, e)
				a.Op3("fmul", neon.S4, p, p, s)
				a.Op3("fadd", neon.S4, acc[i], acc[i], p)
				a.Free(p, q, e, s, m, t)
			}
		})
		oneSum(a, acc, rows, 0)
	}, func() {})
}
