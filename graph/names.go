package graph

import (
	"strconv"

	"precision/dump/dtype"
)

// dtypeName returns the name of a number of the dtype enum, "" for undefined, the digits of an unknown
// number.
func dtypeName(n int64) string {
	if n == 0 {
		return ""
	}
	if t := dtype.Type(n); int64(t) == n && t.Known() {
		return t.Wire()
	}
	return strconv.FormatInt(n, 10)
}

// undefined is the name of the zero dtype, kept as "".
const undefined = "DT_UNDEFINED"

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

// listType returns the number of a val_type word, VT_LIST_STRING or a plain number; -1 when unknown.
func listType(p []byte) int16 {
	if n, ok := decimal(p); ok && n >= 0 && n < 1<<15 {
		return int16(n)
	}
	const prefix = "VT_LIST_"
	if len(p) > len(prefix) && string(p[:len(prefix)]) == prefix {
		for i, name := range listTypes {
			if string(p[len(prefix):]) == name {
				return int16(i)
			}
		}
	}
	return -1
}

const mixedList = "list with elements of several kinds: only the first kind is kept"
