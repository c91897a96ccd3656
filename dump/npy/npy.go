// Package npy reads the headers of numpy array files and writes such files.
//
// A [Header] tells what is in a file and where the elements start; the elements
// are left to the caller, who reads as many at a time as suits. Headers are
// read by a small parser of this package: a file comes from anywhere, so its
// claims are checked against its size before anything is allocated, and the
// three keys may come in any order and spacing that Python allows.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"precision/dump/dtype"
	"precision/internal/must"
	"precision/internal/nd"
	"precision/internal/plainfile"
)

// Header describes an array: what the file says ahead of its elements.
type Header struct {
	Type dtype.Type
	// BigEndian means that elements of several bytes are stored big-endian.
	BigEndian bool
	// Fortran means that the first axis varies fastest.
	Fortran bool
	// Shape holds the dims, slowest axis of a C array first. A scalar has none.
	Shape []int64
	// Offset is the position of the first element in the file, in bytes.
	Offset int64
}

// Magic starts every numpy array file.
const Magic = "\x93NUMPY"

const (
	// maxText bounds the header text. Numpy refuses more than 10000 characters
	// unless told to trust the file; a plain array never needs 4096.
	maxText = 1 << 16
	// maxDims is numpy's own bound.
	maxDims = 64
	// firstRead covers the header of nearly every file in one read.
	firstRead = 512
)

// Elements is the number of elements, 1 for a scalar. For a header that [Read]
// returned it is not more than the file holds.
func (h *Header) Elements() int64 { return elements(h.Shape) }

// Size is the number of bytes the elements take.
func (h *Header) Size() int64 { return h.Type.Bytes(h.Elements()) }

// Read reads the header of a file of the given size. It reads formats 1.0 to
// 3.0, all number types in either byte order, and C and Fortran order. The
// elements must be there in full; they are not read.
//
// Arrays of objects, records, text or dates give an error, and so does every
// disagreement; errors tell the offset, what was found and what was expected.
func Read(r io.ReaderAt, size int64) (_ *Header, err error) {
	defer must.Catch(&err)
	head := make([]byte, max(0, min(size, firstRead)))
	fill(r, head)
	must.Not(len(head) < len(Magic)+4, "the file has %d bytes, expected a numpy header of more than 10", size)
	must.Not(string(head[:len(Magic)]) != Magic, "offset 0: found %q, expected a numpy file, which starts with %q", head[:len(Magic)], Magic)
	var start, length int64
	switch major, minor := head[6], head[7]; {
	case major == 1 && minor == 0:
		start, length = 10, int64(binary.LittleEndian.Uint16(head[8:]))
	case (major == 2 || major == 3) && minor == 0:
		must.Not(size < 12, "the file has %d bytes, expected a numpy header of more than 12", size)
		start, length = 12, int64(binary.LittleEndian.Uint32(head[8:]))
	default:
		return nil, fmt.Errorf("offset 6: numpy format %d.%d, expected 1.0, 2.0 or 3.0", major, minor)
	}
	must.Not(length > size-start, "offset 8: the header claims %d bytes, the file has %d after it", length, size-start)
	must.Not(length > maxText, "offset 8: the header claims %d bytes, expected at most %d", length, maxText)
	if end := int(start + length); end <= len(head) {
		head = head[:end]
	} else {
		head = make([]byte, end)
		fill(r, head)
	}
	h, width, err := parse(string(head[start:]))
	must.Not(h == nil, "offset %d: %w", start, err)
	h.Offset = start + length
	h.check(size, width)
	must.Not(err != nil, "offset %d: %w", start, err)
	return h, nil
}

// check sees that the elements are there, each of a width in bits. As in numpy, more may follow
// them: a file can hold several arrays, of which the first counts.
func (h *Header) check(size, width int64) {
	what := func() any {
		if h.Type.Bits() == 0 {
			return fmt.Sprint(width/8, " bytes each")
		}
		return h.Type
	}
	n := elements(h.Shape)
	must.Not(n < 0 || width > 0 && n > math.MaxInt64/width, "offset %d: shape %v of %s is larger than any file", h.Offset, h.Shape, what())
	have, want := size-h.Offset, (n*width+7)/8
	must.Not(have < want, "offset %d: found %d bytes of elements, expected %d for shape %v of %s", h.Offset, have, want, h.Shape, what())
}

// elements multiplies dims that are not negative; -1 when that overflows.
func elements(shape []int64) int64 {
	if n, ok := nd.Count(shape...); ok {
		return n
	}
	return -1
}

// fill reads what the file begins with.
func fill(r io.ReaderAt, head []byte) {
	n, err := r.ReadAt(head, 0)
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	must.Not(n < len(head), "offset 0: read %d bytes, expected %d: %w", n, len(head), err)
}

// File is an open array file. ReadAt counts from the start of the file, so the
// first element is at Header.Offset.
type File struct {
	Header
	*plainfile.File
}

// Open opens an array file and reads its header. The caller closes it. Errors
// name the file.
func Open(path string) (*File, error) {
	f, size, err := plainfile.Open(path, "a numpy array")
	if err != nil {
		return nil, err
	}
	h, err := Read(f, size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &File{Header: *h, File: f}, nil
}
