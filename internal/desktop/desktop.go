// Package desktop opens files on the screen that the user sits at.
package desktop

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

// ErrNone: there is no screen to show anything on, as over ssh.
var ErrNone = errors.New("no screen to open a page on")

// Open opens a file in the program that the user has for its kind.
func Open(path string) error {
	words := opener(os.Getenv)
	if words == nil {
		return ErrNone
	}
	return exec.Command(words[0], append(words[1:], path)...).Start()
}

// opener is the command that opens a file in the browser, nil where there is no
// screen to show it on.
func opener(getenv func(string) string) []string {
	if getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != "" {
		return nil
	}
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	if _, err := exec.LookPath("xdg-open"); err != nil {
		return nil
	}
	return []string{"xdg-open"}
}
