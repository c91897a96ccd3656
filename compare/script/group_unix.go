//go:build unix

package script

import (
	"os/exec"
	"syscall"
)

// ownGroup starts cmd in a process group of its own, so that what a script
// starts can be ended with it, and a Ctrl-C ends the program first.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends cmd and its group.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
