package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// notes writes what is new, from the change log, and how to install what lies beside it.
func (b *build) notes() error {
	log, err := os.ReadFile(filepath.Join(b.dir, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	text, err := section(string(log), b.version)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(b.out, "precision*"))
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, f := range files {
		fmt.Fprintf(&list, "- `%s`\n", filepath.Base(f))
	}
	out := fmt.Sprintf("# precision %s\n\nBuilt from commit %s of %s with Go %s. The same commit gives the same bytes; `sha256sum -c SHA256SUMS` checks them.\n\n"+
		"## Install\n\nUnpack an archive, install a package with `dpkg -i` or `rpm -i`, or the wheel with `pip install --no-index --find-links . precision`:\n\n%s\n%s",
		b.version, b.commit, b.time.Format("2006-01-02"), b.goVersion, list.String(), text)
	return os.WriteFile(filepath.Join(b.out, "RELEASE_NOTES.md"), []byte(out), 0o644)
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
