package msg

import (
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
	for key, text := range en {
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
