// Package progress shows how far long work has come: a bar on a terminal,
// nothing in a pipe or a file.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Bar is a progress bar. Its methods may be called from any goroutine; a nil
// Bar shows nothing.
type Bar struct {
	mu    sync.Mutex
	w     io.Writer
	width func() int
	label string
	last  time.Time
	shown int // columns on the screen now
}

// redraw is the shortest time between two drawings: fast enough to look
// alive, slow enough to cost nothing.
const redraw = 100 * time.Millisecond

// New returns a bar on f when f is a terminal, else nil.
func New(f *os.File, label string) *Bar {
	if !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &Bar{w: f, label: label, width: func() int {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
		return 80
	}}
}

// Set draws done of total. Calls in quick succession are left out, but the
// last one is drawn.
func (b *Bar) Set(done, total int) {
	if b == nil || total <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.last) < redraw && done < total {
		return
	}
	b.last = now
	b.draw(b.line(done, total))
}

// draw puts a line in the place of the last one.
func (b *Bar) draw(line string) {
	pad := max(b.shown-len(line), 0)
	fmt.Fprintf(b.w, "\r%s%s", line, strings.Repeat(" ", pad))
	b.shown = len(line)
}

// line is the text of the bar, one column narrower than the terminal so that
// it never wraps.
func (b *Bar) line(done, total int) string {
	return b.text(int64(done), int64(total), fmt.Sprintf(" %d/%d %3d%%", done, total, done*100/total))
}

// text is the label, the bar and what stands behind it, as far as there is room.
func (b *Bar) text(done, total int64, count string) string {
	room := b.width() - 1 - len(b.label) - len(count) - 3
	if room < 4 {
		return strings.TrimSpace(count)
	}
	room = min(room, 40)
	full := min(max(int(float64(done)/float64(total)*float64(room)), 0), room)
	return b.label + " [" + strings.Repeat("#", full) + strings.Repeat(".", room-full) + "]" + count
}

// Done wipes the bar, so that what follows starts on a clean line.
func (b *Bar) Done() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown > 0 {
		fmt.Fprintf(b.w, "\r%s\r", strings.Repeat(" ", b.shown))
		b.shown = 0
	}
}
