package repl

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// page shows a long answer. On a terminal it stops at the end of every page;
// elsewhere it is printed as a whole.
func (s *session) page(text string) {
	height := 0
	if s.interactive() {
		if _, h, err := term.GetSize(int(s.cfg.Stdout.(*os.File).Fd())); err == nil {
			height = h - 1
		}
	}
	if height < 4 || strings.Count(text, "\n") <= height {
		s.print(text)
		return
	}
	lines := strings.SplitAfter(text, "\n")
	for room := height; len(lines) > 0; {
		n := min(room, len(lines))
		s.print(strings.Join(lines[:n], ""))
		if lines = lines[n:]; len(lines) == 0 || lines[0] == "" {
			return
		}
		prompt := s.t("page.more", len(lines))
		s.print(prompt)
		key := s.readKey()
		s.print("\r" + strings.Repeat(" ", len(prompt)) + "\r")
		switch key {
		case 'q', 'Q', 3, 4, 27, 0: // q, Ctrl-C, Ctrl-D, Esc, no terminal
			return
		case '\r', '\n', 'j':
			room = 1
		case 'G', 'a':
			room = len(lines)
		default:
			room = height
		}
	}
}

// readKey reads one key from the terminal without waiting for Enter, 0 if that
// cannot be done.
func (s *session) readKey() byte {
	in := s.cfg.Stdin.(*os.File)
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return 0
	}
	defer term.Restore(int(in.Fd()), old)
	var key [16]byte // a special key sends several bytes
	n, err := in.Read(key[:])
	if err != nil || n == 0 {
		return 0
	}
	return key[0]
}

// count is a number with its noun in English.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
