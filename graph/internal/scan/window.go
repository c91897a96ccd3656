package scan

import (
	"encoding/binary"
	"io"
	"math/bits"

	"precision/graph"
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
	err  error        // error of the reader other than io.EOF
	Err  *graph.Error // the first fault

	lines int // newlines before Pos, counted by the scanners: they stand nowhere but between tokens
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
		copy(w.Buf, w.Buf[from:w.End])
		w.base += int64(from)
		w.Pos -= from
		w.End -= from
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

// Line returns the line number, from 1, of the next byte.
func (w *window) Line() int { return w.lines + 1 }

func (w *window) Offset() int64 { return w.base + int64(w.Pos) }

// escapedLine counts a newline that a string has behind a backslash.
func (w *window) escapedLine(c byte) {
	if c == '\n' {
		w.lines++
	}
}

// blanks returns the place behind the spaces at p. Lines start with long runs of them: it takes eight at a time.
func blanks(buf []byte, p int) int {
	for {
		x := binary.LittleEndian.Uint64(buf[p:]) ^ 0x2020202020202020
		if x != 0 {
			return p + bits.TrailingZeros64(x)>>3
		}
		p += 8
	}
}

// word returns the run of bytes of a class at Pos.
func (w *window) word(cls uint8) []byte {
	start, p := w.Pos, w.Pos
	for {
		for Class[w.Buf[p]]&cls != 0 {
			p++
		}
		if p < w.End {
			break
		}
		w.keep, w.Pos = start, p
		more := w.Fill()
		start, p = w.keep, w.Pos
		w.keep = -1
		if !more {
			break
		}
	}
	w.Pos = p
	return w.Buf[start:p]
}

// Failf notes a fault at the next byte, if it is the first.
func (w *window) Failf(format string, args ...any) {
	if w.Err != nil {
		return
	}
	w.Err = &graph.Error{Line: w.Line(), Offset: w.Offset(), Msg: graph.Messagef(format, args...)}
	if w.err != nil {
		w.Err.Fault, w.Err.Msg = graph.FaultRead, graph.Messagef("read: %v", w.err)
	}
}
