// Package patterns says in words what kind of wrong a tensor is, and what that rests on.
package patterns

import (
	"cmp"
	"embed"
	"fmt"
	"strings"

	"precision/internal/msg"
)

//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Kind names a kind of wrong in a few words. One without a name stands for itself.
func Kind(lang msg.Lang, kind string) string {
	if key := "pattern." + kind; lang.Has(key) {
		return lang.T(key)
	}
	return kind
}

// Saved is [Evidence] of a finding whose evidence is at hand as JSON, as tables keep it.
// What cannot be read has none.
func Saved(lang msg.Lang, kind, evidence string) string {
	evidence = cmp.Or(evidence, "null")
	f, ok := saved(kind, evidence)
	if !ok {
		return ""
	}
	return Evidence(lang, &f)
}

// Place writes a place in a tensor as n,c,h,w.
func Place(at []int64) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(at), "[]"), " ", ",")
}
