package compat

import (
	"strings"
	"testing"
	"testing/iotest"
)

// The first byte that is not UTF-8 is found wherever it lies, also where runes
// lie across the ends of what is read at once.
func TestNotUTF8(t *testing.T) {
	long := strings.Repeat("é汉🙂x", 20000)
	for _, c := range []struct {
		text string
		want int64
	}{
		{"", -1}, {"a", -1}, {"é", -1}, {"\xe9", 0}, {"ab\xff", 2}, {"é\xc3", 2}, {"\xed\xa0\x80", 0},
		{long, -1}, {"x" + long, -1}, {"xy" + long, -1}, {"xyz" + long, -1},
		{long + "\xff" + long, int64(len(long))}, {long + "\xe6\xb1", int64(len(long))}, {strings.Repeat("\x80", 1<<17), 0},
		{strings.Repeat("a", 1<<16-1) + "\x80\x80\x80\x80\x80\x80", 1<<16 - 1},
	} {
		if at, err := notUTF8(strings.NewReader(c.text)); at != c.want || err != nil {
			t.Errorf("%.10q… of %d bytes: %d, want %d (%v)", c.text, len(c.text), at, c.want, err)
		}
	}
	if _, err := notUTF8(iotest.ErrReader(iotest.ErrTimeout)); err != iotest.ErrTimeout {
		t.Error(err)
	}
}
