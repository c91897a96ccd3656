package console

import (
	"strings"
	"unicode/utf8"
)

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
