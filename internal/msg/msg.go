// Package msg holds what the program says to people, in English and in Chinese.
//
// A package that says something registers its own texts, two files en.txt and
// zh.txt with one message a line:
//
//	key = text with %s verbs
//
// Both files have the same keys, and the verbs of a message are the same in
// both, in the same order; package msgtest checks that. "\n" stands for a line
// break, and "{one|many}" behind a number for the form that goes with it.
package msg

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"unicode"
	"unsafe"
)

// Lang is a language the program speaks.
type Lang uint8

// The languages.
const (
	English Lang = iota
	Chinese
)

// String is the name of the language as options spell it.
func (l Lang) String() string {
	if l == Chinese {
		return "zh"
	}
	return "en"
}

// ParseLang finds a language by its name or by a locale, such as zh_CN.UTF-8.
func ParseLang(name string) (Lang, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	switch {
	case strings.HasPrefix(name, "zh"), name == "chinese", name == "中文":
		return Chinese, true
	case strings.HasPrefix(name, "en"), name == "english":
		return English, true
	}
	return English, false
}

// FromEnv chooses the language a user's environment asks for: that of the
// first of LC_ALL, LC_MESSAGES and LANG that is set, else English.
func FromEnv(getenv func(string) string) Lang {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := getenv(name); v != "" {
			l, _ := ParseLang(v)
			return l
		}
	}
	return English
}

// registered are the files with the texts of all packages.
var registered []fs.FS

// Register adds the texts of a package: files holds en.txt and zh.txt. It is for
// variables, set before the program runs. Keys are those of the whole program.
func Register(files fs.FS) bool {
	registered = append(registered, files)
	return true
}

// tables are the messages by key. They are read when the first is asked for.
var tables = [...]func() map[string]string{
	English: sync.OnceValue(func() map[string]string { return read("en.txt") }),
	Chinese: sync.OnceValue(func() map[string]string { return read("zh.txt") }),
}

// read reads a file of every package. They are part of the program: one that is
// not there, or a key of two packages, is a mistake in it.
func read(name string) map[string]string {
	var texts []string
	lines := 0
	for _, files := range registered {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		texts = append(texts, unsafe.String(unsafe.SliceData(text), len(text))) // what was read is a copy of its own
		lines += strings.Count(texts[len(texts)-1], "\n")
	}
	table := make(map[string]string, lines)
	for _, text := range texts {
		parse(table, text)
	}
	return table
}

// parse adds the messages of a file to a table. A line that is not a message is
// dropped; the test of the files finds it.
func parse(table map[string]string, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if key, text, ok := strings.Cut(line, " = "); ok {
			key = strings.TrimSpace(key)
			before := len(table)
			if table[key] = strings.ReplaceAll(text, `\n`, "\n"); len(table) == before {
				panic("two packages have a message " + key)
			}
		}
	}
}

// Replace makes something else of all messages of a language, for tests, until restore: of the English ones, so that none is
// lacking.
func Replace(l Lang, how func(text string) string) (restore func()) {
	before := tables[l]
	tables[l] = sync.OnceValue(func() map[string]string {
		other := map[string]string{}
		for key, text := range tables[English]() {
			other[key] = how(text)
		}
		return other
	})
	return func() { tables[l] = before }
}

// Has reports whether there is a message of that key.
func (l Lang) Has(key string) bool {
	_, ok := tables[l]()[key]
	return ok
}

// Under gives all messages whose keys begin with one of the prefixes, as they
// stand in the files: for a face that fills them itself.
func (l Lang) Under(prefixes ...string) map[string]string {
	some := map[string]string{}
	for key, text := range tables[l]() {
		for _, p := range prefixes {
			if strings.HasPrefix(key, p) {
				some[key] = text
			}
		}
	}
	return some
}

// T is the message of a key with its arguments, as fmt.Sprintf. A key without
// a message stands for itself.
func (l Lang) T(key string, args ...any) string {
	text, ok := tables[l]()[key]
	if !ok {
		return key
	}
	return fill(text, args)
}

func fill(text string, args []any) string {
	if len(args) == 0 {
		return strings.ReplaceAll(text, "%%", "%")
	}
	return fmt.Sprintf(inNumber(text, args), args...)
}

// inNumber chooses between the forms of a text such as "%d file{|s}": the first
// one if the number before it is 1.
func inNumber(text string, args []any) string {
	if !strings.ContainsRune(text, '{') {
		return text
	}
	var b strings.Builder
	verbs := 0
	for text != "" {
		i := strings.IndexAny(text, "%{")
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		text = text[i:]
		if text[0] == '%' {
			end := 1 + strings.IndexFunc(text[1:], func(r rune) bool { return r == '%' || unicode.IsLetter(r) })
			if text[end] != '%' {
				verbs++
			}
			b.WriteString(text[:end+1])
			text = text[end+1:]
			continue
		}
		forms, rest, _ := strings.Cut(text[1:], "}")
		one, many, _ := strings.Cut(forms, "|")
		if verbs > 0 && verbs <= len(args) && args[verbs-1] == 1 {
			many = one
		}
		b.WriteString(many)
		text = rest
	}
	return b.String() + text
}
