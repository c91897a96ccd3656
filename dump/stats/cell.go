package stats

import (
	"math"
	"strconv"
	"strings"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// missing tells the words for what was not computed.
func missing(s string) bool {
	switch strings.ToLower(s) {
	case "", "na", "n/a", "null", "none", "-":
		return true
	}
	return false
}

// value reads a statistic: a number, NaN, an infinity or a truth value.
func value(s string) (msprobe.Number, bool) {
	if missing(s) {
		return msprobe.Number{Kind: msprobe.Null, F: math.NaN()}, true
	}
	float := func(f float64) (msprobe.Number, bool) { return msprobe.Number{Kind: msprobe.Float, F: f}, true }
	switch strings.ToLower(s) {
	case "nan", "-nan":
		return float(math.NaN())
	case "inf", "+inf", "infinity":
		return float(math.Inf(1))
	case "-inf", "-infinity":
		return float(math.Inf(-1))
	case "true":
		return msprobe.Number{Kind: msprobe.Bool, I: 1, F: 1}, true
	case "false":
		return msprobe.Number{Kind: msprobe.Bool}, true
	}
	if s[0] == '(' && s[len(s)-1] == ')' { // a complex number has no order
		return msprobe.Number{Kind: msprobe.Null, F: math.NaN()}, true
	}
	return msprobe.ParseNumber([]byte(s))
}

// written notes how a number with decimals is written.
func (r *Reader) written(s string) {
	mantissa, exponent, scientific := strings.Cut(strings.TrimLeft(s, "+-"), "e")
	whole, decimals, ok := strings.Cut(mantissa, ".")
	if _, digits := dump.Small(decimals); !ok || !digits && decimals != "" && len(decimals) < 10 || exponent == "" && scientific {
		return
	}
	if len(decimals) == 6 && !scientific {
		r.fixed++
	} else {
		r.loose++
	}
	r.digits = max(r.digits, len(strings.TrimLeft(whole+decimals, "0")))
}

// Precision tells how exactly the statistics read so far are written: grain is what
// the last digit is worth where all have six decimals, as C writes numbers without
// being told more; else digits is the number of significant digits, 0 where these are
// all that a float32 has, or where there is no table.
func (r *Reader) Precision() (grain float64, digits int) {
	switch {
	case r == nil:
	case r.fixed > 0 && r.loose == 0:
		return 1e-6, 0
	case r.loose > 0 && r.digits <= 6:
		return 0, 6
	}
	return 0, 0
}

// shape reads 2x3, (2, 3), [2,3] or 6; nil for what tells that there is none.
func shape(s string) ([]int64, bool) {
	if s == "()" || s == "[]" {
		return []int64{}, true
	}
	if missing(s) {
		return nil, true
	}
	if n := len(s); n > 1 && (s[0] == '(' && s[n-1] == ')' || s[0] == '[' && s[n-1] == ']') {
		s = s[1 : n-1]
	}
	list := strings.FieldsFunc(s, func(r rune) bool { return r == 'x' || r == ',' || r == ' ' || r == ';' })
	dims := make([]int64, 0, len(list))
	for _, t := range list {
		n, err := strconv.ParseInt(t, 10, 64)
		if err != nil || n < 0 || len(dims) == 64 {
			return nil, false
		}
		dims = append(dims, n)
	}
	return dims, len(dims) > 0
}

// typeOf reads a type in any of the spellings: DT_FLOAT16, float16, bf16, Float32.
func typeOf(s string) (dtype.Type, bool) {
	if t, ok := dtype.FromFramework(s); ok {
		return t, true
	}
	return dtype.FromWire(strings.ToUpper(s))
}

// extremes brings Max and Min to one meaning: NaN if any element is, else the
// infinities.
func (r *Row) extremes(nan, negative, positive string) {
	some := func(s string) bool {
		n, err := strconv.ParseFloat(s, 64)
		return err == nil && n > 0
	}
	set := func(to *msprobe.Number, v float64) {
		if to.Kind != msprobe.Absent {
			*to = msprobe.Number{Kind: msprobe.Float, F: v}
		}
	}
	is := func(n msprobe.Number) bool { return n.Kind == msprobe.Float && n.F != n.F }
	if some(nan) || is(r.Mean) && r.Max.Kind == msprobe.Float && !math.IsInf(r.Max.F, 0) && !math.IsInf(r.Min.F, 0) || is(r.Norm) {
		set(&r.Max, math.NaN())
		set(&r.Min, math.NaN())
		return
	}
	if some(positive) {
		set(&r.Max, math.Inf(1))
	}
	if some(negative) {
		set(&r.Min, math.Inf(-1))
	}
}
