package oracle

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"precision/compare/pattern"
	"precision/dump"
	"precision/dump/dtype"
	"precision/graph"
)

const (
	// mostExplained bounds the elements of an output that hypotheses are tried
	// on whole; of a larger one they see a sample.
	mostExplained = 1 << 18
	// mostEarlier is how many earlier outputs stale data is looked for in.
	mostEarlier = 16
	// mostPictured bounds the elements of an output that are kept.
	mostPictured = 1 << 21
)

// explain tries what kind of wrong an output is, and names the kind that its
// numbers bear out best.
func (c *checker) explain(f *Finding, best Reading, j *judge) {
	v := best.out(c.index)
	n := c.rec.view.Len()
	kase := pattern.Case{Shape: c.rec.shape, Axes: c.rec.axes, Block: c.rec.block, DType: c.rec.typ}
	if n > mostExplained || cost(v)*float64(n) > mostCounted {
		if c.scan() != nil {
			return
		}
		kase.At = samples(c.rec.shape, c.ext.places())
		for _, m := range j.misses {
			kase.At = append(kase.At, m.i)
		}
		kase.At = sortedUnique(kase.At)
		if most := int(max(min(mostCounted/cost(v), 4096), 64)); len(kase.At) > most {
			kase.At = thinned(kase.At, most)
		}
		n = int64(len(kase.At))
	}
	want := func(v Values, half []float64) (y, b []float64, err error) {
		y, b = make([]float64, n), make([]float64, n)
		if kase.At == nil {
			err = v.Range(0, y, b)
		} else {
			err = v.At(kase.At, y, b)
		}
		for i := range b {
			if half != nil {
				half[i] = halfOver(c.rec.typ) * b[i] / 4
			}
			b[i] = j.bound(y[i], b[i])
			if half != nil {
				half[i] += b[i]
			}
		}
		return y, b, err
	}
	var err error
	kase.Half = make([]float64, n)
	if kase.Want, kase.Bound, err = want(v, kase.Half); err != nil {
		return
	}
	kase.Got = make([]float64, n)
	if kase.At == nil {
		err = c.rec.Range(0, kase.Got, nil)
	} else {
		err = c.rec.At(kase.At, kase.Got, nil)
	}
	if err != nil {
		return
	}
	try := func(list []alternative) {
		for _, a := range list {
			if y, b, err := want(a.v, nil); err == nil {
				kase.Alternatives = append(kase.Alternatives, pattern.Alternative{Kind: a.kind, Args: a.args, Want: y, Bound: b})
			}
		}
	}
	try(alternatives(v))
	if kase.At == nil {
		kase.Operands = c.tensors(int(n))
	}
	kase.Other = c.others()
	found, err := pattern.Find(kase)
	if err == nil && (len(found) == 0 || isGeneral(&found[0])) {
		try(c.otherwise(v, &kase))
		found, err = pattern.Find(kase)
	}
	if err != nil {
		return
	}
	f.Patterns = found
	if len(found) > 0 {
		f.Pattern = string(found[0].Kind)
	}
	// Sums in float16 look like noise to what does not know the terms.
	if vague := len(found) == 0 || found[0].Kind.Vague() && found[0].Kind != pattern.Border; vague && isProduct(v) && lowAccumulation(j) {
		f.Pattern = "acc16"
	}
}

// show keeps the elements of an output and what they should be, where that is no more than a moment's work.
func (c *checker) show(f *Finding, best Reading) {
	v, n := best.out(c.index), c.rec.view.Len()
	if n > mostPictured || cost(v)*float64(n) > mostRechecked {
		return
	}
	want, got, bounds := make([]float64, n), make([]float64, n), make([]float64, min(n, slab))
	for from := int64(0); from < n; from += slab {
		to := min(from+slab, n)
		if v.Range(from, want[from:to], bounds[:to-from]) != nil || c.rec.Range(from, got[from:to], nil) != nil {
			return
		}
	}
	f.Want, f.Got = want, got
}

// general are kinds that another reading of the operator may explain better: a factor is what another epsilon
// makes, too.
var general = map[pattern.Kind]bool{pattern.Scale: true, pattern.Offset: true, pattern.Affine: true, pattern.SliceOffset: true, pattern.SliceScale: true,
	pattern.RowScale: true, pattern.Slope: true, pattern.Clipped: true, pattern.Shifted: true, pattern.Reversed: true, pattern.SlicesPermuted: true,
	pattern.StrideIgnored: true, pattern.StrideDoubled: true, pattern.InvertedMask: true}

// isGeneral reports whether another reading may say more than a finding: also where an own input's numbers stand, which
// a choice between inputs gives.
func isGeneral(f *pattern.Finding) bool {
	copied, ok := f.Args.(pattern.Copy)
	return general[f.Kind] || f.Kind.Vague() || ok && f.Kind == pattern.Stale && copied.Own
}

// tensors are the inputs that have one number for every element, or one for all.
func (c *checker) tensors(n int) []pattern.Tensor {
	var out []pattern.Tensor
	for _, o := range c.call.operands() {
		if k := o.view.Len(); k == int64(n) || k == 1 {
			t := pattern.Tensor{Name: o.name, Values: make([]float64, k)}
			if o.Range(0, t.Values, nil) == nil {
				out = append(out, t)
			}
		}
	}
	return out
}

// others are the tensors that stale data may come from: the operator's inputs
// and what was computed before it.
func (c *checker) others() iter.Seq[pattern.Tensor] {
	return func(yield func(pattern.Tensor) bool) {
		for _, o := range c.call.operands() {
			if o.view.Len() > mostExplained {
				continue
			}
			t := pattern.Tensor{Name: strings.TrimPrefix(o.name, "input "), Values: make([]float64, o.view.Len()), Input: true}
			if o.Range(0, t.Values, nil) == nil && !yield(t) {
				return
			}
		}
		if c.earlier != nil {
			c.earlier(yield)
		}
	}
}

// earlier yields the outputs of the operators before a task, the nearest first.
func (j Job) earlier(t task) iter.Seq[pattern.Tensor] {
	return func(yield func(pattern.Tensor) bool) {
		left := mostEarlier
		device := j.Devices[t.device]
		var before []task
		for _, g := range j.Graph.Graphs {
			for _, op := range g.Ops {
				if op.ID >= t.op.ID || op.Graph != t.op.Graph {
					continue
				}
				if rec := device.Folder.Op(op.Name); rec != nil && !skipped[op.Type] {
					before = append(before, task{op, t.device, rec.Newest()})
				}
			}
		}
		for i := len(before) - 1; i >= 0 && left > 0; i-- {
			r, err := before[i].entry.Open()
			if err != nil {
				continue
			}
			for k := range r.Outputs {
				o, err := openOperand(r, &r.Outputs[k], descAt(before[i].op.OutputDesc, k))
				if err != nil || o.view.Len() > mostExplained {
					continue
				}
				tensor := pattern.Tensor{Name: before[i].op.Name + ":output:" + itoa(k), Values: make([]float64, o.view.Len())}
				if o.Range(0, tensor.Values, nil) == nil && !yield(tensor) {
					r.Close()
					return
				}
				left--
			}
			r.Close()
		}
	}
}

// alternative is what an output would be if part of its operator were left out
// or done otherwise.
type alternative struct {
	kind pattern.Kind
	args any
	v    Values
}

// alternatives lists what can be left out of v.
func alternatives(v Values) []alternative {
	var out []alternative
	try := func(kind pattern.Kind, change func(v Values) Values) {
		if w := rewritten(v, change); w != nil {
			out = append(out, alternative{kind: kind, v: w})
		}
	}
	try(pattern.MissingBias, func(v Values) Values {
		if v, is := v.(*product); is && v.bias != nil {
			w := *v
			w.bias = nil
			return &w
		}
		return nil
	})
	try(pattern.MissingOperand, func(v Values) Values {
		if p, ok := v.(*pointwise); ok && len(p.in) == 2 && isProduct(p.in[0]) {
			return p.in[0]
		}
		return nil
	})
	try(pattern.WrongWeight, func(of Values) Values {
		v, is := of.(*product)
		if !is || !v.held || v.conv != nil && v.conv.groups > 1 {
			return nil
		}
		w := *v
		if m := v.conv; m != nil {
			w.l32 = swappedBlocks(v.l32, int(v.rows), int(m.cg), int(m.places))
		} else {
			w.r32 = swappedBlocks(v.r32, len(v.r32)/max(int(v.cols), 1), int(v.cols), 1)
		}
		return &w
	})
	return out
}

// rewritten returns v with the first part that change applies to changed; nil if
// there is none.
func rewritten(v Values, change func(v Values) Values) Values {
	if w := change(v); w != nil {
		return w
	}
	switch v := v.(type) {
	case *strided:
		if in := rewritten(v.in, change); in != nil {
			w := *v
			w.in, w.idx = in, nil
			return &w
		}
	case *rounded:
		if in := rewritten(v.Values, change); in != nil {
			return &rounded{in, v.p}
		}
	case *pointwise:
		for i := range v.in {
			if in := rewritten(v.in[i], change); in != nil {
				w := *v
				w.in = append([]Values{}, v.in...)
				w.in[i] = in
				w.x, w.e, w.x32 = make([][]float64, len(w.in)), make([][]float64, len(w.in)), make([][]float32, len(w.in))
				return &w
			}
		}
	}
	return nil
}

// swappedBlocks is a matrix of rows × cols, each of depth numbers, with every
// block of 16 × 16 transposed, as reading a blocked layout in the wrong order does.
// What lies beyond the edge of a block is 0.
func swappedBlocks(w []float32, rows, cols, depth int) []float32 {
	out := make([]float32, len(w))
	for r := range rows {
		for c := range cols {
			from, to := r/16*16+c%16, c/16*16+r%16
			if from < rows && to < cols {
				copy(out[(r*cols+c)*depth:][:depth], w[(from*cols+to)*depth:])
			}
		}
	}
	return out
}

// isProduct reports whether the elements of v are sums of products.
func isProduct(v Values) bool {
	switch v := v.(type) {
	case *product:
		return true
	case *strided:
		return isProduct(v.in)
	case *rounded:
		return isProduct(v.Values)
	case *pointwise:
		for _, in := range v.in {
			if isProduct(in) {
				return true
			}
		}
	}
	return false
}

// lowAccumulation reports whether the misses are what sums in float16 give: none
// is larger than rounding every partial sum to float16 allows, which is the
// bound B with the unit of float16 in place of float32's; many elements are off, to
// both sides, and not in proportion to their values.
func lowAccumulation(j *judge) bool {
	half := halfOver(dtype.Float16)
	if len(j.misses) < 8 {
		return false
	}
	up, same, squares, cross := 0, 0.0, 0.0, 0.0
	for _, m := range j.misses {
		off := m.found - m.y
		if math.IsNaN(off) || math.IsInf(off, 0) || abs(off) > half*m.before/4 {
			return false
		}
		if off > 0 {
			up++
		}
		same += m.y * m.y
		squares += off * off
		cross += m.y * off
	}
	share := float64(up) / float64(len(j.misses))
	return share > 0.1 && share < 0.9 && abs(cross) < 0.7*math.Sqrt(same*squares)
}

// halfOver is how much coarser half precision rounds than the float32 of bounds: bfloat16 where numbers are
// recorded in it, else float16, which is what kernels fall back to.
func halfOver(t dtype.Type) float64 {
	if t == dtype.BFloat16 {
		return 0x1p-8 / u32
	}
	return 0x1p-11 / u32
}

// A tensor that one operator makes and another takes is recorded twice: where the two differ, one
// is not what the device had, and what was recomputed from it says nothing of the kernel.

// mostHeld is how many elements of the two are held against each other: all of a small tensor, and
// of others enough to see that it was written over, exchanged or lost.
const mostHeld = 4096

// contrary adds to the findings of an operator which of its inputs are not what was recorded
// where they were made.
func (j Job) contrary(t task, r *dump.Reader, findings []Finding) {
	at := -1
	for slot, e := range t.op.Inputs {
		if e.IsControl() || e.IsEmpty() {
			continue
		}
		if at++; at >= len(r.Inputs) {
			return
		}
		differ, looked := j.held(t, r, &r.Inputs[at], descAt(t.op.InputDesc, slot), e)
		if differ == 0 {
			continue
		}
		for i := range findings {
			f := &findings[i]
			switch f.Verdict {
			case Unknown:
				continue
			case OK:
				f.Verdict = Suspect
			}
			f.Reasons = append(f.Reasons, because(Contrary, at, e.Producer(), e.Index, differ, looked))
		}
	}
}

// held is in how many elements an input and the output that an edge names were found to differ,
// and how many were looked at.
func (j Job) held(t task, r *dump.Reader, in *dump.Tensor, desc *graph.TensorDesc, e graph.Edge) (differ, looked int) {
	rec := j.Devices[t.device].Folder.Op(e.Producer())
	if rec == nil || r.Slices != nil {
		return 0, 0
	}
	made, err := rec.Newest().Open()
	if err != nil {
		return 0, 0 // told of its operator
	}
	defer made.Close()
	if made.Slices != nil || e.Index < 0 || int64(e.Index) >= int64(len(made.Outputs)) || made.Misnamed() != nil {
		return 0, 0
	}
	out := &made.Outputs[e.Index]
	if out.Type != in.Type || out.Format != in.Format || out.SubFormat != in.SubFormat {
		return 0, 0
	}
	if sameBytes(r, in, made, out) {
		return 0, 0
	}
	a := someOf(r, in, desc)
	differ = unlike(a, someOf(made, out, desc))
	if differ == 0 || writtenOver(r, in, a, desc) {
		return 0, 0
	}
	return differ, len(a)
}

// sameBytes tells whether two tensors are stored as the same bytes, which takes no more than reading them.
func sameBytes(r *dump.Reader, t *dump.Tensor, s *dump.Reader, u *dump.Tensor) bool {
	if t.Size != u.Size || !slices.Equal(t.Shape, u.Shape) || !slices.Equal(t.OriginShape, u.OriginShape) || t.Err != nil || u.Err != nil {
		return false
	}
	kept := raws.Get().(*[2][]byte)
	defer raws.Put(kept)
	for at := uint64(0); at < t.Size; at += tile {
		n := min(tile, t.Size-at)
		a, b := grow(kept[0], int(n)), grow(kept[1], int(n))
		kept[0], kept[1] = a, b
		if i, _ := r.ReadAt(a, t.Offset+int64(at)); i < len(a) {
			return false
		}
		if i, _ := s.ReadAt(b, u.Offset+int64(at)); i < len(b) || !bytes.Equal(a, b) {
			return false
		}
	}
	return true
}

// raws are what [sameBytes] reads into.
var raws = sync.Pool{New: func() any { return new([2][]byte) }}

// writtenOver tells whether the operator put an output in the place of an input, which was
// recorded after that; some are elements of the input.
func writtenOver(r *dump.Reader, in *dump.Tensor, some []float64, desc *graph.TensorDesc) bool {
	uniform := true
	for _, v := range some {
		uniform = uniform && v == some[0]
	}
	for i := range r.Outputs {
		out := &r.Outputs[i]
		if in.Address != 0 && out.Address != 0 {
			if in.Address == out.Address {
				return true
			}
			continue
		}
		// One number everywhere is no sign of it.
		if out.Type != in.Type || out.Format != in.Format || uniform {
			continue
		}
		if b := someOf(r, out, desc); len(b) == len(some) && unlike(some, b) == 0 {
			return true
		}
	}
	return false
}

// someOf are evenly spaced elements of a tensor, nil if it cannot be read.
func someOf(r *dump.Reader, t *dump.Tensor, desc *graph.TensorDesc) []float64 {
	o, err := openOperand(r, t, desc)
	if err != nil || count(o.shape) != o.view.Len() {
		return nil
	}
	defer o.release()
	n := o.view.Len()
	idx := make([]int64, min(n, mostHeld))
	for i := range idx {
		if idx[i] = int64(i); n > mostHeld {
			idx[i] = int64(float64(i) * float64(n-1) / (mostHeld - 1))
		}
	}
	some := make([]float64, len(idx))
	if o.At(idx, some, nil) != nil {
		return nil
	}
	return some
}

// unlike is in how many places two lists differ, 0 where they are of different length.
func unlike(a, b []float64) (n int) {
	if len(a) != len(b) {
		return 0
	}
	for i := range a {
		if a[i] != b[i] && (a[i] == a[i] || b[i] == b[i]) {
			n++
		}
	}
	return n
}
