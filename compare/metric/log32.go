package metric

import (
	"math"

	"precision/internal/kernel"
)

// log32 is the natural logarithm in float32, within two units in the last
// place: exponent and mantissa are split so that the mantissa is in
// [√½, √2), and ln(1+m) is m - m²/2 + m³·P(m) (coefficients of Cephes logf).
// Every step is rounded to float32 by itself, so that vector code can repeat
// it to the last bit.
func log32(x float32) float32 {
	switch {
	case x != x || x < 0:
		return float32(math.NaN())
	case x == 0:
		return float32(math.Inf(-1))
	case x > math.MaxFloat32:
		return x
	}
	var e float32
	if x < 0x1p-126 {
		x *= 0x1p23
		e = -23
	}
	b := math.Float32bits(x) - kernel.LogSplit
	e += float32(int32(b) >> 23)
	m := math.Float32frombits(b&(1<<23-1)+kernel.LogSplit) - 1
	p := float32(kernel.LogP[0])
	for _, c := range kernel.LogP[1:] {
		p = float32(p*m) + c
	}
	z := float32(m * m)
	s := float32(float32(p*m) * z)
	s += float32(e * kernel.LogLn2Lo)
	s -= float32(0.5 * z)
	s += m
	return s + float32(e*kernel.LogLn2Hi)
}
