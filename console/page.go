package console

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"
	"golang.org/x/term"

	"precision/internal/clean"
)

// Page shows a long answer. On a terminal it goes to the user's $PAGER, or else stops at
// the end of every page, where one can go on, back and search; elsewhere, and where
// commands follow by themselves, it is printed as a whole.
func (c *Console) Page(text string) {
	text = c.Screen.Wrap(text)
	p := &pager{c: c, keys: keys{c: c}}
	if c.Interactive() && !c.Unattended {
		if w, h, err := term.GetSize(int(c.Stdout.(*os.File).Fd())); err == nil {
			p.width, p.room = max(w, 1), h-1
		}
	}
	p.lines = strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if p.room < 4 || p.rows(p.lines) <= p.room {
		c.Print(text)
		return
	}
	if program := os.Getenv("PAGER"); strings.TrimSpace(program) != "" && c.pageWith(program, text) {
		return
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	p.lines = strings.SplitAfter(text, "\n")
	p.lines = p.lines[:len(p.lines)-1]
	p.run()
}

// pager shows lines a page at a time. What was shown stays on the screen, as of a
// command that prints it all; going back and searching paint a page anew.
type pager struct {
	c           *Console
	lines       []string
	width, room int // of the terminal, without the line of the prompt
	top, end    int // the lines on the screen
	// held: the last page was gone back to or found, and stays until one leaves it.
	held   bool
	sought string
	keys   keys
}

// rows is how many rows of the screen lines take: a name that cannot be folded takes
// several.
func (p *pager) rows(lines []string) (n int) {
	for _, l := range lines {
		n += max(1, (lipgloss.Width(strings.TrimSuffix(l, "\n"))+p.width-1)/p.width)
	}
	return n
}

// ahead prints lines until so many rows are used or the lines end.
func (p *pager) ahead(room int) {
	for used := 0; p.end < len(p.lines); p.end++ {
		used += p.rows(p.lines[p.end : p.end+1])
		if used > room {
			break
		}
		p.c.PrintWhole(p.marked(p.lines[p.end]))
	}
	for p.top < p.end && p.rows(p.lines[p.top:p.end]) > p.room {
		p.top++
	}
}

// from paints the page that begins with a line, or the last page.
func (p *pager) from(line int) {
	last := len(p.lines)
	for last > 0 && p.rows(p.lines[last-1:]) <= p.room {
		last--
	}
	p.top = max(0, min(line, last))
	p.end = p.top
	p.c.PrintWhole("\x1b[H\x1b[J")
	p.ahead(p.room)
	p.held = p.end == len(p.lines)
}

// back is the first line of the page in front of the one that is shown.
func (p *pager) back() int {
	n := p.top
	for n > 0 && p.rows(p.lines[n-1:p.top]) <= p.room {
		n--
	}
	return n
}

func (p *pager) run() {
	p.ahead(p.room)
	for p.end < len(p.lines) || p.held {
		prompt := p.c.T("page.end")
		if rest := len(p.lines) - p.end; rest > 0 {
			prompt = p.c.T("page.more", rest)
		}
		switch p.ask(prompt) {
		case "q", "Q", "\x03", "\x04", "\x1b", "": // q, Ctrl-C, Ctrl-D, Esc, no terminal
			return
		case "\r", "\n", "j", "\x1b[B", "\x1bOB":
			p.held = false
			p.ahead(1)
		case " ", "f", "\x1b[6~", "\x06":
			p.held = false
			p.ahead(p.room)
		case "G", "a", "\x1b[F", "\x1bOF", "\x1b[4~":
			p.held = false
			for p.end < len(p.lines) {
				p.ahead(p.room)
			}
		case "g", "\x1b[H", "\x1bOH", "\x1b[1~":
			p.from(0)
		case "k", "\x1b[A", "\x1bOA":
			p.from(p.top - 1)
		case "b", "\x1b[5~", "\x02":
			p.from(p.back())
		case "/":
			p.sought = p.read("/")
			p.search(p.top, 1)
		case "n":
			p.search(p.top+1, 1)
		case "N":
			p.search(p.top-1, -1)
		}
	}
}

// search paints the page with the next line that holds what is sought, from a line on in
// a direction. Letters in lower case stand for both cases.
func (p *pager) search(line, step int) {
	if p.sought == "" {
		return
	}
	for ; line >= 0 && line < len(p.lines); line += step {
		if start, _ := p.find(plainText(p.lines[line])); start >= 0 {
			p.from(line)
			return
		}
	}
	p.ask(p.c.T("page.none", clean.Text(p.sought)))
}

// find is where a line without colours holds the text that is sought.
func (p *pager) find(line string) (start, end int) {
	text := p.sought
	if text == "" {
		return -1, -1
	}
	if lower := strings.ToLower(line); text == strings.ToLower(text) && len(lower) == len(line) {
		line = lower
	}
	if start = strings.Index(line, text); start < 0 {
		return -1, -1
	}
	return start, start + len(text)
}

// marked is a line with what was sought in reverse. A line with colours of its own is
// left as it is.
func (p *pager) marked(line string) string {
	if start, end := p.find(line); start >= 0 && !strings.Contains(line, "\x1b") {
		return line[:start] + "\x1b[7m" + line[start:end] + "\x1b[27m" + line[end:]
	}
	return line
}

// plainText is a line without colours.
func plainText(line string) string {
	var b strings.Builder
	for _, g := range glyphs(line) {
		b.WriteString(g.text)
	}
	return b.String()
}

// ask shows a line at the bottom and waits for a key.
func (p *pager) ask(text string) string {
	p.c.PrintWhole(p.c.fit(text))
	key := p.keys.next()
	p.c.PrintWhole("\r\x1b[K")
	return key
}

// read lets a word be typed behind a mark at the bottom; Esc and Ctrl-C give it up.
func (p *pager) read(mark string) (text string) {
	defer p.c.PrintWhole("\r\x1b[K")
	for {
		p.c.PrintWhole("\r\x1b[K" + p.c.fit(mark+text))
		switch key := p.keys.next(); {
		case key == "\r" || key == "\n":
			return text
		case key == "" || key == "\x03" || key == "\x04" || key[0] == keyEsc:
			return ""
		case key == "\x7f" || key == "\b":
			_, size := utf8.DecodeLastRuneInString(text)
			text = text[:len(text)-size]
		case key >= " ":
			text += key
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

// pageWith shows a text in the user's pager and reports whether that could be started.
// less is asked to leave colours alone, as git and man ask it.
func (c *Console) pageWith(program, text string) bool {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/C"
	}
	cmd := exec.Command(shell, flag, program)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), c.Stdout, c.Stderr
	cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := os.LookupEnv(name); !set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	err := cmd.Run()
	c.Restore()
	// 126 and 127 are the shell's: there is no such program. Any other status is the
	// pager's own, and that a pipe broke is how one leaves a pager early.
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode() != 126 && exit.ExitCode() != 127
	}
	return cmd.ProcessState != nil
}
