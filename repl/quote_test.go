//go:build !windows

package repl

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/console"
)

// TestCompleteQuoted completes names of files with all that is special, from
// their first characters on, and checks that the line means them afterwards,
// to this shell and to the system shell.
func TestCompleteQuoted(t *testing.T) {
	cfg, _, _ := sampleConfig(t)
	names := []string{"x y.csv", "x  y z.csv", "x'y.csv", `x"y.csv`, `x\y.csv`, "x;y&z.csv", "x$HOME `id`.csv", "x数据 表.csv", "x[1](2)*?.csv", "x y/"}
	if err := os.Mkdir("dir d", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		n = filepath.Join("dir d", n) + strings.Repeat("/", strings.Count(n, "/"))
		if strings.HasSuffix(n, "/") {
			if err := os.Mkdir(n, 0o755); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(n, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := &completer{open(cfg), newVocabulary()}
	for _, command := range []string{"vcs -f ", "printf %s "} {
		for _, begin := range []string{`dir\ d/x`, `"dir d/x`, `'dir d/x`, `dir\ d/x\ `, `"dir d/x `, `'dir d/x `} {
			var got []string
			for _, s := range c.complete(command + begin) {
				line := command + begin
				line = line[:strings.LastIndexByte(line, ' ')+1] + s.Text
				if strings.HasSuffix(line, "/") && !strings.HasPrefix(begin, "d") {
					line += begin[:1] // the user closes the quotes behind a folder
				}
				meant := ""
				if command == "vcs -f " {
					words, err := console.Words(line)
					if err != nil || len(words) != 3 || len(console.Commands(line)) != 1 {
						t.Errorf("%s becomes %s, which is %q", command+begin, line, words)
						continue
					}
					meant = words[2]
				} else {
					out, err := exec.Command("sh", "-c", line).Output()
					if err != nil {
						t.Errorf("%s becomes %s: %v", command+begin, line, err)
						continue
					}
					meant = string(out)
				}
				got = append(got, strings.TrimPrefix(meant, "dir d/"))
			}
			var want []string
			for _, n := range names {
				if !strings.HasSuffix(begin, " ") || strings.HasPrefix(n, "x ") {
					want = append(want, n)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", command+begin, got, want)
			}
		}
	}
}
