package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAsksTheTerminalNothing starts a command on a terminal that answers nothing. A
// library whose initialisation asks for the background colour (bubbletea from v0.27.1
// on) makes every command write a question and wait five seconds for its answer.
func TestAsksTheTerminalNothing(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "version")
	c.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm-256color")
	c.Stdin, c.Stdout, c.Stderr = terminal, terminal, terminal
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = c.Start()
	terminal.Close()
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	var reading sync.WaitGroup
	reading.Add(1)
	go func() { // until the last holder of the terminal has closed it, which Linux reports as EIO
		defer reading.Done()
		io.Copy(&shown, master)
	}()
	if err := c.Wait(); err != nil {
		t.Errorf("version: %v", err)
	}
	reading.Wait()
	if !bytes.Contains(shown.Bytes(), []byte("precision")) || bytes.ContainsRune(shown.Bytes(), 0x1b) {
		t.Errorf("version on a terminal shows %q", shown.Bytes())
	}
}
