// Package scratch gives tests that make thousands of small recordings a place to write them, and room for garbage.
package scratch

import (
	"os"
	"testing"

	"precision/internal/gc"
)

// Main runs the tests of a package, with their temporary files in memory where there is room for them: ext4 looks at every file that was
// deleted in the last five seconds whenever it makes one, which takes half of the processor time of tests that write a recording a case.
// Garbage is collected as it is in the program: of the oracle's tests collecting took a fifth.
func Main(m *testing.M) int {
	gc.Relax()
	dir, err := os.MkdirTemp(inMemory(), "test")
	if err != nil {
		return m.Run()
	}
	defer os.RemoveAll(dir)
	os.Setenv("TMPDIR", dir)
	return m.Run()
}

// leastRoom is four times what the tests of any package have at a time.
const leastRoom = 2 << 30
