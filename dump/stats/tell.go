package stats

import "precision/dump/msprobe"

// Tell gives a value what a line of a table says of it.
func (r *Row) Tell(v *msprobe.Value) {
	v.DType, v.Elem, v.Known, v.Shape = r.DType, r.Elem, r.Known, r.Shape
	if r.Known {
		v.DType = r.Elem.String() // one name for what is called float, DT_FLOAT and float32
	}
	v.Max, v.Min, v.Mean, v.Norm, v.MD5 = r.Max, r.Min, r.Mean, r.Norm, r.Sum
}
