package scan

import (
	"bytes"
	"io"
)

// window is a sliding view of a stream of text. Scanners work on buf[pos:end] directly; the bytes from end
// on are zero, so a scan for anything but zero bytes stops there without a bounds test, and eight bytes
// can always be loaded at once.
type window struct {
	r    io.Reader
	Buf  []byte
	Pos  int
	End  int
	keep int   // first byte a refill must preserve, -1 for pos
	base int64 // file offset of buf[0]
	eof  bool
	err  error // error of the reader other than io.EOF

	countPos  int // lines are counted up to here
	countLine int // newlines before countPos
}

const (
	WindowSize  = 64 << 10
	windowSlack = 16
	// A single token longer than this is an attack or a blob outside the fields that are skipped.
	maxToken = 256 << 20
)

func newWindow(r io.Reader) *window {
	return &window{r: r, Buf: make([]byte, WindowSize+windowSlack), keep: -1}
}

// Fill reads more bytes behind end and reports whether there are any. Positions before keep (or pos)
// become invalid; keep and pos are moved along.
func (w *window) Fill() bool {
	if w.eof {
		return false
	}
	from := w.Pos
	if w.keep >= 0 && w.keep < from {
		from = w.keep
	}
	room := len(w.Buf) - windowSlack
	if from > 0 {
		w.countTo(from)
		copy(w.Buf, w.Buf[from:w.End])
		w.base += int64(from)
		w.Pos -= from
		w.End -= from
		w.countPos -= from
		if w.keep >= 0 {
			w.keep -= from
		}
	}
	if w.End == room {
		if room >= maxToken {
			w.err = errTokenTooLong
			w.eof = true
			return false
		}
		buf := make([]byte, 2*room+windowSlack)
		copy(buf, w.Buf[:w.End])
		w.Buf = buf
		room = len(buf) - windowSlack
	}
	for tries := 0; ; tries++ {
		n, err := w.r.Read(w.Buf[w.End:room])
		if n < 0 || n > room-w.End {
			n, err = 0, io.ErrNoProgress
		}
		w.End += n
		clear(w.Buf[w.End : w.End+windowSlack])
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
		w.countLine += bytes.Count(w.Buf[w.countPos:pos], newline)
		w.countPos = pos
	}
}

var newline = []byte{'\n'}

// Line returns the line number, from 1, of buf[pos]. pos must not lie before an earlier asked one.
func (w *window) Line() int {
	w.countTo(w.Pos)
	return w.countLine + 1
}

func (w *window) Offset() int64 { return w.base + int64(w.Pos) }
