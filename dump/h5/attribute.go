package h5

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"precision/dump/dtype"
)

// Attribute is a small named value attached to a group or dataset.
type Attribute struct {
	Name string
	// Type is that of the elements: of numbers as Bytes hands them out,
	// dtype.String for text, dtype.Undefined if the type is not supported.
	Type dtype.Type
	// Shape holds the dimensions: none for a scalar, {0} for one without a value.
	Shape []int64

	src   *source
	typ   *datatype
	count int64
	raw   []byte // as stored
	at    int64  // file offset of raw
	err   error  // why the value cannot be had
}

// Len returns the number of elements.
func (a *Attribute) Len() int64 { return a.count }

// Bytes returns the elements in row-major order as little-endian bytes of type Type.
func (a *Attribute) Bytes() ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	if a.Type == dtype.String {
		return nil, a.wrong("text", "numbers")
	}
	e, err := a.typ.element()
	if err != nil {
		return nil, err
	}
	p := make([]byte, int(a.count)*e.out)
	copy(p[len(p)-len(a.raw):], a.raw)
	e.convert(p)
	return p, nil
}

func (a *Attribute) wrong(found, expected string) error {
	return &FormatError{a.at, fmt.Sprintf("attribute %q", a.Name), found, expected}
}

// Ints returns the elements of an attribute of integers or booleans. Values
// above the int64 range are an error.
func (a *Attribute) Ints() ([]int64, error) {
	p, err := a.Bytes()
	if err != nil {
		return nil, err
	}
	out := make([]int64, a.count)
	for i := range out {
		switch a.Type {
		case dtype.Int8:
			out[i] = int64(int8(p[i]))
		case dtype.Bool, dtype.Uint8:
			out[i] = int64(p[i])
		case dtype.Int16:
			out[i] = int64(int16(binary.LittleEndian.Uint16(p[2*i:])))
		case dtype.Uint16:
			out[i] = int64(binary.LittleEndian.Uint16(p[2*i:]))
		case dtype.Int32:
			out[i] = int64(int32(binary.LittleEndian.Uint32(p[4*i:])))
		case dtype.Uint32:
			out[i] = int64(binary.LittleEndian.Uint32(p[4*i:]))
		case dtype.Int64, dtype.Uint64:
			v := binary.LittleEndian.Uint64(p[8*i:])
			if a.Type == dtype.Uint64 && v > math.MaxInt64 {
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
func (a *Attribute) Int() (int64, error) {
	v, err := a.Ints()
	if err == nil && len(v) != 1 {
		err = a.wrong(fmt.Sprintf("%d elements", len(v)), "1")
	}
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// Floats returns the elements of an attribute of numbers of any type, 64-bit
// integers rounded to the nearest float64.
func (a *Attribute) Floats() ([]float64, error) {
	p, err := a.Bytes()
	if err != nil {
		return nil, err
	}
	out := make([]float64, a.count)
	dtype.Widen64(a.Type, out, p)
	return out, nil
}

// Strings returns the elements of an attribute of fixed or variable-length text.
func (a *Attribute) Strings() ([]string, error) {
	switch {
	case a.err != nil:
		return nil, a.err
	case a.typ.class == classString:
		out := make([]string, a.count)
		for i := range out {
			out[i] = trim(a.raw[int64(i)*a.typ.size:][:a.typ.size], a.typ.padding)
		}
		return out, nil
	case a.Type == dtype.String:
		out := make([]string, a.count)
		c := a.src.cursor(a.raw, 0, "variable-length text")
		c.at = a.at
		for i := range out {
			n, addr, index := c.u32(), c.addr(), int(c.u32())
			if c.err != nil {
				return nil, c.err
			}
			if n == 0 {
				continue
			}
			b, err := a.src.values.object(a.src, addr, index)
			if err != nil {
				return nil, fmt.Errorf("attribute %q: %w", a.Name, err)
			}
			if uint64(n) > uint64(len(b)) {
				return nil, a.wrong(fmt.Sprintf("text of %d bytes", n), fmt.Sprintf("at most the object's %d", len(b)))
			}
			out[i] = trim(b[:n], 0)
		}
		return out, nil
	}
	return nil, a.wrong("no text", "text")
}

// trim removes the padding from fixed text: 0 ends at a zero byte, 1 is padded
// with zero bytes, 2 with spaces.
func trim(b []byte, padding int) string {
	switch padding {
	case 1:
		return strings.TrimRight(string(b), "\x00")
	case 2:
		return strings.TrimRight(string(b), " ")
	}
	head, _, _ := strings.Cut(string(b), "\x00")
	return head
}
