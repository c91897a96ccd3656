//go:build !unix

package script

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup ends cmd. What a script has started stays.
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }
