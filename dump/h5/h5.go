// Package h5 reads HDF5 files as PyTorch dumps, Keras and h5py write them, and
// writes nothing.
//
// It follows the HDF5 File Format Specification, version 3.0, in its earliest
// versions, which the library writes unless it is asked for others: superblocks 0 and 1, groups
// as symbol tables, link messages or heaps of links, object headers of version 1; integers, IEEE floats, bfloat16 and the boolean
// enumeration of h5py; compact, contiguous and chunked storage; the filters deflate and
// shuffle. What is not understood (files of libver="latest" and with track_order, links other than hard ones,
// types stored by themselves, virtual and external storage, other elements and filters) is an
// UnsupportedError when it is needed, so that the rest of the file stays readable.
//
// A file is not trusted: every offset and length is checked against the size
// of the file, structures that refer back to themselves are detected, and
// memory is taken for bytes that exist, not for sizes a header states.
package h5

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"precision/internal/must"
)

// Bounds on what a file may ask for. They lie far above what dumps hold and
// keep a damaged or hostile file from costing unreasonable time or memory.
const (
	maxRank     = 32        // dimensions, the limit of the HDF5 library
	maxFilters  = 32        // of a dataset, also the library's; a chunk's mask has as many bits
	maxDepth    = 128       // groups inside groups, in Walk
	maxObjects  = 1 << 22   // objects one Walk visits
	maxMetadata = 256 << 20 // bytes of one metadata structure
	maxFill     = 64 << 20  // bytes ReadAll makes up from fill values alone
	maxChunk    = 128 << 20 // bytes of a chunk, which is held whole; h5py makes chunks of up to 1 MB
)

// ErrNotFound is wrapped by the errors for a name that a group or an object's
// attributes do not have.
var ErrNotFound = errors.New("not found")

// ErrCycle is wrapped by the error Walk passes on for a group that contains
// itself.
var ErrCycle = errors.New("group contains itself")

// ErrLimit is wrapped by errors for a file that is nested too deeply, holds
// too many objects, or states sizes its bytes cannot back.
var ErrLimit = errors.New("limit exceeded")

// FormatError tells where the bytes of a file differ from the HDF5 format.
type FormatError struct {
	Offset   int64  // in bytes from the start of the file
	What     string // the structure or field being read
	Found    string
	Expected string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("hdf5: offset %#x: %s: found %s, expected %s", e.Offset, e.What, e.Found, e.Expected)
}

// Pos is where it was found out; the file is not known here.
func (e *FormatError) Pos() (string, int64) { return "", e.Offset }

// UnsupportedError tells of a part of the HDF5 format that is valid, or may be,
// and that this package does not read.
type UnsupportedError struct {
	Offset  int64 // in bytes from the start of the file
	Feature string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("hdf5: offset %#x: %s: not supported", e.Offset, e.Feature)
}

// latest is what there is to do about a file in a newer format than the earliest.
const latest = `which h5py writes only when asked (libver="latest", track_order)`

// File is an open HDF5 file. It and everything reached from it may be used
// from several goroutines at once if the underlying reader allows it.
type File struct {
	src  *source
	root *Group
}

// Open reads the superblock and the root group's header of an HDF5 file of
// size bytes. The reader must stay usable as long as the File is; closing it
// is the caller's business.
//
// The error is a *FormatError or *UnsupportedError, or wraps what r returned.
func Open(r io.ReaderAt, size int64) (_ *File, err error) {
	defer must.Catch(&err)
	src := &source{r: r, size: size}
	addr := src.superblock()
	f := &File{src: src}
	g, ok := must.Get(f.object(addr, "/", src)).(*Group)
	if !ok {
		src.refuse(addr, "root object", "an object that is no group", "a group")
	}
	f.root = g
	return f, nil
}

// superblock returns the address of the root group's object header.
func (s *source) superblock() uint64 {
	const what, signature = "superblock", "\x89HDF\r\n\x1a\n"
	c := s.read(0, min(s.size, 100), what)
	if !strings.HasPrefix(string(c.b), signature) {
		for at := int64(512); at <= 2048 && at+int64(len(signature)) <= s.size; at *= 2 {
			if string(s.read(uint64(at), int64(len(signature)), what).b) == signature {
				unsupported(0, "user block of %d bytes in front", at)
			}
		}
		s.refuse(0, what, "no HDF5 signature", "an HDF5 file")
	}
	c.skip(len(signature))
	version := c.version(0, 3)
	if version > 1 {
		unsupported(0, "superblock version %d, %s", version, latest)
	}
	c.skip(4) // versions of free space storage and root entry, reserved, shared header version
	if o, l := c.u8(), c.u8(); o != 8 || l != 8 {
		unsupported(13, "offsets of %d and lengths of %d bytes", o, l)
	}
	c.skip(1 + 2 + 2 + 4) // reserved, group leaf k, group internal k, flags
	if version == 1 {
		c.skip(2 + 2) // indexed storage k, reserved
	}
	c.skip(8 + 8) // base, free space information
	end := c.u64()
	c.skip(8 + 8) // driver information; of the root entry the name
	root := c.u64()
	if end != undefined && end > uint64(s.size) {
		s.refuse(0, "end of file", fmt.Sprintf("%d bytes, a truncated file", s.size), fmt.Sprint(end))
	}
	return root
}

// Root returns the root group.
func (f *File) Root() *Group { return f.root }

// Object is what a link in a group leads to: a *Group or a *Dataset.
type Object interface {
	// Path returns the names from the root to the object, as it was reached.
	Path() string
	// Attrs returns all attributes in the order of the file.
	Attrs() ([]*Attribute, error)
	// Attr returns the attribute of that name. If there is none the error wraps
	// ErrNotFound.
	Attr(name string) (*Attribute, error)
}

// node is what all kinds of objects share.
type node struct {
	file *File
	src  *source
	path string
	h    *header
}

// Path returns the names from the root to the object, as it was reached.
func (n *node) Path() string { return n.path }

// object opens the object whose header is at addr, reading by way of src, which
// may count, as later the object's links and attributes.
func (f *File) object(addr uint64, path string, src *source) (o Object, err error) {
	err = must.Try(func() {
		n := node{file: f, src: src, path: path, h: src.header(addr)}
		if _, ok := n.h.find(msgLayout); ok {
			d := &Dataset{node: n}
			d.init()
			o = d
			return
		}
		for _, typ := range []int{msgSymbolTable, msgLinkInfo, msgLink} {
			if _, ok := n.h.find(typ); ok {
				o = &Group{node: n}
				return
			}
		}
		unsupported(int64(addr), "object that is no group and no dataset")
	})
	return o, named(path, err)
}

// named puts the path of an object before an error.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", clip(path), err)
}
