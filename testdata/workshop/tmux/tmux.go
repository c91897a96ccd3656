// Package tmux runs tests in a terminal as a person would: keys go in, the screen is looked at.
package tmux

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Pane is a terminal with a system shell in it.
type Pane struct {
	t      testing.TB
	socket string
}

// Start starts a terminal in a folder, whose shell has further variables. Tests with one mostly wait for it, so they run side
// by side. They skip without tmux, and in short runs.
func Start(t *testing.T, dir string, width, height int, variables ...string) *Pane {
	t.Helper()
	t.Parallel()
	if testing.Short() {
		t.Skip("terminal tests take seconds")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux")
	}
	p := &Pane{t, filepath.Join(t.TempDir(), "socket")}
	words := append([]string{"-f", "/dev/null", "new-session", "-d", "-c", dir, "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "env", "PS1=$ ", "ENV="}, variables...)
	p.Tmux(append(words, "sh")...)
	t.Cleanup(func() { exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	p.Wait("$")
	return p
}

// Tmux gives tmux a command, and returns what it printed.
func (p *Pane) Tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// Keys types; names such as Enter and C-c are keys.
func (p *Pane) Keys(keys ...string) {
	p.t.Helper()
	p.Tmux(append([]string{"send-keys"}, keys...)...)
}

// Screen is what is to be seen, without colours; lines that the terminal folded are one.
func (p *Pane) Screen() string {
	p.t.Helper()
	return p.Tmux("capture-pane", "-p", "-J")
}

// Until waits for a condition that the terminal has to come to.
func (p *Pane) Until(what string, ok func(screen string) bool) {
	p.t.Helper()
	screen := ""
	for range 600 {
		if screen = p.Screen(); ok(screen) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatalf("waited for %s; the screen is\n%s", what, screen)
}

// Wait waits until the screen shows all texts.
func (p *Pane) Wait(texts ...string) (shown string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("%q", texts), func(screen string) bool {
		shown = screen
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
	})
	return shown
}

// Run starts the test binary as a program, with variables in front, and has the shell tell the status it ends with.
func (p *Pane) Run(variables string) {
	p.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	p.Keys("clear; "+variables+" "+exe+"; echo status $?", "Enter")
}
