package metric

import (
	"math"
	"strconv"
	"strings"
)

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
