// Package plainfile opens files that are nothing but files: a named pipe would keep its reader waiting for ever, and a device
// has no end. All inputs are read through it, so that tests can put faults of a disk below everything that reads.
package plainfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// File is an open file for reading.
type File struct {
	f    *os.File
	seen *witness // nil unless somebody watches
}

// Open opens the plain file at path and returns its size in bytes. A folder, pipe, socket or device is an error that
// names path and what was found; it is not opened.
func Open(path, expected string) (*File, int64, error) {
	info, err := os.Stat(path) // the look comes first: to open a named pipe is to wait for a writer
	if err != nil {
		return nil, 0, err
	}
	if what := kind(info.Mode()); what != "" {
		return nil, 0, &os.PathError{Op: "open", Path: path, Err: &KindError{what, expected}}
	}
	f, err := open(path)
	if err != nil {
		return nil, 0, err
	}
	return &File{f, witnessed(path, info.Size())}, info.Size(), nil
}

// IsFile tells whether a path is that of a plain file, IsFolder of a folder, or of links to them.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// IsFolder: see [IsFile].
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ReadFile reads a file of at most so many bytes; a longer one is an error.
func ReadFile(path, expected string, most int64) ([]byte, error) {
	f, size, err := Open(path, expected)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > most {
		return nil, &os.PathError{Op: "read", Path: path, Err: fmt.Errorf("found %d bytes, expected %s of at most %d", size, expected, most)}
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// Front is what a file begins with, as much as can be read of at most n bytes; nil where it cannot be opened.
func Front(path string, n int) []byte {
	f, _, err := Open(path, "a plain file")
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, n)
	got, _ := io.ReadFull(f, head)
	return head[:got]
}

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) {
	if f.seen == nil {
		return f.read(p)
	}
	at, err := f.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	n, err := f.read(p)
	f.seen.saw(at, p[:n])
	return n, err
}

func (f *File) read(p []byte) (int, error) {
	if fault := injected.Load(); fault != nil {
		at, err := f.f.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0, err
		}
		n, err := (*fault)(f.f.Name(), at, len(p))
		if err != nil {
			got, _ := f.f.Read(p[:n])
			return got, &os.PathError{Op: "read", Path: f.f.Name(), Err: err}
		}
		if n == 0 && len(p) > 0 {
			return 0, io.EOF
		}
		p = p[:n]
	}
	return f.f.Read(p)
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	if fault := injected.Load(); fault != nil {
		n, err := (*fault)(f.f.Name(), at, len(p))
		switch {
		case err != nil:
			got, _ := f.f.ReadAt(p[:n], at)
			return got, &os.PathError{Op: "read", Path: f.f.Name(), Err: err}
		case n < len(p): // as if the file ended here
			got, err := f.f.ReadAt(p[:n], at)
			if err == nil {
				err = io.EOF
			}
			return got, err
		}
	}
	n, err := f.f.ReadAt(p, at)
	f.seen.saw(at, p[:n])
	return n, err
}

// Seek implements io.Seeker.
func (f *File) Seek(offset int64, whence int) (int64, error) { return f.f.Seek(offset, whence) }

// Name is the path that was opened.
func (f *File) Name() string { return f.f.Name() }

// Stat tells about the file.
func (f *File) Stat() (fs.FileInfo, error) { return f.f.Stat() }

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// Fault is asked before every read of a file: how many of the wanted bytes are read, and the error behind them. Fewer
// bytes without an error are a file that has become shorter.
type Fault func(path string, at int64, wanted int) (n int, err error)

var injected atomic.Pointer[Fault]

// Inject puts a fault below everything that reads, for tests; nil takes it away.
func Inject(f Fault) {
	if f == nil {
		injected.Store(nil)
		return
	}
	injected.Store(&f)
}

// KindError is what a path is that is no plain file, and what was expected.
type KindError struct{ Is, Expected string }

func (e *KindError) Error() string { return "is a " + e.Is + ", expected " + e.Expected }

// kind names what is no plain file, "" for one.
func kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return ""
	case m.IsDir():
		return "directory"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
