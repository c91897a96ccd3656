package script

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// PythonError tells that there is no Python for the scripts.
type PythonError struct {
	// Script is the first script that needs it.
	Script string
	// Tried are the interpreters that were found and why they will not do.
	Tried []Attempt
}

// Attempt is an interpreter that does not serve.
type Attempt struct {
	Path string
	Why  string
}

func (e *PythonError) Error() string {
	text := e.Script + " needs a python3 with numpy on PATH, "
	if len(e.Tried) == 0 {
		return text + "where there is no python3"
	}
	var tried []string
	for _, a := range e.Tried {
		tried = append(tried, a.Path+": "+a.Why)
	}
	return text + "which none of these is: " + strings.Join(tried, "; ")
}

// findPython finds the first python3 on PATH that can import numpy. Others may
// come before it: version managers put wrappers in front.
func (s *Scripts) findPython(ctx context.Context) (string, error) {
	s.pythonLock.Lock()
	defer s.pythonLock.Unlock()
	if s.python != "" || s.pythonErr != nil {
		return s.python, s.pythonErr
	}
	var tried []Attempt
	for _, path := range pythons() {
		why := importsNumpy(ctx, path)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if why == "" {
			s.python = path
			return path, nil
		}
		tried = append(tried, Attempt{path, why})
	}
	s.pythonErr = &PythonError{Script: s.first(), Tried: tried}
	return "", s.pythonErr
}

// pythons lists the interpreters on PATH in order.
func pythons() (out []string) {
	names := []string{"python3"}
	if runtime.GOOS == "windows" {
		names = []string{"python3.exe", "python.exe"}
	}
	seen := map[string]bool{}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // an interpreter in the current folder is nobody's choice
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			if !seen[path] {
				seen[path] = true
				if found, err := exec.LookPath(path); err == nil {
					out = append(out, found)
				}
			}
		}
	}
	return out
}

// importsNumpy returns why an interpreter cannot import numpy, or nothing.
func importsNumpy(ctx context.Context, python string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var stderr tail
	cmd := exec.CommandContext(ctx, python, "-c", "import sys; sys.path[:] = filter(None, sys.path); import numpy; assert sys.version_info >= (3, 6), sys.version")
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if line := stderr.lastLine(); line != "" {
			return line
		}
		return err.Error()
	}
	return ""
}

// tail keeps the end of what a process writes.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailLen = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(0, len(p)-tailLen):]...)
	if len(t.b) > tailLen {
		t.b = append(t.b[:0], t.b[len(t.b)-tailLen:]...)
	}
	return len(p), nil
}

func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = t.b[:0]
}

func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := bytes.TrimSpace(t.b)
	return strings.ToValidUTF8(string(b[bytes.LastIndexByte(b, '\n')+1:]), "?")
}

// CallError tells that a script failed.
type CallError struct {
	// Name is that of the algorithm, or the pair of layouts.
	Name string
	// Function is compare or convert.
	Function string
	// Reason is the text of the exception, or what else went wrong.
	Reason string
}

// Error is the sentence that result tables show.
func (e *CallError) Error() string {
	return fmt.Sprintf("Failed to execute '%s' in '%s'. %s", e.Function, e.Name, e.Reason)
}
