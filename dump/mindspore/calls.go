package mindspore

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/must"
	"precision/internal/nd"
	catalogue "precision/op"
)

// Calls are the kernels of an iteration as calls, in the order in which they ran; what holds
// the state behind the last of them, parameters above all, comes at the end.
type Calls struct {
	Calls []*msprobe.Call
	// Files leads from the DataName of a value to the file of its elements.
	Files map[string]string
	// Widened are the tensors that are called float16 and are float32 in their files, as the
	// writer of MindSpore has them on a CPU.
	Widened int
	// Gaps are the places in Calls of kernels that have no file for an input before others.
	Gaps map[int]bool
}

// State is the type of what holds a value and computes nothing: a parameter, an input of the
// network. Its file is written when the iteration is over.
const State = "Parameter"

// Calls makes calls of the kernels. Errors of files go to Remarks.
func (it *Iteration) Calls() *Calls {
	c := &Calls{Files: map[string]string{}, Gaps: map[int]bool{}}
	kernels := slices.Clone(it.Kernels)
	slices.SortStableFunc(kernels, func(a, b *Kernel) int { return last(a) - last(b) })
	// Where elements were kept, those of every tensor were.
	kept := slices.ContainsFunc(kernels, func(k *Kernel) bool {
		return slices.ContainsFunc(k.Tensors, func(x Tensor) bool { return x.File != "" })
	})
	for _, k := range kernels {
		call := &msprobe.Call{Name: k.Name, Parsed: msprobe.Name{Form: msprobe.API, API: Plain(k.Name), Class: k.Type, Number: k.Run}}
		for i := range k.Tensors {
			x := &k.Tensors[i]
			if in, ok := k.updated(x); ok {
				if in == nil {
					continue
				}
				out := *in
				out.Output, out.Index = true, x.Index
				x = &out
			}
			if !x.Output && k.gets(x) {
				continue
			}
			call.Values = append(call.Values, c.value(it, k, x, kept))
		}
		if k.gap() {
			c.Gaps[len(c.Calls)] = true
		}
		for _, a := range k.Args {
			call.Values = append(call.Values, msprobe.Param(a.Name, a.JSON))
		}
		c.Calls = append(c.Calls, call)
	}
	return c
}

func last(k *Kernel) int {
	if k.Type == State {
		return 1
	}
	return 0
}

// gap tells whether an input is missing before another.
func (k *Kernel) gap() bool {
	next := 0
	for _, x := range k.Tensors {
		if x.Output || x.Slot > 0 {
			continue
		}
		if x.Index > next {
			return true
		}
		next = x.Index + 1
	}
	return next == 0 && k.Type != State && len(k.Tensors) > 0
}

// updated tells of an output that it is a buffer nobody fills, in place of an input; in is nil if
// that was not recorded. Files of inputs are written after the kernel ran.
func (k *Kernel) updated(x *Tensor) (in *Tensor, ok bool) {
	list := catalogue.Of(k.Type).Updates
	if !x.Output || x.Index >= len(list) || list[x.Index] < 0 {
		return nil, false
	}
	for i := range k.Tensors {
		if y := &k.Tensors[i]; !y.Output && y.Index == list[x.Index] {
			return y, true
		}
	}
	return nil, false
}

// gets tells of an input that it is told as the output it became: what it was before is not in the file.
// Statistics that a kernel gathers beside its result stay what they are.
func (k *Kernel) gets(x *Tensor) bool {
	list := catalogue.Of(k.Type).Updates
	if len(list) == 0 || list[0] < 0 {
		return false
	}
	return slices.Contains(list, x.Index) && slices.ContainsFunc(k.Tensors, func(y Tensor) bool { return y.Output && y.Index < len(list) && list[y.Index] == x.Index })
}

// value is a tensor of a kernel as a value of its call.
func (c *Calls) value(it *Iteration, k *Kernel, x *Tensor, kept bool) msprobe.Value {
	v := msprobe.Value{Section: msprobe.Input, Kind: msprobe.Tensor, Type: "mindspore.Tensor", Path: strconv.Itoa(x.Index)}
	if x.Output {
		v.Section = msprobe.Output
	}
	if x.Slot > 0 {
		v.Path += "." + strconv.Itoa(x.Slot)
	}
	if row := it.Row(x); row != nil {
		row.Tell(&v)
	}
	name := fmt.Sprintf("%s#%d/%s.%s", k.Name, k.Run, v.Section, v.Path)
	switch {
	case x.File != "":
		v.DataName = name
		c.Files[name] = x.File
		if err := c.array(&v, x); err != nil {
			it.remark(&ValueError{Name: name, File: x.File, Err: err})
		}
	case kept:
		it.remark(&ValueError{Name: name, File: it.Dir, Err: fmt.Errorf("%s: no file for %s, expected one as for the others of the table", it.Dir, name)})
	}
	return v
}

// ValueError tells what is wrong with a tensor of a kernel.
type ValueError struct {
	Name, File string
	Err        error
}

func (e *ValueError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *ValueError) Unwrap() error { return e.Err }

// array takes type and shape of the file of a tensor, and of a single number, as attributes of
// kernels are, the value.
func (c *Calls) array(v *msprobe.Value, x *Tensor) (err error) {
	defer must.Catch(&err)
	f := must.Get(dump.OpenFile(x.File))
	defer f.Close()
	must.Not(len(f.Outputs) != 1, "%s: found %d tensors, expected an array", x.File, len(f.Outputs))
	t := &f.Outputs[0]
	must.Do(t.Err)
	typ, n := t.Type, nd.Size(t.Shape)
	// The array has the shape of the tensor, its header the type, and the bytes are those of another.
	if info, err := os.Stat(x.File); err == nil && typ == dtype.Float16 && n > 0 && info.Size()-t.Offset == 4*n {
		typ = dtype.Float32
		c.Widened++
	}
	named := typ
	if x.Name.Typed && typ == t.Type {
		named = x.Name.DType
	}
	if v.Shape == nil || !v.Known || typ != t.Type {
		v.DType, v.Elem, v.Known, v.Shape = named.String(), named, true, t.Shape
		if v.Shape == nil {
			v.Shape = []int64{}
		}
	}
	if size := int(typ.Bits() / 8); n == 1 && size > 0 && size <= 8 && !typ.IsComplex() && v.Max.Kind == msprobe.Absent {
		b := make([]byte, size)
		_, err := f.ReadAt(b, t.Offset)
		must.Not(err != nil, "%s: %w", x.File, err)
		var one [1]float64
		dtype.Widen64(typ, one[:], b)
		v.Max, v.Min = number(typ, one[0]), number(typ, one[0])
		if typ.IsFloat() {
			v.Mean, v.Norm = v.Max, v.Max
			if len(t.Shape) > 0 {
				v.Norm.F = max(v.Norm.F, -v.Norm.F) // of a scalar recorders write the number itself
			}
		}
	}
	return nil
}

func number(t dtype.Type, v float64) msprobe.Number {
	switch {
	case t.IsBool():
		return msprobe.Number{Kind: msprobe.Bool, I: int64(v), F: v}
	case t.IsInteger():
		return msprobe.Number{Kind: msprobe.Int, I: int64(v), F: v}
	}
	return msprobe.Number{Kind: msprobe.Float, F: v}
}

// Path is the file of the elements of a value.
func (c *Calls) Path(dataName string) (string, error) {
	if path := c.Files[dataName]; path != "" {
		return path, nil
	}
	return "", fmt.Errorf("no file of the tensor %s", strings.TrimSpace(dataName))
}
