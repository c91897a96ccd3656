package describe

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"precision/graph"
	"precision/internal/msg"
)

var (
	literal = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`")
	letters = regexp.MustCompile(`[a-z]{2}`)
	verbs   = regexp.MustCompile(`%[a-z]`)
)

// sources are the files that make messages.
func sources(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"../*.go", "../read/*.go", "../fusion/*.go", "../../internal/scan/*.go", "../../cmd/msaccucmp/compat/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found[f] = string(text)
		}
	}
	return found
}

// first is the first text in quotes in each place that a pattern leads to.
func first(t *testing.T, src string, calls *regexp.Regexp) (list []string) {
	t.Helper()
	for _, at := range calls.FindAllStringIndex(src, -1) {
		line, _, _ := strings.Cut(src[at[1]:], "\n")
		if quoted := literal.FindString(line); quoted != "" {
			text, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%s: %v", quoted, err)
			}
			list = append(list, text)
		}
	}
	return list
}

// TestFaults: every message that readers make has a translation, which is in English what
// they say, and every translation is of a message or a word that they make. That they make no
// other words is seen in package read, where they read damaged files.
func TestFaults(t *testing.T) {
	made := map[string]bool{}
	var all strings.Builder
	for file, src := range sources(t) {
		for _, format := range first(t, src, regexp.MustCompile(`(?:\bFailf|\bfailf|\.fault|Messagef)\(`)) {
			if !letters.MatchString(verbs.ReplaceAllString(format, "")) {
				continue // no words
			}
			made["graph.fault."+format] = true
			if !msg.Chinese.Has("graph.fault." + format) {
				t.Errorf("%s: there is no translation of %q", file, format)
			}
		}
		all.WriteString(src)
	}
	if len(made) < 60 {
		t.Errorf("only %d messages found in the source; has the way to make them changed?", len(made))
	}
	for key, text := range msg.English.Under("graph.fault.", "graph.term.") {
		said, sentence := strings.CutPrefix(key, "graph.fault.")
		word := strings.TrimPrefix(key, "graph.term.")
		switch quoted := strconv.Quote(word); {
		case sentence && !made[key], !sentence && !wireErrors[word] && !strings.Contains(all.String(), quoted) && !strings.Contains(all.String(), "`"+word+"`"):
			t.Errorf("nothing says %s", key)
		case sentence && text != said, !sentence && text != word:
			t.Errorf("%s is %q in English", key, text)
		}
	}
}

// wireErrors are those of protowire.ParseError.
var wireErrors = map[string]bool{"invalid field number": true, "variable length integer overflow": true, "cannot parse reserved wire type": true,
	"mismatching end group marker": true, "parse error": true, "unexpected EOF": true}

// TestPlaces: where a fault is, and words and sentences in sentences.
func TestPlaces(t *testing.T) {
	inner := graph.Messagef("element of %s", graph.Term("name of an op"))
	for _, c := range []struct {
		e      graph.Error
		en, zh string
	}{
		{graph.Error{Path: "g.txt", Line: 4, Msg: graph.Messagef("found %q, expected a number", "x")}, `g.txt:4: found "x", expected a number`, `g.txt:4: 遇到 "x"，应为数字`},
		{graph.Error{Path: "m.om", Offset: 80, Msg: graph.Messagef("model is encrypted")}, "m.om:offset 80: model is encrypted", "m.om：偏移 80：模型已加密"},
		{graph.Error{Path: "g.json", Offset: -1, Msg: graph.Messagef(`no "graph" in the model`)}, `g.json: no "graph" in the model`, `g.json：模型中没有 "graph"`},
		{graph.Error{Path: "g.json", Line: 2, Msg: graph.Messagef("%s is %s, expected %s", inner, graph.Term("an object"), graph.Term("a string"))},
			"g.json:2: element of name of an op is an object, expected a string", "g.json:2: 算子的 name 的元素：遇到对象，应为字符串"},
		{graph.Error{Path: "g.json", Line: 2, Msg: graph.Messagef("%s is %s, skipped", graph.Term("src_name"), graph.Term("'x'"))},
			"g.json:2: src_name is 'x', skipped", "g.json:2: src_name：遇到'x'，已跳过"},
		{graph.Error{Offset: -1, Msg: graph.Messagef("anything else")}, "graph: anything else", "graph: anything else"},
	} {
		if got := Error(msg.English, &c.e); got != c.en || got != c.e.Error() {
			t.Errorf("got %q, want %q as %q", got, c.en, c.e.Error())
		}
		if got := Error(msg.Chinese, &c.e); got != c.zh {
			t.Errorf("got %q, want %q", got, c.zh)
		}
		if got := Warning(msg.Chinese, graph.Warning{Path: c.e.Path, Line: c.e.Line, Offset: c.e.Offset, Msg: c.e.Msg}); got != c.zh {
			t.Errorf("as a warning %q, want %q", got, c.zh)
		}
	}
}
