package console

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// pageWith shows a text in the user's pager and reports whether that could be started.
// less is asked to leave colours alone, as git and man ask it.
func (c *Console) pageWith(program, text string) bool {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/C"
	}
	cmd := exec.Command(shell, flag, program)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), c.Stdout, c.Stderr
	cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := os.LookupEnv(name); !set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	err := cmd.Run()
	c.Restore()
	// 126 and 127 are the shell's: there is no such program. Any other status is the
	// pager's own, and that a pipe broke is how one leaves a pager early.
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode() != 126 && exit.ExitCode() != 127
	}
	return cmd.ProcessState != nil
}
