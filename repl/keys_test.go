package repl

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"precision/console"
	"precision/internal/msg"
	"precision/repl/workspace"
)

// TestKeys checks that every message the code names exists, and that the code names
// every message.
func TestKeys(t *testing.T) {
	calls := regexp.MustCompile(`\.(?:T|Say|Info|Warn|Fail)\("([^"]+)"[,)]`)
	quoted := regexp.MustCompile(`"[a-z0-9_]+\.[a-zA-Z0-9_]+"`)
	files, _ := filepath.Glob("*.go")
	more, _ := filepath.Glob("*/*.go")
	found, named := 0, map[string]bool{}
	for _, f := range append(files, more...) {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range calls.FindAllStringSubmatch(string(src), -1) {
			if found++; !msg.English.Has(m[1]) {
				t.Errorf("%s: there is no message %q", f, m[1])
			}
		}
		for _, m := range quoted.FindAllString(string(src), -1) {
			named[strings.Trim(m, `"`)] = true
		}
	}
	if found < 30 {
		t.Errorf("only %d messages found in the source; has the way to name them changed?", found)
	}
	text, err := texts.ReadFile("en.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		key, _, ok := strings.Cut(line, " = ")
		if ok && line[0] != '#' && strings.Contains(key, ".") && !named[key] && !strings.HasPrefix(key, "shell.") {
			t.Errorf("nothing says the message %s", key)
		}
	}
}

// TestRegistry checks that every command has its texts in both languages, and
// options of which none hides another.
func TestRegistry(t *testing.T) {
	seen, known := map[string]bool{}, map[string]bool{}
	for _, c := range commands {
		if seen[c.name] {
			t.Errorf("there are two commands %s", c.name)
		}
		seen[c.name] = true
		for _, key := range []string{"shell." + c.name, "shell." + c.name + ".usage", "shell." + c.name + ".more"} {
			known[key] = true
		}
		for _, l := range []msg.Lang{msg.English, msg.Chinese} {
			if !strings.HasPrefix(c.usage(l), c.name) || !l.Has("shell."+c.name) {
				t.Errorf("%s: its help lacks something: %q, %q", c.name, c.usage(l), c.brief(l))
			}
		}
		o := newOptions(c.name)
		c.make(&session{Console: &console.Console{}, set: workspace.Defaults()}).define(o)
		for _, op := range o.list {
			if known[op.help] = true; !msg.English.Has(op.help) {
				t.Errorf("%s: -%s has no help", c.name, op.short)
			}
		}
		if c.named && o.set.Lookup("n") == nil {
			t.Errorf("%s: its first word is the value of -n, which it has not", c.name)
		}
	}
	for key := range msg.English.Under("shell.") {
		if !known[key] {
			t.Errorf("no command has the text %s", key)
		}
	}
}
