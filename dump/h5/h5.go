// Package h5 reads HDF5 files: enough of the format for the tensors PyTorch
// dumps hold, and nothing that writes.
//
// It follows the HDF5 File Format Specification, version 3.0. Understood are
// superblocks 0 to 3; groups as symbol tables, as link messages and as dense
// storage; object headers 1 and 2; integers, IEEE floats, the boolean
// enumeration h5py writes, and strings in attributes; compact, contiguous and
// chunked storage with the index of the format's earliest version, which h5py
// writes unless told otherwise, or of a single chunk; the filters deflate,
// shuffle and fletcher32. What is not understood (virtual and external storage,
// other indexes, compound elements, other filters) is reported as an UnsupportedError when it is
// needed, so that the rest of the file stays readable.
//
// A file is not trusted: every offset and length is checked against the size
// of the file, structures that refer back to themselves are detected, and
// memory is taken for bytes that exist, not for sizes a header states.
package h5

import (
	"io"
)

// Bounds on what a file may ask for. They lie far above what dumps hold and
// keep a damaged or hostile file from costing unreasonable time or memory.
const (
	maxRank      = 32        // dimensions, the limit of the HDF5 library
	maxDepth     = 128       // groups inside groups, in Walk
	maxObjects   = 1 << 22   // objects one Walk visits
	maxMetadata  = 256 << 20 // bytes of one metadata structure
	maxSoftLinks = 16        // soft links followed for one name
	maxFill      = 64 << 20  // bytes ReadAll makes up from fill values alone
	maxChunk     = 128 << 20 // bytes of a chunk, which is held whole; h5py makes chunks of up to 1 MB
)

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
func Open(r io.ReaderAt, size int64) (*File, error) {
	return open(r, size, true)
}

// open is Open with the verification of metadata checksums switchable, since
// with it on fuzzing would hardly get past the first structure.
func open(r io.ReaderAt, size int64, verify bool) (*File, error) {
	src := &source{r: r, size: size, verify: verify, values: &globalHeap{}}
	rootAddr, err := src.superblock()
	if err != nil {
		return nil, err
	}
	f := &File{src: src}
	obj, err := f.object(rootAddr, "/", src)
	if err != nil {
		return nil, err
	}
	g, ok := obj.(*Group)
	if !ok {
		return nil, src.bad(rootAddr, "root object", "an object that is no group", "a group")
	}
	f.root = g
	return f, nil
}

// Root returns the root group.
func (f *File) Root() *Group { return f.root }
