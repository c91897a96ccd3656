package compat

import (
	"bufio"
	"context"
	"io"
	"unicode/utf8"

	"precision/graph"
	"precision/graph/read"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// ReadGraph reads a rule file. Other than elsewhere its JSON must be UTF-8
// throughout: the old tool reads no other, and names of it that are not could not be
// told apart in the table.
func ReadGraph(ctx context.Context, path string) *graph.Model {
	m := must.Get(read.Open(ctx, path))
	if m.Source != graph.SourceJSON {
		return m
	}
	f, _, err := plainfile.Open(path, "a graph file")
	must.Do(err)
	defer f.Close()
	at, err := notUTF8(f)
	switch {
	case err != nil:
		must.Do(&graph.Error{Path: path, Offset: at, Fault: graph.FaultRead, Msg: graph.Messagef("read: %v", err)})
	case at >= 0:
		must.Do(&graph.Error{Path: path, Offset: at, Msg: graph.Messagef("found a byte that is not UTF-8, expected JSON in UTF-8")})
	}
	return m
}

// notUTF8 is the offset of the first byte that is not UTF-8, -1 if there is none.
func notUTF8(r io.Reader) (int64, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	for at := int64(0); ; {
		head, err := b.Peek(1 << 16)
		n := len(head)
		if n == 0 {
			if err == io.EOF {
				return -1, nil
			}
			return at, err
		}
		if err == nil { // a rune may go on behind the window
			for n > len(head)-utf8.UTFMax && !utf8.RuneStart(head[n-1]) {
				n--
			}
			n--
		}
		if !utf8.Valid(head[:n]) {
			for i := 0; i < n; {
				r, size := utf8.DecodeRune(head[i:n])
				if r == utf8.RuneError && size == 1 {
					return at + int64(i), nil
				}
				i += size
			}
		}
		b.Discard(n)
		at += int64(n)
	}
}
