package h5

import (
	"fmt"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// attribute decodes an attribute message, versions 1 to 3.
func (s *source) attribute(m message) (*Attribute, error) {
	m, err := s.resolve(m)
	if err != nil {
		return nil, err
	}
	c := s.cursor(m.data, m.addr, "attribute")
	version := c.version(1, 3)
	flags := c.u8()
	nameLen, typLen, spaceLen := c.u16(), c.u16(), c.u16()
	if version == 3 {
		c.skip(1) // character set of the name
	}
	part := func(n int) (*cursor, message) {
		p := message{addr: m.addr + uint64(c.pos), data: c.bytes(n)}
		if version == 1 && n%8 != 0 {
			c.skip(8 - n%8)
		}
		return s.cursor(p.data, p.addr, c.what), p
	}
	name, _ := part(nameLen)
	typ, typMsg := part(typLen)
	space, spaceMsg := part(spaceLen)
	if c.err != nil {
		return nil, c.err
	}
	a := &Attribute{src: s, at: c.at + int64(c.pos)}
	if a.Name = name.text(); name.err != nil {
		return nil, name.err
	}
	if version > 1 && flags&1 != 0 {
		if typMsg, err = s.shared(typ, msgDatatype); err == nil {
			typ = s.cursor(typMsg.data, typMsg.addr, "datatype")
		}
	}
	if version > 1 && flags&2 != 0 && err == nil {
		if spaceMsg, err = s.shared(space, msgDataspace); err == nil {
			space = s.cursor(spaceMsg.data, spaceMsg.addr, "dataspace")
		}
	}
	if err == nil {
		err = a.decode(typ, space, c)
	}
	if err != nil {
		// The name is known, so other attributes need not suffer.
		a.err, a.typ = fmt.Errorf("attribute %q: %w", a.Name, err), nil
	}
	return a, nil
}

// decode takes type and shape, and the value from c.
func (a *Attribute) decode(typ, space, c *cursor) error {
	s := a.src
	t, err := s.datatype(typ, 8)
	if err != nil {
		return err
	}
	d, err := s.dataspace(space)
	if err != nil {
		return err
	}
	for t.class == classArray { // an array of arrays is an array of more dimensions
		d.dims = append(d.dims, t.arrayDim...)
		t = t.base
	}
	count, ok := nd.Count(d.dims...)
	size, ok2 := nd.Count(append([]int64{t.size}, d.dims...)...)
	if !ok || !ok2 || size > int64(c.left()) {
		return a.wrong(fmt.Sprintf("%d × %d bytes claimed", d.dims, t.size), fmt.Sprintf("%d bytes", c.left()))
	}
	if t.size == 0 { // only text can be empty; then the shape alone says how many
		if count > int64(len(c.b)) {
			return a.wrong(fmt.Sprintf("%d empty texts", count), "as many as the message has bytes at most")
		}
	}
	a.typ, a.Shape, a.count = t, d.dims, count
	a.raw = c.bytes(int(size))
	e, err := t.element()
	switch {
	case err == nil:
		a.Type = e.typ
	case t.class == classString, t.class == classVarLen && t.varText:
		a.Type = dtype.String
	default:
		a.err = fmt.Errorf("attribute %q: %w", a.Name, err)
	}
	return nil
}

// attributes reads all attributes of an object, sorted by name: those in the
// header and those in dense storage.
func (s *source) attributes(h *header) ([]*Attribute, error) {
	var list []*Attribute
	add := func(m message) error {
		a, err := s.attribute(m)
		if err == nil {
			list = append(list, a)
		}
		return err
	}
	for _, m := range h.msgs {
		switch m.typ {
		case msgAttribute:
			if err := add(m); err != nil {
				return nil, err
			}
		case msgAttrInfo:
			if err := s.denseAttributes(m, add); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *Attribute) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(list); i++ {
		if list[i].Name == list[i-1].Name {
			return nil, list[i].wrong("the name twice", "once")
		}
	}
	return list, nil
}

// denseAttributes reads the attributes kept in a fractal heap.
func (s *source) denseAttributes(m message, add func(message) error) error {
	c := s.cursor(m.data, m.addr, "attribute info")
	c.version(0, 0)
	flags := c.u8()
	if flags&1 != 0 {
		c.skip(2) // largest creation index
	}
	heapAddr, index := c.addr(), c.addr()
	if c.err != nil {
		return c.err
	}
	if heapAddr == undefined || index == undefined {
		return nil
	}
	heap, err := s.fractalHeap(heapAddr)
	if err != nil {
		return err
	}
	return s.btree2(index, btreeAttrNames, func(rec *cursor) error {
		id := rec.bytes(8)
		flags := rec.u8()
		if rec.err != nil {
			return rec.err
		}
		if flags&flagShared != 0 {
			return &UnsupportedError{rec.at, "attribute in the shared message heap"}
		}
		b, addr, err := heap.object(id)
		if err != nil {
			return err
		}
		return add(message{typ: msgAttribute, data: b, addr: addr})
	})
}

// findAttribute finds an attribute by name in a list sorted by name.
func findAttribute(list []*Attribute, name, path string) (*Attribute, error) {
	i, ok := slices.BinarySearchFunc(list, name, func(a *Attribute, n string) int { return strings.Compare(a.Name, n) })
	if !ok {
		return nil, fmt.Errorf("hdf5: %s: attribute %q: %w", path, name, ErrNotFound)
	}
	return list[i], nil
}
