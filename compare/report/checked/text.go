// Package checked renders what a check found: in words, and as one page to look at: how far every output is from what its own inputs
// explain, over execution order; what is wrong, with the element that is off the most; and what could not be judged, with the reasons.
// The page has the design and the parts of the page of a comparison.
package checked

import (
	"embed"
	"strings"

	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/result"
	"precision/internal/each"
	"precision/internal/msg"
)

// texts are the sentences for the reasons of package oracle.
//
//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Verdict says what became of an output.
func Verdict(lang msg.Lang, v oracle.Verdict) string { return lang.T("check.is." + v.String()) }

// Reason says a reason: those of a check, and those of recordings.
func Reason(lang msg.Lang, r result.Reason) string {
	if !strings.HasPrefix(string(r.Kind), "check-") {
		return report.Sentence(lang, r)
	}
	args := each.Of(r.Args, func(a string) any { return a })
	return lang.T(string(r.Kind), args...)
}
