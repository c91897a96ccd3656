//go:build !windows

package console

import (
	"slices"
	"testing"
)

func TestKeyLen(t *testing.T) {
	for _, c := range []struct {
		keys string
		want []string
	}{
		{"ls\rni\n", []string{"ls", "\r", "ni", "\n"}},
		{"\x1b[A\x1b[1;5Cx", []string{"\x1b[A", "\x1b[1;5C", "x"}},
		{"\x1bOP\x1b[[A\x1bf", []string{"\x1bOP", "\x1b[[A", "\x1bf"}},
		{"\x1b", []string{"\x1b"}},
		{"算子\x03", []string{"算子", "\x03"}},
		{"a\xe7\xae", []string{"a"}},
		{"\x7f\x7f", []string{"\x7f", "\x7f"}},
	} {
		var got []string
		for rest := []byte(c.keys); len(rest) > 0; {
			n := keyLen(rest)
			if n == 0 {
				break
			}
			got = append(got, string(rest[:n]))
			rest = rest[n:]
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q is the keys %q, want %q", c.keys, got, c.want)
		}
	}
}
