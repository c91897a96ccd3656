package h5

import (
	"encoding/binary"
	"fmt"
	"math"

	"precision/dump/dtype"
	"precision/internal/must"
)

// Classes of HDF5 datatypes that are read.
const (
	classInteger = 0
	classFloat   = 1
	classEnum    = 8
)

var classNames = [...]string{"integer", "float", "time", "string", "bit field", "opaque", "compound",
	"reference", "enumeration", "variable-length", "array"}

// element says how an element lies in the file.
type element struct {
	typ  dtype.Type
	size int  // bytes
	swap bool // bytes have to be reversed
}

// floatLayout places the fields of a floating-point number, in bits.
type floatLayout struct {
	size, norm, sign, expAt, expLen, manAt, manLen int // norm 2: the leading bit is implied
	bias                                           uint32
}

var floats = map[floatLayout]dtype.Type{
	{2, 2, 15, 10, 5, 0, 10, 15}:    dtype.Float16,
	{2, 2, 15, 7, 8, 0, 7, 127}:     dtype.BFloat16,
	{4, 2, 31, 23, 8, 0, 23, 127}:   dtype.Float32,
	{8, 2, 63, 52, 11, 0, 52, 1023}: dtype.Float64,
}

// decodeType decodes a datatype message.
func decodeType(c *cursor) element {
	at := c.at + int64(c.pos)
	lead := c.u8()
	class, version := lead&15, lead>>4
	bits := c.uint(3)
	size := c.u32()
	if version < 1 || version > 5 {
		c.fail(fmt.Sprintf("datatype version %d", version), "1 to 5")
	}
	name := fmt.Sprintf("class %d", class)
	if class < len(classNames) {
		name = classNames[class]
	}
	unknown := func() { unsupported(at, "element type %s of %d bytes", name, size) }
	e := element{size: int(size), swap: bits&1 != 0}
	switch class {
	case classInteger, classFloat:
		offset, precision := c.u16(), c.u16()
		if offset != 0 || int64(precision) != 8*int64(size) {
			unknown()
		}
	}
	switch class {
	case classInteger:
		types := map[uint32][2]dtype.Type{1: {dtype.Uint8, dtype.Int8}, 2: {dtype.Uint16, dtype.Int16},
			4: {dtype.Uint32, dtype.Int32}, 8: {dtype.Uint64, dtype.Int64}}
		e.typ = types[size][bits>>3&1]
	case classFloat:
		f := floatLayout{size: int(size), norm: int(bits >> 4 & 3), sign: int(bits >> 8 & 255)}
		f.expAt, f.expLen, f.manAt, f.manLen, f.bias = c.u8(), c.u8(), c.u8(), c.u8(), c.u32()
		if bits&(1<<6) == 0 { // else the order of bytes of a VAX
			e.typ = floats[f]
		}
	case classEnum:
		if c.left() > 0 && c.b[c.pos]&15 != classInteger { // so that types are not nested deeper
			c.fail("an enumeration of other things", "of integers")
		}
		base := decodeType(c)
		if base.size != int(size) {
			must.Do(&FormatError{at, "enumeration", fmt.Sprintf("%d bytes", size), fmt.Sprintf("%d like its base type", base.size)})
		}
		if e = base; isBool(c, base, int(bits&0xffff), version) {
			e.typ = dtype.Bool
		}
	}
	if e.typ == dtype.Undefined {
		unknown()
	}
	return e
}

// isBool tells whether an enumeration is the one h5py and PyTables write for
// booleans: a one-byte integer with FALSE=0 and TRUE=1.
func isBool(c *cursor, base element, members, version int) bool {
	if base.size != 1 || members != 2 {
		return false
	}
	var names [2]string
	for i := range names {
		from := c.pos
		names[i] = c.text()
		if version < 3 {
			c.skip((8 - (c.pos-from)%8) % 8)
		}
	}
	v := c.bytes(2)
	return names == [2]string{"FALSE", "TRUE"} && v[0] == 0 && v[1] == 1 ||
		names == [2]string{"TRUE", "FALSE"} && v[0] == 1 && v[1] == 0
}

// convert turns stored elements into little-endian ones.
func (e *element) convert(p []byte) {
	if !e.swap {
		return
	}
	for ; len(p) >= e.size; p = p[e.size:] {
		switch e.size {
		case 2:
			binary.LittleEndian.PutUint16(p, binary.BigEndian.Uint16(p))
		case 4:
			binary.LittleEndian.PutUint32(p, binary.BigEndian.Uint32(p))
		case 8:
			binary.LittleEndian.PutUint64(p, binary.BigEndian.Uint64(p))
		}
	}
}

// decodeSpace decodes a dataspace message, versions 1 and 2, into a shape: no dimensions for a scalar, {0} for
// one without elements.
func decodeSpace(c *cursor) (dims []int64) {
	version := c.version(1, 2)
	rank := c.u8()
	c.skip(1) // whether it may grow
	kind := 0
	if version == 1 {
		c.skip(5)
	} else if kind = c.u8(); kind > 2 {
		c.fail(fmt.Sprintf("dataspace type %d", kind), "0 to 2")
	}
	if rank > maxRank {
		c.fail(fmt.Sprintf("%d dimensions", rank), fmt.Sprintf("at most %d", maxRank))
	}
	for range rank {
		n := c.u64()
		if n > math.MaxInt64 {
			c.fail(fmt.Sprintf("dimension %d", n), "less than 2^63")
		}
		dims = append(dims, int64(n))
	}
	if kind == 2 {
		dims = []int64{0}
	}
	return dims
}
