// Package qemu runs the tests of a package as built for arm64, on machines that
// are none, under the user mode emulation of QEMU. Tests that use it have the build
// tag qemu: they take longer than all others together.
package qemu

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Test runs those tests of the calling test's package that match a pattern, in
// their short form, on an emulated arm64. It skips where that is the machine or
// where there is no qemu-aarch64 (Debian: qemu-user).
func Test(t *testing.T, pattern string) {
	t.Helper()
	if testing.Short() || runtime.GOARCH == "arm64" {
		t.Skip("short, or on arm64 anyway")
	}
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		t.Skip("no qemu-aarch64 (package qemu-user)")
	}
	binary := filepath.Join(t.TempDir(), "arm64.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(qemu, binary, "-test.short", "-test.run", pattern).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
