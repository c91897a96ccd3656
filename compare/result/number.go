package result

import (
	"math"
	"strconv"
)

// Number is a number in JSON, which has neither NaN nor infinities: these are texts.
type Number float64

// MarshalJSON writes all digits that it takes to read back the same.
func (n Number) MarshalJSON() ([]byte, error) { return n.Append(nil), nil }

// Append appends the number as MarshalJSON writes it.
func (n Number) Append(b []byte) []byte {
	switch v := float64(n); {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	default:
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Number) UnmarshalJSON(text []byte) error {
	s := string(text)
	if u, err := strconv.Unquote(s); err == nil {
		s = u
	}
	v, err := strconv.ParseFloat(s, 64)
	*n = Number(v)
	return err
}
