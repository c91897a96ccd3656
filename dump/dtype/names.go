package dtype

import (
	"strconv"
	"strings"
)

// wirePrefix starts every type name of a dump header and of a graph.
const wirePrefix = "DT_"

// The rows by what files call them.
var byWire, byName, byFramework, byNumpy, byStorage, byGE = func() (wire, name, framework, numpy, storage map[string]Type, ge map[int64]Type) {
	wire, name, framework = map[string]Type{}, map[string]Type{}, map[string]Type{}
	numpy, storage, ge = map[string]Type{}, map[string]Type{}, map[int64]Type{}
	for i := range rows {
		r := &rows[i]
		wire[strings.TrimPrefix(r.wire, wirePrefix)] = r.typ
		if r.ge != none {
			ge[int64(r.ge)] = r.typ
		}
		if r.borrowed {
			continue
		}
		name[r.name] = r.typ
		framework[r.name] = r.typ
		for _, a := range strings.Fields(r.aliases) {
			framework[a] = r.typ
		}
		if r.numpy != "" {
			numpy[r.numpy] = r.typ
		}
		if r.torch != "" && r.torch != newStorage {
			storage[r.torch] = r.typ
		}
	}
	// Graph attributes spell out names that the enumeration abbreviates.
	wire["BFLOAT16"], wire["FLOAT32"], wire["FLOAT64"] = BFloat16, Float32, Float64
	return
}()

// String returns the name as result tables print it: the numpy name where
// there is one, int8 for undefined, int64 for resource, and type<n> for a
// number without a name.
func (t Type) String() string {
	if !t.Known() {
		return "type" + strconv.FormatInt(int64(t), 10)
	}
	return t.row().name
}

// Wire returns the enumerator of the dump header, such as DT_FLOAT16, and
// DT_<n> for a number without a name.
func (t Type) Wire() string {
	if !t.Known() {
		return wirePrefix + strconv.FormatInt(int64(t), 10)
	}
	return t.row().wire
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

// FromGE returns the type of a number in the numbering that GE uses in graph
// attributes and in compact dumps, and ACL in the files of ATB.
func FromGE(n int64) (Type, bool) {
	t, ok := byGE[n]
	return t, ok
}

// tensorFlow are the types of TensorFlow by their number (types.proto); those that are missing hold no numbers.
var tensorFlow = [...]Type{
	1: Float32, 2: Float64, 3: Int32, 4: Uint8, 5: Int16, 6: Int8, 8: Complex64, 9: Int64, 10: Bool,
	11: QInt8, 12: QUint8, 13: QInt32, 14: BFloat16, 15: QInt16, 16: QUint16, 17: Uint16, 18: Complex128, 19: Float16,
	22: Uint32, 23: Uint64, 24: Float8E5M2, 25: Float8E4M3FN,
}

// FromTensorFlow returns the type TensorFlow has a number for.
func FromTensorFlow(n uint64) (Type, bool) {
	if n >= uint64(len(tensorFlow)) {
		return Undefined, false
	}
	return tensorFlow[n], tensorFlow[n] != Undefined
}

// FromFramework returns the type of a name as PyTorch, MindSpore and numpy
// spell it in recordings: torch.bfloat16, torch.half, BFloat16, Float32, bf16,
// bool_.
func FromFramework(name string) (Type, bool) {
	for _, module := range [...]string{"torch.", "mindspore.", "numpy."} {
		if rest, ok := strings.CutPrefix(name, module); ok {
			name = rest
			break
		}
	}
	t, ok := byFramework[name]
	if !ok {
		t, ok = byFramework[strings.ToLower(name)]
	}
	return t, ok
}

// FromTorchStorage returns the element type of a storage class of PyTorch, such
// as HalfStorage.
func FromTorchStorage(class string) (Type, bool) {
	t, ok := byStorage[class]
	return t, ok
}

// TorchStorage returns how files for every version of PyTorch keep elements of
// t: the storage class and the type of its elements. Early versions have no
// unsigned types beyond uint8: these are kept in the next wider signed type, and
// uint64 in int64. ok is false for types that have to be widened first.
func (t Type) TorchStorage() (class string, kept Type, ok bool) {
	kept = t
	if k := t.row().kept; k != Undefined {
		kept = k
	}
	class = kept.row().torch
	if class == "" || class == newStorage {
		return "", Undefined, false
	}
	return class, kept, true
}

// FromNumpy returns the type of an array protocol type string such as "<f4",
// ">i2" or "|b1", and whether its elements are big-endian. Strings, objects,
// dates, raw bytes and extended precision have no counterpart here.
func FromNumpy(descr string) (t Type, bigEndian, ok bool) {
	kind := descr
	if descr != "" && strings.IndexByte("<>|=", descr[0]) >= 0 {
		bigEndian, kind = descr[0] == '>', descr[1:]
	}
	if t, ok = byNumpy[kind]; !ok {
		return Undefined, false, false
	}
	return t, bigEndian && t.Bits() > 8, true
}

// Numpy returns the array protocol type string of little-endian elements of t,
// such as "<f4", and "" for types that numpy does not have.
func (t Type) Numpy() string {
	switch r := t.row(); {
	case r.numpy == "":
		return ""
	case r.bits == 8:
		return "|" + r.numpy
	default:
		return "<" + r.numpy
	}
}

// Array returns the type that elements of t have in a numpy array: t itself
// where numpy has it, else one that holds every value, float32 for bfloat16 and
// int8 for int4. ok is false for types that cannot be decoded.
func (t Type) Array() (typ Type, ok bool) {
	r := t.row()
	if r.numpy != "" {
		return t, true
	}
	return r.array, r.array != Undefined
}

// Reference returns the type that msaccucmp.py loads elements of t as: float64
// for 8-bit floats. ok is false for types that it does not read.
func (t Type) Reference() (typ Type, ok bool) {
	r := t.row()
	if r.numpy != "" {
		return t, true
	}
	return r.reference, r.reference != Undefined
}

// Loaded returns the name of [Type.Reference], and that of t where there is
// none.
func (t Type) Loaded() string {
	if typ, ok := t.Reference(); ok {
		return typ.String()
	}
	return t.String()
}
