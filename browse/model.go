package browse

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"precision/compare/report"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/internal/sh"
	"precision/run/explain"
)

// The smallest screen that anything can be read on.
const (
	leastWidth  = 30
	leastHeight = 8
)

// Heights from which the chart is shown, and the place of the cursor below it.
const (
	chartHeight = 12
	placeHeight = 18
)

// model is the state of the screen. It knows pages and keys, and nothing of what is on a page.
type model struct {
	lang  msg.Lang
	paint painter
	// show opens a page in a browser, copy puts text into the clipboard of the terminal.
	show func(path string) error
	copy func(text string)

	books         []*book // the last one is seen; it was opened from the one before
	width, height int
	// typing: keys go into a search; before is what was searched then.
	typing bool
	before string
	// notice is an answer that stands above the keys until the next one; busy tells that a book is being opened.
	notice string
	busy   bool
	help   *text // over everything, nil if it is not shown
}

func (m *model) book() *book { return m.books[len(m.books)-1] }

// opened is a book that was read behind the screen.
type opened struct {
	book *book
	err  error
}

// ready shows what was sorted behind the screen.
type ready func()

// looked is what a second look at elements found.
type looked struct {
	take func()
	err  error
}

// paged is a page that was written or found.
type paged struct {
	path string
	err  error
}

func (m *model) Init() tea.Cmd { return m.look() }

// look looks again at elements, behind the screen.
func (m *model) look() tea.Cmd {
	again := m.book().again
	if again == nil {
		return nil
	}
	m.book().again = nil
	return func() tea.Msg {
		take, err := again()
		return looked{take, err}
	}
}

// Update answers a key or an event.
func (m *model) Update(event tea.Msg) (tea.Model, tea.Cmd) {
	switch e := event.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = e.Width, e.Height
	case tea.KeyMsg:
		if e.Type != tea.KeyRunes || len(e.Runes) < 2 {
			return m, m.key(e)
		}
		// Letters that came together, as over a slow line, are as many keys.
		var commands []tea.Cmd
		for _, r := range e.Runes {
			if r == ' ' {
				commands = append(commands, m.key(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{r}}))
			} else {
				commands = append(commands, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
			}
		}
		return m, tea.Batch(commands...)
	case opened:
		m.busy, m.notice = false, ""
		if e.err != nil {
			m.notice = explain.Error(m.lang, e.err)
			return m, nil
		}
		m.books = append(m.books, e.book)
		return m, m.look()
	case ready:
		m.notice = ""
		e()
	case looked:
		if e.err == nil && e.take != nil {
			e.take()
		}
	case paged:
		m.busy, m.notice = false, ""
		switch {
		case e.err != nil:
			m.notice = explain.Error(m.lang, e.err)
		case m.show(e.path) != nil: // as over ssh
			m.notice = m.lang.T("browse.page.at", e.path, sh.Line("precision", "view", e.path))
		default:
			m.notice = m.lang.T("browse.page.open", e.path)
		}
	}
	return m, nil
}

// key answers a key.
func (m *model) key(k tea.KeyMsg) tea.Cmd {
	name := k.String()
	switch name {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	}
	if m.typing {
		m.typed(k)
		return nil
	}
	m.notice = ""
	if m.help != nil {
		switch name {
		case "?", "esc", "q", "backspace", "enter":
			m.help = nil
		default:
			m.help.press(name, m.room())
		}
		return nil
	}
	b := m.book()
	switch name {
	case "q":
		return tea.Quit
	case "?":
		m.help = helpText(m.lang)
	case "enter":
		return m.enter(b)
	case "esc", "backspace":
		m.back(b)
	case "tab", "shift+tab":
		m.turn(b, map[string]int{"tab": 1, "shift+tab": -1}[name])
	case "o":
		return m.openPage(b)
	case "y":
		m.yank(b)
	case "/", "s", "f":
		return m.narrow(b, name)
	case "right", "left", "l", "h":
		if g, ok := b.top().(*grid); ok {
			g.press(name, m.room())
		} else if len(b.deep) == 0 {
			m.turn(b, map[string]int{"right": 1, "l": 1, "left": -1, "h": -1}[name])
		}
	default:
		if n := int(name[0] - '1'); len(name) == 1 && n >= 0 && n < len(b.tabs) {
			b.tab, b.deep = n, nil
		} else {
			b.top().press(name, m.room())
		}
	}
	return nil
}

// typed takes a key into the search.
func (m *model) typed(k tea.KeyMsg) {
	f, ok := m.book().top().(finder)
	if !ok {
		m.typing = false
		return
	}
	text := f.searched()
	switch k.String() {
	case "enter":
		m.typing = false
	case "esc":
		m.typing = false
		f.search(m.before)
	case "backspace":
		if text == "" {
			m.typing = false
			return
		}
		_, n := utf8.DecodeLastRuneInString(text)
		f.search(text[:len(text)-n])
	case "ctrl+u":
		f.search("")
	case "up", "down", "pgup", "pgdown", "home", "end":
		f.press(k.String(), m.room())
	default:
		if k.Type == tea.KeyRunes || k.Type == tea.KeySpace {
			f.search(text + clean.Line(string(k.Runes)))
		}
	}
}

// enter goes deeper.
func (m *model) enter(b *book) tea.Cmd {
	switch x := b.top().chosen(); {
	case m.busy:
	case x.open != nil:
		b.deep = append(b.deep, x.open())
	case x.load != nil:
		m.busy, m.notice = true, m.lang.T("browse.opening", x.name)
		return func() tea.Msg {
			next, err := x.load()
			return opened{next, err}
		}
	}
	return nil
}

// back goes back: out of a search, a page, a book.
func (m *model) back(b *book) {
	if f, ok := b.top().(finder); ok && f.searched() != "" {
		f.search("")
		return
	}
	switch {
	case len(b.deep) > 0:
		b.deep = b.deep[:len(b.deep)-1]
	case len(m.books) > 1:
		m.books = m.books[:len(m.books)-1]
	case b.tab > 0:
		b.tab = 0
	}
}

// turn goes to another list.
func (m *model) turn(b *book, by int) {
	b.tab, b.deep = (b.tab+by+len(b.tabs))%len(b.tabs), nil
}

// narrow searches, sorts or filters the list that is seen.
func (m *model) narrow(b *book, name string) tea.Cmd {
	f, ok := b.top().(finder)
	switch {
	case !ok:
		m.notice = m.lang.T("browse.nolist")
	case name == "/":
		m.typing, m.before = true, f.searched()
		f.search("")
	case name == "f":
		f.filter()
	default:
		if work := f.sort(); work != nil {
			m.notice = m.lang.T("browse.sorting")
			return func() tea.Msg { return ready(work()) }
		}
	}
	return nil
}

func (m *model) openPage(b *book) tea.Cmd {
	if b.page == nil || m.busy {
		m.notice = m.lang.T("browse.page.none")
		return nil
	}
	m.busy, m.notice = true, m.lang.T("browse.page.making")
	return func() tea.Msg {
		path, err := b.page()
		return paged{path, err}
	}
}

func (m *model) yank(b *book) {
	command := b.top().chosen().command
	if command == "" {
		m.notice = m.lang.T("browse.copy.none")
		return
	}
	m.copy(command)
	m.notice = m.lang.T("browse.copied", command)
}

// room is how many lines a page has.
func (m *model) room() int {
	head, foot := m.frame()
	return max(1, m.height-len(head)-len(foot))
}

// View draws the screen: as many lines as it has, each as wide.
func (m *model) View() string {
	if m.width == 0 {
		return ""
	}
	if m.width < leastWidth || m.height < leastHeight {
		return m.small()
	}
	head, foot := m.frame()
	room := m.height - len(head) - len(foot)
	var shown page = m.book().top()
	if m.help != nil {
		shown = m.help
	}
	body := shown.render(m.paint, m.lang, m.width, max(1, room))
	for len(body) < room {
		body = append(body, strings.Repeat(" ", m.width))
	}
	lines := append(append(head, body[:min(len(body), max(0, room))]...), foot...)
	return strings.Join(lines, "\n")
}

// small says that the screen is too small, as far as there is room for that.
func (m *model) small() string {
	text := m.lang.T("browse.small", fmt.Sprintf("%d×%d", leastWidth, leastHeight))
	lines := wrap([]report.Segment{{Text: text}}, m.width)
	var out []string
	for _, l := range lines[:min(len(lines), m.height)] {
		out = append(out, painter{}.line(l, m.width, false))
	}
	return strings.Join(out, "\n")
}

// frame is what stands above and below a page.
func (m *model) frame() (head, foot []string) {
	b := m.book()
	head = append(head, m.paint.line([]report.Segment{{Text: m.trail(), Style: report.Dim}}, m.width, false), m.paint.line(b.head, m.width, false))
	if b.chart != nil && len(b.chart.points) > 1 && m.height >= chartHeight {
		head = append(head, m.paint.line(b.chart.render(m.width), m.width, false))
		if m.height >= placeHeight {
			place := ""
			if x := b.top().chosen(); x.place >= 0 && m.help == nil {
				place = strings.Repeat(" ", b.chart.column(x.place)) + "▲"
			}
			head = append(head, m.paint.line([]report.Segment{{Text: place, Style: report.Strong}}, m.width, false))
		}
	}
	head = append(head, m.labels(b))
	return head, append(m.answer(b), m.paint.line([]report.Segment{{Text: m.keys(), Style: report.Dim}}, m.width, false))
}

// trail is the way to the page that is seen.
func (m *model) trail() string {
	var parts []string
	for _, b := range m.books {
		parts = append(parts, clean.Line(b.name))
	}
	for _, p := range m.book().deep {
		parts = append(parts, clean.Line(p.title()))
	}
	text := strings.Join(parts, " › ")
	if columns(text) > m.width {
		text = ellipsis + back(text, m.width-1)
	}
	return text
}

// labels are the names of the lists, the one that is seen in brackets, and where the cursor is in it.
func (m *model) labels(b *book) string {
	var line []report.Segment
	for i, t := range b.tabs {
		text := t.label
		if t.count >= 0 {
			text += fmt.Sprintf(" %d", t.count)
		}
		if i == b.tab {
			line = append(line, report.Segment{Text: "[" + text + "]", Style: report.Strong})
		} else {
			line = append(line, report.Segment{Text: " " + text + " ", Style: report.Plain})
		}
	}
	used := 0
	for _, x := range line {
		used += columns(x.Text)
	}
	if status := b.top().status(m.lang); status != "" && m.help == nil && m.width-used > 6 {
		status = cutEnd(clean.Line(status), m.width-used-2)
		line = append(line, report.Segment{Text: strings.Repeat(" ", m.width-used-columns(status)) + status, Style: report.Dim})
	}
	return m.paint.line(line, m.width, false)
}

// answer is what was said, or the whole name of what the cursor is on.
func (m *model) answer(b *book) []string {
	text := ""
	switch {
	case m.typing:
		query := ""
		if f, ok := b.top().(finder); ok {
			query = f.searched()
		}
		text = "/" + query + "▏"
		if l, ok := b.top().(*list); ok {
			text += "  " + m.lang.T("browse.found", len(l.rows))
		}
	case m.notice != "":
		var lines []string
		for _, l := range wrap([]report.Segment{{Text: clean.Text(m.notice)}}, m.width) {
			lines = append(lines, m.paint.line(l, m.width, false))
		}
		return lines[:min(len(lines), max(1, m.height/3))]
	case m.help == nil: // the list may have cut it
		text = cutMiddle(clean.Line(b.top().chosen().name), m.width)
	}
	return []string{m.paint.line([]report.Segment{{Text: text, Style: report.Plain}}, m.width, false)}
}

// keyOrder is the order of keys in the foot, keyWorth that in which they get room there.
var (
	keyOrder = []string{"move", "enter", "back", "search", "sort", "filter", "turn", "page", "copy"}
	keyWorth = []string{"enter", "search", "sort", "filter", "turn", "page", "copy", "back", "move"}
)

// keys are those that do something here, as many as fit; help and the way out are always there.
func (m *model) keys() string {
	if m.typing {
		return m.lang.T("browse.key.keep") + "  " + m.lang.T("browse.key.drop")
	}
	_, lists := m.book().top().(finder)
	last := m.lang.T("browse.key.help") + "  " + m.lang.T("browse.key.quit")
	room := m.width - columns(last)
	shown := map[string]string{}
	for _, n := range keyWorth {
		text := m.lang.T("browse.key."+n) + "  "
		if (lists || n != "search" && n != "sort" && n != "filter") && columns(text) <= room {
			shown[n] = text
			room -= columns(text)
		}
	}
	text := ""
	for _, n := range keyOrder {
		text += shown[n]
	}
	return text + last
}
