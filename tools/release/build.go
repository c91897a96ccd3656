package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// names are the programs of a release.
var names = []string{"precision", "msaccucmp"}

// build is a release at work.
type build struct {
	source
	work, out string
	version   string // as packages write it, such as 1.2.0 or 0.0.0~20260102030405.0123456789ab
	goVersion string // of the programs, without "go"
}

// settings are all that decides about the bytes of a program, whatever the environment
// says; and the compiler's garbage, collected less often, which spares a fifth of its time.
func settings(target string) []string {
	system, arch, _ := strings.Cut(target, "/")
	return append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off",
		"GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "GODEBUG=", "GOGC=400")
}

// folder is where the programs of a platform lie.
func (b *build) folder(target string) string {
	return filepath.Join(b.out, "bin", strings.ReplaceAll(target, "/", "_"))
}

// program is the path of a program for a platform.
func (b *build) program(target, name string) string {
	if strings.HasPrefix(target, "windows/") {
		name += ".exe"
	}
	return filepath.Join(b.folder(target), name)
}

// programs compiles them. The version is the one that go stamps into them: the tag of
// the commit, or its time and hash.
func (b *build) programs(ctx context.Context, targets []string) {
	for _, t := range targets {
		b.compile(ctx, t, b.folder(t), names...)
		for _, name := range names {
			path := b.program(t, name)
			info := must(buildinfo.ReadFile(path))
			version := packageVersion(info.Main.Version)
			if b.version != "" && version != b.version {
				check(fmt.Errorf("%s has version %s, others have %s", path, version, b.version))
			}
			b.version, b.goVersion = version, strings.TrimPrefix(info.GoVersion, "go")
		}
	}
}

// compile puts programs into a folder.
func (b *build) compile(ctx context.Context, target, folder string, names ...string) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", folder+string(filepath.Separator))
	for _, name := range names {
		cmd.Args = append(cmd.Args, "./cmd/"+name)
	}
	cmd.Dir, cmd.Env = b.dir, settings(target)
	check(os.MkdirAll(folder, 0o755))
	must(output(cmd))
}

// host is a program of the release that runs on this machine.
func (b *build) host(ctx context.Context, name string) string {
	target := runtime.GOOS + "/" + runtime.GOARCH
	path := b.program(target, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path = filepath.Join(b.work, "host", filepath.Base(path))
	if _, err := os.Stat(path); err != nil {
		b.compile(ctx, target, filepath.Dir(path), name)
	}
	return path
}

// packageVersion is the version of go as both dpkg and rpm order it: what comes before a
// release, "-rc1" or the time and hash of a commit without a tag, stands behind a tilde.
func packageVersion(v string) string {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
	number, pre, ok := strings.Cut(v, "-")
	if !ok {
		return v
	}
	return number + "~" + strings.ReplaceAll(pre, "-", ".")
}
