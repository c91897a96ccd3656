// Package msgtest checks the texts that packages register with package msg.
package msgtest

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	verb  = regexp.MustCompile(`%(?:\[[0-9]+\])?[-+# 0]*[0-9]*(\.[0-9]+)?[a-zA-Z%]`)
	forms = regexp.MustCompile(`%d[^{}]*\{[^{}|]*\|[^{}|]*\}`)
	han   = regexp.MustCompile(`\p{Han}`)
)

// Check fails the test unless every message is in both files en.txt and zh.txt,
// once, with the same verbs in the same order, and in the language of its file.
func Check(t *testing.T, files fs.FS) {
	t.Helper()
	en, zh := read(t, files, "en.txt"), read(t, files, "zh.txt")
	for key, text := range en {
		other, ok := zh[key]
		if !ok {
			t.Errorf("zh.txt has no %s", key)
			continue
		}
		Pair(t, key, text, other)
	}
	for key := range zh {
		if _, ok := en[key]; !ok {
			t.Errorf("en.txt has no %s", key)
		}
	}
}

// Pair checks one message, known by its key, in both languages.
func Pair(t *testing.T, key, en, zh string) {
	t.Helper()
	if rest := forms.ReplaceAllString(en, ""); strings.ContainsAny(rest, "{}") {
		t.Errorf("%s has forms of a word without a number: %s", key, en)
	}
	if a, b := verb.FindAllString(en, -1), verb.FindAllString(zh, -1); !slices.Equal(a, b) {
		t.Errorf("%s has the verbs %q in English and %q in Chinese", key, a, b)
	}
	if han.MatchString(en) {
		t.Errorf("%s is not English: %s", key, en)
	}
	if !han.MatchString(zh) && len(verb.ReplaceAllString(zh, "")) > 12 {
		t.Errorf("%s is not Chinese: %s", key, zh)
	}
}

func read(t *testing.T, files fs.FS, name string) map[string]string {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		key, text, ok := strings.Cut(line, " = ")
		if !ok || strings.TrimSpace(text) == "" {
			t.Errorf("%s: %q is no message", name, line)
		} else if _, twice := table[key]; twice {
			t.Errorf("%s: %s occurs twice", name, key)
		}
		table[key] = text
	}
	return table
}
