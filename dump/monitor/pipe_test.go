//go:build unix

package monitor

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestClaimsPipe: a pipe that is named as a file of claims is told of and not waited for.
func TestClaimsPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "anomaly.json"), 0o600); err != nil {
		t.Skip(err)
	}
	if claims, bad := Claims(dir); len(claims) > 0 || len(bad) != 1 {
		t.Errorf("%v, %v", claims, bad)
	}
}
