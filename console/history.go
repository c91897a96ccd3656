package console

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"precision/internal/plainfile"
	"precision/internal/whole"
)

// keptLines is how many lines the history keeps.
const keptLines = 1000

// History holds the lines typed, in this session and in earlier ones. Lines of
// sessions that run side by side are all kept.
type History struct {
	path  string // "" keeps nothing
	lines []string
	err   error // why nothing is kept
}

// OpenHistory reads the newest lines of a file and cuts it when it has grown
// long.
func OpenHistory(path string) *History {
	h := &History{path: path}
	if path == "" {
		return h
	}
	f, _, err := plainfile.Open(path, "a list of lines")
	if errors.Is(err, fs.ErrNotExist) {
		return h
	}
	if err != nil {
		h.path, h.err = "", err
		return h
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, MaxLine)
	total := 0
	for lines.Scan() {
		total++
		h.lines = append(h.lines, Clean(lines.Text()))
		if len(h.lines) > 2*keptLines {
			h.lines = append(h.lines[:0], h.lines[keptLines:]...)
		}
	}
	if err := lines.Err(); err != nil {
		h.path, h.err = "", err
		return h
	}
	h.lines = h.lines[max(0, len(h.lines)-keptLines):]
	if total > 2*keptLines {
		h.err = whole.Write(path, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600)
	}
	return h
}

// add keeps a line, unless it is the same as the one before.
func (h *History) add(line string) {
	if n := len(h.lines); line == "" || n > 0 && h.lines[n-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if h.path == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		h.path, h.err = "", err
		return
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(strings.ReplaceAll(line, "\n", " ") + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		h.path, h.err = "", err
	}
}
