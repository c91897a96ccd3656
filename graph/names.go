package graph

import (
	"strconv"

	"precision/dump/dtype"
)

// DTypeName returns the name of a number of the dtype enum, "" for undefined, the digits of an unknown
// number.
func DTypeName(n int64) string {
	if n == 0 {
		return ""
	}
	if t := dtype.Type(n); int64(t) == n && t.Known() {
		return t.Wire()
	}
	return strconv.FormatInt(n, 10)
}

// Undefined is the name of the zero dtype, kept as "".
const Undefined = "DT_UNDEFINED"

// GEDTypeName returns the name, such as "DT_FLOAT16", of a GE data type number as the attributes dst_type,
// SrcT, DstT, data_type and dtype hold it; unknown numbers are returned as digits.
func GEDTypeName(n int64) string {
	if t, ok := dtype.FromGE(n); ok {
		return t.Wire()
	}
	return strconv.FormatInt(n, 10)
}

var listTypes = [...]string{"NONE", "STRING", "INT", "FLOAT", "BOOL", "BYTES", "TENSOR_DESC", "TENSOR", "GRAPH",
	"NAMED_ATTRS", "DATA_TYPE"}

const listTypePrefix = "VT_LIST_"

// ListTypeName returns the word of a val_type number, VT_LIST_STRING; "" when it has none.
func ListTypeName(n int) string {
	if n < 0 || n >= len(listTypes) {
		return ""
	}
	return listTypePrefix + listTypes[n]
}

// ListTypeNumber returns the number of a val_type word, VT_LIST_STRING or a plain number; -1 when unknown.
func ListTypeNumber(p []byte) int16 {
	if numeric(p) {
		if n, err := strconv.ParseUint(string(p), 10, 15); err == nil {
			return int16(n)
		}
	}
	if len(p) > len(listTypePrefix) && string(p[:len(listTypePrefix)]) == listTypePrefix {
		for i, name := range listTypes {
			if string(p[len(listTypePrefix):]) == name {
				return int16(i)
			}
		}
	}
	return -1
}

// numeric reports whether p may be a number: parsing every word as one would make an error of each.
func numeric(p []byte) bool { return len(p) > 0 && (p[0] == '-' || p[0] >= '0' && p[0] <= '9') }
