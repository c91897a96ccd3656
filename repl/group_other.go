//go:build !linux && !darwin

package repl

import "os/exec"

// ownGroup does nothing: there are no process groups.
func ownGroup(*exec.Cmd) (kill func()) { return func() {} }
