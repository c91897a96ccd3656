//go:build linux || darwin

package repl

import (
	"context"
	"os/exec"
	"syscall"

	"precision/internal/interrupt"
)

// ownGroup gives a program that is about to start, with all it starts itself, a
// process group of its own. When its context ends the whole group gets the signal
// that this program got; kill ends what is left of it.
func ownGroup(ctx context.Context, cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		if interrupt.Asked(ctx) {
			return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		}
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	}
	return func() {
		if cmd.Process != nil {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}
