package browse

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"precision/compare/report"
	"precision/internal/each"
	"precision/internal/msg"
)

// column is a column of a list.
type column struct {
	title string
	// width is what its cells take; of the name, which takes what is left, the least.
	width int
	name  bool
	right bool
	// rank tells what goes first where there is no room: the highest.
	rank int
}

// order is a way to sort: by a number or a text of each row, the smallest first; rows without a number come last. One with
// neither is the order that the rows have.
type order struct {
	name   string
	number func(row int) float64
	text   func(row int) string
}

// filter says which rows are shown.
type filter struct {
	name string
	keep func(row int) bool
}

// list is a page of rows in columns, of which those on the screen are drawn.
type list struct {
	name    string
	columns []column
	n       int
	cells   func(row int) []report.Segment
	// names are what is shown whole, and what a search looks at; index holds them, if it was made before.
	names   func(row int) string
	index   *index
	orders  []order
	filters []filter
	target  func(row int) target

	window
	ordered      []int32 // all rows by sorted, nil in the order that they have
	rows         []int32 // that are shown, in their order
	fresh        bool    // rows are those of the choices below
	sorted, kept int
	query        string
}

func (l *list) title() string { return l.name }

// choose puts the rows together that the filter and the search leave, in the order that was asked for. The cursor
// stays on its row as far as that is still there, or goes to the top.
func (l *list) choose(top bool) {
	at := int32(-1)
	if !top && l.at < len(l.rows) {
		at = l.rows[l.at]
	}
	rows := l.rows[:0]
	if cap(rows) < l.n {
		rows = make([]int32, 0, l.n)
	}
	var keep func(int) bool
	if len(l.filters) > 0 {
		keep = l.filters[l.kept].keep
	}
	for i := range l.n {
		if l.ordered != nil {
			i = int(l.ordered[i])
		}
		if keep == nil || keep(i) {
			rows = append(rows, int32(i))
		}
	}
	if l.query != "" {
		if l.index == nil {
			l.index = newIndex(l.n, func(to []byte, row int) []byte { return append(to, l.names(row)...) })
		}
		rows = l.index.match(rows, l.query)
	}
	l.rows, l.fresh = rows, true
	l.at, l.top = max(0, slices.Index(rows, at)), 0
}

// order sorts n rows; nil is the order that they have.
func (o *order) order(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	switch {
	case o.number != nil:
		return byKey(rows, func(r int32) float64 {
			if v := o.number(int(r)); !math.IsNaN(v) {
				return v
			}
			return math.Inf(1)
		})
	case o.text != nil:
		return byKey(rows, func(r int32) string { return o.text(int(r)) })
	}
	return nil
}

// byKey sorts rows by a key, equal ones as they are numbered.
func byKey[K cmp.Ordered](rows []int32, key func(int32) K) []int32 {
	type keyed struct {
		key K
		row int32
	}
	list := each.Of(rows, func(r int32) keyed { return keyed{key(r), r} })
	slices.SortFunc(list, func(a, b keyed) int {
		switch {
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		}
		return int(a.row - b.row)
	})
	for i := range list {
		rows[i] = list[i].row
	}
	return rows
}

func (l *list) ready() {
	if !l.fresh {
		l.choose(false)
	}
}

func (l *list) search(query string) {
	more := l.fresh && l.index != nil && l.query != "" && strings.HasPrefix(query, l.query)
	if l.query = query; more { // what did not have the letters so far does not have one more
		l.rows, l.at, l.top = l.index.match(l.rows, query), 0, 0
		return
	}
	l.choose(query != "")
}

func (l *list) searched() string { return l.query }

// fewRows is how many rows are sorted while the key waits. More take longer than a person should.
const fewRows = 10_000

// sort goes on to the next order. What it returns, nil if all is done, takes long and may run beside the screen; what
// that returns shows it.
func (l *list) sort() func() func() {
	if len(l.orders) == 0 {
		return nil
	}
	next := (l.sorted + 1) % len(l.orders)
	l.sorted = next
	show := func(rows []int32) {
		if l.sorted == next { // and no other was asked for meanwhile
			l.ordered = rows
			l.choose(true)
		}
	}
	if l.n <= fewRows {
		show(l.orders[next].order(l.n))
		return nil
	}
	return func() func() {
		rows := l.orders[next].order(l.n)
		return func() { show(rows) }
	}
}

func (l *list) filter() {
	if len(l.filters) > 0 {
		l.kept = (l.kept + 1) % len(l.filters)
		l.choose(false)
	}
}

func (l *list) press(key string, height int) {
	l.ready()
	l.window.press(key, len(l.rows), height-1)
	l.show(len(l.rows), height-1)
}

// layout are the columns that fit, with their widths.
func (l *list) layout(width int) (kept []int, wide []int) {
	for i := range l.columns {
		kept = append(kept, i)
	}
	for {
		used, name := 2, -1
		for k, i := range kept {
			if l.columns[i].name {
				name = k
			} else {
				used += l.columns[i].width
			}
			if k > 0 {
				used += 2
			}
		}
		room := width - used
		least := 0
		if name >= 0 {
			least = min(l.columns[kept[name]].width, max(24, width/2)) // before others give way: names are what people look for
		}
		if room >= least || len(kept) == 1 {
			for k, i := range kept {
				if wide = append(wide, l.columns[i].width); k == name {
					wide[k] = max(1, min(room, l.columns[i].width))
				}
			}
			return kept, wide
		}
		worst := -1
		for k, i := range kept {
			if !l.columns[i].name && (worst < 0 || l.columns[i].rank > l.columns[kept[worst]].rank) {
				worst = k
			}
		}
		if worst < 0 {
			return kept, []int{max(1, width-2)}
		}
		kept = slices.Delete(kept, worst, worst+1)
	}
}

func (l *list) render(p painter, lang msg.Lang, width, height int) []string {
	l.ready()
	l.show(len(l.rows), height-1)
	kept, wide := l.layout(width)
	head := []report.Segment{{Text: "  "}}
	for k, i := range kept {
		if k > 0 {
			head = append(head, report.Segment{Text: "  "})
		}
		head = append(head, report.Segment{Text: fit(l.columns[i].title, wide[k], false, l.columns[i].right), Style: report.Dim})
	}
	lines := []string{p.line(head, width, false)}
	for i := l.top; i < min(len(l.rows), l.top+height-1); i++ {
		mark := "  "
		if i == l.at {
			mark = cursor
		}
		cells := l.cells(int(l.rows[i]))
		line := []report.Segment{{Text: mark, Style: report.Strong}}
		for k, c := range kept {
			if k > 0 {
				line = append(line, report.Segment{Text: "  "})
			}
			line = append(line, report.Segment{Text: fit(report.Clean(cells[c].Text), wide[k], l.columns[c].name, l.columns[c].right), Style: cells[c].Style})
		}
		lines = append(lines, p.line(line, width, i == l.at))
	}
	if len(l.rows) == 0 {
		lines = append(lines, p.line([]report.Segment{{Text: "  " + lang.T("browse.nothing"), Style: report.Dim}}, width, false))
	}
	return lines
}

func (l *list) status(lang msg.Lang) string {
	l.ready()
	text := lang.T("browse.of", min(l.at+1, len(l.rows)), len(l.rows))
	if len(l.orders) > 0 && l.sorted > 0 {
		text += " · " + lang.T("browse.sorted", l.orders[l.sorted].name)
	}
	if len(l.filters) > 0 && l.kept > 0 {
		text += " · " + lang.T("browse.filtered", l.filters[l.kept].name)
	}
	if l.query != "" {
		text += " · /" + l.query
	}
	return text
}

func (l *list) chosen() target {
	l.ready()
	if l.at >= len(l.rows) {
		return nowhere
	}
	x := l.target(int(l.rows[l.at]))
	if x.name == "" {
		x.name = l.names(int(l.rows[l.at]))
	}
	return x
}

// index holds the names of rows in lower case, one behind the other: a search goes through them with every letter.
type index struct {
	text []byte
	ends []int
}

// newIndex takes n names, each appended to what is given.
func newIndex(n int, name func(to []byte, row int) []byte) *index {
	x := &index{ends: make([]int, n)}
	for i := range n {
		at := len(x.text)
		x.text = name(x.text, i)
		x.text = append(x.text[:at], lower(x.text[at:])...)
		x.ends[i] = len(x.text)
	}
	return x
}

// match leaves the rows whose names have the letters of a query in its order, upper and lower case alike: those that hold it as
// it is come first, each in their order.
func (x *index) match(rows []int32, query string) []int32 {
	wanted := bytes.ToLower([]byte(query))
	var whole, spread []int32
	for _, r := range rows {
		start := 0
		if r > 0 {
			start = x.ends[r-1]
		}
		switch name := x.text[start:x.ends[r]]; {
		case !holds(name, wanted):
		case bytes.Contains(name, wanted):
			whole = append(whole, r)
		default:
			spread = append(spread, r)
		}
	}
	return append(whole, spread...)
}

// holds tells whether a name has the letters of a query in its order.
func holds(name, query []byte) bool {
	for len(query) > 0 {
		n, i := 1, -1
		if query[0] < utf8.RuneSelf {
			i = bytes.IndexByte(name, query[0])
		} else {
			_, n = utf8.DecodeRune(query)
			i = bytes.Index(name, query[:n])
		}
		if i < 0 {
			return false
		}
		name, query = name[i+n:], query[n:]
	}
	return true
}

// lower puts a name into lower case, in its place if it is ASCII.
func lower(name []byte) []byte {
	for i, c := range name {
		switch {
		case c >= utf8.RuneSelf:
			return bytes.ToLower(name)
		case c >= 'A' && c <= 'Z':
			name[i] = c + 'a' - 'A'
		}
	}
	return name
}
