//go:build linux || darwin

package repl

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a program that is about to start, with all it starts itself, a
// process group of its own. When its context ends the whole group is asked to end;
// kill ends what is left of it.
func ownGroup(cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	return func() {
		if cmd.Process != nil {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}
