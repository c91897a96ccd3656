package convert

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"precision/dump"
	"precision/dump/torch"
	"precision/internal/whole"
)

// output is a file under construction; it appears whole or not at all. Unlike
// results that took hours it is not forced to disk: it can be made again from
// the recording, and waiting for the disk would cost more than converting.
type output struct {
	*bufio.Writer
	file *whole.Temp
	path string
}

var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 64<<10) }}

// create begins a file. Only its owner can read it: the elements may be a
// customer's data.
func create(path string) (*output, error) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return nil, errorf(path, CodeWrite, nil, "is a folder, expected a file to write")
	}
	file, err := whole.NewTemp(filepath.Dir(path)) // mode 0600
	if err != nil {
		return nil, errorf(path, CodeWrite, cause(err), "not written")
	}
	w := writers.Get().(*bufio.Writer)
	w.Reset(file)
	return &output{w, file, path}, nil
}

// commit lets the file appear in the place of whatever has its name.
func (o *output) commit() error {
	err := o.Flush()
	o.free()
	if err = o.file.End(err, filepath.Base(o.path)); err != nil {
		return errorf(o.path, CodeWrite, cause(err), "not written")
	}
	o.file = nil
	return nil
}

// discard drops the file unless it was committed.
func (o *output) discard() {
	if o.file == nil || o.Writer == nil {
		return
	}
	o.free()
	o.file.Discard()
}

func (o *output) free() {
	o.Writer.Reset(nil)
	writers.Put(o.Writer)
	o.Writer = nil
}

// cause drops the path from an error of package os; ours names it already.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// Folder makes the folder of results, which only its owner can enter, and sees
// that files can be put there. The error is a [*dump.Error] of [dump.CodePath].
func Folder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if errors.Is(err, syscall.ENOTDIR) {
			return errorf(dir, dump.CodePath, nil, "not a folder")
		}
		return errorf(dir, dump.CodePath, cause(err), "the folder cannot be made")
	}
	probe, err := whole.NewTemp(dir)
	if err != nil {
		return errorf(dir, dump.CodePath, cause(err), "no files can be written to this folder")
	}
	probe.Discard()
	return nil
}

// write puts bytes into a file, whole.
func write(path string, content []byte) error {
	o, err := create(path)
	if err != nil {
		return err
	}
	defer o.discard()
	o.Write(content) // an error stays until commit
	return o.commit()
}

// writePT writes a tensor for PyTorch.
func writePT(out *output, a *array) error {
	elems := io.Reader(strings.NewReader(""))
	if a.elems != nil {
		elems = a.elems
	}
	err := torch.Write(out, a.typ, a.shape, elems)
	if _, ok := errors.AsType[*torch.RangeError](err); ok {
		return errorf(out.path, CodeConvert, err, "PyTorch has no type for these elements")
	}
	return err
}
