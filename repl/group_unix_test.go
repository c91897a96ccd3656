//go:build linux || darwin

package repl

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// When the program is asked to end, so is all that a line of run started.
func TestRunEndsGrandchildren(t *testing.T) {
	t.Parallel() // it waits two seconds
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan int, 1)
	go func() {
		var out bytes.Buffer
		// The second one does not listen to what it is asked.
		line := fmt.Sprintf("sleep 60 & echo $! >%[1]s; (trap '' TERM INT; exec sleep 61) & echo $! >>%[1]s; wait", pids)
		done <- Run(ctx, Config{Stdin: strings.NewReader("run " + line + "\n"), Stdout: &out, Stderr: &out, Dir: dir})
	}()
	var list []int
	for wait := time.Now().Add(20 * time.Second); len(list) < 2 && time.Now().Before(wait); time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(pids)
		list = nil
		for _, f := range strings.Fields(string(text)) {
			var pid int
			if _, err := fmt.Sscan(f, &pid); err == nil {
				list = append(list, pid)
			}
		}
	}
	if len(list) < 2 {
		t.Fatalf("only %v were started", list)
	}
	cancel()
	<-done
	for _, pid := range list {
		gone := false
		for range 200 {
			if gone = syscall.Kill(pid, 0) != nil || zombie(pid); gone {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !gone {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Errorf("process %d is still there", pid)
		}
	}
}

// zombie reports whether a process has ended and nobody asked how.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return err == nil && strings.HasPrefix(rest, "Z")
}
