// Package build tells builds of these programs apart.
package build

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"precision/internal/lazy"
	"precision/internal/plainfile"
)

// Version is the version as journals and plans have it: two builds that may compute
// differently are never one. What was built from something that has no name, a changed checkout or
// none, is told by a hash of the program.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return exact(info, func() string {
		path, err := os.Executable()
		if err != nil {
			return ""
		}
		f, _, err := plainfile.Open(path, "a plain file")
		if err != nil {
			return ""
		}
		defer f.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return ""
		}
		return hex.EncodeToString(sum.Sum(nil)[:8])
	})
}

// exact tells a build; program is the hash of the program, or a text that no other run has.
func exact(info *debug.BuildInfo, program func() string) string {
	name, commit, _, changed := parts(info)
	released := name != sourceBuild && !strings.HasSuffix(name, "+dirty")
	switch {
	case !changed && released:
		return name
	case !changed && commit != "" && !strings.HasSuffix(name, "+dirty"):
		return name + " " + commit
	}
	sum := program()
	if sum == "" { // nothing tells; then no run goes on from another
		sum = rand.Text()
	}
	return name + " sha256:" + sum
}

// Name is the version as people have it.
func Name() string {
	info, _ := debug.ReadBuildInfo()
	name, _, _, _ := parts(info)
	return name
}

// sourceBuild is the name of a build without a version.
const sourceBuild = "(built from source)"

// Describe says which build this is: its version, and what it was built from
// and when that was committed, as far as the build tells.
func Describe(info *debug.BuildInfo) string {
	name, commit, date, changed := parts(info)
	var list []string
	if commit != "" {
		list = append(list, "commit "+commit)
	}
	if date != "" {
		list = append(list, date)
	}
	if changed {
		list = append(list, "with local changes")
	}
	goVersion := runtime.Version()
	if info != nil && info.GoVersion != "" {
		goVersion = info.GoVersion
	}
	list = append(list, goVersion+" "+runtime.GOOS+"/"+runtime.GOARCH)
	return name + " (" + strings.Join(list, ", ") + ")"
}

// pseudoVersion is the version that go install gives a commit without a tag:
// its time and the beginning of its hash are at the end.
var pseudoVersion = lazy.Regexp(`[-.](\d{14})-([0-9a-f]{12})(?:\+|$)`)

// parts takes a build apart: go install knows a version, go build in a clone what is
// checked out.
func parts(info *debug.BuildInfo) (name, commit, date string, changed bool) {
	name = sourceBuild
	if info == nil {
		return name, "", "", false
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		name = v
		if m := pseudoVersion().FindStringSubmatch(v); m != nil {
			commit = m[2]
			if t, err := time.Parse("20060102150405", m[1]); err == nil {
				date = t.Format(time.DateOnly)
			}
		}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case "vcs.time":
			if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
				date = t.UTC().Format(time.DateOnly)
			}
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	return name, commit, date, changed
}
