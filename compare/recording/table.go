package recording

import (
	"encoding/json"
	"os"

	"precision/dump/msprobe"
	"precision/dump/stats"
)

// fromTable gives a value what a table of statistics says of it.
func fromTable(v *msprobe.Value, row *stats.Row) {
	v.DType, v.Elem, v.Known, v.Shape = row.DType, row.Elem, row.Known, row.Shape
	if row.Known {
		v.DType = row.Elem.String() // one name for what is called float, DT_FLOAT and float32
	}
	v.Max, v.Min, v.Mean, v.Norm, v.MD5 = row.Max, row.Min, row.Mean, row.Norm, row.Sum
}

// fileSize is the size of a file, 0 if there is none.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// param is an argument of an operation, by the JSON of its value.
func param(key, text string) msprobe.Value {
	v := msprobe.Value{Section: msprobe.Kwargs, Path: key, Kind: msprobe.Scalar, Type: "param"}
	var s string
	switch {
	case text == "null":
		v.Kind = msprobe.None
	case text == "true" || text == "false":
		v.Value = msprobe.Number{Kind: msprobe.Bool}
		if text == "true" {
			v.Value.I, v.Value.F = 1, 1
		}
	case json.Unmarshal([]byte(text), &s) == nil:
		v.Value = msprobe.Number{Kind: msprobe.Text, S: s}
	default:
		n, ok := msprobe.ParseNumber([]byte(text))
		if !ok {
			n = msprobe.Number{Kind: msprobe.Text, S: text} // a list
		}
		v.Value = n
	}
	return v
}
