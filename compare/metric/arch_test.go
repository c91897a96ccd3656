package metric

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// On arm64 compilers fuse multiplications with additions, which must not
// change a digit of Reference numerics.
func TestARM64(t *testing.T) {
	if testing.Short() || runtime.GOARCH == "arm64" {
		t.Skip("short, or on arm64 anyway")
	}
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		t.Skip("no qemu-aarch64 (package qemu-user)")
	}
	binary := filepath.Join(t.TempDir(), "metric.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const tests = "TestReferenceMatches|TestReferenceSpecial|TestReferenceRelative|TestExactSpecial|TestExactDivergence|TestLog32|TestScalar"
	if out, err := exec.Command(qemu, binary, "-test.run", tests).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
