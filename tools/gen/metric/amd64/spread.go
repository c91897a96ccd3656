package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sumSpread emits Σd and Σd² of d = v - mean.
func sumSpread(l level, e element) {
	name := "sumSpread" + e.suffix() + l.name
	function(name, "func(out *[2]float64, v *"+e.name()+", mean float64, n int)", name+" is the sums of v-mean and of its square over n elements, a multiple of 16 and not 0.")
	out, p, n := Load(Param("out"), GP64()), Load(Param("v"), GP64()), Load(Param("n"), GP64())
	mean := l.vec()
	VBROADCASTSD(argument("mean"), mean)
	var s, ss [2]reg.VecVirtual
	for i := range 2 {
		s[i], ss[i] = zeroed(l.vec(), l), zeroed(l.vec(), l)
	}
	SHRQ(Imm(map[int]uint64{4: 3, 8: 4}[l.lanes()]), n)
	loop("loop", n, func() {
		for i := range 2 {
			d := l.vec()
			e.load(Mem{Base: p, Disp: i * l.lanes() * e.size()}, d)
			VSUBPD(mean, d, d)
			VADDPD(d, s[i], s[i])
			VFMADD231PD(d, d, ss[i])
		}
		advance(2*l.lanes()*e.size(), p)
	})
	for i, v := range [][2]reg.VecVirtual{s, ss} {
		VADDPD(v[1], v[0], v[0])
		VMOVSD(l.fold(v[0], VADDPD), Mem{Base: out, Disp: 8 * i})
	}
	end()
}
