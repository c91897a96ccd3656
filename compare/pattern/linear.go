package pattern

import "math"

// A factor, an offset or both for the whole tensor.
const (
	Scale  Kind = "scale"  // got = Factor·want
	Offset Kind = "offset" // got = want + Offset
	Affine Kind = "affine" // got = Factor·want + Offset
)

// Linear belongs to Scale, Offset and Affine: the least-squares fit of got = Factor·want + Offset.
type Linear struct {
	Factor float64 `json:"factor"`
	Offset float64 `json:"offset"`
}

// linear fits, with sums over the ordinary elements picked,
//
//	scale   a = Σgw / Σw²
//	offset  b = Σ(g-w) / n
//	affine  a = Σ(g-ḡ)(w-w̄) / Σ(w-w̄)², b = ḡ - a·w̄
func linear(l *look) (found []Finding) {
	var n, sg, sw, sgw, sww, size float64
	for p := range l.errors(l.pick) {
		size = max(size, math.Abs(l.got[p]), math.Abs(l.Want[p]))
	}
	if size == 0 {
		return nil
	}
	for p := range l.errors(l.pick) {
		g, w := l.got[p]/size, l.Want[p]/size
		n++
		sg += g
		sw += w
		sgw += g * w
		sww += w * w
	}
	try := func(kind Kind, a, b float64, free int64) {
		b *= size
		if !l.resembles(func(p int) float64 { return a*l.Want[p] + b }) {
			return
		}
		if a-a != 0 || b-b != 0 || math.Abs(a) < 1e-6 || a == 1 && b == 0 {
			return
		}
		if f := l.judge(func(p int) float64 { return a*l.Want[p] + b }); f.holds(0.5, free, 3) && l.simpler.explainsFarLessThan(f) {
			l.simpler = f
			found = append(found, l.finding(kind, Linear{a, b}, f))
		}
	}
	try(Scale, sgw/sww, 0, 1)
	try(Offset, 1, (sg-sw)/n, 1)
	if v := sww - sw*sw/n; v > 1e-12*sww {
		a := (sgw - sg*sw/n) / v
		try(Affine, a, (sg-a*sw)/n, 2)
	}
	return found
}
