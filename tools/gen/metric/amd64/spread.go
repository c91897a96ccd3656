package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sumSpread emits Σd and Σd² of d = v - mean.
func sumSpread(l level, e element) {
	name := "sumSpread" + e.suffix() + l.name
	TEXT(name, NOSPLIT, "func(out *[2]float64, v *"+e.name()+", mean float64, n int)")
	Doc(name + " is the sums of v-mean and of its square over n elements, a multiple of 16 and not 0.")
	Pragma("noescape")
	out, p, n := Load(Param("out"), GP64()), Load(Param("v"), GP64()), Load(Param("n"), GP64())
	vec, width := YMM, 4
	if l.wide {
		vec, width = ZMM, 8
	}
	mean := vec()
	m, err := Param("mean").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSD(m.Addr, mean)
	var s, ss [2]reg.VecVirtual
	for i := range 2 {
		s[i], ss[i] = zeroed(vec(), l), zeroed(vec(), l)
	}
	if l.wide {
		SHRQ(Imm(4), n)
	} else {
		SHRQ(Imm(3), n)
	}
	loop("loop", n, func() {
		for i := range 2 {
			at := Mem{Base: p, Disp: i * width * e.size()}
			d := vec()
			if e.bits == 32 {
				VCVTPS2PD(at, d)
				VSUBPD(mean, d, d)
			} else {
				VMOVUPD(at, d)
				VSUBPD(mean, d, d)
			}
			VADDPD(d, s[i], s[i])
			VFMADD231PD(d, d, ss[i])
		}
		ADDQ(Imm(uint64(2*width*e.size())), p)
	})
	for i, v := range [][2]reg.VecVirtual{s, ss} {
		VADDPD(v[1], v[0], v[0])
		to := Mem{Base: out, Disp: 8 * i}
		if l.wide {
			VMOVSD(fold512(v[0], VADDPD), to)
		} else {
			VMOVSD(fold256(v[0], VADDPD), to)
		}
	}
	VZEROUPPER()
	RET()
}
