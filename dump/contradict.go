package dump

import (
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// headerStart is where the header of a device dump begins, for those who name the place of
// what is wrong in it.
const headerStart = minDump

// Misnamed is what is wrong with a file whose header is of another operator than its name, as
// that of two files that were exchanged; else nil. Slices are named by FFTS+ and their
// headers by the operator, so that these say nothing.
func (f *File) Misnamed() error {
	if f.Form != Binary || f.OpName == "" || f.Name.OpName == "" || f.Slices != nil || f.Name.TaskType == TaskFFTSPlus || strings.Contains(f.Name.OpName, sliceMark) {
		return nil
	}
	if Normalise(f.OpName) == Normalise(f.Name.OpName) {
		return nil
	}
	return errorf(f.Path, CodeInvalid, headerStart, "the header is of operator %q, the name of the file of %q: were files exchanged or renamed?", f.OpName, f.Name.OpName)
}

// Contradicts is what is wrong with a tensor whose header has another type or other dims than
// the graph gives it; else nil. What the graph leaves open is not looked at: a type that is
// not known, dims below 0, none at all, or those of another layout.
func (t *Tensor) Contradicts(path string, typ dtype.Type, layout string, shape []int64) error {
	truth := func(t dtype.Type) bool { return t.IsBool() || t.Bits() == 8 && t.IsInteger() } // bool is kept in either
	if typ.Readable() && t.Type.Readable() && !dtype.SameForm(typ, t.Type) && !(truth(typ) && truth(t.Type)) {
		return errorf(path, CodeInvalid, headerStart, "%s: found %s in the header, expected %s, which the graph gives it", t.label(), t.Type, typ)
	}
	layout, _, _ = strings.Cut(layout, ":")
	if layout != t.Format.String() || len(shape) == 0 || slices.Min(shape) < 0 || len(t.Shape) == 0 {
		return nil
	}
	one := func(d int64) bool { return d == 1 }
	found, expected := slices.DeleteFunc(slices.Clone(t.Shape), one), slices.DeleteFunc(slices.Clone(shape), one)
	n, okFound := nd.Count(found...)
	m, okExpected := nd.Count(expected...)
	if !okFound || !okExpected || n != m || len(found) == len(expected) && !slices.Equal(found, expected) {
		return errorf(path, CodeInvalid, headerStart, "%s: found the shape %v in the header, expected %v, which the graph gives it", t.label(), t.Shape, shape)
	}
	return nil
}
