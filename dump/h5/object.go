package h5

import (
	"fmt"
	"sync"
)

// Object is what a link in a group leads to: a *Group, a *Dataset or, for a
// datatype stored by itself, a *NamedType.
type Object interface {
	// Path returns the names from the root to the object, as it was reached.
	Path() string
	// Attrs returns all attributes sorted by name.
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

	attrOnce sync.Once
	attrs    []*Attribute
	attrErr  error
}

// Path returns the names from the root to the object, as it was reached.
func (n *node) Path() string { return n.path }

// Attrs returns all attributes sorted by name.
func (n *node) Attrs() ([]*Attribute, error) {
	n.attrOnce.Do(func() {
		n.attrs, n.attrErr = n.src.attributes(n.h)
	})
	if n.attrErr != nil {
		return nil, fmt.Errorf("%s: %w", n.path, n.attrErr)
	}
	return append([]*Attribute(nil), n.attrs...), nil
}

// Attr returns the attribute of that name. If there is none the error wraps
// ErrNotFound.
func (n *node) Attr(name string) (*Attribute, error) {
	if _, err := n.Attrs(); err != nil {
		return nil, err
	}
	return findAttribute(n.attrs, name, n.path)
}

// NamedType is a datatype that stands in a group. Only its attributes can be read.
type NamedType struct{ node }

// object opens the object whose header is at addr, reading by way of src, which
// may count, as later the object's links and attributes.
func (f *File) object(addr uint64, path string, src *source) (Object, error) {
	h, err := src.header(addr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	has := func(typ int) bool { _, ok := h.find(typ); return ok }
	switch {
	case has(msgLayout):
		d := &Dataset{node: node{file: f, src: src, path: path, h: h}}
		if err := d.init(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return d, nil
	case has(msgSymbolTable), has(msgLinkInfo), has(msgLink), has(msgGroupInfo):
		return &Group{node: node{file: f, src: src, path: path, h: h}}, nil
	case has(msgDatatype):
		return &NamedType{node{file: f, src: src, path: path, h: h}}, nil
	}
	return nil, fmt.Errorf("%s: %w", path, src.bad(addr, "object header", "messages of no known kind of object",
		"those of a group or dataset"))
}
