package console

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

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

// searchHistory lets a line that was typed before be found by a part of it: what is typed
// narrows the search, Ctrl-R goes to the next older line and Ctrl-S to the next newer
// one. It returns the keys that put the line on the prompt, with Enter behind them if
// that ended the search; none if it was given up.
func (c *Console) searchHistory(lines []string, k *keys) (typed string) {
	s := historySearch{lines: lines, at: len(lines)}
	defer c.PrintWhole("\r\x1b[J")
	for {
		found := ""
		if s.at < len(lines) {
			found = Clean(lines[s.at])
		}
		key := "history.search"
		if s.failed {
			key = "history.nothing"
		}
		c.PrintWhole("\r\x1b[J" + c.fit(c.T(key, Clean(s.part), found)))
		switch key := k.next(); {
		case key == "" || key == "\x03" || key == "\x07": // no terminal, Ctrl-C, Ctrl-G
			return ""
		case key == "\x12":
			s.step(-1)
		case key == "\x13":
			s.step(1)
		case key == "\x7f" || key == "\b":
			_, size := utf8.DecodeLastRuneInString(s.part)
			s.search(s.part[:len(s.part)-size])
		case key >= " " && key[0] != keyEsc:
			s.search(s.part + key)
		default: // a key that edits or ends the line does so with what was found
			if s.at == len(lines) {
				return ""
			}
			if key[0] == keyEsc {
				key = ""
			}
			return "\x05\x15" + lines[s.at] + key // Ctrl-E, Ctrl-U: in place of what was there
		}
	}
}

// historySearch is the state of a search: the newest line, from at on back, that holds
// part.
type historySearch struct {
	lines  []string
	part   string
	at     int // len(lines) for none
	failed bool
}

// search looks for another part, from the newest line on.
func (s *historySearch) search(part string) {
	s.part, s.at = part, len(s.lines)
	if s.failed = false; part != "" {
		s.step(-1)
	}
}

// step goes to the next line that holds the part. Where there is none it stays.
func (s *historySearch) step(by int) {
	for i := s.at + by; i >= 0 && i < len(s.lines); i += by {
		if (s.at == len(s.lines) || s.lines[i] != s.lines[s.at]) && strings.Contains(s.lines[i], s.part) {
			s.at, s.failed = i, false
			return
		}
	}
	s.failed = true
}
