package scan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// everything reads a text to its end and shows its tokens.
func everything(r io.Reader) (tokens string, fault *Fault) {
	j := NewJSON(r, MaxToken)
	var b strings.Builder
	var value func()
	value = func() {
		switch c := j.Peek(); c {
		case '{':
			b.WriteByte('{')
			j.Enter('{', "value")
			for key := j.Key(); key != nil; key = j.Key() {
				fmt.Fprintf(&b, "%q:", key)
				value()
			}
			b.WriteByte('}')
		case '[':
			b.WriteByte('[')
			j.Enter('[', "value")
			for j.Elem() {
				value()
			}
			b.WriteByte(']')
		case '"':
			fmt.Fprintf(&b, "%q ", j.Str())
		default:
			fmt.Fprintf(&b, "%s ", j.Word())
		}
	}
	value()
	if c := j.Peek(); j.Err == nil && (c != 0 || j.Pos < j.End) {
		j.Failf("found %s behind the value", DescribeJSON(c))
	}
	return b.String(), j.Err
}

func (f *Fault) String() string {
	return fmt.Sprintf("%d at %d: %s", f.Line, f.Offset, fmt.Sprintf(f.Format, f.Args...))
}

// What Python writes is read, beside what JSON has: NaN, infinities, halves of surrogate pairs.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": [1, -2.5e3, true, null], "": {}}`:           `{"a":[1 -2.5e3 true null ]"":{}}`,
		`[NaN, Infinity, -Infinity]`:                       `[NaN Infinity -Infinity ]`,
		`["\ud83d\ude00\u4e2d", "\ud800", "\ud800\u0041"]`: "[\"😀中\" \"\uFFFD\" \"\uFFFDA\" ]",
		`"\"\\\/\b\f\n\r\t"`:                               `"\"\\/\b\f\n\r\t" `,
		"{\"a\"\n:\n1}":                                    `{"a":1 }`,
		"[1,\n2 3]":                                        "2 at 6: found a number, expected \",\" or ']' (value opened at line 1)",
		`["a\q"]`:                                          `1 at 3: string with unknown escape \q`,
		`["a\u12g4"]`:                                      `1 at 3: string with a broken \u escape`,
		"[\"a\nb\"]":                                       "1 at 3: string without closing quote",
		`["a`:                                              "1 at 3: file ends inside a string",
		`["a\`:                                             "1 at 4: file ends inside a string",
		`[nul]`:                                            `1 at 1: found "nul", expected a value`,
		`[nul`:                                             `1 at 4: found "nul", expected a value`,
		`[1.2.3]`:                                          `1 at 1: found "1.2.3", expected a number`,
		`{"a" 1}`:                                          `1 at 5: found a number, expected ":" after a key`,
		`{a: 1}`:                                           `1 at 1: found 'a', expected a key`,
		`[1] 2`:                                            "1 at 4: found a number behind the value",
	} {
		for form, r := range map[string]io.Reader{"whole": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text))} {
			got, fault := everything(r)
			if fault != nil {
				got = fault.String()
			}
			if got != want {
				t.Errorf("%s, %s:\n got %s\nwant %s", text, form, got, want)
			}
		}
	}
}

// What is held can be gone back to, however much was read since; a key is there until its value is read.
func TestHold(t *testing.T) {
	long := strings.Repeat("x", WindowSize)
	j := NewJSON(iotest.HalfReader(strings.NewReader(`[{"first"   :   "`+long+`"}, 7]`)), 4*WindowSize)
	j.Enter('[', "list")
	j.Elem()
	j.Hold()
	start := j.Here()
	for range 3 {
		j.Enter('{', "value")
		if key := j.Key(); string(key) != "first" || j.Peek() != '"' || string(key) != "first" {
			t.Errorf("the key is %q", key)
		}
		if text := j.Str(); string(text) != long {
			t.Errorf("%d letters, expected %d", len(text), len(long))
		}
		if j.Key() != nil || j.Err != nil || !strings.HasPrefix(string(j.Since(start.Offset)), `{"first"`) {
			t.Error(j.Err)
		}
		j.Back(start)
	}
	j.Skip()
	j.Release()
	if !j.Elem() || string(j.Word()) != "7" || j.Elem() || j.Depth != 0 || j.Err != nil {
		t.Error(j.Err)
	}
}

// A window that is full, and a reader that fails, end a scan with their error.
func TestEnds(t *testing.T) {
	j := NewJSON(strings.NewReader(`["`+strings.Repeat("x", 3*WindowSize)+`"]`), 2*WindowSize)
	if j.Skip(); j.Err == nil || j.Err.Err != ErrTooLong {
		t.Error(j.Err)
	}
	disk := errors.New("disk")
	j = NewJSON(io.MultiReader(strings.NewReader("[1,"), iotest.ErrReader(disk)), MaxToken)
	if j.Skip(); j.Err == nil || j.Err.Err != disk || j.Err.Offset != 3 {
		t.Error(j.Err)
	}
}

// Valid JSON is read, with the texts that encoding/json reads; all else gives the same, however it comes in, and so does
// passing over it.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a": [1, -2.5e3, true, null, NaN], "": {"b\n": "\ud800\u0041"}}`))
	f.Add([]byte(`["\ud83d\ude00", "x`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tokens, fault := everything(bytes.NewReader(text))
		again, other := everything(iotest.OneByteReader(bytes.NewReader(text)))
		if tokens != again || fmt.Sprint(fault) != fmt.Sprint(other) {
			t.Fatalf("whole: %s %v\nbyte by byte: %s %v", tokens, fault, again, other)
		}
		j := NewJSON(bytes.NewReader(text), MaxToken)
		j.Skip()
		if fault == nil && j.Err != nil {
			t.Fatalf("passing over it: %v", j.Err)
		}
		var deep any
		if err := json.Unmarshal(text, &deep); err == nil && fault != nil && !strings.Contains(fault.Format, "deeper") {
			t.Fatalf("valid: %v", fault)
		}
		if text, ok := deep.(string); ok {
			if want := fmt.Sprintf("%q ", text); want != strings.ToValidUTF8(tokens, "\uFFFD") && !strings.Contains(want, "\uFFFD") {
				t.Fatalf("read as %s, by encoding/json as %s", tokens, want)
			}
		}
	})
}
