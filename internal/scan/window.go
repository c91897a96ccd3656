package scan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// Window is a sliding view of a stream of text. Scanners work on Buf[Pos:End] directly; the bytes from End
// on are zero, so a scan for anything but zero bytes stops there without a bounds test, and eight bytes
// can always be loaded at once.
type Window struct {
	r     io.Reader
	Buf   []byte
	Pos   int
	End   int
	keep  int   // first byte of a token that a refill must preserve, -1 for none
	hold  int   // the same for the caller, see Hold
	limit int   // of what is kept
	base  int64 // file offset of Buf[0]
	eof   bool
	err   error  // error of the reader other than io.EOF
	Err   *Fault // the first fault

	lines int // newlines before Pos, counted by the scanners: they stand nowhere but between tokens
}

// Fault is the first thing of a text that is not as it has to be.
type Fault struct {
	Line   int   // from 1
	Offset int64 // from 0
	Format string
	Args   []any // what was found and what was expected; words that have a translation are Terms
	// Expected is what has to stand there, in a few words, where that is told apart from the rest.
	Expected string
	// Err is why the text could not be read on, ErrTooLong for what is longer than the window may be.
	Err error
}

// Term is a word of a message that other languages have another one for.
type Term string

// ErrTooLong is the Err of a token, or of what is held, that is longer than a window may be.
var ErrTooLong = errors.New("token longer than the window may be")

const (
	// WindowSize is how much is read at once: of small files most have less, and room that is not used is memory of which
	// each page costs a fault.
	WindowSize  = 32 << 10
	windowSlack = 16
	// MaxToken is the limit for files of graphs: a single token longer than this is an attack or a blob outside the fields that are skipped.
	MaxToken = 256 << 20
)

func newWindow(r io.Reader, limit int) Window {
	return Window{r: r, Buf: make([]byte, WindowSize+windowSlack), keep: -1, hold: -1, limit: limit}
}

// Fill reads more bytes behind End and reports whether there are any; that they cannot be read is a fault. Positions
// before Pos, or before what is kept, become invalid; Pos is moved along.
func (w *Window) Fill() bool {
	if w.eof {
		if w.err != nil {
			w.ends(w.err, w.err)
		}
		return false
	}
	from := w.Pos
	if w.keep >= 0 {
		from = min(from, w.keep)
	}
	if w.hold >= 0 {
		from = min(from, w.hold)
	}
	room := len(w.Buf) - windowSlack
	if from > 0 {
		copy(w.Buf, w.Buf[from:w.End])
		w.base += int64(from)
		w.Pos -= from
		w.End -= from
		w.keep = max(-1, w.keep-from)
		w.hold = max(-1, w.hold-from)
	}
	if w.End == room {
		if room >= w.limit {
			w.ends(ErrTooLong, fmt.Sprintf("token longer than %d MB", w.limit>>20))
			return false
		}
		buf := make([]byte, 2*room+windowSlack)
		copy(buf, w.Buf[:w.End])
		w.Buf = buf
		room = len(buf) - windowSlack
	}
	for range 100 {
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
		}
		if n > 0 {
			return true
		}
		if w.eof {
			return w.Fill()
		}
	}
	w.eof, w.err = true, io.ErrNoProgress
	return w.Fill()
}

// Ahead returns the next n bytes, fewer at the end.
func (w *Window) Ahead(n int) []byte {
	for w.End-w.Pos < n && w.Fill() {
	}
	return w.Buf[w.Pos:min(w.Pos+n, w.End)]
}

// Line returns the line number, from 1, of the next byte.
func (w *Window) Line() int { return w.lines + 1 }

// Offset returns the file offset of the next byte.
func (w *Window) Offset() int64 { return w.base + int64(w.Pos) }

// Hold keeps what follows in memory until Release, or until the next Hold: one can go back in it.
func (w *Window) Hold() { w.hold = w.Pos }

// Release lets go of what was held.
func (w *Window) Release() { w.hold = -1 }

// Since returns the bytes from an offset on, which are held, to the next one.
func (w *Window) Since(offset int64) []byte { return w.Buf[offset-w.base : w.Pos] }

// escapedLine counts a newline that a string has behind a backslash.
func (w *Window) escapedLine(c byte) {
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
func (w *Window) word(cls uint8) []byte {
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
func (w *Window) Failf(format string, args ...any) {
	if w.Err == nil {
		w.Err = &Fault{Line: w.Line(), Offset: w.Offset(), Format: format, Args: args}
	}
}

// ends notes why the text cannot be read on.
func (w *Window) ends(err error, said any) {
	if w.Err == nil {
		w.Failf("read: %v", said)
		w.Err.Err = err
	}
}
