package console

import (
	"os"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"golang.org/x/term"
)

// Page shows a long answer. On a terminal it stops at the end of every page;
// elsewhere, and where commands follow by themselves, it is printed as a whole.
func (c *Console) Page(text string) {
	text = c.Screen.Wrap(text)
	height := 0
	if c.Interactive() && !c.Unattended {
		if _, h, err := term.GetSize(int(c.Stdout.(*os.File).Fd())); err == nil {
			height = h - 1
		}
	}
	if height < 4 || strings.Count(text, "\n") <= height {
		c.Print(text)
		return
	}
	lines := strings.SplitAfter(text, "\n")
	for room := height; ; {
		n := min(room, len(lines))
		c.Print(strings.Join(lines[:n], ""))
		if lines = lines[n:]; len(lines) == 0 || lines[0] == "" {
			return
		}
		c.Print(c.fit(c.T("page.more", len(lines))))
		key := c.readKey()
		c.Print("\r\x1b[K")
		switch key {
		case keyOther: // also up: a page that is gone is the terminal's to scroll
			room = 0
		case 'q', 'Q', 3, 4, 27, 0: // q, Ctrl-C, Ctrl-D, Esc, no terminal
			return
		case '\r', '\n', 'j', keyDown:
			room = 1
		case 'G', 'a':
			room = len(lines)
		default:
			room = height
		}
	}
}

// fit cuts a line so that it does not wrap.
func (c *Console) fit(line string) string {
	if c.Screen.Width == 0 || lipgloss.Width(line) < c.Screen.Width {
		return line
	}
	return c.Screen.style.NewStyle().MaxWidth(c.Screen.Width - 1).Render(line)
}

// readKey reads one key from the terminal without waiting for Enter, 0 if that
// cannot be done.
func (c *Console) readKey() byte {
	in := c.Stdin.(*os.File)
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
	if n == 1 || key[0] != 27 {
		return key[0]
	}
	switch string(key[1:n]) {
	case "[B", "OB":
		return keyDown
	case "[6~": // page down
		return ' '
	case "[F", "OF", "[4~": // End
		return 'a'
	}
	return keyOther
}

// Keys that send several bytes, as readKey tells them.
const (
	keyDown  = 0x80
	keyOther = 0x81
)
