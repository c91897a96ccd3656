package graph

import (
	"bytes"
	"io"
)

// window is a sliding view of a stream of text. Scanners work on buf[pos:end] directly; the bytes from end
// on are zero, so a scan for anything but zero bytes stops there without a bounds test, and eight bytes
// can always be loaded at once.
type window struct {
	r    io.Reader
	buf  []byte
	pos  int
	end  int
	keep int   // first byte a refill must preserve, -1 for pos
	base int64 // file offset of buf[0]
	eof  bool
	err  error // error of the reader other than io.EOF

	countPos  int // lines are counted up to here
	countLine int // newlines before countPos
}

const (
	windowSize  = 64 << 10
	windowSlack = 16
	// A single token longer than this is an attack or a blob outside the fields that are skipped.
	maxToken = 256 << 20
)

func newWindow(r io.Reader) *window {
	return &window{r: r, buf: make([]byte, windowSize+windowSlack), keep: -1}
}

// fill reads more bytes behind end and reports whether there are any. Positions before keep (or pos)
// become invalid; keep and pos are moved along.
func (w *window) fill() bool {
	if w.eof {
		return false
	}
	from := w.pos
	if w.keep >= 0 && w.keep < from {
		from = w.keep
	}
	room := len(w.buf) - windowSlack
	if from > 0 {
		w.countTo(from)
		copy(w.buf, w.buf[from:w.end])
		w.base += int64(from)
		w.pos -= from
		w.end -= from
		w.countPos -= from
		if w.keep >= 0 {
			w.keep -= from
		}
	}
	if w.end == room {
		if room >= maxToken {
			w.err = errTokenTooLong
			w.eof = true
			return false
		}
		buf := make([]byte, 2*room+windowSlack)
		copy(buf, w.buf[:w.end])
		w.buf = buf
		room = len(buf) - windowSlack
	}
	for tries := 0; ; tries++ {
		n, err := w.r.Read(w.buf[w.end:room])
		if n < 0 || n > room-w.end {
			n, err = 0, io.ErrNoProgress
		}
		w.end += n
		clear(w.buf[w.end : w.end+windowSlack])
		if err != nil {
			w.eof = true
			if err != io.EOF {
				w.err = err
			}
			return n > 0
		}
		if n > 0 {
			return true
		}
		if tries == 100 {
			w.err = io.ErrNoProgress
			w.eof = true
			return false
		}
	}
}

func (w *window) countTo(pos int) {
	if pos > w.countPos {
		w.countLine += bytes.Count(w.buf[w.countPos:pos], newline)
		w.countPos = pos
	}
}

var newline = []byte{'\n'}

// line returns the line number, from 1, of buf[pos]. pos must not lie before an earlier asked one.
func (w *window) line() int {
	w.countTo(w.pos)
	return w.countLine + 1
}

func (w *window) offset() int64 { return w.base + int64(w.pos) }
