package dtype

import (
	"strconv"
	"strings"
)

// wirePrefix starts every type name of a dump header and of a graph.
const wirePrefix = "DT_"

var byWire, byName = func() (wire, name map[string]Type) {
	wire, name = make(map[string]Type, count+3), make(map[string]Type, count)
	for t := range Type(count) {
		wire[strings.TrimPrefix(traits[t].wire, wirePrefix)] = t
		name[traits[t].name] = t
	}
	// Undefined and resource borrow their names.
	name["int8"], name["int64"] = Int8, Int64
	// Graph attributes spell out names that the enumeration abbreviates.
	wire["BFLOAT16"], wire["FLOAT32"], wire["FLOAT64"] = BFloat16, Float32, Float64
	return wire, name
}()

// String returns the name as result tables print it: the numpy name where
// there is one, int8 for undefined, int64 for resource, and type<n> for a
// number without a name.
func (t Type) String() string {
	if !t.Known() {
		return "type" + strconv.FormatInt(int64(t), 10)
	}
	return traits[t].name
}

// Wire returns the enumerator of the dump header, such as DT_FLOAT16, and
// DT_<n> for a number without a name.
func (t Type) Wire() string {
	if !t.Known() {
		return wirePrefix + strconv.FormatInt(int64(t), 10)
	}
	return traits[t].wire
}

// FromWire returns the type of a name as dump headers and graphs spell it, with
// or without DT_.
func FromWire(name string) (Type, bool) {
	t, ok := byWire[strings.TrimPrefix(name, wirePrefix)]
	return t, ok
}

// Parse returns the type of a name in the spelling of [Type.String].
func Parse(name string) (Type, bool) {
	t, ok := byName[name]
	return t, ok
}

// ge is indexed by the number that GE graphs and compact dumps use.
var ge = [...]Type{
	0: Float32, 1: Float16, 2: Int8, 3: Int32, 4: Uint8, 5: -1, 6: Int16, 7: Uint16, 8: Uint32, 9: Int64,
	10: Uint64, 11: Float64, 12: Bool, 13: String, 14: DualSubInt8, 15: DualSubUint8, 16: Complex64, 17: Complex128,
	18: QInt8, 19: QInt16, 20: QInt32, 21: QUint8, 22: QUint16, 23: Resource, 24: StringRef, 25: Dual, 26: Variant,
	27: BFloat16, 28: Undefined, 29: Int4, 30: Uint1, 31: Int2, 32: Uint2, 33: Complex32, 34: HiFloat8,
	35: Float8E5M2, 36: Float8E4M3FN, 37: Float8E8M0, 38: Float6E3M2, 39: Float6E2M3, 40: Float4E2M1,
	41: Float4E1M2, 42: HiFloat4,
}

// FromGE returns the type of a number in the numbering that GE uses in graph
// attributes and in compact dumps.
func FromGE(n int64) (Type, bool) {
	if n < 0 || n >= int64(len(ge)) || ge[n] < 0 {
		return Undefined, false
	}
	return ge[n], true
}

// numpy maps the kind and size of an array type to ours.
var numpy = map[string]Type{
	"f2": Float16, "f4": Float32, "f8": Float64,
	"i1": Int8, "i2": Int16, "i4": Int32, "i8": Int64,
	"u1": Uint8, "u2": Uint16, "u4": Uint32, "u8": Uint64,
	"b1": Bool, "c8": Complex64, "c16": Complex128,
}

// FromNumpy returns the type of an array protocol type string such as "<f4",
// ">i2" or "|b1", and whether its elements are big-endian. Strings, objects,
// dates, raw bytes and extended precision have no counterpart here.
func FromNumpy(descr string) (t Type, bigEndian, ok bool) {
	kind := descr
	if descr != "" && strings.IndexByte("<>|=", descr[0]) >= 0 {
		bigEndian, kind = descr[0] == '>', descr[1:]
	}
	if t, ok = numpy[kind]; !ok {
		return Undefined, false, false
	}
	return t, bigEndian && t.Bits() > 8, true
}

// Loaded returns the name of the type that elements of t have in a numpy array:
// a wider one for what numpy cannot hold, and String where there is none.
func (t Type) Loaded() string {
	switch t {
	case BFloat16:
		return "float32"
	case HiFloat8, Float8E5M2, Float8E4M3FN:
		return "float64"
	case Uint1:
		return "uint8"
	}
	return t.String()
}

// Numpy returns the array protocol type string of little-endian elements of t,
// such as "<f4", and "" for types that numpy does not have.
func (t Type) Numpy() string {
	for s, n := range numpy {
		if n != t {
			continue
		}
		if t.Bits() == 8 {
			return "|" + s
		}
		return "<" + s
	}
	return ""
}
