package manifest

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"precision/internal/clean"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// journal keeps the hashes of files as they are done, so that a run that was
// interrupted is not lost: a line each, appended. A file counts as the same if
// size and time of change are. A line without its end, as a killed run leaves
// it, does not count.
type journal struct {
	file *os.File
	old  map[string]noted
}

type noted struct {
	Entry
	changed int64
}

const journalMagic = "# precision manifest journal 1"

// open opens the journal of a folder, and reads what an earlier run left
// in it. One of another folder or with other hashes is an error, and is kept.
func (j *journal) open(path, dir string, set Hash) {
	head := fmt.Sprintf("%s %s of %s", journalMagic, set, clean.Name(must.Get(filepath.Abs(dir))))
	size := j.read(path, head)
	j.file = must.Get(os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600))
	must.Do(j.file.Truncate(size)) // a torn line goes
	if size == 0 {
		must.Get(fmt.Fprintln(j.file, head))
	}
}

// read takes over what is there and returns how many bytes of it are whole lines.
func (j *journal) read(path, head string) (size int64) {
	file, _, err := plainfile.Open(path, "a journal of precision preflight manifest")
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	must.Do(err)
	defer file.Close()
	j.old = map[string]noted{}
	from := bufio.NewReaderSize(file, maxLine)
	for {
		line, err := from.ReadSlice('\n')
		if err != nil || len(line) == 0 {
			return size // the end, a torn line, or one that is none of ours
		}
		text := strings.TrimSuffix(string(line), "\n")
		must.Not(size == 0 && text != head, "%s: found %q, expected %q; remove it to start over", path, clean.Line(text[:min(len(text), 200)]), head)
		size += int64(len(line))
		if f := strings.Split(text, "\t"); len(f) == 5 {
			changed, failed := strconv.ParseInt(f[1], 10, 64)
			f[1] = f[0]
			if e, err := parse(f[1:]); err == nil && failed == nil {
				j.old[e.Path] = noted{e, changed}
			}
		}
	}
}

// take fills in the hashes of a file that an earlier run had read.
func (j *journal) take(e *Entry, changed time.Time) bool {
	old, ok := j.old[e.Path]
	if !ok || old.Size != e.Size || old.changed != changed.UnixNano() {
		return false
	}
	*e = old.Entry
	return true
}

// put appends a file, in one piece as several may be done at a time.
func (j *journal) put(e *Entry, changed time.Time) error {
	if j.file == nil {
		return nil
	}
	_, err := fmt.Fprintf(j.file, "%d\t%d\t%s", e.Size, changed.UnixNano(), e.columns())
	return err
}

// Done removes the journal of a manifest that is written.
func Done(journal string) error {
	if err := os.Remove(journal); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
