// Package whole writes files that appear complete or not at all.
//
// The content goes to a temporary file in the target's own folder, is forced
// to disk and is then renamed over the target: a reader, or a run that is
// killed, sees either the old file or the new one. Keeping it apart from the
// packages that produce content lets every face write its files the same way.
//
// What has no content of its own to keep, a device or a pipe such as
// /dev/stdout, gets the bytes as they come. A symbolic link stays and the file
// it leads to is replaced. Temporary files of runs that were killed are removed
// by the next run that writes into their folder.
package whole

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"precision/internal/must"
	"strconv"
	"strings"
)

// File is a file under construction. Nothing is visible under its final path
// until Commit, unless that path is a device or a pipe.
type File struct {
	*bufio.Writer
	path string // as it was given
	to   string // where links lead
	tmp  *Temp
	open *os.File // a device or pipe, which is written in place
	// later: somebody else sees to it that the file gets onto the disk.
	later bool
	done  bool
}

// Create starts a file that will appear at path with the given permission
// bits once Commit is called. Missing parent folders are made with mode 0700,
// as the results can hold a customer's data.
func Create(path string, perm os.FileMode) (_ *File, err error) {
	defer must.Catch(&err)
	open := must.Get(inPlace(path))
	if open != nil {
		return &File{Writer: bufio.NewWriterSize(open, 1<<16), path: path, open: open}, nil
	}
	to := must.Get(resolve(path))
	dir := filepath.Dir(to)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &FolderError{err}
	}
	tmp, err := NewTemp(dir)
	must.Not(err != nil, "write %s: %w", path, err)
	return begin(tmp, path, to, perm)
}

// begin is a file that will appear at path, in the folder of tmp by the last part of to.
func begin(tmp *Temp, path, to string, perm os.FileMode) (*File, error) {
	f := &File{Writer: bufio.NewWriterSize(sink{tmp, path}, 1<<16), path: path, to: to, tmp: tmp}
	if err := tmp.file.Chmod(perm); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		f.Discard()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return f, nil
}

// sink is a temporary file whose errors tell the file that it becomes: users know no
// other.
type sink struct {
	tmp  *Temp
	path string
}

func (s sink) Write(p []byte) (int, error) {
	n, err := s.tmp.Write(p)
	return n, named(s.path, err)
}

// named tells an error of writing with the file's path, once.
func named(path string, err error) error {
	var e *fs.PathError
	switch {
	case err == nil, errors.As(err, &e) && e.Path == path:
		return err
	case e != nil:
		err = e.Err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}

// Path is where the file will appear.
func (f *File) Path() string { return f.path }

// Commit makes the file appear: flush, sync, close, rename. On an error the
// temporary file is removed and the target is as it was.
func (f *File) Commit() error {
	return f.finish(func() error { return f.tmp.dir.Rename(f.tmp.base(), filepath.Base(f.to)) })
}

// CommitNew is Commit where nothing may be replaced: if there is a file of the
// name, also one that another run has made in the meantime, the new one gets a
// number behind its name, result_1.csv. Path tells which it became.
func (f *File) CommitNew() error {
	return f.finish(func() error {
		if info, err := os.Lstat(f.path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			f.path = f.to // the numbers go beside the file that the link leads to
		}
		ext := filepath.Ext(f.path)
		stem := strings.TrimSuffix(f.path, ext)
		for n := 1; ; n++ {
			err := moveNew(f.tmp.dir, f.tmp.base(), filepath.Base(f.path))
			if err == nil || !errors.Is(err, fs.ErrExist) {
				return err
			}
			f.path = stem + "_" + strconv.Itoa(n) + ext
		}
	})
}

// moveNew gives a file another name that must not exist yet.
func moveNew(dir *os.Root, from, to string) error {
	err := dir.Link(from, to)
	switch {
	case err == nil:
		return dir.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// A file system without links: the name is taken by an empty file first.
	f, err := dir.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	if err := dir.Rename(from, to); err != nil {
		dir.Remove(to)
		return err
	}
	return nil
}

// finish flushes, syncs and closes the file and gives it its name.
func (f *File) finish(name func() error) error {
	if f.done {
		return fmt.Errorf("write %s: already finished", f.path)
	}
	f.done = true
	err := f.Flush()
	if f.open != nil {
		if closing := closeInPlace(f.open); err == nil {
			err = closing
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.path, err)
		}
		return nil
	}
	if err == nil && !f.later {
		err = f.tmp.Sync()
	}
	if err = f.tmp.end(err, name); err != nil {
		return named(f.path, err)
	}
	if !f.later {
		syncDir(filepath.Dir(f.to))
	}
	return nil
}

// Discard drops the file. It does nothing after Commit, so it can be deferred.
// What went to a device or a pipe is there.
func (f *File) Discard() {
	if f.done {
		return
	}
	f.done = true
	if f.open != nil {
		closeInPlace(f.open)
		return
	}
	f.tmp.Discard()
}

// Write puts content at path, whole.
func Write(path string, content []byte, perm os.FileMode) error {
	return Fill(path, perm, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Fill makes the file at path appear with what write writes, or leaves path as
// it was if that fails.
func Fill(path string, perm os.FileMode, write func(io.Writer) error) error {
	_, err := fill(path, perm, write, (*File).Commit)
	return err
}

// FillNew is [Fill] where nothing may be replaced, see [File.CommitNew]. It returns
// the path that the file has.
func FillNew(path string, perm os.FileMode, write func(io.Writer) error) (string, error) {
	return fill(path, perm, write, (*File).CommitNew)
}

func fill(path string, perm os.FileMode, write func(io.Writer) error, commit func(*File) error) (string, error) {
	f, err := Create(path, perm)
	if err != nil {
		return "", err
	}
	defer f.Discard()
	if err := write(f); err != nil {
		return "", err
	}
	err = commit(f)
	return f.Path(), err
}

// syncDir asks the system to keep the rename. Folders cannot be synced on
// every system, and the file itself is safe already, so a refusal is no error.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// FolderError: the folder of an output cannot be made.
type FolderError struct{ Err error }

func (e *FolderError) Error() string { return "make the output folder: " + e.Err.Error() }
func (e *FolderError) Unwrap() error { return e.Err }

// Names that come from data, such as that of a text beside a recorded array, are written with these: a link
// that lies there is refused, as it may have come with the data.

// own refuses a link.
func own(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &LinkError{path}
	}
	return nil
}

// CreateOwn is [Create] for a name that comes from data.
func CreateOwn(path string, perm os.FileMode) (*File, error) {
	if err := own(path); err != nil {
		return nil, err
	}
	return Create(path, perm)
}

// WriteOwn is [Write] for a name that comes from data.
func WriteOwn(path string, content []byte, perm os.FileMode) error {
	if err := own(path); err != nil {
		return err
	}
	return Write(path, content, perm)
}

// FillOwn is [Fill] for a name that comes from data.
func FillOwn(path string, perm os.FileMode, write func(io.Writer) error) error {
	if err := own(path); err != nil {
		return err
	}
	return Fill(path, perm, write)
}
