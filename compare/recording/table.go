package recording

import (
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
