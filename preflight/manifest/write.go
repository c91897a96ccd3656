package manifest

import (
	"bufio"
	"cmp"
	"context"
	"crypto/md5" // the sums people have are md5; it tells files apart, and keeps no secret
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"precision/internal/clean"
	"precision/internal/must"
)

// Options of [Write].
type Options struct {
	Hashes Hash
	// Workers read files at the same time; 0 takes one for each core.
	Workers int
	// Journal is the file that a run which was interrupted leaves behind and the
	// next one goes on from; empty for none. [Done] removes it.
	Journal string
	// Skip are files that are no part of the data, such as the manifest itself.
	Skip []string
	// Progress, if set, is told of every file behind it.
	Progress func(files int, bytes int64)
}

// Summary is what a manifest came to.
type Summary struct {
	Files int
	Bytes int64
	// Reused counts the files of which the journal had the hashes.
	Reused int
	// Unread are the files that could not be read, with why; of many the first.
	Unread      []error
	UnreadCount int
}

// mostUnread bounds Summary.Unread.
const mostUnread = 20

// Write writes the manifest of a folder. A file that cannot be read has a line
// that says so, and the rest is written.
func Write(ctx context.Context, out io.Writer, dir string, o Options) (_ *Summary, err error) {
	defer must.Catch(&err)
	root, err := os.Stat(dir)
	if err == nil && !root.IsDir() {
		err = fmt.Errorf("%s: found a file, expected a folder", dir)
	}
	must.Do(err)
	log := must.Get(openJournal(o.Journal, dir, o.Hashes))
	defer log.close()
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// Files are hashed side by side and written in the order of the walk: order
	// holds the place of each, and bounds how far the walk is ahead.
	order := make(chan chan hashed, 64*o.Workers)
	jobs := make(chan job)
	for range o.Workers {
		go func() {
			buffer := make([]byte, 1<<20)
			for j := range jobs {
				j.done <- hashFile(ctx, j.found, o.Hashes, log, buffer)
			}
		}()
	}
	walked := make(chan error, 1)
	go func() {
		w := &walker{ctx: ctx, skip: skipper(o), visit: func(f found) error {
			done := make(chan hashed, 1)
			select {
			case order <- done:
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case jobs <- job{f, done}:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		walked <- w.folder("", dir, root)
		close(jobs)
		close(order)
	}()
	sum := &Summary{}
	to := bufio.NewWriter(out)
	fmt.Fprintf(to, "%s %s\n", magic, o.Hashes)
	for done := range order {
		var h hashed
		select {
		case h = <-done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		must.Do(ctx.Err())
		sum.add(h)
		writeEntry(to, &h.Entry)
		if o.Progress != nil {
			o.Progress(sum.Files, sum.Bytes)
		}
	}
	must.Do(<-walked)
	if log.err != nil {
		return nil, log.err
	}
	fmt.Fprintf(to, "# %d files, %d bytes, %d unread\n", sum.Files, sum.Bytes, sum.UnreadCount)
	return sum, to.Flush()
}

// magic begins the first line.
const magic = "# precision manifest 1"

type job struct {
	found
	done chan<- hashed
}

// hashed is a file with its hashes, or why it has none.
type hashed struct {
	Entry
	err    error
	reused bool
}

func (s *Summary) add(h hashed) {
	s.Files++
	if h.err != nil {
		s.UnreadCount++
		if len(s.Unread) < mostUnread {
			s.Unread = append(s.Unread, h.err)
		}
		return
	}
	s.Bytes += h.Size
	if h.reused {
		s.Reused++
	}
}

func writeEntry(to io.Writer, e *Entry) {
	size := e.Size
	if e.Unread {
		size = -1
	}
	line := strconv.AppendInt(nil, size, 10)
	for _, sum := range []string{e.MD5, e.SHA256} {
		sum = cmp.Or(sum, "-")
		line = append(append(line, '\t'), sum...)
	}
	line = append(append(line, '\t'), clean.Name(e.Path)...)
	to.Write(append(line, '\n'))
}

// skipper tells which files are no part of the data.
func skipper(o Options) func(string) bool {
	none := map[string]bool{}
	for _, name := range append(o.Skip, o.Journal) {
		if name == "" {
			continue
		}
		if full, err := filepath.Abs(name); err == nil {
			none[full] = true
		}
	}
	return func(path string) bool {
		full, err := filepath.Abs(path)
		return err == nil && none[full]
	}
}

// hashFile reads a file once for all its hashes.
func hashFile(ctx context.Context, f found, set Hash, log *journal, buffer []byte) hashed {
	h := hashed{Entry: Entry{Path: f.path}}
	if h.err = f.err; h.err != nil {
		h.Unread = true
		return h
	}
	h.Size = f.info.Size()
	if set == 0 {
		return h
	}
	if log.take(&h.Entry, f.info.ModTime()) {
		h.reused = true
		return h
	}
	if h.err = sums(ctx, &h.Entry, f.full, set, buffer); h.err == nil {
		// What was written to meanwhile has no hash that means anything.
		now, err := os.Stat(f.full)
		if err == nil && (now.Size() != h.Size || !now.ModTime().Equal(f.info.ModTime())) {
			err = fmt.Errorf("%s: changed while it was read", f.full)
		}
		h.err = err
	}
	if h.err != nil {
		h.Unread, h.MD5, h.SHA256 = true, "", ""
		return h
	}
	log.put(&h.Entry, f.info.ModTime())
	return h
}

func sums(ctx context.Context, e *Entry, path string, set Hash, buffer []byte) (err error) {
	defer must.Catch(&err)
	file := must.Get(os.Open(path))
	defer file.Close()
	var writers []io.Writer
	var small, large hash.Hash
	if set&MD5 != 0 {
		small = md5.New()
		writers = append(writers, small)
	}
	if set&SHA256 != 0 {
		large = sha256.New()
		writers = append(writers, large)
	}
	to := io.MultiWriter(writers...)
	n := int64(0)
	for {
		must.Do(ctx.Err())
		k, err := file.Read(buffer)
		to.Write(buffer[:k])
		n += int64(k)
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(err)
	}
	must.Not(n != e.Size, "%s: found %d bytes, expected %d; it changed while it was read", path, n, e.Size)
	if small != nil {
		e.MD5 = hex.EncodeToString(small.Sum(nil))
	}
	if large != nil {
		e.SHA256 = hex.EncodeToString(large.Sum(nil))
	}
	return nil
}
