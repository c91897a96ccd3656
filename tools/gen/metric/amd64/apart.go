package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// firstApart emits a search for |x-y| >= by in the type of the elements.
func firstApart(l level, e element) {
	name := "firstApart" + e.suffix() + l.name
	TEXT(name, NOSPLIT, "func(x, y *"+e.name()+", n int, by "+e.name()+") int")
	Doc(name+" is the number of elements before the first sixteen, out of n elements, a multiple of 16 and not 0,",
		"in which |x-y|, rounded to "+e.name()+", reaches by: n if there are none.")
	Pragma("noescape")
	x, y, n := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	limit, err := Param("by").Resolve()
	if err != nil {
		panic(err)
	}
	// A round looks at sixteen elements.
	width := 32 / e.size()
	if l.wide {
		width *= 2
	}
	vec := func() reg.VecVirtual {
		if l.wide {
			return ZMM()
		}
		return YMM()
	}
	load, sub, and, cmp, abs := VMOVUPS, VSUBPS, VANDPS, VCMPPS, d32(abs32Mask)
	by, mask := vec(), vec()
	if e.bits == 32 {
		VBROADCASTSS(limit.Addr, by)
	} else {
		VBROADCASTSD(limit.Addr, by)
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
		d := vec()
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
	ADDQ(Imm(uint64(16*e.size())), x)
	ADDQ(Imm(uint64(16*e.size())), y)
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("found")
	SHLQ(Imm(4), n)
	MOVQ(start, found)
	SUBQ(n, found)
	Store(found, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// outside emits a count of |x-y| > abs + rel·|y| in float64, where the product and the sum
// are rounded one by one.
func outside(l level, e element) {
	name := "outside" + e.suffix() + l.name
	TEXT(name, NOSPLIT, "func(x, y *"+e.name()+", n int, abs, rel float64) int")
	Doc(name + " is outside for n elements, a multiple of 16 and not 0.")
	Pragma("noescape")
	x, y, n := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	vec, width := YMM, 4
	if l.wide {
		vec, width = ZMM, 8
	}
	var limits [2]reg.VecVirtual
	for i, param := range []string{"abs", "rel"} {
		m, err := Param(param).Resolve()
		if err != nil {
			panic(err)
		}
		limits[i] = vec()
		VBROADCASTSD(m.Addr, limits[i])
	}
	mask, count := vec(), zeroed(vec(), l)
	VMOVUPD(q64(abs64Mask), mask)
	var one reg.VecVirtual
	if l.wide {
		one = vec()
		VMOVUPD(q64(1), one)
	}
	SHRQ(Imm(uint64(map[int]int{4: 2, 8: 3}[width])), n)
	loop("loop", n, func() {
		a, b := vec(), vec()
		if e.bits == 32 {
			VCVTPS2PD(Mem{Base: x}, a)
			VCVTPS2PD(Mem{Base: y}, b)
		} else {
			VMOVUPD(Mem{Base: x}, a)
			VMOVUPD(Mem{Base: y}, b)
		}
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
		ADDQ(Imm(uint64(width*e.size())), x)
		ADDQ(Imm(uint64(width*e.size())), y)
	})
	total := GP64()
	if l.wide {
		VMOVQ(fold512(count, VPADDQ), total)
	} else {
		VMOVQ(fold256(count, VPADDQ), total)
	}
	Store(total, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
