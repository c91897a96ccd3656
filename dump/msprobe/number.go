package msprobe

import (
	"math"
	"strconv"
	"unsafe"
)

// NumberKind is what a bare JSON value is.
type NumberKind uint8

// The kinds of a [Number]. Absent is the zero value: the key is not there.
const (
	Absent NumberKind = iota
	Null
	Bool
	Int   // a whole number of 64 bits
	Big   // a whole number beyond that
	Float // with a fraction, an exponent, or NaN and the infinities
	Text
)

// Number is a bare value of the file: mostly a number, with all its digits, but
// also true, null or a text.
type Number struct {
	Kind NumberKind
	// I is an Int, and 1 for true.
	I int64
	// F is the value as float64: exact for a Float as the file has it, rounded
	// for whole numbers beyond 2^53.
	F float64
	// S is a Text, and the digits of a Big.
	S string
}

// Value returns the number as float64; ok is false for text, null and a value
// that is not there. Truth values are 0 and 1.
func (n Number) Value() (v float64, ok bool) {
	switch n.Kind {
	case Bool, Int, Big, Float:
		return n.F, true
	}
	return math.NaN(), false
}

// Same reports whether two values are the same: of the same kind and equal, NaN
// to NaN, and zeros of both signs. A Float that is whole is not an Int.
func (n Number) Same(m Number) bool {
	if n.Kind != m.Kind {
		return false
	}
	switch n.Kind {
	case Bool, Int:
		return n.I == m.I
	case Float:
		return n.F == m.F || n.F != n.F && m.F != m.F
	}
	return n.S == m.S
}

// String renders the value as Python would: True, None, nan, 1.0.
func (n Number) String() string {
	switch n.Kind {
	case Null:
		return "None"
	case Bool:
		if n.I != 0 {
			return "True"
		}
		return "False"
	case Int:
		return strconv.FormatInt(n.I, 10)
	case Float:
		switch {
		case n.F != n.F:
			return "nan"
		case math.IsInf(n.F, 1):
			return "inf"
		case math.IsInf(n.F, -1):
			return "-inf"
		}
		format := byte('f')
		if a := math.Abs(n.F); a != 0 && (a < 1e-4 || a >= 1e16) {
			format = 'e'
		}
		s := strconv.FormatFloat(n.F, format, -1, 64)
		if format == 'f' && n.F == math.Trunc(n.F) {
			s += ".0"
		}
		return s
	}
	return n.S
}

// ParseNumber reads the text of a number as the recorder writes it; ok is false if it
// is none. The text is not kept, but for digits beyond 64 bits.
func ParseNumber(b []byte) (n Number, ok bool) {
	digits := b
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 {
		return n, false
	}
	whole, sum := true, uint64(0)
	for i, c := range digits {
		if c < '0' || c > '9' {
			whole = false
			if i == 0 && c != 'N' && c != 'I' {
				return n, false
			}
			break
		}
		sum = sum*10 + uint64(c-'0')
	}
	s := unsafe.String(&b[0], len(b)) // not kept
	switch {
	case whole && len(digits) < 19:
		n.Kind, n.I = Int, int64(sum)
		if len(digits) < len(b) {
			n.I = -n.I
		}
		n.F = float64(n.I)
		return n, true
	case whole:
		if v, err := strconv.ParseInt(s, 10, 64); err == nil {
			return Number{Kind: Int, I: v, F: float64(v)}, true
		}
		f, _ := strconv.ParseFloat(s, 64)
		return Number{Kind: Big, F: f, S: string(b)}, true
	}
	switch s {
	case "NaN", "-NaN":
		return Number{Kind: Float, F: math.NaN()}, true
	case "Infinity", "-Infinity":
		return Number{Kind: Float, F: math.Inf(1 - 2*(len(b)-len(digits)))}, true
	}
	for _, c := range digits { // strconv takes more than JSON has
		if (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			return n, false
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return n, false
	}
	return Number{Kind: Float, F: f}, true
}
