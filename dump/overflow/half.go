package overflow

import (
	"math"
	"strconv"
	"strings"
)

// toHalf rounds to the nearest float16, ties to even (IEEE 754 binary16).
func toHalf(v float64) uint16 {
	sign := uint16(math.Float64bits(v) >> 48 & 0x8000)
	a := math.Abs(v)
	switch {
	case v != v:
		return sign | 0x7e00
	case a >= 65520: // half way from the largest number to 65536
		return sign | 0x7c00
	case a < 0x1p-14: // below the smallest normal number: multiples of 2^-24
		return sign | uint16(math.RoundToEven(a*0x1p24))
	}
	frac, exp := math.Frexp(a)                         // a = frac * 2^exp, frac from 0.5
	m := uint16(math.RoundToEven((frac*2 - 1) * 1024)) // 1024 carries into the exponent
	return sign | (uint16(exp-1+15)<<10 + m)
}

// halfDigits returns the fewest digits that tell a float16 from its
// neighbours, in the form d.ddde±dd. Of as many digits, they are those nearest
// to the value; of two as near, the even ones.
func halfDigits(v float64) string {
	h := toHalf(v)
	is := func(s string) bool {
		back, err := strconv.ParseFloat(s, 64)
		return err == nil && toHalf(back) == h
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
