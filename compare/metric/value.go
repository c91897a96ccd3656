package metric

import (
	"math"
	"strconv"
)

type form uint8

const (
	notComputed form = iota
	number
	pairs
	bothZero
)

// Value is the value of one metric. The zero Value was not computed.
type Value struct {
	form form
	// a number is in v[0]; pairs are mean and deviation of mine and of golden.
	v [4]float64
}

func numberValue(v float64) Value { return Value{form: number, v: [4]float64{v}} }

// OK tells whether the metric was computed; what came out may still be NaN or
// infinite.
func (v Value) OK() bool { return v.form != notComputed }

// Float is the value as a number: NaN if it was not computed, and for
// StandardDeviation, which is no single number.
func (v Value) Float() float64 {
	switch v.form {
	case number:
		return v.v[0]
	case bothZero:
		return 1
	}
	return math.NaN()
}

// Moments are the mean and the population standard deviation of one side. They
// are NaN unless v is a computed StandardDeviation.
func (v Value) Moments(side Side) (mean, deviation float64) {
	if v.form != pairs {
		return math.NaN(), math.NaN()
	}
	return v.v[2*side], v.v[2*side+1]
}

// Text is the table cell of m: six decimals, or "(m;s),(m;s)" with three for
// StandardDeviation. "nan", "inf" and "-inf" were computed, "NaN" was not. The
// cosine of two zero tensors is "1.0" in Reference numerics.
func (v Value) Text(m Metric) string { return string(v.AppendText(nil)) }

// AppendText appends [Value.Text] to b.
func (v Value) AppendText(b []byte) []byte {
	switch v.form {
	case number:
		return appendFixed(b, v.v[0], 6)
	case bothZero:
		return append(b, "1.0"...)
	case pairs:
		for i, f := range v.v {
			b = append(b, [...]string{"(", ";", "),(", ";"}[i]...)
			if f < 0 && f > -0.0005 {
				f = 0 // not -0.000
			}
			b = appendFixed(b, f, 3)
		}
		return append(b, ')')
	}
	return append(b, "NaN"...)
}

func appendFixed(b []byte, f float64, decimals int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, f, 'f', decimals, 64)
}
