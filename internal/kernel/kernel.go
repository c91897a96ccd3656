// Package kernel holds what the vector kernels of package compare/metric share with
// the Go loops beside them: the order of their results and arguments, and the
// constants of the logarithms. The generators in tools/gen read it, too.
package kernel

import "math"

// The results of sumTile, in the order of the output array.
const (
	SlotXY = iota
	SlotXX
	SlotYY
	SlotDD
	SlotAD
	SlotRel
	SlotX
	SlotY
	SlotMaxAbs
	SlotMaxRel
	SlotLoX
	SlotHiX
	SlotLoY
	SlotHiY
	SlotZeroMax
	SlotZeroGolden
	SlotNonzeroX // numbers of elements
	SlotNonzeroY
	SlotDiffer
	SumSlots
)

// Extrema, in the order of the array that refFirst updates.
const (
	ExtMaxAbs = iota
	ExtMaxRel
	ExtLoX
	ExtHiX
	ExtLoY
	ExtHiY
	Extrema
)

// Scales of refSecond and refThird, in the order of refLanes: eight equal float32
// each.
const (
	LaneNormX = iota
	LaneNormY
	LaneLoX
	LaneSpreadX
	LaneLoY
	LaneSpreadY
	LaneSumX
	LaneSumY
	Lanes
)

// The logarithm of sumKL: ln(p/q) is e·ln 2 + 2·atanh(s) with
// s = (p - q·2^e)/(p + q·2^e), one division instead of two. e is the difference
// of the bits of p and q, read as integers, rounded to whole exponents: this
// piecewise linear log2 is off by at most 0.087, so p/(q·2^e) is in 2^±0.587 and
// |s| < 0.201. atanh is its series up to s^(2·Terms+1); the terms left out are
// below 0.0404^(Terms+1)/(2·Terms+3), 6e-16 of the whole.
const (
	Terms        = 9
	HalfExponent = 1 << 51
	ExponentMask = 0xfff << 52
)

// The logarithm of refThird, log32 of package metric.
const (
	// LogSplit are the bits of √½.
	LogSplit = 0x3f3504f3
	// Ln 2 in two parts, the upper short enough for exact products with
	// exponents.
	LogLn2Hi float32 = 0.693359375
	LogLn2Lo float32 = -2.12194440e-4
)

// LogP are the coefficients of P(m), highest first (Cephes logf).
var LogP = [...]float32{
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

// The divergence in float32 lanes, sumNarrow of package metric. Exponents as above, of
// 32 bits; elements of 16 lanes are added in float32 over 8 rows, then in float64.
const (
	NarrowLanes    = 16
	NarrowRows     = 8
	NarrowHalf     = 1 << 22
	NarrowExponent = 0x1ff << 23
	// Ln 2 for exponents that stay where they are in the bits.
	NarrowLn2 float32 = math.Ln2 / (1 << 23)
)

// NarrowSeries is the polynomial that comes closest to (atanh(s)/s - 1)/s² over s² < 0.0405: 1/3, 1/5 and 1/7
// but for what the terms left out are made up for with. It is off by 2.5e-7, which makes 5e-8 of a term.
var NarrowSeries = [...]float32{0x1.555566p-2, 0x1.9960f6p-3, 0x1.32f342p-3}

// What sumNarrow is given, in the order of the array: equal numbers in all lanes.
const (
	NarrowLoX = iota
	NarrowInverseX
	NarrowFloorX
	NarrowLoY
	NarrowInverseY
	NarrowFloorY
	NarrowScales
)
