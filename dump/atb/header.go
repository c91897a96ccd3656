package atb

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"precision/dump/dtype"
	"precision/dump/layout"
)

// Header is what a file of a tensor says of it.
type Header struct {
	Format layout.Format
	// Type is the type of the elements; the file has its number in ACL.
	Type dtype.Type
	Dims []int64
	// Offset is where the elements begin in the file, Length how many bytes they
	// take. Alias is where they are instead, if not in this file.
	Offset, Length int64
	Alias          string
}

// maxHeader bounds the lines ahead of the elements. They take some hundred bytes.
const maxHeader = 1 << 16

// maxDims is more than any tensor has.
const maxDims = 64

// An Error tells what is wrong with a file.
type Error struct {
	Path            string
	Offset          int64 // -1 where none is to blame
	Found, Expected string
}

// Pos is where it was found out.
func (e *Error) Pos() (string, int64) { return e.Path, e.Offset }

func (e *Error) Error() string {
	at := ""
	if e.Offset >= 0 {
		at = fmt.Sprintf(" offset %d:", e.Offset)
	}
	return fmt.Sprintf("%s:%s found %s, expected %s", e.Path, at, e.Found, e.Expected)
}

// ReadHeader reads the lines ahead of the elements of a file of the given size:
//
//	$Version=1.0
//	$Object.Count=1
//	$Object.Length=96
//	format=2
//	dtype=0
//	dims=4,6
//	$Object.data=0,96
//	$End=1
//
// Offsets count from behind $End. An alias has data=name and no $Object.data. Keys
// that are not known are passed over. Errors are of type *[Error]; path is for them.
func ReadHeader(in io.ReaderAt, size int64, path string) (*Header, error) {
	buf := make([]byte, min(size, maxHeader))
	if n, err := in.ReadAt(buf, 0); int64(n) < int64(len(buf)) && err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h := &Header{Format: layout.ND, Length: -1}
	seen := map[string]bool{}
	data, at := "", int64(0)
	for first := true; ; first = false {
		end := bytes.IndexByte(buf[at:], '\n')
		bad := func(found, expected string) error { return &Error{path, at, found, expected} }
		if end < 0 {
			if first {
				return nil, bad(fmt.Sprintf("%.24q", buf), "$Version=")
			}
			return nil, bad(fmt.Sprintf("no line end in %d bytes", len(buf)-int(at)), "lines up to $End=")
		}
		key, value, ok := strings.Cut(strings.TrimSuffix(string(buf[at:at+int64(end)]), "\r"), "=")
		switch {
		case !ok:
			return nil, bad(fmt.Sprintf("%.40q", key), "key=value")
		case first && key != "$Version":
			return nil, bad(fmt.Sprintf("%.40q", key), "$Version=")
		case seen[key]:
			return nil, bad("a second "+strconv.Quote(key), "one")
		}
		if len(seen) < 256 {
			seen[key] = true
		}
		switch key {
		case "format", "dtype":
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				return nil, bad(fmt.Sprintf("%s=%.40q", key, value), "a number")
			}
			if key == "format" {
				h.Format = layout.Format(n)
			} else if h.Type, ok = dtype.FromGE(n); !ok {
				return nil, bad(fmt.Sprintf("dtype=%d", n), "the number of an element type")
			}
		case "dims":
			if h.Dims, ok = dims(value); !ok {
				return nil, bad(fmt.Sprintf("dims=%.60q", value), "numbers with commas between")
			}
		case "data":
			h.Alias = value
		case "$Object.data":
			data = value
		}
		at += int64(end) + 1
		if key == "$End" {
			break
		}
	}
	for _, key := range []string{"dtype", "dims"} {
		if !seen[key] {
			return nil, &Error{path, -1, "no " + key, key + "="}
		}
	}
	return h, h.place(data, at, size, path)
}

// place checks where the elements are.
func (h *Header) place(data string, start, size int64, path string) error {
	if data == "" {
		if h.Alias == "" {
			return &Error{path, -1, "no elements and no alias", "$Object.data= or data="}
		}
		return nil
	}
	h.Alias = ""
	a, b, _ := strings.Cut(data, ",")
	offset, err := strconv.ParseInt(a, 10, 64)
	var length int64
	if err == nil {
		length, err = strconv.ParseInt(b, 10, 64)
	}
	if err != nil || offset < 0 || length < 0 {
		return &Error{path, -1, fmt.Sprintf("$Object.data=%.40q", data), "an offset and a length"}
	}
	h.Offset, h.Length = start+offset, length
	if offset > size-start || length > size-start-offset {
		return &Error{path, h.Offset, fmt.Sprintf("%d bytes to the end of the file", max(0, size-start-offset)), fmt.Sprintf("%d", length)}
	}
	n, err := layout.Count(h.Dims)
	need := int64(math.MaxInt64)
	if err == nil {
		need = h.Type.Bytes(n)
	}
	if need < 0 { // a type without a size: nobody reads its elements
		return nil
	}
	if need != length {
		return &Error{path, h.Offset, fmt.Sprintf("%d bytes", length), fmt.Sprintf("those of %v elements of %s", h.Dims, h.Type)}
	}
	return nil
}

func dims(s string) ([]int64, bool) {
	list := []int64{}
	for len(s) > 0 {
		field, rest, _ := strings.Cut(s, ",")
		n, err := strconv.ParseInt(strings.TrimSpace(field), 10, 64)
		if err != nil || n < 0 || len(list) == maxDims {
			return nil, false
		}
		list, s = append(list, n), rest
	}
	return list, true
}
