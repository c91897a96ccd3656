// Package dtype knows the element types of recorded tensors: their numbers in
// a device dump header, their names in graphs, tables and numpy arrays, their
// sizes, and how to widen them to float32 or float64.
package dtype

import (
	"math/bits"
	"strconv"
	"strings"
)

// Type is the number the device dump header uses for an element type.
type Type int32

// The element types by their numbers on the wire.
const (
	Undefined    Type = 0
	Float32      Type = 1
	Float16      Type = 2
	Int8         Type = 3
	Uint8        Type = 4
	Int16        Type = 5
	Uint16       Type = 6
	Int32        Type = 7
	Int64        Type = 8
	Uint32       Type = 9
	Uint64       Type = 10
	Bool         Type = 11
	Float64      Type = 12
	String       Type = 13
	DualSubInt8  Type = 14
	DualSubUint8 Type = 15
	Complex64    Type = 16
	Complex128   Type = 17
	QInt8        Type = 18
	QInt16       Type = 19
	QInt32       Type = 20
	QUint8       Type = 21
	QUint16      Type = 22
	Resource     Type = 23
	StringRef    Type = 24
	Dual         Type = 25
	Variant      Type = 26
	BFloat16     Type = 27
	Int4         Type = 28
	Uint1        Type = 29
	Int2         Type = 30
	Uint2        Type = 31
	Complex32    Type = 32
	HiFloat8     Type = 33
	Float8E5M2   Type = 34
	Float8E4M3FN Type = 35
	Float8E8M0   Type = 36
	Float6E3M2   Type = 37
	Float6E2M3   Type = 38
	Float4E2M1   Type = 39
	Float4E1M2   Type = 40
	HiFloat4     Type = 41
	HiFloat4Sc   Type = 42
)

// info is what is known of a type. bits is 0 where an element has no fixed
// size or its packing is not documented.
type info struct {
	name    string // as the result table and numpy print it
	wire    string // behind DT_
	bits    uint8
	exact32 bool // a float32 holds every value
	numeric bool // elements can be read as numbers
}

var infos = [...]info{
	Undefined:    {"int8", "UNDEFINED", 8, true, true},
	Float32:      {"float32", "FLOAT", 32, true, true},
	Float16:      {"float16", "FLOAT16", 16, true, true},
	Int8:         {"int8", "INT8", 8, true, true},
	Uint8:        {"uint8", "UINT8", 8, true, true},
	Int16:        {"int16", "INT16", 16, true, true},
	Uint16:       {"uint16", "UINT16", 16, true, true},
	Int32:        {"int32", "INT32", 32, false, true},
	Int64:        {"int64", "INT64", 64, false, true},
	Uint32:       {"uint32", "UINT32", 32, false, true},
	Uint64:       {"uint64", "UINT64", 64, false, true},
	Bool:         {"bool", "BOOL", 8, true, true},
	Float64:      {"float64", "DOUBLE", 64, false, true},
	String:       {"string", "STRING", 0, false, false},
	DualSubInt8:  {"dual_sub_int8", "DUAL_SUB_INT8", 0, false, false},
	DualSubUint8: {"dual_sub_uint8", "DUAL_SUB_UINT8", 0, false, false},
	Complex64:    {"complex64", "COMPLEX64", 64, true, true},
	Complex128:   {"complex128", "COMPLEX128", 128, false, true},
	QInt8:        {"qint8", "QINT8", 8, true, true},
	QInt16:       {"qint16", "QINT16", 16, true, true},
	QInt32:       {"qint32", "QINT32", 32, false, true},
	QUint8:       {"quint8", "QUINT8", 8, true, true},
	QUint16:      {"quint16", "QUINT16", 16, true, true},
	Resource:     {"int64", "RESOURCE", 64, false, true},
	StringRef:    {"string_ref", "STRING_REF", 0, false, false},
	Dual:         {"dual", "DUAL", 0, false, false},
	Variant:      {"variant", "VARIANT", 0, false, false},
	BFloat16:     {"bfloat16", "BF16", 16, true, true},
	Int4:         {"int4", "INT4", 4, true, true},
	Uint1:        {"uint1", "UINT1", 1, true, true},
	Int2:         {"int2", "INT2", 2, true, true},
	Uint2:        {"uint2", "UINT2", 2, true, true},
	Complex32:    {"complex32", "COMPLEX32", 32, true, true},
	HiFloat8:     {"hifloat8", "HIFLOAT8", 8, true, true},
	Float8E5M2:   {"float8_e5m2", "FLOAT8_E5M2", 8, true, true},
	Float8E4M3FN: {"float8_e4m3fn", "FLOAT8_E4M3FN", 8, true, true},
	Float8E8M0:   {"float8_e8m0", "FLOAT8_E8M0", 8, true, true},
	// The packing of the six bit types is not documented; the four bit ones
	// are two to a byte, low part first, like int4.
	Float6E3M2: {"float6_e3m2", "FLOAT6_E3M2", 0, false, false},
	Float6E2M3: {"float6_e2m3", "FLOAT6_E2M3", 0, false, false},
	Float4E2M1: {"float4_e2m1", "FLOAT4_E2M1", 4, true, true},
	Float4E1M2: {"float4_e1m2", "FLOAT4_E1M2", 4, true, true},
	HiFloat4:   {"hifloat4", "HIFLOAT4", 0, false, false},
	HiFloat4Sc: {"hifloat4_scale", "HIFLOAT4_SCALE", 0, false, false},
}

func (t Type) info() info {
	if t >= 0 && int(t) < len(infos) {
		return infos[t]
	}
	return info{}
}

// String is the name as the result table prints it: float16, int8, bfloat16.
func (t Type) String() string {
	if n := t.info().name; n != "" {
		return n
	}
	return "type" + strconv.Itoa(int(t))
}

// Wire is the name in graphs: DT_FLOAT16.
func (t Type) Wire() string {
	if w := t.info().wire; w != "" {
		return "DT_" + w
	}
	return "DT_" + strconv.Itoa(int(t))
}

// Known tells whether the number is a type at all.
func (t Type) Known() bool { return t.info().name != "" }

// Readable tells whether the elements can be read as numbers.
func (t Type) Readable() bool { return t.info().numeric }

// Bits is the size of an element, 0 when it has no fixed or no known one.
func (t Type) Bits() int { return int(t.info().bits) }

// FitsFloat32 tells whether a float32 holds every value of the type exactly.
func (t Type) FitsFloat32() bool { return t.info().exact32 }

// Parts is how many numbers an element is: 2 for complex types, else 1.
func (t Type) Parts() int {
	switch t {
	case Complex64, Complex128, Complex32:
		return 2
	}
	return 1
}

// Bytes is the space n elements take, the last byte filled up. It is -1 when
// the type has no size, n is negative or the result does not fit.
func (t Type) Bytes(n int64) int64 {
	size := uint64(t.Bits())
	if size == 0 || n < 0 {
		return -1
	}
	hi, lo := bits.Mul64(uint64(n), size)
	if hi != 0 || lo > 1<<63-8 {
		return -1
	}
	return int64((lo + 7) / 8)
}

// Count is how many whole elements n bytes hold.
func (t Type) Count(n int64) int64 {
	size := int64(t.Bits())
	if size == 0 || n <= 0 {
		return 0
	}
	if size%8 == 0 {
		return n / (size / 8)
	}
	return n * (8 / size)
}

// FromWire reads a type name of a graph, with or without DT_. The graph's
// attributes spell bfloat16 DT_BFLOAT16.
func FromWire(name string) (Type, bool) {
	name = strings.TrimPrefix(name, "DT_")
	if name == "BFLOAT16" {
		return BFloat16, true
	}
	for t, i := range infos {
		if i.wire == name {
			return Type(t), true
		}
	}
	return Undefined, false
}

// FromGE reads a number of the other numbering GE uses, in attributes and in
// the dumps of small devices.
func FromGE(n int64) (Type, bool) {
	switch {
	case n < 0 || n > 42:
		return Undefined, false
	case n == 28:
		return Undefined, true
	case n > 28:
		return Type(n - 1), true
	case n >= 13:
		return Type(n), true
	}
	low := [...]Type{Float32, Float16, Int8, Int32, Uint8, Undefined, Int16, Uint16, Uint32, Int64, Uint64, Float64, Bool}
	return low[n], n != 5
}

// FromNumpy reads a type text of a npy header, as "<f4" or "|b1". big tells
// whether elements of several bytes are stored big-endian.
func FromNumpy(descr string) (t Type, big, ok bool) {
	if descr == "" {
		return Undefined, false, false
	}
	switch descr[0] {
	case '<', '|', '=':
		descr = descr[1:]
	case '>':
		big, descr = true, descr[1:]
	}
	for i, d := range numpy {
		if d != "" && (d == descr || longNumpy[d] == descr) {
			return Type(i), big && infos[i].bits > 8, true
		}
	}
	return Undefined, false, false
}

var numpy = [...]string{Float32: "f4", Float16: "f2", Int8: "i1", Uint8: "u1", Int16: "i2", Uint16: "u2", Int32: "i4",
	Int64: "i8", Uint32: "u4", Uint64: "u8", Bool: "b1", Float64: "f8", Complex64: "c8", Complex128: "c16"}

var longNumpy = map[string]string{"f4": "float32", "f2": "float16", "i1": "int8", "u1": "uint8", "i2": "int16", "u2": "uint16",
	"i4": "int32", "i8": "int64", "u4": "uint32", "u8": "uint64", "b1": "bool", "f8": "float64", "c8": "complex64",
	"c16": "complex128"}

// Numpy is the type text of a npy header for little-endian elements, "" when
// numpy has no such type.
func (t Type) Numpy() string {
	if t < 0 || int(t) >= len(numpy) || numpy[t] == "" {
		return ""
	}
	if infos[t].bits == 8 {
		return "|" + numpy[t]
	}
	return "<" + numpy[t]
}
