package atb

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"precision/dump"
	"precision/dump/layout"
	"precision/internal/nd"
	"precision/internal/plainfile"
)

// OpenTensor is a tensor that is open for reading.
type OpenTensor struct {
	Header
	// Path is the file with the elements: that of the alias's end.
	Path string
	f    *plainfile.File
}

// Close closes the file.
func (o *OpenTensor) Close() error { return o.f.Close() }

// Reader reads the elements in the order they have in the file.
func (o *OpenTensor) Reader() (*layout.Reader, error) {
	bits := o.Type.Bits()
	if bits <= 0 || bits%8 != 0 {
		return nil, &Error{o.Path, -1, "elements of " + o.Type.String(), "whole bytes"}
	}
	v, err := layout.Contiguous(o.Dims)
	if err != nil {
		return nil, err
	}
	return layout.NewReader(io.NewSectionReader(o.f, 0, o.Offset+o.Length), o.Offset, bits/8, v)
}

// maxAliases is longer than any chain that ends.
const maxAliases = 64

// Open opens the elements of a tensor, following its alias. The type and dims are
// those of the tensor itself.
func (t *Tree) Open(op *Op, x *Tensor) (*OpenTensor, error) {
	var own *Header
	seen := map[string]bool{}
	for path := x.File; ; {
		if seen[path] {
			return nil, &Error{x.File, -1, fmt.Sprintf("aliases that lead back to %s", path), "one that ends at elements"}
		}
		if len(seen) == maxAliases {
			return nil, &Error{x.File, -1, fmt.Sprintf("more than %d aliases", maxAliases), "one that ends at elements"}
		}
		seen[path] = true
		f, size, err := plainfile.Open(path, "a tensor of ATB")
		if err != nil {
			return nil, err
		}
		h, err := ReadHeader(f, size, path)
		if err != nil {
			f.Close()
			return nil, err
		}
		if own == nil {
			own = h
		}
		if h.Alias == "" {
			o := &OpenTensor{Header: *h, Path: path, f: f}
			if err := o.as(own, x.File); err != nil {
				f.Close()
				return nil, err
			}
			return o, nil
		}
		f.Close()
		if op, x, err = t.follow(op, h.Alias, path); err != nil {
			return nil, err
		}
		path = x.File
	}
}

// as gives the elements the type and dims of the alias that led to them.
func (o *OpenTensor) as(own *Header, file string) error {
	n, err := layout.Count(own.Dims)
	if err != nil || own.Type != o.Type || own.Type.Bytes(n) != o.Length {
		return &Error{file, -1, fmt.Sprintf("an alias of %v elements of %s for %d bytes of %s", own.Dims, own.Type, o.Length, o.Type), "the same tensor"}
	}
	o.Dims, o.Format = own.Dims, own.Format
	return nil
}

// follow finds what an alias names: opid_intensor0.bin, or intensor0.bin of the
// parent.
func (t *Tree) follow(op *Op, alias, path string) (*Op, *Tensor, error) {
	bad := &Error{path, -1, fmt.Sprintf("the alias %.80q", alias), "a tensor of this recording, as 2_0_intensor1.bin"}
	id, file := "", alias
	for { // numbers with _ behind
		n, rest, ok := strings.Cut(file, "_")
		if _, isNumber := dump.Small(n); !ok || !isNumber {
			break
		}
		if id != "" {
			id += "_"
		}
		id, file = id+n, rest
	}
	output, slot, ok := tensorFile(file)
	if !ok {
		return nil, nil, bad
	}
	id = cmp.Or(id, joined(op.IDs[:len(op.IDs)-1]))
	other := t.byID[id]
	if other == nil {
		bad.Expected = "an operation of this recording, found none with the numbers " + id
		return nil, nil, bad
	}
	for i := range other.Tensors {
		if x := &other.Tensors[i]; x.Output == output && x.Slot == slot && x.File != "" {
			return other, x, nil
		}
	}
	bad.Expected = "a file of this recording, found none of that name in " + other.Path
	return nil, nil, bad
}

// joined is the path of numbers.
func joined(ids []int) string { return nd.Text(ids, "_") }

// HeaderOf reads what a file says of its tensor, without its elements.
func HeaderOf(path string) (*Header, error) {
	f, size, err := plainfile.Open(path, "a tensor of ATB")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadHeader(f, size, path)
}
