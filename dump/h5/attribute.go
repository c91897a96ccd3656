package h5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"precision/dump/dtype"
	"precision/internal/must"
	"precision/internal/nd"
)

// Attribute is a small named value attached to a group or dataset.
type Attribute struct {
	Name string

	at  int64 // file offset of the value
	typ dtype.Type
	raw []byte // little-endian
	err error  // why the value cannot be had
}

func (a *Attribute) wrong(found, expected string) error {
	return &FormatError{a.at, fmt.Sprintf("attribute %q", a.Name), found, expected}
}

// Ints returns the elements of an attribute of integers or booleans. Values
// above the int64 range are an error.
func (a *Attribute) Ints() ([]int64, error) {
	if a.err != nil {
		return nil, a.err
	}
	size := a.typ.Bits() / 8
	out := make([]int64, len(a.raw)/size)
	for i := range out {
		p := a.raw[i*size:]
		switch a.typ {
		case dtype.Int8:
			out[i] = int64(int8(p[0]))
		case dtype.Bool, dtype.Uint8:
			out[i] = int64(p[0])
		case dtype.Int16:
			out[i] = int64(int16(binary.LittleEndian.Uint16(p)))
		case dtype.Uint16:
			out[i] = int64(binary.LittleEndian.Uint16(p))
		case dtype.Int32:
			out[i] = int64(int32(binary.LittleEndian.Uint32(p)))
		case dtype.Uint32:
			out[i] = int64(binary.LittleEndian.Uint32(p))
		case dtype.Int64, dtype.Uint64:
			v := binary.LittleEndian.Uint64(p)
			if a.typ == dtype.Uint64 && v > math.MaxInt64 {
				return nil, a.wrong(fmt.Sprint(v), "at most 2^63-1")
			}
			out[i] = int64(v)
		default:
			return nil, a.wrong("floating-point numbers", "integers")
		}
	}
	return out, nil
}

// Int returns the value of an attribute that holds one integer.
func (a *Attribute) Int() (_ int64, err error) {
	defer must.Catch(&err)
	v := must.Get(a.Ints())
	if len(v) != 1 {
		must.Do(a.wrong(fmt.Sprintf("%d elements", len(v)), "1"))
	}
	return v[0], nil
}

// attribute decodes an attribute message, versions 1 to 3.
func (s *source) attribute(m message) *Attribute {
	c := s.message(m, "attribute")
	version := c.version(1, 3)
	shared := c.u8()&3 != 0 && version > 1
	lens := [3]int{c.u16(), c.u16(), c.u16()}
	if version == 3 {
		c.skip(1) // character set of the name
	}
	var parts [3]*cursor // name, datatype, dataspace
	for i, n := range lens {
		parts[i] = s.cursor(nil, m.addr+uint64(c.pos), c.what)
		if parts[i].b = c.bytes(n); version == 1 {
			c.skip((8 - n%8) % 8)
		}
	}
	a := &Attribute{at: c.at + int64(c.pos), Name: parts[0].text()}
	if err := must.Try(func() { // the name is known, so other attributes need not suffer
		if shared {
			unsupported(a.at, "type stored by itself and shared")
		}
		e, dims := decodeType(parts[1]), decodeSpace(parts[2])
		size, ok := nd.Count(append(dims, int64(e.size))...)
		if !ok || size > int64(c.left()) {
			must.Do(a.wrong(fmt.Sprintf("%d × %d bytes claimed", dims, e.size), fmt.Sprintf("%d bytes", c.left())))
		}
		a.typ, a.raw = e.typ, bytes.Clone(c.bytes(int(size)))
		e.convert(a.raw)
	}); err != nil {
		a.err = fmt.Errorf("attribute %q: %w", a.Name, err)
	}
	return a
}

// Attrs returns all attributes in the order of the file.
func (n *node) Attrs() (list []*Attribute, err error) {
	if err = must.Try(func() {
		for _, m := range n.h.msgs {
			if m.typ == msgAttribute {
				list = append(list, n.src.attribute(m))
			}
		}
	}); err != nil {
		return nil, fmt.Errorf("%s: %w", n.path, err)
	}
	return list, nil
}

// Attr returns the attribute of that name. If there is none the error wraps
// ErrNotFound.
func (n *node) Attr(name string) (*Attribute, error) {
	list, err := n.Attrs()
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("hdf5: %s: attribute %q: %w", n.path, name, ErrNotFound)
}
