package h5

import (
	"encoding/binary"
	"fmt"
	"slices"

	"precision/dump/dtype"
)

// element is the way from elements as stored to little-endian ones of a type
// dumps know.
type element struct {
	typ    dtype.Type
	stored int  // bytes in the file
	out    int  // bytes handed out, at least stored
	swap   bool // bytes have to be reversed, nothing else
	bits   *datatype
}

// element finds the conversion, or reports a type that is no number.
func (t *datatype) element() (element, error) {
	unsupported := &UnsupportedError{t.at, t.name()}
	switch t.class {
	case classInteger, classBits:
		return t.integer()
	case classEnum:
		e, err := t.base.element()
		if err == nil && t.isBool {
			e.typ = dtype.Bool
		}
		if err == nil && int64(e.stored) != t.size {
			return element{}, &FormatError{t.at, "enumeration", fmt.Sprintf("%d bytes", t.size),
				fmt.Sprintf("%d like its base type", e.stored)}
		}
		return e, err
	case classFloat:
		var typ dtype.Type
		switch f := t.float; {
		case t.vax, t.bitOffset != 0, int64(t.precision) != 8*t.size:
			return element{}, unsupported
		case f == ieeeHalf && t.size == 2:
			typ = dtype.Float16
		case f == bfloat && t.size == 2:
			typ = dtype.BFloat16
		case f == ieeeSingle && t.size == 4:
			typ = dtype.Float32
		case f == ieeeDouble && t.size == 8:
			typ = dtype.Float64
		default:
			return element{}, unsupported
		}
		n := int(t.size)
		return element{typ: typ, stored: n, out: n, swap: t.bigEndian}, nil
	}
	return element{}, unsupported
}

// integer finds the conversion of an integer: to the next size torch has if it
// is of 3, 5, 6 or 7 bytes or does not fill its bytes.
func (t *datatype) integer() (element, error) {
	if t.size > 8 {
		return element{}, &UnsupportedError{t.at, t.name()}
	}
	signed := [...]dtype.Type{1: dtype.Int8, 2: dtype.Int16, 4: dtype.Int32, 8: dtype.Int64}
	unsigned := [...]dtype.Type{1: dtype.Uint8, 2: dtype.Uint16, 4: dtype.Uint32, 8: dtype.Uint64}
	e := element{stored: int(t.size), out: 1}
	for e.out < e.stored {
		e.out *= 2
	}
	e.typ = unsigned[e.out]
	if t.signed {
		e.typ = signed[e.out]
	}
	if e.out == e.stored && t.precision == 8*e.stored {
		e.swap = t.bigEndian && e.stored > 1
	} else {
		e.bits = t
	}
	return e, nil
}

// convert turns len(p)/out elements, stored in the last bytes of p, into the
// form handed out, which fills p.
func (e *element) convert(p []byte) {
	switch {
	case e.bits != nil:
		e.widen(p)
	case e.swap:
		swap(p, e.out)
	}
}

// widen extracts the bits of each integer and extends them to out bytes. The
// stored bytes lie at the end of p, so that none is overwritten before its turn.
func (e *element) widen(p []byte) {
	n := len(p) / e.out
	src := p[n*(e.out-e.stored):]
	t := e.bits
	var tmp, wide [8]byte
	for i := range n {
		in := tmp[:e.stored]
		copy(in, src[i*e.stored:])
		if t.bigEndian {
			slices.Reverse(in)
		}
		v := littleUint(in) >> t.bitOffset
		unused := 64 - t.precision
		if t.signed {
			v = uint64(int64(v<<unused) >> unused)
		} else {
			v = v << unused >> unused
		}
		binary.LittleEndian.PutUint64(wide[:], v)
		copy(p[i*e.out:], wide[:e.out])
	}
}

// swap reverses the bytes of each element of size bytes.
func swap(p []byte, size int) {
	switch size {
	case 2:
		for i := 0; i+2 <= len(p); i += 2 {
			binary.LittleEndian.PutUint16(p[i:], binary.BigEndian.Uint16(p[i:]))
		}
	case 4:
		for i := 0; i+4 <= len(p); i += 4 {
			binary.LittleEndian.PutUint32(p[i:], binary.BigEndian.Uint32(p[i:]))
		}
	case 8:
		for i := 0; i+8 <= len(p); i += 8 {
			binary.LittleEndian.PutUint64(p[i:], binary.BigEndian.Uint64(p[i:]))
		}
	}
}
