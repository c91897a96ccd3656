package msg

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// verbs are the formatting verbs of a text, in order.
var verbs = regexp.MustCompile(`%[-+# 0]*[0-9]*(\.[0-9]+)?[a-zA-Z%]`)

// TestComplete checks that every message is in both files, once, with the same
// verbs in the same order.
func TestComplete(t *testing.T) {
	for name, text := range map[string]string{"en.txt": english, "zh.txt": chinese} {
		seen := map[string]bool{}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			if line == "" || line[0] == '#' {
				continue
			}
			key, text, ok := strings.Cut(line, " = ")
			switch {
			case !ok || strings.TrimSpace(text) == "":
				t.Errorf("%s: %q is no message", name, line)
			case seen[key]:
				t.Errorf("%s: %s occurs twice", name, key)
			}
			seen[key] = true
		}
	}
	en, zh := parse(english), parse(chinese)
	forms := regexp.MustCompile(`%d[^{}]*\{[^{}|]*\|[^{}|]*\}`)
	for key, text := range en {
		if rest := forms.ReplaceAllString(text, ""); strings.ContainsAny(rest, "{}") {
			t.Errorf("en.txt: %s has forms of a word without a number: %s", key, text)
		}
		other, ok := zh[key]
		if !ok {
			t.Errorf("zh.txt has no %s", key)
			continue
		}
		if a, b := verbs.FindAllString(text, -1), verbs.FindAllString(other, -1); !slices.Equal(a, b) {
			t.Errorf("%s has the verbs %q in en.txt and %q in zh.txt", key, a, b)
		}
	}
	for key, text := range zh {
		if _, ok := en[key]; !ok {
			t.Errorf("en.txt has no %s", key)
		}
		if han := regexp.MustCompile(`\p{Han}`); !han.MatchString(text) && len(verbs.ReplaceAllString(text, "")) > 12 {
			t.Errorf("zh.txt: %s is not Chinese: %s", key, text)
		}
	}
}

func TestLang(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			if i := slices.Index(pairs, name); i >= 0 {
				return pairs[i+1]
			}
			return ""
		}
	}
	for _, c := range []struct {
		env  func(string) string
		want Lang
	}{
		{env(), English},
		{env("LANG", "zh_CN.UTF-8"), Chinese},
		{env("LANG", "zh_CN.UTF-8", "LC_ALL", "C"), English},
		{env("LC_MESSAGES", "zh_TW", "LANG", "en_US"), Chinese},
	} {
		if got := FromEnv(c.env); got != c.want {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
	if l, ok := ParseLang("zh"); !ok || l != Chinese || l.T("bye") == English.T("bye") {
		t.Error("zh is not Chinese")
	}
	if _, ok := ParseLang("fr"); ok {
		t.Error("fr is a language")
	}
}

func TestInNumber(t *testing.T) {
	for _, c := range []struct {
		text string
		args []any
		want string
	}{
		{"%d file{|s}", []any{1}, "1 file"},
		{"%d file{|s}", []any{2}, "2 files"},
		{"%d file{|s}", []any{0}, "0 files"},
		{"100%% of %d further dump{ has|s have} %s", []any{1, "x"}, "100% of 1 further dump has x"},
		{"100%% of %d further dump{ has|s have} %s", []any{3, "x"}, "100% of 3 further dumps have x"},
		{"%s: %.2f, %d folder{|s}, %d graph{|s}.", []any{"a", 1.0, 1, 12}, "a: 1.00, 1 folder, 12 graphs."},
	} {
		if got := fmt.Sprintf(inNumber(c.text, c.args), c.args...); got != c.want {
			t.Errorf("%q of %v is %q, want %q", c.text, c.args, got, c.want)
		}
	}
}
