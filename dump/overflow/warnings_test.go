package overflow

import (
	"testing"

	"precision/dump"
)

// Of many warnings about a record the first are kept, and the rest is counted.
func TestWarningsAreCounted(t *testing.T) {
	var r Record
	for i := range dump.MostWarnings + 7 {
		r.warnf("field %d", i)
	}
	if n := len(r.Warnings); n != dump.MostWarnings+1 || r.Warnings[n-1] != "7 more warnings like these" || r.Warnings[n-2] != "field 99" {
		t.Errorf("%d warnings, the last are %q", n, r.Warnings[n-2:])
	}
}
