package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// notes writes what is new, from the change log, and how to install what lies beside it. They are the same whatever
// platforms were built.
func (b *build) notes() {
	text := must(section(string(must(os.ReadFile(filepath.Join(b.dir, "CHANGELOG.md")))), b.version))
	out := fmt.Sprintf("# precision %[1]s\n\nBuilt from commit %[2]s of %[3]s with Go %[4]s. The same commit gives the same bytes; `sha256sum -c SHA256SUMS` checks them.\n\n"+
		"## Install\n\n| what | with |\n|---|---|\n"+
		"| `precision_*.tar.gz`, for Windows `.zip`: programs, manual pages, completions | unpacking |\n"+
		"| `precision_*.deb`, `precision-*.rpm` | `sudo dpkg -i`, `sudo rpm -i` |\n"+
		"| `precision-*.whl`: the program, and a package for notebooks and pytest | `pip install --no-index --find-links . precision` |\n\n%[5]s",
		b.version, b.commit, b.time.Format("2006-01-02"), b.goVersion, text)
	check(os.WriteFile(filepath.Join(b.out, "RELEASE_NOTES.md"), []byte(out), 0o644))
}

// section is the part of a change log about a version, or about what has none yet.
func section(log, version string) (string, error) {
	number, _, pre := strings.Cut(version, "~")
	for _, name := range []string{version, number, "Unreleased"} {
		if name == number && pre && name != version {
			continue // what comes before a release is not in it
		}
		_, rest, found := strings.Cut("\n"+log, "\n## ["+name+"]")
		if !found {
			continue
		}
		_, rest, _ = strings.Cut(rest, "\n") // the date
		rest, _, _ = strings.Cut(rest, "\n## ")
		return "## What is new\n\n" + strings.TrimSpace(rest) + "\n", nil
	}
	return "", fmt.Errorf("CHANGELOG.md: found neither %s nor Unreleased", version)
}
