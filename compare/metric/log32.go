package metric

import "math"

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
	b := math.Float32bits(x) - logSplit
	e += float32(int32(b) >> 23)
	m := math.Float32frombits(b&(1<<23-1)+logSplit) - 1
	p := float32(logP[0])
	for _, c := range logP[1:] {
		p = float32(p*m) + c
	}
	z := float32(m * m)
	s := float32(float32(p*m) * z)
	s += float32(e * logLn2Lo)
	s -= float32(0.5 * z)
	s += m
	return s + float32(e*logLn2Hi)
}

const (
	// logSplit are the bits of √½.
	logSplit = 0x3f3504f3
	// ln 2 in two parts, the upper short enough for exact products with
	// exponents.
	logLn2Hi float32 = 0.693359375
	logLn2Lo float32 = -2.12194440e-4
)

var logP = [...]float32{
	7.0376836292e-2,
	-1.1514610310e-1,
	1.1676998740e-1,
	-1.2420140846e-1,
	1.4249322787e-1,
	-1.6668057665e-1,
	2.0000714765e-1,
	-2.4999993993e-1,
	3.3333331174e-1,
}
