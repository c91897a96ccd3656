package report

import (
	"math"
	"strconv"
	"strings"

	"precision/internal/msg"
)

// speaker says things in a language.
type speaker struct{ lang msg.Lang }

func (s speaker) say(key string, args ...any) string { return s.lang.T("report."+key, args...) }

// list joins names, at most so many of them.
func (s speaker) list(names []string, most int) string {
	if rest := len(names) - most; rest > 1 {
		return s.say("more", strings.Join(names[:most], s.say("and")), rest)
	}
	return strings.Join(names, s.say("and"))
}

// figure writes a number with the digits that people need: four, or as many as
// tell it from the one it is held against.
func figure(v float64, against ...float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "+", "", 1)
	}
	text := ""
	for digits := 4; digits <= 17; digits++ {
		text = strconv.FormatFloat(v, 'g', digits, 64)
		apart := true
		for _, other := range against {
			apart = apart && (other == v || text != strconv.FormatFloat(other, 'g', digits, 64))
		}
		if apart {
			break
		}
	}
	return readable(text)
}

// Figure writes a number of a list with four digits, a dash for none.
func Figure(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return figure(v)
}

// nearOne is how close to 1 a cosine similarity is one for people: what is closer is the rounding of its own sums.
const nearOne = 1e-9

// CosineText writes a cosine similarity with four digits, or as many as tell it from 1, a dash for none.
func CosineText(v float64) string {
	if math.IsNaN(v) || math.Abs(1-v) < nearOne {
		return Figure(v)
	}
	return figure(v, 1)
}

// readable writes an exponent as people do: 1e-07 is 1e-7, 1.234e+04 is 12340.
func readable(text string) string {
	mantissa, exponent, ok := strings.Cut(text, "e")
	if !ok {
		return text
	}
	n, err := strconv.Atoi(exponent)
	if err == nil && n >= 0 && n < 7 {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return mantissa + "e" + strconv.Itoa(n)
}

// percent writes a share.
func (s speaker) percent(v float64) string {
	if v == 0 {
		return s.say("none")
	}
	return figure(100*v) + " %"
}
