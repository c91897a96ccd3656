// Package dtype knows the element types of tensors: their numbers in a device
// dump, their names, their sizes, how exact they are, and how to widen them to
// float32 or float64.
//
// Types are numbered as in the header of a device dump. Graphs and compact
// (nano) dumps number them differently; [FromGE] translates. Elements are
// little-endian; types smaller than a byte are packed.
//
// All that is known of a type is one row of a table: adding a type is adding a
// row, and a loop that decodes it if no other type has the same.
package dtype

import (
	"math"
	"math/bits"
)

// Type is the element type of a tensor, by its number in the header of a
// device dump.
type Type int32

// Known reports whether t is a number the format gives a meaning to.
func (t Type) Known() bool { return t.row().wire != "" }

// Bits is the size of one element in bits: 16 for float16, 1 for uint1, 64 for
// complex64. It is 0 when elements have no fixed or no known size.
func (t Type) Bits() int { return int(t.row().bits) }

// Bytes is the space that n elements take, the last byte of a packed type
// counted whole. It is -1 when n is negative, when the result does not fit
// int64, or when the size of an element is not known.
func (t Type) Bytes(n int64) int64 {
	b := t.row().bits
	if n < 0 || b == 0 {
		return -1
	}
	hi, lo := bits.Mul64(uint64(n), uint64(b))
	lo, carry := bits.Add64(lo, 7, 0)
	hi += carry
	if hi >= 8 { // more than 2^64 bytes
		return -1
	}
	if v := hi<<61 | lo>>3; v <= math.MaxInt64 {
		return int64(v)
	}
	return -1
}

// Count is the number of whole elements in n bytes; 0 when the size of an
// element is not known.
func (t Type) Count(n int64) int64 {
	b := int64(t.row().bits)
	if n <= 0 || b == 0 {
		return 0
	}
	if b >= 8 {
		return n / (b / 8)
	}
	if per := 8 / b; n <= math.MaxInt64/per {
		return n * per
	}
	return math.MaxInt64
}

// Packed reports whether several elements share a byte.
func (t Type) Packed() bool { b := t.row().bits; return b > 0 && b < 8 }

// Readable reports whether [Widen32] and [Widen64] can decode the type.
func (t Type) Readable() bool { return t.row().widen.to32 != nil }

// FitsFloat32 reports whether every value of the type is exact in float32.
func (t Type) FitsFloat32() bool { r := t.row(); return r.wire != "" && !r.wide }

// Parts is the number of reals in an element: 2 for complex types, else 1.
func (t Type) Parts() int {
	if t.row().class == classComplex {
		return 2
	}
	return 1
}

// Float reports whether the type has fractions: floating point of any width
// and the complex types.
func (t Type) Float() bool { return t.IsFloat() || t.IsComplex() }

// IsFloat reports whether elements are real floating-point numbers.
func (t Type) IsFloat() bool { return t.row().class == classFloat }

// IsComplex reports whether elements are pairs of floating-point numbers.
func (t Type) IsComplex() bool { return t.row().class == classComplex }

// IsBool reports whether elements are truth values.
func (t Type) IsBool() bool { return t.row().class == classBool }

// IsInteger reports whether elements are whole numbers, with or without sign;
// truth values are not.
func (t Type) IsInteger() bool {
	c := t.row().class
	return c == classSigned || c == classUnsigned
}

// Signed reports whether the type has negative numbers: signed integers,
// floating point but the scales of OCP MX, complex numbers.
func (t Type) Signed() bool {
	switch t.row().class {
	case classSigned, classComplex:
		return true
	case classFloat:
		return t != Float8E8M0
	}
	return false
}

// SameForm reports whether elements of both types are the same bytes with the
// same meaning, as those of int8 and qint8 are.
func SameForm(a, b Type) bool {
	x, y := a.row(), b.row()
	if a == b {
		return true
	}
	return a.IsInteger() && x.class == y.class && x.bits == y.bits && x.bits != 0
}
