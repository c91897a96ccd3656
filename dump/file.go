package dump

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"precision/dump/layout"
	"precision/dump/npy"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// Form is how a file stores tensors.
type Form uint8

const (
	Binary Form = iota // the dump of a device: a protobuf header and a payload
	Nano               // the compact dump of a small device: tagged records and a payload
	Numpy              // a numpy array
)

func (f Form) String() string {
	return [...]string{"device dump", "compact device dump", "numpy array"}[f]
}

// File is what the header of a recording says.
type File struct {
	// Path is where the file is, Name what its name says. They disagree for a
	// file that was renamed because its name was too long.
	Path string
	Name Name
	Form Form
	// Size is the size of the file in bytes.
	Size int64

	// OpName is the operator's name in the graph, with its slashes. Compact
	// dumps have it from the file name. It is empty for numpy arrays.
	OpName string

	Inputs, Outputs []Tensor
	Buffers, Spaces []Blob
	Attrs           []Attr
	// Slices tells how FFTS+ cut the operator, nil if it did not.
	Slices *Slices

	// Warnings tell what was repaired in reading the header.
	Warnings []Warning
}

// Attr is a named text in the header.
type Attr struct{ Name, Value string }

func (f *File) warnf(code int, format string, args ...any) {
	f.Warnings = Warn(f.Warnings, Warnf(f.Path, code, format, args...))
}

// Reader is a recording that is open for reading its elements. ReadAt counts
// from the start of the file, as [Tensor.Offset] does.
type Reader struct {
	*File
	io.ReaderAt
	close func() error
}

// Close closes the file.
func (r *Reader) Close() error { return r.close() }

// OpenFile reads the header of a recording and leaves the file open. The caller
// closes it. Errors are of type [*Error].
func OpenFile(path string) (*Reader, error) {
	return openAs(path, ParseName(filepath.Base(path)))
}

// openAs opens path for the recording that name describes.
func openAs(path string, name Name) (*Reader, error) {
	f, size, err := plainfile.Open(path, "a recorded tensor")
	if err != nil {
		return nil, &Error{Path: path, Code: CodePath, Offset: -1, Err: pathCause(err)}
	}
	file, err := read(f, size, path, name)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Reader{File: file, ReaderAt: f, close: f.Close}, nil
}

// pathCause drops the path from an error of package os; ours names it already.
func pathCause(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}

const (
	// firstRead is read of every file at once. The headers of most operators
	// are much smaller.
	firstRead = 4096
	// minDump is the size of the header length.
	minDump = 8
	// maxHeader bounds headers. The largest parts of one, texts about slices
	// and exceptions, are some hundred KB.
	maxHeader = 16 << 20
)

var firstReads = sync.Pool{New: func() any { return new([firstRead]byte) }}

// source is a file whose beginning is in memory.
type source struct {
	path string
	size int64
	head []byte
	r    io.ReaderAt
}

// ReadAt serves the beginning from memory.
func (s *source) ReadAt(p []byte, at int64) (int, error) {
	if at >= 0 && at+int64(len(p)) <= int64(len(s.head)) {
		return copy(p, s.head[at:]), nil
	}
	return s.r.ReadAt(p, at)
}

// bytes returns n bytes from at, which the file is known to have. They may be
// in the buffer of the beginning.
func (s *source) bytes(at, n int64) []byte {
	if at+n <= int64(len(s.head)) {
		return s.head[at : at+n]
	}
	b := make([]byte, n)
	if got, err := s.r.ReadAt(b, at); got < len(b) {
		must.Do(readError(s.path, at, got, len(b), err))
	}
	return b
}

// not ends the reading where something is not as it has to be.
func (s *source) not(bad bool, code int, at int64, format string, args ...any) {
	if bad {
		must.Do(errorf(s.path, code, at, format, args...))
	}
}

func read(r io.ReaderAt, size int64, path string, name Name) (_ *File, err error) {
	defer must.Catch(&err)
	if size == 0 {
		return nil, errorf(path, CodeInvalid, -1, "the file is empty (0 bytes)")
	}
	buf := firstReads.Get().(*[firstRead]byte)
	defer firstReads.Put(buf)
	s := &source{path: path, size: size, head: buf[:min(size, firstRead)], r: r}
	if n, err := r.ReadAt(s.head, 0); n < len(s.head) {
		return nil, readError(path, 0, n, len(s.head), err)
	}
	f := &File{Path: path, Name: name, Size: size}
	switch {
	case isNano(s.head, size):
		f.readNano(s)
	case strings.HasSuffix(name.File, ".npy") || strings.HasPrefix(string(s.head), npy.Magic):
		f.readNumpy(s)
	default:
		f.readBinary(s)
	}
	return f, nil
}

// uint64At reads a little-endian number.
func uint64At(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

// readNumpy reads a numpy array: a recording of one output.
func (f *File) readNumpy(s *source) {
	h, err := npy.Read(s, s.size)
	if err != nil {
		code := CodeInvalid
		if typ := (*npy.TypeError)(nil); errors.As(err, &typ) {
			code = CodeType
		}
		must.Do(&Error{Path: s.path, Code: code, Offset: -1, Err: err})
	}
	f.Form = Numpy
	f.Outputs = []Tensor{{
		Type: h.Type, Format: layout.Reserved, Shape: h.Shape, Size: uint64(h.Size()), Offset: h.Offset,
		BigEndian: h.BigEndian, Fortran: h.Fortran,
	}}
}
