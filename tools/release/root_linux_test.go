package main

import (
	"os"
	"os/exec"
	"syscall"
)

// inRoot makes a folder the root folder of a program, which only root may do.
func inRoot(cmd *exec.Cmd, root string) bool {
	if os.Geteuid() != 0 {
		return false
	}
	cmd.Path, cmd.Err = cmd.Args[0], nil
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	return true
}
