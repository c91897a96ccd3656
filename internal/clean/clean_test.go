package clean

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestName(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"conv1/Conv2D", "conv1/Conv2D"},
		{"卷积_1", "卷积_1"},
		{`C:\dumps\a`, `C:\dumps\a`},
		{`C:\x86`, `C:\x5cx86`}, // would read as an escape
		{"a\x1b]0;owned\x07b", `a\x1b]0;owned\x07b`},
		{"nul\x00tab\tline\n", `nul\x00tab\x09line\x0a`},
		{"latin\xe9", `latin\xe9`},
		{"turned\u202etxt.csv", `turned\xe2\x80\xaetxt.csv`},
		{"c1\u009b31m", `c1\xc2\x9b31m`},
		{"\ufffd", "\ufffd"}, // a character like others
	} {
		got := Name(c.in)
		if got != c.want {
			t.Errorf("Name(%q) = %q, expected %q", c.in, got, c.want)
		}
		if back := Original(got); back != c.in {
			t.Errorf("Original(%q) = %q, expected %q", got, back, c.in)
		}
	}
}

func TestText(t *testing.T) {
	const in, want = "1\t卷\x1b[31m\n\\x1b\xff\u2066", "1\t卷\\x1b[31m\n\\x1b\\xff\\xe2\\x81\\xa6"
	if got := Text(in); got != want {
		t.Errorf("Text = %q, expected %q", got, want)
	}
	if got := Line("a\tb\nc"); got != `a\x09b\x0ac` {
		t.Errorf("Line = %q", got)
	}
	for cut := range len(in) { // a character may come in two writes
		var b strings.Builder
		w := NewWriter(&b)
		w.Write([]byte(in[:cut]))
		w.Write([]byte(in[cut:]))
		if b.String() != want {
			t.Errorf("in two writes, cut at %d: %q, expected %q", cut, b.String(), want)
		}
	}
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"", "a", `\x1b`, `\x5cx1b`, "\x1b[0m", "\xff\xfe", "\u202e", "\\\\x00\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown := Name(s)
		if back := Original(shown); back != s {
			t.Fatalf("Original(Name(%q)) = %q", s, back)
		}
		if valid := Valid(s); Original(valid) != s || !utf8.ValidString(valid) {
			t.Fatalf("Valid(%q) = %q", s, valid)
		}
		for _, out := range []string{shown, Text(s)} {
			if !utf8.ValidString(out) || strings.ContainsAny(out, "\x00\x07\x1b\u202e") {
				t.Fatalf("%q shows as %q", s, out)
			}
		}
	})
}
