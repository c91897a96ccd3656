// Package lazy puts work at the start of a program off until its result is needed.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is an expression that is compiled when it is first asked for. A program has dozens, a run
// needs a few, and compiling them all is a sixth of the time until main.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
