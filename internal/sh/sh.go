// Package sh writes command lines for the system shell.
package sh

import (
	"runtime"
	"strings"

	"precision/internal/each"
)

// Line is a command with its words, quoted as far as they need it.
func Line(words ...string) string {
	quoted := each.Of(words, Word)
	return strings.Join(quoted, " ")
}

// Word quotes a word for the system shell if it needs that.
func Word(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=:,./@%", r) ||
			r == '\\' && runtime.GOOS == "windows" || r > 127
	}
	if w != "" && strings.TrimFunc(w, plain) == "" {
		return w
	}
	if runtime.GOOS == "windows" {
		return `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
