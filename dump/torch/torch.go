// Package torch reads the tensors of files that torch.save wrote, without
// executing anything of them, and writes tensors as files that torch.load reads.
//
// Such a file is a zip archive without compression (PyTorch zip serialisation,
// version 3). archive/data.pkl is a pickle of protocol 2 that calls
// torch._utils._rebuild_tensor_v2 with a storage, an offset, a shape and
// strides; the storage is named by a persistent id, the tuple ('storage',
// torch.FloatStorage, '0', 'cpu', elements), and its bytes are archive/data/0.
// archive/byteorder says "little" and archive/version says 3. As PyTorch does
// it, content starts at multiples of 64 bytes, so that files can be mapped into
// memory. Newer types, such as the 8-bit floats, have an untyped storage and
// _rebuild_tensor_v3, which is told the type.
//
// [Read] says where in the file the elements of each tensor lie and in which
// order: views, strides and shared storages cost nothing. Elements are then read
// in tiles by a [layout.Reader], as those of any other recording.
package torch

import (
	"fmt"
	"io"
	"math"

	"precision/dump/dtype"
	"precision/internal/must"
)

// A RangeError tells that an element of an unsigned type does not fit the
// signed type that stands for it.
type RangeError struct {
	Index int64
	Value uint64
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("element %d is %d, which int64 cannot hold", e.Index, e.Value)
}

// Write writes a tensor of the given type and shape. It reads the elements,
// little-endian in C order, from r, no more than the shape needs; they are not
// held in memory. w must be at the start of the file. After an error the file
// is not usable; a *RangeError is one.
func Write(w io.Writer, t dtype.Type, shape []int64, r io.Reader) (err error) {
	defer must.Catch(&err)
	class, kept, ok := t.TorchStorage()
	must.Not(!ok, "PyTorch has no storage for elements of type %s", t)
	n := must.Get(elements(shape))
	must.Not(kept.Bytes(n) < 0, "shape %v of %s is larger than any file", shape, kept)
	a := newArchive(w)
	// What is known ahead comes first, so that the entry that is streamed, whose
	// checksum follows it, is the last.
	for _, e := range []struct {
		name    string
		content []byte
	}{
		{"data.pkl", pickle(class, shape, n)},
		{"byteorder", []byte("little")},
		{"version", []byte("3\n")},
	} {
		must.Do(a.add(e.name, e.content))
	}
	f := must.Get(a.stream("data/0"))
	must.Do(copyElements(f, r, t, n))
	return a.zip.Close()
}

func elements(shape []int64) (int64, error) {
	n, empty := int64(1), false
	for _, d := range shape {
		switch {
		case d < 0:
			return 0, fmt.Errorf("shape %v has a negative dim", shape)
		case d == 0:
			empty = true
		case n > math.MaxInt64/d:
			return 0, fmt.Errorf("shape %v has too many elements", shape)
		default:
			n *= d
		}
	}
	if empty {
		return 0, nil
	}
	return n, nil
}

// A FormatError tells where a file is not what PyTorch writes.
type FormatError struct {
	// Part is the member of the archive, such as data.pkl; empty for the file
	// itself.
	Part string
	// Offset counts bytes from the start of the part, -1 for a place that is
	// not known.
	Offset int64
	// Found and Expected say what is wrong.
	Found, Expected string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%sfound %s, expected %s", place(e.Part, e.Offset), e.Found, e.Expected)
}

// Pos is where it was found out. The file is not known here, and a place within a member of
// the archive is none in the file.
func (e *FormatError) Pos() (string, int64) {
	if e.Part != "" {
		return "", -1
	}
	return "", e.Offset
}

// An UnsupportedError names what a file holds beyond tensors: a call that is not
// known, an operation of pickle that no tensor needs, a kind of tensor that has
// no plain elements. Nothing of it was executed.
type UnsupportedError struct {
	Part   string
	Offset int64
	What   string
}

func (e *UnsupportedError) Error() string {
	return place(e.Part, e.Offset) + e.What
}

func place(part string, offset int64) string {
	s := ""
	if part != "" {
		s = part + ": "
	}
	if offset >= 0 {
		s += fmt.Sprintf("offset %d: ", offset)
	}
	return s
}

// quoted cuts a text of a file to what a message can carry.
func quoted(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
