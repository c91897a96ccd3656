package report

import (
	"embed"
	"math"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/internal/each"
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

// texts are what this package says.
//
//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Sentence says a reason in a language. A kind this package has no text for is
// its name and arguments.
func Sentence(lang msg.Lang, r result.Reason) string {
	key := "reason." + string(r.Kind)
	if !msg.English.Has(key) || len(r.Args) != patternOf(r.Kind).count() {
		return strings.Join(append([]string{string(r.Kind)}, r.Args...), " ")
	}
	args := each.Of(r.Args, func(a string) any { return a })
	if ofSide[r.Kind] && lang.Has("side."+r.Args[0]) {
		args[0] = lang.T("side." + r.Args[0])
	}
	return lang.T(key, args...)
}

// ofSide are the kinds whose first argument is a side, left or right.
var ofSide = map[result.Kind]bool{result.OtherRecordings: true, result.SeveralOfOperator: true, result.RanksUnpaired: true, result.RecordingStopped: true,
	result.HintPadded: true, result.HintZeros: true, result.HintSum: true, result.HintStale: true}

// Sentences says all reasons of a row, in English as the csv table does.
func Sentences(lang msg.Lang, reasons []result.Reason) string {
	return join(lang, reasons, false)
}

// join is Sentences, without those that the old tool keeps to itself if quiet.
func join(lang msg.Lang, reasons []result.Reason, quiet bool) string {
	var texts []string
	for _, r := range reasons {
		if quiet && r.Kind.Quiet() {
			continue
		}
		if text := Sentence(lang, r); text != "" {
			texts = append(texts, text)
		}
	}
	if lang == msg.Chinese {
		return strings.Join(texts, "；")
	}
	return strings.Join(texts, ",")
}
