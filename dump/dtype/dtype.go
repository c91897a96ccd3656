// Package dtype knows the element types of tensors: their numbers in a device
// dump, their names, their sizes, and how to widen them to float32 or float64.
//
// Types are numbered as in the header of a device dump. Graphs and compact
// (nano) dumps number them differently; [FromGE] translates. Elements are
// little-endian; types smaller than a byte are packed.
package dtype

import (
	"math"
	"math/bits"
)

// Type is the element type of a tensor, by its number in the header of a
// device dump.
type Type int32

// The element types a device dump can name.
const (
	Undefined     Type = 0 // raw bytes, read as int8
	Float32       Type = 1
	Float16       Type = 2
	Int8          Type = 3
	Uint8         Type = 4
	Int16         Type = 5
	Uint16        Type = 6
	Int32         Type = 7
	Int64         Type = 8
	Uint32        Type = 9
	Uint64        Type = 10
	Bool          Type = 11
	Float64       Type = 12
	String        Type = 13
	DualSubInt8   Type = 14
	DualSubUint8  Type = 15
	Complex64     Type = 16
	Complex128    Type = 17
	QInt8         Type = 18
	QInt16        Type = 19
	QInt32        Type = 20
	QUint8        Type = 21
	QUint16       Type = 22
	Resource      Type = 23 // a handle, read as int64
	StringRef     Type = 24
	Dual          Type = 25
	Variant       Type = 26
	BFloat16      Type = 27
	Int4          Type = 28
	Uint1         Type = 29
	Int2          Type = 30
	Uint2         Type = 31
	Complex32     Type = 32 // two float16
	HiFloat8      Type = 33
	Float8E5M2    Type = 34
	Float8E4M3FN  Type = 35
	Float8E8M0    Type = 36
	Float6E3M2    Type = 37
	Float6E2M3    Type = 38
	Float4E2M1    Type = 39
	Float4E1M2    Type = 40
	HiFloat4      Type = 41
	HiFloat4Scale Type = 42
)

// count is the number of types with a name.
const count = 43

// trait is what is known of a type.
type trait struct {
	name, wire string
	bits       uint8 // of one element; 0 when it has no fixed or no known size
	kind       kind
	fits32     bool // every value is exact in float32
}

// kind tells how the bits of an element are decoded. The zero kind is not
// readable.
type kind uint8

const (
	opaque kind = iota
	signed
	unsigned
	boolean
	float
	brain
	complexPair
	table8 // 8-bit codes looked up in a table
	packed // several elements to a byte
)

// traits is indexed by Type. Types whose packing in memory is not documented
// (the 6-bit floats) or whose values depend on another tensor (hifloat4) have
// the kind opaque.
var traits = [count]trait{
	Undefined:     {"int8", "DT_UNDEFINED", 8, signed, true},
	Float32:       {"float32", "DT_FLOAT", 32, float, true},
	Float16:       {"float16", "DT_FLOAT16", 16, float, true},
	Int8:          {"int8", "DT_INT8", 8, signed, true},
	Uint8:         {"uint8", "DT_UINT8", 8, unsigned, true},
	Int16:         {"int16", "DT_INT16", 16, signed, true},
	Uint16:        {"uint16", "DT_UINT16", 16, unsigned, true},
	Int32:         {"int32", "DT_INT32", 32, signed, false},
	Int64:         {"int64", "DT_INT64", 64, signed, false},
	Uint32:        {"uint32", "DT_UINT32", 32, unsigned, false},
	Uint64:        {"uint64", "DT_UINT64", 64, unsigned, false},
	Bool:          {"bool", "DT_BOOL", 8, boolean, true},
	Float64:       {"float64", "DT_DOUBLE", 64, float, false},
	String:        {"string", "DT_STRING", 0, opaque, false},
	DualSubInt8:   {"dual_sub_int8", "DT_DUAL_SUB_INT8", 0, opaque, false},
	DualSubUint8:  {"dual_sub_uint8", "DT_DUAL_SUB_UINT8", 0, opaque, false},
	Complex64:     {"complex64", "DT_COMPLEX64", 64, complexPair, true},
	Complex128:    {"complex128", "DT_COMPLEX128", 128, complexPair, false},
	QInt8:         {"qint8", "DT_QINT8", 8, signed, true},
	QInt16:        {"qint16", "DT_QINT16", 16, signed, true},
	QInt32:        {"qint32", "DT_QINT32", 32, signed, false},
	QUint8:        {"quint8", "DT_QUINT8", 8, unsigned, true},
	QUint16:       {"quint16", "DT_QUINT16", 16, unsigned, true},
	Resource:      {"int64", "DT_RESOURCE", 64, signed, false},
	StringRef:     {"string_ref", "DT_STRING_REF", 0, opaque, false},
	Dual:          {"dual", "DT_DUAL", 0, opaque, false},
	Variant:       {"variant", "DT_VARIANT", 0, opaque, false},
	BFloat16:      {"bfloat16", "DT_BF16", 16, brain, true},
	Int4:          {"int4", "DT_INT4", 4, packed, true},
	Uint1:         {"uint1", "DT_UINT1", 1, packed, true},
	Int2:          {"int2", "DT_INT2", 2, packed, true},
	Uint2:         {"uint2", "DT_UINT2", 2, packed, true},
	Complex32:     {"complex32", "DT_COMPLEX32", 32, complexPair, true},
	HiFloat8:      {"hifloat8", "DT_HIFLOAT8", 8, table8, true},
	Float8E5M2:    {"float8_e5m2", "DT_FLOAT8_E5M2", 8, table8, true},
	Float8E4M3FN:  {"float8_e4m3fn", "DT_FLOAT8_E4M3FN", 8, table8, true},
	Float8E8M0:    {"float8_e8m0", "DT_FLOAT8_E8M0", 8, table8, true},
	Float6E3M2:    {"float6_e3m2", "DT_FLOAT6_E3M2", 0, opaque, true},
	Float6E2M3:    {"float6_e2m3", "DT_FLOAT6_E2M3", 0, opaque, true},
	Float4E2M1:    {"float4_e2m1", "DT_FLOAT4_E2M1", 4, packed, true},
	Float4E1M2:    {"float4_e1m2", "DT_FLOAT4_E1M2", 4, packed, true},
	HiFloat4:      {"hifloat4", "DT_HIFLOAT4", 4, opaque, true},
	HiFloat4Scale: {"hifloat4_scale", "DT_HIFLOAT4_SCALE", 0, opaque, false},
}

// trait returns what is known of t; the zero trait for an unknown number.
func (t Type) trait() trait {
	if t < 0 || t >= count {
		return trait{}
	}
	return traits[t]
}

// Known reports whether t is a number the format gives a meaning to.
func (t Type) Known() bool { return t >= 0 && t < count }

// Bits is the size of one element in bits: 16 for float16, 1 for uint1, 64 for
// complex64. It is 0 when elements have no fixed or no known size.
func (t Type) Bits() int { return int(t.trait().bits) }

// Bytes is the space that n elements take, the last byte of a packed type
// counted whole. It is -1 when n is negative, when the result does not fit
// int64, or when the size of an element is not known.
func (t Type) Bytes(n int64) int64 {
	b := t.trait().bits
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
	b := int64(t.trait().bits)
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

// Readable reports whether [Widen32] and [Widen64] can decode the type.
func (t Type) Readable() bool { return t.trait().kind != opaque }

// FitsFloat32 reports whether every value of the type is exact in float32.
func (t Type) FitsFloat32() bool { return t.trait().fits32 }

// Parts is the number of reals in an element: 2 for complex types, else 1.
func (t Type) Parts() int {
	if t.trait().kind == complexPair {
		return 2
	}
	return 1
}

// Float reports whether the type has fractions: floating point of any width
// and the complex types.
func (t Type) Float() bool {
	switch t.trait().kind {
	case float, brain, complexPair, table8:
		return true
	}
	return t >= Float6E3M2 && t <= HiFloat4Scale
}
