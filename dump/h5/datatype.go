package h5

import (
	"fmt"
	"precision/internal/nd"
)

// Classes of HDF5 datatypes.
const (
	classInteger = 0
	classFloat   = 1
	classString  = 3
	classBits    = 4
	classEnum    = 8
	classVarLen  = 9
	classArray   = 10
)

var classNames = [...]string{"integer", "float", "time", "string", "bit field", "opaque", "compound",
	"reference", "enumeration", "variable-length", "array"}

// datatype is the part of a datatype message that says how an element lies in
// the file. Which fields count depends on class.
type datatype struct {
	at    int64 // file offset of the message, for errors
	class int
	size  int64 // bytes of an element in the file

	bigEndian bool
	signed    bool // integers
	bitOffset int  // integers, floats: unused bits below the value
	precision int  // integers, floats: bits of the value
	float     floatLayout
	vax       bool

	padding  int  // strings: 0 zero-terminated, 1 zero-padded, 2 space-padded
	varText  bool // variable-length: text, not a sequence
	isBool   bool // enumerations: FALSE=0, TRUE=1 in one byte
	base     *datatype
	arrayDim []int64
}

// floatLayout places the fields of a floating-point number, in bits.
type floatLayout struct {
	sign, expAt, expLen, manAt, manLen, norm int
	bias                                     uint32
}

// The formats torch has. The last field but one of each is the normalisation:
// 2, the leading one is implied.
var (
	ieeeHalf   = floatLayout{15, 10, 5, 0, 10, 2, 15}
	ieeeSingle = floatLayout{31, 23, 8, 0, 23, 2, 127}
	ieeeDouble = floatLayout{63, 52, 11, 0, 52, 2, 1023}
	bfloat     = floatLayout{15, 7, 8, 0, 7, 2, 127}
)

// datatype decodes a datatype message. Types are nested at most depth deep.
func (s *source) datatype(c *cursor, depth int) (*datatype, error) {
	if depth == 0 {
		c.fail("datatypes in datatypes", "fewer levels")
		return nil, c.err
	}
	t := &datatype{at: c.at + int64(c.pos)}
	lead := c.u8()
	bits := uint32(c.uint(3))
	t.size = int64(c.u32())
	t.class = lead & 15
	version := lead >> 4
	if c.err == nil && (version < 1 || version > 5) {
		c.fail(fmt.Sprintf("datatype version %d", version), "1 to 5")
	}
	if c.err == nil && t.size == 0 && t.class != classString {
		c.fail("elements of 0 bytes", "at least 1")
	}
	if c.err != nil {
		return nil, c.err
	}

	switch t.class {
	case classInteger, classBits, classFloat:
		t.bigEndian = bits&1 != 0
		t.signed = t.class == classInteger && bits&8 != 0
		t.bitOffset = c.u16()
		t.precision = c.u16()
		if c.err == nil && (t.precision == 0 || int64(t.bitOffset)+int64(t.precision) > 8*t.size) {
			c.fail(fmt.Sprintf("%d bits from bit %d", t.precision, t.bitOffset), fmt.Sprintf("1 to %d bits", 8*t.size))
		}
		if t.class == classFloat {
			t.vax = bits&(1<<6) != 0
			f := &t.float
			f.norm = int(bits >> 4 & 3)
			f.sign = int(bits >> 8 & 255)
			f.expAt, f.expLen, f.manAt, f.manLen = c.u8(), c.u8(), c.u8(), c.u8()
			f.bias = c.u32()
		}
	case classString:
		t.padding = int(bits & 15)
	case classEnum:
		base, err := s.datatype(c, depth-1)
		if err != nil {
			return nil, err
		}
		t.base = base
		t.isBool = isBool(c, base, int(bits&0xffff), version)
	case classVarLen:
		t.varText = bits&15 == 1
	case classArray:
		n := c.u8()
		if version < 3 {
			c.skip(3)
		}
		if c.err == nil && (n == 0 || n > maxRank) {
			c.fail(fmt.Sprintf("%d dimensions", n), fmt.Sprintf("1 to %d", maxRank))
		}
		if c.err != nil {
			return nil, c.err
		}
		for range n {
			t.arrayDim = append(t.arrayDim, int64(c.u32()))
		}
		if version < 3 {
			c.skip(4 * n) // permutation, never used
		}
		if c.err != nil {
			return nil, c.err
		}
		base, err := s.datatype(c, depth-1)
		if err != nil {
			return nil, err
		}
		t.base = base
		if total, ok := nd.Count(append([]int64{base.size}, t.arrayDim...)...); !ok || total != t.size {
			c.fail(fmt.Sprintf("an array type of %d bytes", t.size), fmt.Sprintf("%d × %d", t.arrayDim, base.size))
		}
	}
	return t, c.err
}

// isBool tells whether an enumeration is the one h5py and PyTables write for
// booleans: a one-byte integer with FALSE=0 and TRUE=1.
func isBool(c *cursor, base *datatype, members, version int) bool {
	if base.class != classInteger || base.size != 1 || members != 2 {
		return false
	}
	var names [2]string
	for i := range names {
		from := c.pos
		names[i] = c.text()
		if version < 3 {
			c.align(from)
		}
	}
	v := c.bytes(2)
	if c.err != nil {
		return false
	}
	want := map[string]byte{"FALSE": 0, "TRUE": 1}
	for i, name := range names {
		w, ok := want[name]
		if !ok || v[i] != w {
			return false
		}
	}
	return names[0] != names[1]
}

// name describes a type in errors.
func (t *datatype) name() string {
	n := fmt.Sprintf("class %d", t.class)
	if t.class < len(classNames) {
		n = classNames[t.class]
	}
	return fmt.Sprintf("element type %s of %d bytes", n, t.size)
}
