package soak

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"precision/internal/must"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Program is the program under test.
type Program struct {
	Path string
	Env  []string // beside that of this process
	// Dir is the folder it runs in.
	Dir string
	// Statuses are the exit statuses the program promises; nil are those of precision.
	Statuses []int
	// Longest is how long a run may take, Memory how many bytes it may hold.
	Longest time.Duration
	Memory  int64

	blocks *int // the most a file may have, of 512 bytes
}

// Statuses are the exit statuses of precision: done, an error, nothing matched, a gate
// that is closed. DropInStatuses are those of msaccucmp, see its package compat; 1,
// which says that nobody knows what went wrong, is not among them.
var (
	Statuses       = []int{0, 1, 2, 3}
	DropInStatuses = []int{0, 2, 3, 4, 6, 7, 11, 12, 13, 17, 18, 19, 20, 21, 22, 23, 24, 26, 30, 31, 32, 33, 35, 36, 37, 39, 40, 42, 45, 47, 48}
)

// ended is how a run ended.
type ended struct {
	code           int
	stdout, stderr string
	killed         bool // by us
	memory         int64
	cpu, user      time.Duration // user is without what the system does for it, as for writing files
}

// run runs the program and sees that it ended as it should: in time, with a
// status it promises, without a panic and within its memory. It is killed after
// kill, if that is not 0.
func (p Program) run(kill time.Duration, args ...string) (ended, error) {
	limit := p.Longest
	if kill > 0 {
		limit = kill
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, args...)
	if guard := p.guard(); guard != "" {
		cmd = exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", guard + `exec "$0" "$@"`, p.Path}, args...)...)
	}
	cmd.Dir = p.Dir
	cmd.WaitDelay = time.Second // what it started may hold its output open
	cmd.Env = append(os.Environ(), p.Env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	e := ended{stdout: stdout.String(), stderr: stderr.String(), killed: ctx.Err() != nil}
	var exit *exec.ExitError
	if strings.Contains(e.stdout+e.stderr, "panic:") || strings.Contains(e.stderr, "goroutine ") {
		return e, fmt.Errorf("panics: %.3000s%.1000s", e.stderr, e.stdout)
	}
	switch {
	case e.killed && kill > 0: // maybe it ended by itself at that moment
		return e, nil
	case e.killed:
		return e, fmt.Errorf("runs longer than %v", limit)
	case err != nil && !errors.As(err, &exit):
		return e, err
	}
	e.code = cmd.ProcessState.ExitCode()
	promised := p.Statuses
	if promised == nil {
		promised = Statuses
	}
	if !slices.Contains(promised, e.code) {
		return e, fmt.Errorf("exit status %d, %.2000s", e.code, e.stderr)
	}
	e.memory, e.user = peak(cmd.ProcessState), cmd.ProcessState.UserTime()
	e.cpu = e.user + cmd.ProcessState.SystemTime()
	if p.Memory > 0 && e.memory > p.Memory {
		return e, fmt.Errorf("held %d MB, expected at most %d", e.memory>>20, p.Memory>>20)
	}
	if text := e.stdout + e.stderr; strings.ContainsAny(text, "\x1b\x00\x07") {
		return e, fmt.Errorf("prints control characters: %.200q", text)
	}
	return e, nil
}

// Cost runs the program and returns the most memory it held, in bytes (0 where the
// system does not tell), and the processor time it took.
func (p Program) Cost(args ...string) (memory int64, cpu time.Duration, err error) {
	e, err := p.run(0, args...)
	if err == nil && e.code != 0 {
		err = fmt.Errorf("exit status %d, %.2000s", e.code, e.stderr)
	}
	return e.memory, e.cpu, err
}

// guard are the limits that the system holds the program to, as words of the shell:
// sixteen times its memory in addresses, of which a Go program takes many, so
// that one that runs away does not take the machine along.
func (p Program) guard() (words string) {
	if runtime.GOOS != "linux" && p.blocks == nil {
		return ""
	}
	if p.Memory > 0 && runtime.GOOS == "linux" {
		words = fmt.Sprintf("ulimit -v %d; ", p.Memory>>10*16)
	}
	if p.blocks != nil {
		words += fmt.Sprintf("ulimit -f %d; ", *p.blocks)
	}
	return words
}

// tables are the result tables of a folder, each of which must be whole. A
// temporary file is a fault unless orphans is set.
func tables(dir string, orphans bool) (_ [][][]string, err error) {
	defer must.Catch(&err)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	must.Do(err)
	var all [][][]string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), ".precision-"):
			must.Not(!orphans, "%s was left behind", path)
			continue
		case filepath.Ext(path) != ".csv":
			continue
		}
		text := must.Get(os.ReadFile(path))
		if !bytes.HasSuffix(text, []byte("\n")) {
			return nil, fmt.Errorf("%s is cut: it ends with %.80q", path, text[max(0, len(text)-80):])
		}
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll() // rows of one length
		must.Not(err != nil || len(rows) == 0 || rows[0][0] != "Index", "%s is no table: %v", path, err)
		all = append(all, rows)
	}
	return all, nil
}

// copyTree copies a folder of plain files.
func copyTree(from, to string) error { return os.CopyFS(to, os.DirFS(from)) }

func columns(titles []string, names ...string) []int {
	var at []int
	for _, name := range names {
		for i, t := range titles {
			if t == name {
				at = append(at, i)
				break
			}
		}
	}
	return at
}
