package manifest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

// reader reads the files of a manifest in the order of [comparePaths].
type reader struct {
	path string
	file *plainfile.File
	from *bufio.Reader
	line int
	// own: the manifest is one of ours, sorted and with an end. Others are read
	// as a whole into rest and sorted.
	own  bool
	end  bool
	last string
	rest []Entry
	// at is the file that step has come to; done tells that there is none.
	at   Entry
	done bool
}

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

// open opens a manifest; a list of another program is read at once.
func (r *reader) open(path string) {
	file, _, err := plainfile.Open(path, "a manifest")
	must.Do(err)
	r.path, r.file, r.from = path, file, bufio.NewReaderSize(file, maxLine)
	front, _ := r.from.Peek(len(magic))
	if r.own = string(front) == magic; r.own {
		r.text()
	} else {
		r.all()
	}
}

func (r *reader) close() {
	if r.file != nil {
		r.file.Close()
	}
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

// next is the next file; more is false behind the last.
func (r *reader) next() (e Entry, more bool) {
	if !r.own {
		if len(r.rest) == 0 {
			return e, false
		}
		e, r.rest = r.rest[0], r.rest[1:]
		return e, true
	}
	text, more := r.text()
	r.fail(!more && !r.end, "the manifest ends here, expected a last line with the number of files; it was cut off")
	if !more {
		return e, false
	}
	if strings.HasPrefix(text, "# ") {
		r.end = true
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

// all reads a list that another program printed.
func (r *reader) all() {
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
		r.fail(len(r.rest) == mostForeign, "found more than %d files, expected fewer in a list of another program; make the manifest with precision preflight manifest", mostForeign)
		r.rest = append(r.rest, e)
	}
	order.Stable(r.rest, func(a, b Entry) int { return comparePaths(a.Path, b.Path) })
	r.rest = slices.CompactFunc(r.rest, func(a, b Entry) bool { return a.Path == b.Path })
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
