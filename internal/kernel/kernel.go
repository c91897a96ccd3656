// Package kernel holds what the vector kernels of package compare/metric share with
// the Go loops beside them: the order of their results and arguments, and the
// constants of the logarithms. The generators in internal/gen read it, too.
package kernel

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
