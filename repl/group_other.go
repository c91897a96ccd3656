//go:build !linux && !darwin

package repl

import (
	"context"
	"os/exec"
)

// ownGroup does nothing: there are no process groups.
func ownGroup(context.Context, *exec.Cmd) (kill func()) { return func() {} }
