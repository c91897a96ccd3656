package msgtest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"precision/internal/msg"
)

// Earned are the messages of some packages that claim something, which may be false, and what holds each of them.
type Earned struct {
	// Under are the prefixes of their keys. Claims tells which of these claim something: not names, words between
	// others, nor what is to be done.
	Under  []string
	Claims func(key string) bool
	// Cases are, for a key, data of which its message is said, and data of which it must not be.
	Cases map[string][][2]string
	// Elsewhere are messages that need more than a text can describe: a file, a test in it that earns the
	// message and makes it false, and what that calls it.
	Elsewhere map[string][3]string
	// Say is all that is told of some data, in a language.
	Say func(t *testing.T, lang msg.Lang, data string) string
}

// Check fails the test for every message that is not said where it should be, or is where it should not, in
// either language, and for every one that nothing makes false.
func (e Earned) Check(t *testing.T) {
	t.Helper()
	for key := range msg.English.Under(e.Under...) {
		if !e.Claims(key) {
			continue
		}
		if at, ok := e.Elsewhere[key]; ok {
			source, err := os.ReadFile(at[0])
			_, body, _ := strings.Cut(string(source), "func "+at[1]+"(")
			if body, _, _ = strings.Cut(body, "\nfunc "); err != nil || !strings.Contains(body, at[2]) {
				t.Errorf("%s: no %s with %q in %s: %v", key, at[1], at[2], at[0], err)
			}
			continue
		}
		if len(e.Cases[key]) == 0 {
			t.Errorf("%s claims something, and nothing makes it false: %s", key, msg.English.T(key))
		}
	}
	told := map[string]string{}
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		same := map[string]int{} // Chinese has no plural: two messages may have one text
		for _, text := range lang.Under(e.Under...) {
			same[text]++
		}
		for key, cases := range e.Cases {
			text := lang.Under(key)[key]
			if text == "" || !e.Claims(key) {
				t.Errorf("there is no message %s, or it claims nothing", key)
				continue
			}
			is := Sentence(text)
			says := func(data string) (bool, string) {
				at := lang.String() + data
				if _, ok := told[at]; !ok {
					told[at] = e.Say(t, lang, data)
				}
				return is.MatchString(told[at]), told[at]
			}
			for i, c := range cases {
				if said, got := says(c[0]); !said {
					t.Errorf("%s %d: %q is not said of\n%s\nbut\n%s", key, i, text, c[0], got)
				}
				if said, got := says(c[1]); said && same[text] == 1 {
					t.Errorf("%s %d: %q is said of\n%s\n%s", key, i, text, c[1], got)
				}
			}
		}
	}
}

var blank = regexp.MustCompile(verb.String() + `|\{[^}]*\}`)

// Sentence finds a message, whatever its arguments.
func Sentence(text string) *regexp.Regexp {
	var b strings.Builder
	at := 0
	for _, m := range blank.FindAllStringIndex(text, -1) {
		b.WriteString(regexp.QuoteMeta(text[at:m[0]]))
		switch word := text[m[0]:m[1]]; {
		case word == "%%":
			b.WriteString("%")
		case word[0] == '{':
			b.WriteString("(?:" + word[1:len(word)-1] + ")")
		case word[len(word)-1] == 'd':
			b.WriteString(`[-+]?\d+`)
		default:
			b.WriteString(`\S.*?`)
		}
		at = m[1]
	}
	return regexp.MustCompile(b.String() + regexp.QuoteMeta(text[at:]))
}
