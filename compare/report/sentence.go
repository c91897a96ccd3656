package report

import (
	"strings"

	"precision/compare/result"
	"precision/internal/msg"
)

// Sentence says a reason in a language. A kind this package has no text for is
// its name and arguments.
func Sentence(lang msg.Lang, r result.Reason) string {
	key := "reason." + string(r.Kind)
	if !msg.English.Has(key) || len(r.Args) != argsOf(r.Kind) {
		return strings.Join(append([]string{string(r.Kind)}, r.Args...), " ")
	}
	args := make([]any, len(r.Args))
	for i, a := range r.Args {
		args[i] = a
	}
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
