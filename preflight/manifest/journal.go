package manifest

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"precision/internal/clean"
	"precision/internal/plainfile"
)

// journal keeps the hashes of files as they are done, so that a run that was
// interrupted is not lost: a line each, appended. A file counts as the same if
// size and time of change are. A line without its end, as a killed run leaves
// it, does not count.
type journal struct {
	mu   sync.Mutex
	file *os.File
	to   *bufio.Writer
	last time.Time // when it was flushed
	old  map[string]noted
	err  error
}

type noted struct {
	size, changed int64
	md5, sha256   string
}

const journalMagic = "# precision manifest journal 1"

// flushEvery bounds how much work a killed run loses.
const flushEvery = time.Second

// openJournal opens the journal of a folder, and reads what an earlier run left
// in it. One of another folder or with other hashes is an error, and is kept.
func openJournal(path, dir string, set Hash) (*journal, error) {
	j := &journal{old: map[string]noted{}}
	if path == "" {
		return j, nil
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("%s %s of %s", journalMagic, set, clean.Name(full))
	size, err := j.read(path, head)
	if err != nil {
		return nil, err
	}
	j.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = j.file.Truncate(size) // a torn line goes
	}
	if err == nil {
		_, err = j.file.Seek(size, 0)
	}
	if err != nil {
		j.close()
		return nil, err
	}
	j.to = bufio.NewWriter(j.file)
	if size == 0 {
		fmt.Fprintln(j.to, head)
	}
	return j, nil
}

// read takes over what is there and returns how many bytes of it are whole lines.
func (j *journal) read(path, head string) (int64, error) {
	file, _, err := plainfile.Open(path, "a journal of precision preflight manifest")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	from := bufio.NewReaderSize(file, maxLine)
	size := int64(0)
	for {
		line, err := from.ReadSlice('\n')
		if err != nil || len(line) == 0 {
			return size, nil // the end, a torn line, or one that is none of ours
		}
		text := strings.TrimSuffix(string(line), "\n")
		if size == 0 && text != head {
			return 0, fmt.Errorf("%s: found %q, expected %q; remove it to start over", path, clean.Line(text[:min(len(text), 200)]), head)
		}
		size += int64(len(line))
		f := strings.Split(text, "\t")
		if len(f) != 5 {
			continue
		}
		length, err1 := strconv.ParseInt(f[0], 10, 64)
		changed, err2 := strconv.ParseInt(f[1], 10, 64)
		if err1 == nil && err2 == nil && isHash(f[2], 32) && isHash(f[3], 64) {
			j.old[clean.Original(f[4])] = noted{length, changed, strings.Trim(f[2], "-"), strings.Trim(f[3], "-")}
		}
	}
}

// isHash tells whether a text is a hash of so many digits, or - for none.
func isHash(text string, digits int) bool {
	return text == "-" || len(text) == digits && strings.Trim(text, "0123456789abcdef") == ""
}

// take fills in the hashes of a file that an earlier run had read.
func (j *journal) take(e *Entry, changed time.Time) bool {
	old, ok := j.old[e.Path]
	if !ok || old.size != e.Size || old.changed != changed.UnixNano() {
		return false
	}
	e.MD5, e.SHA256 = old.md5, old.sha256
	return true
}

func (j *journal) put(e *Entry, changed time.Time) {
	if j.to == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err := fmt.Fprintf(j.to, "%d\t%d\t%s\t%s\t%s\n", e.Size, changed.UnixNano(), cmp.Or(e.MD5, "-"), cmp.Or(e.SHA256, "-"), clean.Name(e.Path))
	if now := time.Now(); err == nil && now.Sub(j.last) > flushEvery {
		err, j.last = j.to.Flush(), now
	}
	if j.err == nil {
		j.err = err
	}
}

func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.to != nil {
		j.to.Flush()
	}
	if j.file != nil {
		j.file.Close()
	}
}

// Done removes the journal of a manifest that is written.
func Done(journal string) error {
	if err := os.Remove(journal); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
