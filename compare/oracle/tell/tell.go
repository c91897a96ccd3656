// Package tell says in words what a check found.
package tell

import (
	"embed"
	"strings"

	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/result"
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
	args := make([]any, len(r.Args))
	for i, a := range r.Args {
		args[i] = a
	}
	return lang.T(string(r.Kind), args...)
}
