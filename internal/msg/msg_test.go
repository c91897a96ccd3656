package msg

import (
	"cmp"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// The texts of this test, as a package registers its own.
func init() {
	Register(fstest.MapFS{
		"en.txt": {Data: []byte("# greetings\nmsgtest.bye = Bye %s, 100%%\nmsgtest.files = %d file{|s}\n")},
		"zh.txt": {Data: []byte("msgtest.bye = 再见 %s，100%%\nmsgtest.files = %d 个文件\n")},
	})
}

func TestTexts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{English.T("msgtest.bye", "x"), "Bye x, 100%"},
		{Chinese.T("msgtest.bye", "x"), "再见 x，100%"},
		{English.T("msgtest.files", 1), "1 file"},
		{English.T("msgtest.nothing"), "msgtest.nothing"},
		{English.T("msgtest.files", 2), "2 files"},
		{Chinese.T("msgtest.files", 2), "2 个文件"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if !English.Has("msgtest.bye") || English.Has("msgtest.nothing") {
		t.Error("Has does not know which messages there are")
	}
}

// TestTwice: two packages cannot have a message of one key.
func TestTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the second message of a key replaced the first")
		}
	}()
	parse(map[string]string{"key": "text"}, "key = other\n")
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
	if l, ok := ParseLang("zh"); !ok || l != Chinese || l.String() != "zh" {
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

// TestInFiles: what the program says in Chinese stands in files of texts, where a third language is another file;
// no code has it in a string.
func TestInFiles(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && (e.Name() == "testdata" || e.Name() == ".git" || e.Name() == "soak") {
			return cmp.Or(err, fs.SkipDir)
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var s scanner.Scanner
		files := token.NewFileSet()
		s.Init(files.AddFile(path, -1, len(text)), text, nil, 0)
		for {
			at, tok, lit := s.Scan()
			if tok == token.EOF {
				return nil
			}
			// A language's own name is the same in all of them.
			if tok == token.STRING && lit != `"中文"` && strings.ContainsFunc(lit, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
				t.Errorf("%s: %s", files.Position(at), lit)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
