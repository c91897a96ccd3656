package report

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"precision/compare/result"
	"precision/internal/clean"
)

// jsonWriter builds JSON text and hands it on in pieces, so that a table of any
// size takes little memory. Its methods never fail; err is the first error
// of the writer behind it.
type jsonWriter struct {
	to  io.Writer
	sum uint32 // of what was written
	b   []byte
	err error
	// fresh: no comma belongs before what comes next.
	fresh bool
	// ascii: other letters are written as \u....; a browser keeps a text in two bytes a letter as soon as one of them needs it.
	ascii bool
	// different, placeOf and places are of the column that is written, see repeated.
	different []string
	placeOf   map[string]int
	places    []int
}

// piece is how much text is collected before it is handed on.
const piece = 16 << 10

func (w *jsonWriter) flush() {
	if w.err == nil && len(w.b) > 0 {
		if w.ascii {
			w.b = escaped(w.b)
		}
		w.sum = crc32.Update(w.sum, crc32.IEEETable, w.b)
		_, w.err = w.to.Write(w.b)
	}
	w.b = w.b[:0]
}

// escaped is JSON text whose letters beyond ASCII, which stand in texts alone, are escaped.
func escaped(b []byte) []byte {
	plain := beyond(b)
	if plain == len(b) {
		return b
	}
	to := make([]byte, 0, len(b)+len(b)/4)
	for {
		to = append(to, b[:plain]...)
		if b = b[plain:]; len(b) == 0 {
			return to
		}
		r, size := utf8.DecodeRune(b)
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			to = fmt.Appendf(to, `\u%04x\u%04x`, high, low)
		} else {
			to = fmt.Appendf(to, `\u%04x`, r)
		}
		b = b[size:]
		plain = beyond(b)
	}
}

// beyond is where the first letter beyond ASCII stands, the length where there is none.
func beyond(b []byte) (at int) {
	for ; at+8 <= len(b) && binary.LittleEndian.Uint64(b[at:])&0x8080808080808080 == 0; at += 8 {
	}
	for ; at < len(b) && b[at] < utf8.RuneSelf; at++ {
	}
	return at
}

// item begins a value: it sets the comma after the one before.
func (w *jsonWriter) item() {
	if !w.fresh {
		w.b = append(w.b, ',')
	}
	w.fresh = false
	if len(w.b) >= piece {
		w.flush()
	}
}

// open begins an object or a list, close ends it.
func (w *jsonWriter) open(bracket byte) {
	w.item()
	w.b = append(w.b, bracket)
	w.fresh = true
}

func (w *jsonWriter) close(bracket byte) {
	w.b = append(w.b, bracket)
	w.fresh = false
}

// key begins a member of an object. Its name needs no escapes.
func (w *jsonWriter) key(name string) {
	w.item()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
	w.fresh = true
}

// line begins a member or an item on a line of its own.
func (w *jsonWriter) line() {
	if !w.fresh {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '\n')
	w.fresh = true
}

func (w *jsonWriter) text(s string)     { w.item(); w.b = appendJSONText(w.b, s) }
func (w *jsonWriter) int(n int64)       { w.item(); w.b = strconv.AppendInt(w.b, n, 10) }
func (w *jsonWriter) bool(v bool)       { w.item(); w.b = strconv.AppendBool(w.b, v) }
func (w *jsonWriter) null()             { w.item(); w.b = append(w.b, "null"...) }
func (w *jsonWriter) number(v float64)  { w.item(); w.b = result.Number(v).Append(w.b) }
func (w *jsonWriter) unsigned(n uint64) { w.item(); w.b = strconv.AppendUint(w.b, n, 10) }

// texts writes a list of texts.
func (w *jsonWriter) texts(list []string) {
	w.open('[')
	for _, s := range list {
		w.text(s)
	}
	w.close(']')
}

// bytes writes a text that is to come back as it was: as a text, or, when it is
// not UTF-8, which paths need not be, as {"base64": …}.
func (w *jsonWriter) bytes(s string) {
	if utf8.ValidString(s) {
		w.text(s)
		return
	}
	w.open('{')
	w.key("base64")
	w.text(base64.StdEncoding.EncodeToString([]byte(s)))
	w.close('}')
}

// appendJSONText appends a text in quotes. Bytes that are not UTF-8 are written as in
// csv, by [clean.Valid], and <, > and & are escaped, so that the text can stand in a page.
func appendJSONText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			if !utf8.ValidString(s) {
				s = clean.Valid(s)
			}
			quoted, _ := json.Marshal(s) // of a string, which cannot fail
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
