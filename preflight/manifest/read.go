package manifest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"precision/internal/clean"
	"precision/internal/must"
	"precision/internal/order"
	"precision/internal/plainfile"
)

// maxLine bounds a line of a manifest in bytes: a path has at most 4096, each
// of which may be written as four characters.
const maxLine = 1 << 16

// mostForeign bounds the lines of a list that is not sorted, which is held in
// memory.
const mostForeign = 20_000_000

// IsManifest tells whether a text that begins so is a manifest, or a list that
// md5sum or sha256sum printed.
func IsManifest(front []byte) bool {
	first, _, _ := strings.Cut(string(front), "\n")
	if strings.HasPrefix(first, magic) {
		return true
	}
	e, ok := foreign(strings.TrimSuffix(first, "\r"))
	return ok && (e.MD5 != "" || e.SHA256 != "")
}

// reader reads a manifest line by line.
type reader struct {
	path string
	from *bufio.Reader
	line int
	last string
}

// text is the next line; more is false behind the last.
func (r *reader) text() (text string, more bool) {
	line, err := r.from.ReadSlice('\n')
	r.line++
	r.fail(errors.Is(err, bufio.ErrBufferFull), "found a line of more than %d bytes, expected one file a line", maxLine)
	if !errors.Is(err, io.EOF) {
		must.Do(err)
	}
	return strings.TrimRight(string(line), "\r\n"), len(line) > 0
}

// fail ends the reading where something is bad.
func (r *reader) fail(bad bool, format string, args ...any) {
	if bad {
		must.Do(fmt.Errorf("%s:%d: %s", r.path, r.line, fmt.Sprintf(format, args...)))
	}
}

// open opens a manifest: next gives its files in the order of [comparePaths] until it is false. One of ours is sorted and has
// an end; a list of another program is read as a whole and sorted. What is bad ends the work.
func open(path string) (next func() (Entry, bool), done func()) {
	file, _, err := plainfile.Open(path, "a manifest")
	must.Do(err)
	r := &reader{path: path, from: bufio.NewReaderSize(file, maxLine)}
	if front, _ := r.from.Peek(len(magic)); string(front) == magic {
		return r.own, func() { file.Close() }
	}
	defer file.Close()
	return iter.Pull(slices.Values(r.foreign()))
}

// own is the next file of a manifest of ours.
func (r *reader) own() (e Entry, more bool) {
	text, more := r.text()
	if r.line == 1 { // the magic
		text, more = r.text()
	}
	r.fail(!more, "the manifest ends here, expected a last line with the number of files; it was cut off")
	if strings.HasPrefix(text, "# ") {
		_, more := r.text()
		r.fail(more, "found more behind the last line")
		return e, false
	}
	e, err := parse(strings.SplitN(text, "\t", 4))
	r.fail(err != nil, "%v", err)
	if r.last != "" && comparePaths(r.last, e.Path) >= 0 {
		r.fail(true, "found %s behind %s, expected files in order", clean.Line(e.Path), clean.Line(r.last))
	}
	r.last = e.Path
	return e, true
}

// foreign reads a list that another program printed.
func (r *reader) foreign() (list []Entry) {
	for {
		text, more := r.text()
		if !more {
			break
		}
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			continue
		}
		e, ok := foreign(text)
		if !ok {
			r.fail(true, "found %q, expected a path, or a hash and a path as md5sum prints them", clean.Line(text[:min(len(text), 120)]))
		}
		r.fail(len(list) == mostForeign, "found more than %d files, expected fewer in a list of another program; make the manifest with precision preflight manifest", mostForeign)
		list = append(list, e)
	}
	order.Stable(list, func(a, b Entry) int { return comparePaths(a.Path, b.Path) })
	return slices.CompactFunc(list, func(a, b Entry) bool { return a.Path == b.Path })
}

// foreign reads a line of md5sum, sha256sum (hash, blank, blank or star, path)
// or of a plain list of paths.
func foreign(line string) (Entry, bool) {
	e := Entry{Size: -1}
	escaped := strings.HasPrefix(line, `\`) // md5sum: the path has escapes
	sum, path, ok := strings.Cut(strings.TrimPrefix(line, `\`), " ")
	sum, known := strings.ToLower(sum), false
	for i, to := range e.sums() {
		if ok && len(sum) == hashes[i].digits && isHash(sum, len(sum)) {
			*to, known = sum, true
		}
	}
	if !known {
		path, escaped = " "+line, false
	}
	if len(path) > 0 && (path[0] == ' ' || path[0] == '*') {
		path = path[1:]
	}
	if escaped {
		path = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r").Replace(path)
	}
	e.Path = strings.TrimPrefix(path, "./")
	return e, e.Path != "" && !strings.ContainsRune(e.Path, 0)
}
