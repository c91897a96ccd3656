package repl

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"

	"precision/internal/sh"
)

// runCmd is the command run. At the prompt the shell hands it the line as it
// was typed. As a sub-command it gets words: one is a line, several are a
// command and its arguments.
type runCmd struct{}

var runCommand = &command{
	name: "run",
	line: true,
	make: func(*session) action { return &runCmd{} },
}

func (*runCmd) define(*options) {}

func (*runCmd) run(ctx context.Context, s *session, words []string) int {
	return s.system(ctx, commandLine(words))
}

// commandLine makes a line for the system shell of words: one is a line,
// several are a command and its arguments.
func commandLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return sh.Line(words...)
}

// system runs a line in the system shell, which has the terminal meanwhile,
// and returns its exit status.
func (s *session) system(ctx context.Context, line string) int {
	if line == "" {
		return s.Fail("usage.line", runCommand.usage(s.Lang), "run")
	}
	if line == "-h" || line == "--help" {
		c, _ := findCommand("run")
		s.Print(s.helpFor(c))
		return exitOK
	}
	return s.systemWith(ctx, line)
}

// systemWith runs a line in the system shell with further variables in its
// environment.
func (s *session) systemWith(ctx context.Context, line string, env ...string) int {
	if runtime.GOOS == "windows" {
		return s.child(ctx, env, "cmd", "/C", line)
	}
	return s.child(ctx, env, "sh", "-c", line)
}

// child runs a program, which has the terminal meanwhile, and returns its exit
// status.
func (s *session) child(ctx context.Context, env []string, name string, args ...string) int {
	ctx = s.ForChild(ctx)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Second
	// At a prompt the terminal itself tells all of a child's processes; elsewhere they
	// get a group of their own, so that none outlives the program.
	kill := func() {}
	if !s.Interactive() {
		kill = ownGroup(ctx, cmd)
	}
	// Only a terminal is handed on: a child must not eat the script.
	if in, ok := s.Stdin.(*os.File); ok && s.Interactive() {
		cmd.Stdin = in
	}
	cmd.Stdout, cmd.Stderr = s.Stdout, s.Stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		kill()
	}
	s.Restore() // a child that was killed has not done so
	var exit *exec.ExitError
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &exit):
		if code := exit.ExitCode(); code > 0 {
			s.Warn("system.status", code)
			return code
		}
		s.Warn("system.killed", exit)
		return exitError
	}
	return s.Fail("error", err)
}
