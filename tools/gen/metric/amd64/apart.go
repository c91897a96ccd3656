package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// firstApart emits a search for |x-y| >= by in the type of the elements.
func firstApart(l level, e element) {
	name := "firstApart" + e.suffix() + l.name
	function(name, "func(x, y *"+e.name()+", n int, by "+e.name()+") int",
		name+" is the number of elements before the first sixteen, out of n elements, a multiple of 16 and not 0,",
		"in which |x-y|, rounded to "+e.name()+", reaches by: n if there are none.")
	x, y, n := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	// A round looks at sixteen elements.
	width := 8 * l.lanes() / e.size()
	load, sub, and, cmp, abs := VMOVUPS, VSUBPS, VANDPS, VCMPPS, d32(abs32Mask)
	by, mask := l.vec(), l.vec()
	if e.bits == 32 {
		VBROADCASTSS(argument("by"), by)
	} else {
		VBROADCASTSD(argument("by"), by)
		load, sub, and, cmp, abs = VMOVUPD, VSUBPD, VANDPD, VCMPPD, q64(abs64Mask)
	}
	load(abs, mask)
	start, found := GP64(), GP64()
	MOVQ(n, start)
	SHRQ(Imm(4), n)
	Label("loop")
	var hit reg.VecVirtual
	var hits reg.OpmaskVirtual
	for i := range 16 / width {
		at := i * width * e.size()
		d := l.vec()
		load(Mem{Base: x, Disp: at}, d)
		sub(Mem{Base: y, Disp: at}, d, d)
		and(mask, d, d)
		if l.wide {
			k := K()
			cmp(geOQ, by, d, k)
			if i == 0 {
				hits = k
			} else {
				KORW(k, hits, hits)
			}
			continue
		}
		cmp(geOQ, by, d, d)
		if i == 0 {
			hit = d
		} else {
			VORPS(d, hit, hit)
		}
	}
	if l.wide {
		KORTESTW(hits, hits)
	} else {
		VPTEST(hit, hit)
	}
	JNZ(LabelRef("found"))
	advance(16*e.size(), x, y)
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("found")
	SHLQ(Imm(4), n)
	MOVQ(start, found)
	SUBQ(n, found)
	Store(found, ReturnIndex(0))
	end()
}

// outside emits a count of |x-y| > abs + rel·|y| in float64, where the product and the sum
// are rounded one by one.
func outside(l level, e element) {
	name := "outside" + e.suffix() + l.name
	function(name, "func(x, y *"+e.name()+", n int, abs, rel float64) int", name+" is outside for n elements, a multiple of 16 and not 0.")
	x, y, n := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	var limits [2]reg.VecVirtual
	for i, param := range []string{"abs", "rel"} {
		at := argument(param)
		limits[i] = l.vec()
		VBROADCASTSD(at, limits[i])
	}
	mask, count := l.vec(), zeroed(l.vec(), l)
	VMOVUPD(q64(abs64Mask), mask)
	var one reg.VecVirtual
	if l.wide {
		one = l.vec()
		VMOVUPD(q64(1), one)
	}
	SHRQ(Imm(map[int]uint64{4: 2, 8: 3}[l.lanes()]), n)
	loop("loop", n, func() {
		a, b := l.vec(), l.vec()
		e.load(Mem{Base: x}, a)
		e.load(Mem{Base: y}, b)
		VSUBPD(b, a, a)
		VANDPD(mask, a, a)
		VANDPD(mask, b, b)
		VMULPD(limits[1], b, b)
		VADDPD(limits[0], b, b)
		if l.wide {
			k := K()
			VCMPPD(gtOQ, b, a, k)
			VPADDQ(one, count, k, count)
		} else {
			VCMPPD(gtOQ, b, a, a)
			VPSUBQ(a, count, count)
		}
		advance(l.lanes()*e.size(), x, y)
	})
	total := GP64()
	VMOVQ(l.fold(count, VPADDQ), total)
	Store(total, ReturnIndex(0))
	end()
}
