package overflow

import (
	"math"
	"strconv"
	"strings"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// formatFloat writes a number in the fewest digits that identify it in its
// type: positional from 1e-4 to below 1e16, with at least one digit after the
// point, else with an exponent of at least two digits, as numpy does.
func formatFloat(t dtype.Type, v float64) string {
	switch {
	case v != v:
		return "nan"
	case math.IsInf(v, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"))
	}
	e := digitsOf(t, v)
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return e
	}
	s := positional(e)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// digitsOf is the shortest scientific form.
func digitsOf(t dtype.Type, v float64) string {
	switch width(t) {
	case 16:
		return halfDigits(v)
	case 32:
		return evenDigits(v, 32)
	}
	return evenDigits(v, 64)
}

// evenDigits is the shortest scientific form. Where two are as near to the
// value, strconv may give the odd one; numpy gives the even one.
func evenDigits(v float64, bits int) string {
	s := strconv.FormatFloat(v, 'e', -1, bits)
	mantissa, _, _ := strings.Cut(strings.TrimPrefix(s, "-"), "e")
	even := strconv.FormatFloat(v, 'e', max(len(mantissa)-2, 0), 64)
	if back, err := strconv.ParseFloat(even, bits); err == nil && back == v {
		return even
	}
	return s
}

// width is the precision of the numbers that numpy has for the type, in bits.
// bfloat16 is float32 there, and the smaller floats are float64.
func width(t dtype.Type) int {
	if loaded, ok := t.Reference(); ok {
		t = loaded
	}
	if w := t.Bits() / t.Parts(); t.Float() && (w == 16 || w == 32) {
		return w
	}
	return 64
}

// positional turns d.ddde±dd into digits with a point, or without one if there
// is no fraction.
func positional(e string) string {
	sign := ""
	if e[0] == '-' {
		sign, e = "-", e[1:]
	}
	mantissa, exponent, _ := strings.Cut(e, "e")
	exp, _ := strconv.Atoi(exponent)
	digits := strings.Replace(mantissa, ".", "", 1)
	switch {
	case exp < 0:
		return sign + "0." + strings.Repeat("0", -exp-1) + digits
	case exp >= len(digits)-1:
		return sign + digits + strings.Repeat("0", exp-len(digits)+1)
	}
	return sign + digits[:exp+1] + "." + digits[exp+1:]
}

// formatComplex writes a complex number as numpy does: parts without ".0", a
// real part of zero left out unless it is negative.
func formatComplex(t dtype.Type, re, im float64) string {
	part := func(v float64) string { return strings.TrimSuffix(formatFloat(t, v), ".0") }
	if re == 0 && !math.Signbit(re) {
		return part(im) + "j"
	}
	i := part(im)
	if i[0] != '-' {
		i = "+" + i
	}
	return "(" + part(re) + i + "j)"
}

// formatShape writes dims as Python writes a tuple. A scalar is stored as an
// array of one element.
func formatShape(shape []int64) string {
	if len(shape) == 0 {
		return "(1,)"
	}
	return nd.Tuple(shape)
}

// halfDigits returns the fewest digits that tell a float16 from its
// neighbours, in the form d.ddde±dd. Of as many digits, they are those nearest
// to the value; of two as near, the even ones.
func halfDigits(v float64) string {
	is := func(s string) bool {
		back, err := strconv.ParseFloat(s, 64)
		return err == nil && rounded(dtype.Float16, back) == v
	}
	for digits := 0; ; digits++ {
		s := strconv.FormatFloat(v, 'e', digits, 64)
		// Five digits tell all numbers of 11 bits apart.
		if is(s) || digits == 4 {
			return s
		}
		// Above a power of two numbers are twice as far apart as below, so the
		// digits on the far side can do when the nearest do not.
		if up := away(s); is(up) {
			return up
		}
	}
}

// away adds one to the last digit of d.ddde±dd. If that carries to a further
// digit, the result has a digit too many in front and is not used.
func away(s string) string {
	mantissa, exponent, _ := strings.Cut(s, "e")
	b := []byte(mantissa)
	for i := len(b) - 1; i >= 0; i-- {
		switch {
		case b[i] == '9':
			b[i] = '0'
		case b[i] >= '0' && b[i] < '9':
			b[i]++
			return string(b) + "e" + exponent
		}
	}
	return ""
}
