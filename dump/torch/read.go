package torch

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"precision/internal/must"
	"precision/internal/plainfile"
)

// File is what a file of torch.save holds.
type File struct {
	// Tensors are those of the file, in its order: a dict by its keys, a list by
	// its indexes. A tensor that stands in two places is there twice.
	Tensors []*Tensor

	top string // what the file is, for messages
}

// Bare returns the tensor that the file is, and an error for a file that is
// something else: a dict of tensors, None.
func (f *File) Bare() (*Tensor, error) {
	if len(f.Tensors) == 1 && f.Tensors[0].Name == "" {
		return f.Tensors[0], nil
	}
	return nil, &UnsupportedError{Offset: -1, What: fmt.Sprintf("the file holds %s, expected a tensor", f.top)}
}

const (
	zipMagic = "PK\x03\x04"
	// legacyMagic is the pickle of the number that starts a legacy file.
	legacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
)

// MagicSize is the number of bytes that [Is] looks at.
const MagicSize = len(legacyMagic)

// Is tells from the first bytes of a file whether it may be one of torch.save. A
// zip archive of another kind is found out by [Read].
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte(zipMagic)) || bytes.HasPrefix(head, []byte(legacyMagic))
}

// valueMemory is how much memory values of a pickle may take besides that of
// the file's size.
const valueMemory = 24 << 20

// Read reads what a file of the given size holds; elements are left where they
// are. Both formats of torch.save are read, the zip archive and the one before
// PyTorch 1.6, with bare tensors, parameters, and tensors in dicts and lists.
//
// A pickle is a program. This one is run by a machine that builds numbers,
// texts, containers and tensors and has nothing else: a file that asks for
// anything beyond gives an [UnsupportedError] that names it, and a damaged one a
// [FormatError]. Memory is bounded by the size of the file, whatever it claims.
func Read(r io.ReaderAt, size int64) (_ *File, err error) {
	defer must.Catch(&err)
	return read(r, size, false), nil
}

func read(r io.ReaderAt, size int64, any bool) *File {
	head := make([]byte, max(0, min(size, int64(MagicSize))))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		must.Do(shortRead("", 0, n, len(head), err))
	}
	switch {
	case bytes.HasPrefix(head, []byte(zipMagic)):
		return readArchive(r, size, any)
	case bytes.HasPrefix(head, []byte(legacyMagic)):
		return readLegacy(r, size, any)
	}
	must.Do(&FormatError{Offset: 0, Found: fmt.Sprintf("%q", head), Expected: "a file of torch.save, which is a zip archive or starts with a magic number"})
	return nil
}

// OpenFile is an open file: its content, and what its elements are read from.
type OpenFile struct {
	*File
	io.ReaderAt
	io.Closer
}

// Open opens a file and reads what it holds. The caller closes it.
func Open(path string) (*OpenFile, error) {
	file, size, err := plainfile.Open(path, "a file of torch.save")
	if err != nil {
		return nil, err
	}
	f, err := Read(file, size)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &OpenFile{f, file, file}, nil
}

func shortRead(part string, offset int64, n, want int, err error) error {
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%sread %d bytes, expected %d: %w", place(part, offset), n, want, err)
}

// collect lists the tensors of a value. Containers may share others, or even
// hold themselves, so depth and work are bounded.
func (m *machine) collect(f *File, v any) {
	f.top = describe(v)
	c := collector{m: m, f: f}
	c.walk("", v, 0)
}

type collector struct {
	m *machine
	f *File
}

const maxDepth = 64

func (c *collector) walk(path string, v any, depth int) {
	c.m.spend(costItem)
	switch v.(type) {
	case tuple, *list, *dict:
		if depth == maxDepth {
			must.Do(&FormatError{c.m.part, -1, fmt.Sprintf("containers nested more than %d deep", maxDepth), "fewer"})
		}
	}
	switch v := v.(type) {
	case *Tensor:
		v.Start = v.of.at() + v.Offset*int64(v.Type.Bits()/8)
		if path != "" || v.Name != "" {
			t := *v
			t.Name = path
			v = &t
			c.m.spend(costTensor + int64(len(path)))
		}
		c.f.Tensors = append(c.f.Tensors, v)
	case *storage:
		if c.m.any {
			return
		}
		must.Do(&UnsupportedError{c.m.part, -1, "the file holds a storage without a tensor"})
	case tuple:
		c.items(path, v, depth)
	case *list:
		c.items(path, v.items, depth)
	case *object: // of other classes than modules, nothing is known
		state := fields(v)
		for _, part := range []string{"_parameters", "_buffers", "_modules"} {
			if d, ok := state[part].(*dict); ok {
				c.walk(path, d, depth)
			}
		}
	case *dict:
		for i, k := range v.keys {
			key, ok := k.(string)
			if n, isInt := k.(int64); isInt {
				key, ok = strconv.FormatInt(n, 10), true
			}
			if !ok {
				if !holds(v.values[i]) || c.m.any {
					continue
				}
				must.Do(&UnsupportedError{c.m.part, -1, fmt.Sprintf("a dict with %s as key cannot be read", describe(k))})
			}
			c.walk(join(path, key), v.values[i], depth+1)
		}
	}
}

// holds tells whether a value may be or have a tensor.
func holds(v any) bool {
	switch v.(type) {
	case *Tensor, *storage, tuple, *list, *dict, *object:
		return true
	}
	return false
}

func (c *collector) items(path string, items []any, depth int) {
	for i, v := range items {
		if holds(v) {
			c.walk(join(path, strconv.Itoa(i)), v, depth+1)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
