package compat

import (
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"

	"precision/graph/fusion"
	"precision/internal/must"
)

// Values of options are taken or refused with a code, whatever they are.
func FuzzValues(f *testing.F) {
	for _, text := range []string{"1,-1,1", "1,2", ",,", "9223372036854775807,1,1", "1,2,3", "all", "0,1,CosineSimilarity", "x, ,7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := must.Try(func() { ParseRange(text, &fusion.Rules{}) })
		_, _, b := ParseSelection(text, &fusion.Rules{})
		columns, _, c := ParseAlgorithms(text, func(name string) bool { return name == "mine" })
		if c == nil && len(columns) == 0 {
			t.Fatalf("%q: no columns and no error", text)
		}
		for _, err := range []error{a, b, c} {
			var coded *Error
			if err != nil && (!errors.As(err, &coded) || coded.Code == 0) {
				t.Fatalf("%T: %v", err, err)
			}
		}
	})
}

// notUTF8 agrees with package utf8 on every text.
func FuzzNotUTF8(f *testing.F) {
	f.Add([]byte("{\"a\": \"é\"}\xff"), uint8(0))
	f.Add([]byte("\xed\xa0\x80"), uint8(255))
	f.Fuzz(func(t *testing.T, text []byte, before uint8) {
		text = append(bytes.Repeat([]byte("0123456789abcdef"), int(before)*32), text...)
		at, err := notUTF8(bytes.NewReader(text))
		want := int64(-1)
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 {
				want = int64(i)
				break
			}
			i += n
		}
		if err != nil || at != want {
			t.Fatalf("found %d, %v; expected %d", at, err, want)
		}
	})
}
