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
	"strings"
	"time"
)

// Program is the program under test.
type Program struct {
	Path string
	Env  []string // beside that of this process
	// Longest is how long a run may take, Memory how many bytes it may hold.
	Longest time.Duration
	Memory  int64
}

// ended is how a run ended.
type ended struct {
	code           int
	stdout, stderr string
	killed         bool // by us
	memory         int64
	cpu            time.Duration
}

// statuses are the exit statuses the program promises.
var statuses = map[int]bool{0: true, 1: true, 2: true, 3: true}

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
	cmd.Env = append(os.Environ(), p.Env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	e := ended{stdout: stdout.String(), stderr: stderr.String(), killed: ctx.Err() != nil}
	var exit *exec.ExitError
	switch {
	case e.killed && kill > 0: // maybe it ended by itself at that moment
		return e, nil
	case e.killed:
		return e, fmt.Errorf("runs longer than %v", limit)
	case err != nil && !errors.As(err, &exit):
		return e, err
	}
	e.code = cmd.ProcessState.ExitCode()
	if !statuses[e.code] || strings.Contains(e.stderr, "panic:") || strings.Contains(e.stderr, "goroutine ") {
		return e, fmt.Errorf("exit status %d, %.2000s", e.code, e.stderr)
	}
	e.memory, e.cpu = peak(cmd.ProcessState), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
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

// tables are the result tables of a folder, each of which must be whole. A
// temporary file is a fault unless orphans is set.
func tables(dir string, orphans bool) ([][][]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all [][][]string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), ".precision-"):
			if !orphans {
				return nil, fmt.Errorf("%s was left behind", path)
			}
			continue
		case filepath.Ext(path) != ".csv":
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if !bytes.HasSuffix(text, []byte("\n")) {
			return nil, fmt.Errorf("%s is cut: it ends with %.80q", path, text[max(0, len(text)-80):])
		}
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll() // rows of one length
		if err != nil || len(rows) == 0 || rows[0][0] != "Index" {
			return nil, fmt.Errorf("%s is no table: %v", path, err)
		}
		all = append(all, rows)
	}
	return all, nil
}

// copyTree copies a folder of plain files.
func copyTree(from, to string) error { return os.CopyFS(to, os.DirFS(from)) }
