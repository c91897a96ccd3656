package main

import (
	"os"
	"strings"
	"testing"
)

// BenchmarkCommand runs the command line in COMMAND in the test's own process, whose -cpuprofile and -memprofile then tell of its
// stages; docs/performance.md has them. Words are separated by blanks.
func BenchmarkCommand(b *testing.B) {
	args := strings.Fields(os.Getenv("COMMAND"))
	if len(args) == 0 {
		b.Skip("COMMAND has no command line")
	}
	for b.Loop() {
		if code, _, stderr := precision(b, args...); code > exitBelow {
			b.Fatalf("exit %d: %s", code, stderr)
		}
	}
}
