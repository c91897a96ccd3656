package report

import (
	"testing"

	"precision/internal/msg"
)

// Reasons that were read from a cell can be said, and are read again.
func FuzzParseReasons(f *testing.F) {
	for _, cell := range []string{
		"", "The length of the left data 4 is different from the right 5.", "x cannot be read: y", "[a:output:0] no golden array. [b] cannot compare by alg", "\xff",
	} {
		f.Add(cell)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		if len(cell) > 1<<12 {
			return
		}
		list := ParseReasons(cell)
		if (cell == "") != (len(list) == 0) {
			t.Fatalf("%q is %v", cell, list)
		}
		Sentences(msg.Chinese, list)
		ParseReasons(Sentences(msg.English, list))
	})
}
