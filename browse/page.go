package browse

import (
	"precision/compare/report"
	"precision/internal/msg"
)

// page is what stands between the head and the foot of the screen.
type page interface {
	// title names it in the head, where it was reached by way of others.
	title() string
	// press answers a key: it moves the cursor, or does nothing.
	press(key string, height int)
	// render draws so many lines of so many columns.
	render(p painter, lang msg.Lang, width, height int) []string
	// status says where the cursor is.
	status(lang msg.Lang) string
	// chosen is what the cursor is on.
	chosen() target
}

// target is what a line leads to.
type target struct {
	// open makes the page that Enter shows, nil if there is none. Where it takes time, load is set in its place:
	// it reads another result.
	open func() page
	load func() (*book, error)
	// command is what one types to see more of it, "" for nothing.
	command string
	// place is that of its operator in execution order, -1 for none.
	place int
	// name is the whole name, for a line that had to cut it.
	name string
}

// nowhere is a line that leads to nothing.
var nowhere = target{place: -1}

// finder is a page whose lines can be searched, sorted and filtered.
type finder interface {
	page
	search(text string)
	searched() string
	// sort goes to the next order; see [list.sort].
	sort() func() func()
	filter()
}

// window is a cursor on n lines of which some are seen.
type window struct{ at, top int }

// press moves the cursor on n lines of which height are seen.
func (w *window) press(key string, n, height int) {
	switch key {
	case "down", "j":
		w.at++
	case "up", "k":
		w.at--
	case "pgdown", "ctrl+f", " ":
		w.at += max(1, height-1)
	case "pgup", "ctrl+b":
		w.at -= max(1, height-1)
	case "home", "g":
		w.at = 0
	case "end", "G":
		w.at = n - 1
	}
}

// show brings the cursor onto n lines, and into the part that is seen.
func (w *window) show(n, height int) {
	w.at = max(0, min(w.at, n-1))
	w.top = max(0, min(w.top, w.at, n-height))
	if w.at >= w.top+height {
		w.top = w.at - height + 1
	}
}

// book is a result with its pages.
type book struct {
	// name is the file or folder, head what it comes to.
	name string
	head []report.Segment
	// chart is the error over execution order, nil without one.
	chart *sparkline
	// tabs are its lists.
	tabs []tab
	tab  int
	// deep are the pages that were opened, each from the one before.
	deep []page
	// page makes the HTML page, or finds it; nil if there is none.
	page func() (string, error)
	// again looks at elements again, for pictures that the result does not hold; nil without need.
	again func() (func(), error)
}

// tab is a list of a book, made when it is first looked at.
type tab struct {
	label string
	count int // of lines, below 0 not told
	make  func() page
	page  page
}

// top is the page that is seen.
func (b *book) top() page {
	if n := len(b.deep); n > 0 {
		return b.deep[n-1]
	}
	t := &b.tabs[b.tab]
	if t.page == nil {
		t.page = t.make()
	}
	return t.page
}
