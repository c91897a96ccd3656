package whole

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"precision/internal/must"
	"precision/internal/plainfile"
)

// Folder is an output folder in which names may come from data, such as the journal of a run. It is
// reached through the open folder: no name leads out of it, and no symbolic link that
// lies in it is followed. Names are relative to it, with slashes.
type Folder struct {
	root *os.Root
	path string
}

// OpenFolder makes an output folder unless it is there, and opens it. That the user's path leads
// through links is the user's affair.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &FolderError{err}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &FolderError{err}
	}
	return &Folder{root, dir}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Path is a name for people.
func (f *Folder) Path(name string) string { return filepath.Join(f.path, filepath.FromSlash(name)) }

// LinkError: a link lies where a file or folder of results belongs.
type LinkError struct{ Path string }

func (e *LinkError) Error() string {
	return e.Path + ": is a link, expected a file or folder of its own; links in an output folder are not followed"
}

// check refuses names that lead elsewhere, and links on the way. What is looked at here and
// replaced by a link afterwards still does not lead out of the folder.
func (f *Folder) check(name string) {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		err := plainfile.CheckName(p)
		must.Not(err != nil, "%s: %w", f.path, err)
		at := path.Join(parts[:i+1]...)
		if info, err := f.root.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			must.Do(&LinkError{f.Path(at)})
		}
	}
}

// folder makes the folder of a name.
func (f *Folder) folder(name string) {
	f.check(name)
	if dir := path.Dir(name); dir != "." {
		if err := f.root.MkdirAll(dir, 0o700); err != nil {
			must.Do(&FolderError{err})
		}
	}
}

// Plain sees that none of these files and folders, if there, is a link.
func (f *Folder) Plain(names ...string) error {
	return must.Try(func() {
		for _, name := range names {
			f.check(name)
		}
	})
}

// Fill makes a file appear with what write writes, or leaves it as it was if that fails. It can
// be read by its owner only.
func (f *Folder) Fill(name string, write func(io.Writer) error) error {
	return f.fill(name, false, write)
}

// FillLater is Fill of one file of many: whoever opens it finds it whole, but only [Folder.Sync] brings it onto the disk. A
// machine that stops before that may leave it empty or cut.
func (f *Folder) FillLater(name string, write func(io.Writer) error) error {
	return f.fill(name, true, write)
}

// Sync brings all that was written into a folder of it onto the disk; no such folder is nothing to do.
func (f *Folder) Sync(name string) (err error) {
	defer must.Catch(&err)
	f.check(name)
	dir, err := f.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must.Do(err)
	defer dir.Close()
	_, err = fails(Syncing, f.Path(name), 0)
	must.Do(named(f.Path(name), err))
	return named(f.Path(name), f.sync(dir, name))
}

// syncEach is Sync file by file.
func (f *Folder) syncEach(dir *os.File, name string) error {
	list, err := dir.Readdirnames(-1)
	for _, file := range list {
		if err != nil {
			break
		}
		var open *os.File
		if open, err = f.root.OpenFile(name+"/"+file, os.O_RDWR, 0); err == nil {
			err = errors.Join(open.Sync(), open.Close())
		}
	}
	return err
}

func (f *Folder) fill(name string, later bool, write func(io.Writer) error) (err error) {
	defer must.Catch(&err)
	f.folder(name)
	dir := must.Get(f.root.OpenRoot(path.Dir(name)))
	tmp, err := newTemp(dir)
	must.Not(err != nil, "write %s: %w", f.Path(name), err)
	out := must.Get(begin(tmp, f.Path(name), f.Path(name), 0o600))
	out.later = later
	defer out.Discard()
	must.Do(write(out))
	return out.Commit()
}

// Update opens a file, which is made if it is not there, to read it and write on.
func (f *Folder) Update(name string) (_ *os.File, err error) {
	defer must.Catch(&err)
	f.folder(name)
	file, err := f.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	must.Not(err != nil, "%s: %w", f.path, err)
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, errors.Join(err, fmt.Errorf("%s: found %v, expected a file", f.Path(name), info.Mode().Type()))
	} else if plainfile.Names(info) > 1 { // what it is written over may be an input
		file.Close()
		return nil, &LinkError{f.Path(name)}
	}
	return file, nil
}

// Stat tells about a file, and not about what a link leads to.
func (f *Folder) Stat(name string) (_ fs.FileInfo, err error) {
	defer must.Catch(&err)
	f.check(name)
	return f.root.Lstat(name)
}

// Open opens a plain file to read it.
func (f *Folder) Open(name, expected string) (_ *plainfile.File, _ int64, err error) {
	defer must.Catch(&err)
	f.check(name)
	return plainfile.Open(f.Path(name), expected)
}

// Remove removes a file or an empty folder; that it is not there is no error. A link is removed, and not what it leads to.
func (f *Folder) Remove(name string) error { return f.remove(name, f.root.Remove) }

// RemoveAll removes a folder with all that is in it.
func (f *Folder) RemoveAll(name string) error { return f.remove(name, f.root.RemoveAll) }

func (f *Folder) remove(name string, how func(string) error) error {
	var link *LinkError
	if err := must.Try(func() { f.check(name) }); errors.As(err, &link) && link.Path != f.Path(name) || err != nil && link == nil {
		return err
	}
	if err := how(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
