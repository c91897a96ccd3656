package build

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	main := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: version}}
		for i := 0; i+1 < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "(built from source) (go"},
		{main("(devel)"), "(built from source) (go1.26.0 "},
		{main("v1.2.3"), "v1.2.3 (go1.26.0 "},
		{main("v0.0.0-20261121224800-0123456789ab"), "v0.0.0-20261121224800-0123456789ab (commit 0123456789ab, 2026-11-21, go1.26.0 "},
		{main("(devel)", "vcs.revision", "0123456789abcdef", "vcs.time", "2026-11-21T23:59:00-05:00", "vcs.modified", "true"),
			"(built from source) (commit 0123456789ab, 2026-11-22, with local changes, go1.26.0 "},
	} {
		if got := Describe(c.info); !strings.HasPrefix(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Two builds that have the same name are still two to a job, unless one commit tells what both are.
func TestExact(t *testing.T) {
	main := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i+1 < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "(built from source) sha256:77"}, {main("(devel)"), "(built from source) sha256:77"}, {main("v1.2.3"), "v1.2.3"},
		{main("v0.0.0-20261121224800-0123456789ab+dirty"), "v0.0.0-20261121224800-0123456789ab+dirty sha256:77"},
		{main("(devel)", "vcs.revision", "0123456789abcdef", "vcs.modified", "true"), "(built from source) sha256:77"},
		{main("(devel)", "vcs.revision", "0123456789abcdef", "vcs.modified", "false"), "(built from source) 0123456789ab"},
	} {
		if got := exact(c.info, func() string { return "77" }); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	unknown := func() string { return "" }
	if first := exact(nil, unknown); first == exact(nil, unknown) {
		t.Error("two programs of which nothing is known are one")
	}
}
