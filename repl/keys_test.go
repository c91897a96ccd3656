package repl

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"precision/internal/msg"
	"precision/repl/console"
	"precision/repl/workspace"
)

// TestKeys checks that every message the code names exists, and every option
// and command has its texts.
func TestKeys(t *testing.T) {
	calls := regexp.MustCompile(`\.(?:T|Say|Info|Warn|Fail)\("([^"]+)"[,)]`)
	files, _ := filepath.Glob("*.go")
	more, _ := filepath.Glob("*/*.go")
	files = append(files, more...)
	found := 0
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range calls.FindAllStringSubmatch(string(src), -1) {
			if found++; !msg.English.Has(m[1]) {
				t.Errorf("%s: there is no message %q", f, m[1])
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d messages found in the source; has the way to name them changed?", found)
	}
	for _, c := range append(commands(), oldCommands()...) {
		for _, key := range []string{c.name + ".usage", c.name + ".brief"} {
			if !msg.English.Has(key) {
				t.Errorf("there is no message %q", key)
			}
		}
		o := newOptions(c.name)
		c.make(&session{Console: &console.Console{}, set: workspace.Defaults()}).define(o)
		for _, op := range o.list {
			if key := "opt." + c.name + "." + op.long; !msg.English.Has(key) {
				t.Errorf("there is no message %q", key)
			}
		}
	}
}
