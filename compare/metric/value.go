package metric

import (
	"math"
	"strconv"
	"strings"
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

// AppendNumbers appends what the value consists of, for a file that keeps it
// without loss: nothing if it was not computed, one number, or the four of
// StandardDeviation (mean and deviation of mine, then of golden). A value that
// is [Value.BothZero] has nothing to append either.
func (v Value) AppendNumbers(list []float64) []float64 {
	switch v.form {
	case number:
		return append(list, v.v[0])
	case pairs:
		return append(list, v.v[:]...)
	}
	return list
}

// BothZero tells of a cosine of two zero tensors in Reference numerics, which is
// 1 but is written differently.
func (v Value) BothZero() bool { return v.form == bothZero }

// ZeroCosine is the value that is [Value.BothZero].
func ZeroCosine() Value { return Value{form: bothZero} }

// ValueOf makes a value of the numbers that [Value.AppendNumbers] gave. ok is
// false unless there are none, one or four.
func ValueOf(numbers ...float64) (v Value, ok bool) {
	switch len(numbers) {
	case 0:
		return Value{}, true
	case 1:
		return numberValue(numbers[0]), true
	case 4:
		v.form = pairs
		copy(v.v[:], numbers)
		return v, true
	}
	return Value{}, false
}

// ParseValue reads the table cell of a metric, as [Value.Text] writes it or a
// table of msaccucmp.py has it. An empty cell and "NaN" were not computed. ok is
// false for a text that is no value.
func ParseValue(text string) (v Value, ok bool) {
	switch text = strings.TrimSpace(text); {
	case text == "" || text == "NaN":
		return Value{}, true
	case text[0] == '(':
		return parseMoments(text)
	}
	f, ok := parseNumber(text)
	if !ok {
		return Value{}, false
	}
	return numberValue(f), true
}

// parseMoments reads "(mean;deviation),(mean;deviation)".
func parseMoments(text string) (Value, bool) {
	v := Value{form: pairs}
	left, right, found := strings.Cut(text, "),(")
	rest, closed := strings.CutSuffix(right, ")")
	if !found || !closed {
		return Value{}, false
	}
	for i, side := range []string{left[1:], rest} {
		mean, deviation, found := strings.Cut(side, ";")
		var okMean, okDeviation bool
		v.v[2*i], okMean = parseNumber(strings.TrimSpace(mean))
		v.v[2*i+1], okDeviation = parseNumber(strings.TrimSpace(deviation))
		if !found || !okMean || !okDeviation {
			return Value{}, false
		}
	}
	return v, true
}

func parseNumber(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil || math.IsInf(f, 0)
}
