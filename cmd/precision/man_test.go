package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"precision/internal/msg"
)

// TestPages: every command that help lists has a page in both languages, and every
// option that its help lists is on it.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	if code, out, stderr := precision(t, "man", "-out", dir); code != exitOK || out+stderr != "" {
		t.Fatalf("exit %d, %s%s", code, out, stderr)
	}
	for lang, sub := range map[string]string{"en": "man1", "zh": "zh_CN/man1"} {
		read := func(name string) string {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(sub), name))
			if err != nil {
				t.Fatal(err)
			}
			return strings.ReplaceAll(string(text), `\-`, "-")
		}
		var commands [][]string
		for _, name := range pageNames() {
			commands = append(commands, []string{"", name})
		}
		front := read("precision.1")
		for _, c := range commands {
			if !strings.Contains(front, `\fB`+c[1]+`\fR`) {
				t.Errorf("%s: %s is not in precision.1", lang, c[1])
			}
			page := read("precision-" + c[1] + ".1")
			_, help, _ := precision(t, "-lang", lang, c[1], "-h", "all")
			options := regexp.MustCompile(`(?m)^  (-[^\s,]+(?:, --\S+)?)`).FindAllStringSubmatch(help, -1)
			for _, o := range options {
				if !strings.Contains(page, `\fB`+o[1]+`\fR`) {
					t.Errorf("%s: %s of %s is not on its page", lang, o[1], c[1])
				}
			}
			if strings.Contains(page, "cli.") || strings.Contains(page, "man.") {
				t.Errorf("%s: a text of %s is missing:\n%s", lang, c[1], page)
			}
			if got, same, _ := precision(t, "-lang", lang, "man", c[1]); got != exitOK || strings.ReplaceAll(same, `\-`, "-") != page {
				t.Errorf("%s: precision man %s prints another page than the one written", lang, c[1])
			}
		}
	}
	if code, _, stderr := precision(t, "man", "comapre"); code != exitUsage || !strings.Contains(stderr, "comapre") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestHelpEverywhere: -h, -help and --help of every command print its usage and do
// nothing else.
func TestHelpEverywhere(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range pageNames() {
		for _, flag := range []string{"-h", "--help"} {
			code, out, stderr := precision(t, name, flag)
			if code != exitOK || stderr != "" || !strings.HasPrefix(out, "usage: ") {
				t.Errorf("%s %s: exit %d, %s%s", name, flag, code, out, stderr)
			}
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("help left %v, %v", entries, err)
	}
}

// TestDocumented: the manual names the exit statuses and variables that the pages name,
// and the pages every variable that the sources read.
func TestDocumented(t *testing.T) {
	for file, lang := range map[string]msg.Lang{"docs/shell.md": msg.English, "docs/zh/shell.md": msg.Chinese} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for prefix, keys := range map[string][]string{"man.status.": statuses, "man.env.": variables} {
			for _, k := range keys {
				row := "| " + strings.ReplaceAll("`"+k+"`", ", ", "`, `") + " | " + lang.T(prefix+k) + " |"
				if !strings.Contains(string(text), row) {
					t.Errorf("%s has no row\n%s", file, row)
				}
			}
		}
	}
	known := strings.Join(variables, " ")
	for _, name := range []string{"TERM", "GOGC", "PATH", "PYTHONPATH", "SSH_CONNECTION", "SSH_TTY", "HOME", "BROWSER", "DISPLAY", "WAYLAND_DISPLAY"} {
		known += " " + name // what every program knows
	}
	for _, root := range []string{"cmd", "repl", "internal/msg", "internal/progress", "compare/script"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range regexp.MustCompile(`(?:[gG]etenv|LookupEnv)\("(\w+)"\)`).FindAllSubmatch(text, -1) {
				if !strings.Contains(known, string(m[1])) {
					t.Errorf("%s reads %s, which no page names", path, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
