package manifest

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"

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

// magic begins the first line.
const magic = "# precision manifest 1"

// Write writes the manifest of a folder. A file that cannot be read has a line
// that says so, and the rest is written.
func Write(ctx context.Context, out io.Writer, dir string, o Options) (_ *Summary, err error) {
	defer must.Catch(&err)
	root := must.Get(os.Stat(dir))
	must.Not(!root.IsDir(), "%s: found a file, expected a folder", dir)
	log := &journal{}
	defer func() { log.file.Close() }()
	if o.Journal != "" {
		log.open(o.Journal, dir, o.Hashes)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w := &walker{ctx: ctx, skip: map[string]bool{}}
	for _, name := range append(o.Skip, o.Journal) {
		if full, err := filepath.Abs(name); err == nil && name != "" {
			w.skip[full] = true
		}
	}
	// Files are hashed side by side and written in the order of the walk: order
	// holds the place of each, and bounds how far the walk is ahead.
	order := make(chan chan found, 64*o.Workers)
	workers := make(chan bool, o.Workers)
	w.visit = func(f found) {
		done := make(chan found, 1)
		select {
		case order <- done:
		case <-ctx.Done():
			must.Do(ctx.Err())
		}
		workers <- true
		go func() {
			f.hash(ctx, o.Hashes, log)
			done <- f
			<-workers
		}()
	}
	var walked error
	go func() {
		walked = must.Try(func() { must.Do(w.folder("", dir, root)) })
		close(order)
	}()
	sum := &Summary{}
	to := bufio.NewWriter(out)
	fmt.Fprintf(to, "%s %s\n", magic, o.Hashes)
	for done := range order {
		var f found
		select {
		case f = <-done:
		case <-ctx.Done():
		}
		must.Do(ctx.Err())
		must.Do(f.lost)
		sum.add(&f)
		fmt.Fprintf(to, "%d\t%s", f.Size, f.columns())
		if o.Progress != nil {
			o.Progress(sum.Files, sum.Bytes)
		}
	}
	must.Do(walked)
	fmt.Fprintf(to, "# %d files, %d bytes, %d unread\n", sum.Files, sum.Bytes, sum.UnreadCount)
	return sum, to.Flush()
}

func (s *Summary) add(f *found) {
	s.Files++
	if f.err == nil {
		s.Bytes += int64(f.Size)
	} else if s.UnreadCount++; s.UnreadCount <= mostUnread {
		s.Unread = append(s.Unread, f.err)
	}
	if f.reused {
		s.Reused++
	}
}

// hash reads a file once for all its hashes.
func (f *found) hash(ctx context.Context, set Hash, log *journal) {
	if f.err == nil {
		f.Size = Size(f.info.Size())
		if set == 0 {
			return
		}
		if f.reused = log.take(&f.Entry, f.info.ModTime()); f.reused {
			return
		}
		f.err = must.Try(func() { f.read(ctx, set) })
	}
	if f.err != nil {
		f.Entry = Entry{Path: f.Path, Size: -1, Unread: true}
	} else {
		f.lost = log.put(&f.Entry, f.info.ModTime())
	}
}

// blockSize is how much of a file is read at a time.
const blockSize = 1 << 20

// read computes the hashes of a file. What was written to meanwhile has no hash that means anything.
func (f *found) read(ctx context.Context, set Hash) {
	file := must.Get(os.Open(f.full))
	defer file.Close()
	var writers []io.Writer
	made := map[*string]hash.Hash{}
	for i, sum := range f.sums() {
		if set&(1<<i) != 0 {
			made[sum] = hashes[i].make()
			writers = append(writers, made[sum])
		}
	}
	n, to, block := Size(0), io.MultiWriter(writers...), make([]byte, min(f.info.Size()+1, blockSize))
	for {
		must.Do(ctx.Err())
		k, err := file.Read(block)
		to.Write(block[:k])
		n += Size(k)
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(err)
	}
	must.Not(n != f.Size, "%s: found %d bytes, expected %d; it changed while it was read", f.full, n, f.Size)
	now, err := os.Stat(f.full)
	must.Not(err == nil && (now.Size() != f.info.Size() || !now.ModTime().Equal(f.info.ModTime())), "%s: changed while it was read", f.full)
	must.Do(err)
	for sum, h := range made {
		*sum = hex.EncodeToString(h.Sum(nil))
	}
}
