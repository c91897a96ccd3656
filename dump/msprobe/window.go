package msprobe

import (
	"bytes"
	"io"
)

// window is the part of a file that is in memory: buf from at on is what comes
// next.
type window struct {
	in   io.Reader
	file string
	buf  []byte
	at   int
	done int64 // bytes of the file before buf
	eof  bool
	long bool // the last try ended at maxEntry
	err  error
}

const (
	// windowSize is how much is read at once: of small recordings most files have less, and room that is not used
	// is memory of which each page costs a fault.
	windowSize = 32 << 10
	// maxEntry bounds the window. The longest entries of recordings have some
	// hundred kilobytes.
	maxEntry = 8 << 20
)

// offset is where in the file the next byte is.
func (w *window) offset() int64 { return w.done + int64(w.at) }

// fill reads on, behind what is in memory; false at the end of the file or if
// the window is as large as it may be.
func (w *window) fill() bool {
	if w.eof || w.err != nil {
		return false
	}
	if w.at > 0 {
		n := copy(w.buf, w.buf[w.at:])
		w.done += int64(w.at)
		w.buf, w.at = w.buf[:n], 0
	}
	if len(w.buf) == cap(w.buf) {
		if w.long = len(w.buf) >= maxEntry; w.long {
			return false
		}
		grown := make([]byte, len(w.buf), max(2*cap(w.buf), windowSize))
		copy(grown, w.buf)
		w.buf = grown
	}
	before := len(w.buf)
	for tries := 0; len(w.buf) < cap(w.buf); {
		n, err := w.in.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		if err == io.EOF {
			w.eof = true
			break
		}
		if err != nil {
			w.err = err
			break
		}
		if n > 0 {
			tries = 0
		} else if tries++; tries > 100 {
			w.err = io.ErrNoProgress
			break
		}
	}
	return len(w.buf) > before
}

// peek returns the next n bytes, fewer at the end.
func (w *window) peek(n int) []byte {
	for len(w.buf)-w.at < n && w.fill() {
	}
	return w.buf[w.at:min(w.at+n, len(w.buf))]
}

// try lets f read from the next byte on, again with more bytes if they end
// before it does. If f comes through, the window goes on behind it; if not, r
// tells where and why, counted from the next byte.
func (w *window) try(r *reader, f func(r *reader)) bool {
	w.long = false
	for {
		r.b, r.p, r.end = w.buf[w.at:], 0, w.eof || w.err != nil
		r.more, r.bad, r.found, r.expected = false, false, "", ""
		f(r)
		if r.ok() {
			w.at += r.p
			return true
		}
		if r.bad || !w.fill() {
			// At the end of the file, a last look at a number that ends it.
			if !r.bad && (w.eof || w.err != nil) && !r.end {
				continue
			}
			return false
		}
	}
}

// indent returns the blanks before the next byte, with the end of the line
// before, appended to b; empty if something else precedes it.
func (w *window) indent(b []byte) []byte {
	i := w.at
	for i > 0 && (w.buf[i-1] == ' ' || w.buf[i-1] == '\t') {
		i--
	}
	if i == 0 || w.buf[i-1] != '\n' {
		return b
	}
	return append(b, w.buf[i-1:w.at]...)
}

// resync looks from a place in buf on for the next text that starts a line with
// the same indentation, which is the next entry. It reports false if there is none.
func (w *window) resync(indent []byte, from int) bool {
	w.at = min(max(from, w.at), len(w.buf))
	next := append(append([]byte(nil), indent...), '"')
	for {
		rest := w.buf[w.at:]
		if i := bytes.Index(rest, next); i >= 0 {
			w.at += i + len(indent)
			return true
		}
		w.at += max(0, len(rest)-len(next))
		if !w.fill() {
			break
		}
	}
	w.at = len(w.buf)
	return false
}

// pass passes over a value of any size; false if it does not end.
func (w *window) pass() bool {
	depth, inText, escaped, inWord := 0, false, false, false
	for {
		if w.at == len(w.buf) && !w.fill() {
			return inWord && depth == 0
		}
		b := w.buf[w.at]
		switch {
		case inText:
			switch {
			case escaped:
				escaped = false
			case b == '\\':
				escaped = true
			case b == '"':
				if inText = false; depth == 0 {
					w.at++
					return true
				}
			}
		case word[b]:
			inWord = true
		case inWord && depth == 0:
			return true
		default:
			inWord = false
			switch b {
			case '"':
				inText = true
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth <= 0 {
					if depth == 0 {
						w.at++
					}
					return depth == 0
				}
			case ',':
				if depth == 0 {
					return false
				}
			}
		}
		w.at++
	}
}
