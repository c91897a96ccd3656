package oracle

import (
	"cmp"
	"slices"

	"precision/internal/must"
	"precision/internal/nd"
)

// Tensors of numbers with bounds, computed on demand: the few kinds that all forms are put together
// from.
//
//   - [dense], in memory, and [operand] (operand.go), in a file;
//   - [strided], what only moves elements: transposed, cut, repeated, reshaped, without a copy;
//   - [gather] and [formula], elements by their places; concat (move.go), patched (cache.go);
//   - [pointwise] (formula.go), elements by those in the same place;
//   - [rows] and [reduced], by a whole row: norms, softmax, sums;
//   - [product] (gemm.go), sums of products.
//
// A chain of these is asked for runs of elements (Range) or for some places (At), and every one
// asks those it is made of. Nothing is computed that nobody asks for; a large output that is looked
// at in a sample costs as much as the sample. Where all operands are float32 and nothing rounds on
// the way a quicker path gives float32 without bounds ([float32er]), to find what to look at.
//
// Memory: a tensor that has to be held is held as float64 up to [maxDense] elements, as float32 up
// to [maxHeld]; beyond that a form refuses. Attributes never decide how much is allocated, recorded
// shapes do.

// Values is a tensor of numbers in the axis order of the framework, each with a
// bound on its error, computed on demand. Elements are counted in row-major
// order. Values are used by one goroutine at a time.
type Values interface {
	// Shape returns the dims. It must not be changed.
	Shape() []int64
	// Range computes the elements from lo on, as many as y has. If b is not nil
	// it has as many and gets their bounds. What cannot be read or computed ends
	// the work ([must.Failure]), as a refusal does.
	Range(lo int64, y, b []float64)
	// At computes the elements at any places.
	At(idx []int64, y, b []float64)
}

// float32er is implemented by Values that have a quick way to compute in
// float32, with an error that the bound B covers, too.
type float32er interface {
	// fast reports whether there is one for these inputs.
	fast() bool
	// Range32 is Range in float32 and without bounds.
	Range32(lo int64, y []float32)
}

// coster is implemented by Values that take more than a few operations an
// element. Cost returns the multiplications and additions of one element.
type coster interface{ Cost() float64 }

// aligner is implemented by Values that are best computed in multiples of Align
// elements.
type aligner interface{ Align() int64 }

// exacter is implemented by Values whose elements are recorded as they are,
// without a last rounding: those that only move numbers.
type exacter interface{ Exact() bool }

// isFast tells whether v can be had in float32 without bounds.
func isFast(v Values) bool {
	f, ok := v.(float32er)
	return ok && f.fast()
}

// cost is what an element costs in multiplications and additions, 1 unless v says otherwise.
func cost(v Values) float64 {
	if c, ok := v.(coster); ok {
		return c.Cost()
	}
	return 1
}

// alone is the cost of an element that is computed without its neighbours.
// A row of attention is computed for each of its elements.
func alone(v Values) float64 {
	for {
		switch w := v.(type) {
		case *strided:
			v = w.in
		case *attention:
			return w.Cost() * float64(w.ev)
		default:
			return cost(v)
		}
	}
}

// align is how many elements v is best asked for at once: a row of a norm, of a product, of an
// attention.
func align(v Values) int64 {
	if a, ok := v.(aligner); ok {
		return max(a.Align(), 1)
	}
	return 1
}

// isExact tells whether v's elements are recorded as they are. An output that is exact has no last
// rounding, and one bit is a fault.
func isExact(v Values) bool {
	e, ok := v.(exacter)
	return ok && e.Exact()
}

// count multiplies dims; they are those of recorded tensors or made from them,
// and small enough.
func count(shape []int64) int64 { return nd.Size(shape) }

// rowMajor returns the distances of neighbours on each axis.
func rowMajor(shape []int64) []int64 { return nd.Strides(shape) }

// grow returns a slice of n elements, in the memory of s if that is enough.
func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n)
}

// reads tells whether elements from lo on, as many as y has, can be had without their bounds, and
// readsAt those at some places.
func reads(v Values, lo int64, y []float64) bool {
	return must.Try(func() { v.Range(lo, y, nil) }) == nil
}

func readsAt(v Values, idx []int64, y []float64) bool {
	return must.Try(func() { v.At(idx, y, nil) }) == nil
}

// dense is a tensor in memory; b is nil for one without errors.
type dense struct {
	shape []int64
	y, b  []float64
	exact bool
}

func (d *dense) Shape() []int64 { return d.shape }
func (d *dense) Exact() bool    { return d.exact }

// bounds are those of n elements, nil where there are none.
func (d *dense) bounds(from, n int64) []float64 {
	if d.b == nil {
		return nil
	}
	return d.b[from:][:n]
}

func (d *dense) Range(lo int64, y, b []float64) {
	copy(y, d.y[lo:])
	switch {
	case b == nil:
	case d.b == nil:
		clear(b)
	default:
		copy(b, d.b[lo:])
	}
}

func (d *dense) At(idx []int64, y, b []float64) {
	for i, k := range idx {
		y[i] = d.y[k]
		if b != nil {
			b[i] = 0
			if d.b != nil {
				b[i] = d.b[k]
			}
		}
	}
}

// zeros is a tensor of zeros, without errors.
func zeros(shape ...int64) *dense {
	return &dense{shape: shape, y: make([]float64, count(shape)), exact: true}
}

// bounded is a tensor whose numbers and their bounds are to be filled in.
func bounded(shape ...int64) *dense {
	return &dense{shape: shape, y: make([]float64, count(shape)), b: make([]float64, count(shape))}
}

// scalar returns a tensor of one element.
func scalar(x float64) Values { return &dense{y: []float64{x}, exact: true} }

// held computes all of v and keeps it.
// No more than 8 M elements. What is exact has no bounds.
func held(v Values) *dense {
	if d, ok := v.(*dense); ok {
		return d
	}
	n := count(v.Shape())
	refuseIf(n > maxDense, TooLarge, n, maxDense)
	d := &dense{shape: v.Shape(), y: make([]float64, n), exact: isExact(v)}
	if !isExact(v) {
		d.b = make([]float64, n)
	}
	v.Range(0, d.y, d.b)
	return d
}

// numbers computes all of v, which has no errors.
// Indices, weights and the like must be what the device had, and a computed tensor is not.
func numbers(v Values) []float64 {
	refuseIf(!isExact(v), Unsupported, "an inexact operand")
	return held(v).y
}

const (
	// maxDense bounds tensors that are kept as float64 with their bounds.
	maxDense = 8 << 20
	// maxHeld bounds operands that are kept as float32.
	maxHeld = 32 << 20
	// maxRank bounds the axes of a tensor.
	maxRank = 16
)

// sameShape reports whether two shapes are equal but for axes of one.
func sameShape(a, b []int64) bool {
	return slices.Equal(a, b) || slices.Equal(nd.WithoutOnes(a), nd.WithoutOnes(b))
}

// sortBy orders places by their numbers, the smallest first, or with sign -1 the largest; equal
// ones stay in their order.
func sortBy(order []int, x []float64, sign int) {
	slices.SortStableFunc(order, func(a, b int) int { return int(toNumber(x[a] > x[b])-toNumber(x[a] < x[b])) * sign })
}

// rows is a tensor whose last axes, n elements together, are computed from as
// many of its operand: softmax and normalisations.
type rows struct {
	in   Values // of the same shape
	n    int64
	f    func(row int64, x, e, y, b []float64)
	held int64 // the row in y and b, -1 for none
	// exact tells that rows have no errors.
	exact bool

	x, e, y, b []float64
}

// f gets the number of the row, x and its errors e, and fills in y and b.
func newRows(in Values, n int64, f func(row int64, x, e, y, b []float64)) *rows {
	return &rows{in: in, n: n, f: f, held: -1}
}

func (r *rows) Shape() []int64 { return r.in.Shape() }
func (r *rows) Cost() float64  { return 8 + cost(r.in) }
func (r *rows) Align() int64   { return max(r.n, 1) }
func (r *rows) Exact() bool    { return r.exact }

// row computes a row. Its values stay until the next.
func (r *rows) row(k int64) {
	if r.held == k {
		return
	}
	refuseIf(r.n > maxDense, TooLarge, r.n, maxDense)
	r.held = -1
	for _, s := range []*[]float64{&r.x, &r.e, &r.y, &r.b} {
		*s = grow(*s, int(r.n))
	}
	r.in.Range(k*r.n, r.x, r.e)
	r.f(k, r.x, r.e, r.y, r.b)
	r.held = k
}

func (r *rows) Range(lo int64, y, b []float64) {
	for at := 0; at < len(y); {
		k := (lo + int64(at)) / r.n
		r.row(k)
		from := lo + int64(at) - k*r.n
		if b != nil {
			copy(b[at:], r.b[from:])
		}
		at += copy(y[at:], r.y[from:])
	}
}

// At computes each row once, whatever the order of the elements: down a column they are all of other rows.
func (r *rows) At(idx []int64, y, b []float64) {
	order := inOrder(len(idx))
	slices.SortFunc(order, func(i, k int) int { return cmp.Compare(idx[i]/r.n, idx[k]/r.n) })
	for _, i := range order {
		k := idx[i]
		r.row(k / r.n)
		y[i] = r.y[k%r.n]
		if b != nil {
			b[i] = r.b[k%r.n]
		}
	}
}

// reduced is a tensor each of whose elements is computed from n neighbours of
// its operand.
type reduced struct {
	shape []int64
	in    Values
	n     int64
	f     func(x, e []float64) (y, b float64)
	exact bool
	x, e  []float64
}

func (r *reduced) Shape() []int64 { return r.shape }
func (r *reduced) Exact() bool    { return r.exact }
func (r *reduced) Cost() float64  { return float64(r.n) * (1 + cost(r.in)) }

// batch is how many elements of the operand are read at once, and longBatch of one whose elements are computed many together: what is
// summed up down columns of rows takes all rows once a batch.
const batch, longBatch = 1 << 16, 1 << 21

// Range makes one number of each n elements of the input, some rows at a time.
func (r *reduced) Range(lo int64, y, b []float64) {
	refuseIf(r.n > maxDense, TooLarge, r.n, maxDense)
	refuseIf(count(r.in.Shape()) != r.n*count(r.shape), ShapesDiffer, r.in.Shape(), r.shape)
	per, most := int64(1), int64(batch)
	if cost(r.in) > 1 {
		most = longBatch
	}
	if r.n > 0 {
		per = max(most/r.n, 1)
	}
	for at := int64(0); at < int64(len(y)); at += per {
		k := min(per, int64(len(y))-at)
		r.x, r.e = grow(r.x, int(k*r.n)), grow(r.e, int(k*r.n))
		r.in.Range((lo+at)*r.n, r.x, r.e)
		for i := range k {
			v, bound := r.f(r.x[i*r.n:(i+1)*r.n], r.e[i*r.n:(i+1)*r.n])
			y[at+i] = v
			if b != nil {
				b[at+i] = bound
			}
		}
	}
}

// At makes all where that is no more than some times as many as are asked for.
func (r *reduced) At(idx []int64, y, b []float64) {
	n := count(r.shape)
	if n > wholeFrom*int64(len(idx)) || n > maxDense {
		oneByOne(r, idx, y, b)
		return
	}
	all, bounds := make([]float64, n), make([]float64, n)
	r.Range(0, all, bounds)
	for i, k := range idx {
		y[i] = all[k]
		if b != nil {
			b[i] = bounds[k]
		}
	}
}

// wholeFrom is how many times as many elements are made as are asked for: together they take what they are made of once.
const wholeFrom = 8

// oneByOne is At by way of Range.
func oneByOne(v Values, idx []int64, y, b []float64) {
	for i, k := range idx {
		var bound []float64
		if b != nil {
			bound = b[i : i+1]
		}
		v.Range(k, y[i:i+1], bound)
	}
}

// lastAxes returns v with some axes moved behind the others, in order, and how
// many elements these have together.
func lastAxes(v Values, axes []int) (moved Values, kept []int, n int64) {
	last := map[int]bool{}
	for _, a := range axes {
		last[a] = true
	}
	var perm []int
	for i := range v.Shape() {
		if !last[i] {
			kept = append(kept, i)
		}
	}
	perm = append(perm, kept...)
	n = 1
	for i, d := range v.Shape() {
		if last[i] {
			perm = append(perm, i)
			n *= d
		}
	}
	return transpose(v, perm), kept, n
}

// backAxes undoes lastAxes.
func backAxes(v Values, rank int, kept []int, axes []int) Values {
	at := make([]int, rank)
	last := map[int]bool{}
	for _, a := range axes {
		last[a] = true
	}
	for i, k := range kept {
		at[k] = i
	}
	next := len(kept)
	for i := range rank {
		if last[i] {
			at[i] = next
			next++
		}
	}
	return transpose(v, at)
}

// strided is a tensor whose elements are those of another one, evenly spaced on
// every axis: transposed, cut, broadcast, or of another shape.
type strided struct {
	shape, steps []int64
	off          int64
	in           Values
	plain        bool // the elements of in from off on, in order
	idx          []int64
}

// A view of a plain view is one of what that views; a view that changes nothing is the tensor
// itself.
func newStrided(in Values, shape, steps []int64, off int64) Values {
	if s, ok := in.(*strided); ok && s.plain {
		in, off = s.in, off+s.off
	}
	plain := true
	want := rowMajor(shape)
	for i, d := range shape {
		plain = plain && (d == 1 || steps[i] == want[i])
	}
	if plain && off == 0 && slices.Equal(shape, in.Shape()) {
		return in
	}
	return &strided{shape: shape, steps: steps, off: off, in: in, plain: plain}
}

// reshape returns the same elements under another shape, which must be of as many.
func reshape(v Values, shape []int64) Values {
	refuseIf(count(shape) != count(v.Shape()), ShapesDiffer, v.Shape(), shape)
	return newStrided(v, shape, rowMajor(shape), 0)
}

// transpose returns v with axis perm[i] as axis i.
// A recorded tensor is transposed in its own file, where that is as cheap.
func transpose(v Values, perm []int) Values {
	if o, ok := v.(*operand); ok {
		if t := o.transposed(perm); t != nil {
			return t
		}
	}
	in := v.Shape()
	steps := rowMajor(in)
	s, t := make([]int64, len(perm)), make([]int64, len(perm))
	for i, k := range perm {
		s[i], t[i] = in[k], steps[k]
	}
	return newStrided(v, s, t, 0)
}

// cut returns the box of v that starts at begin and takes steps of step.
func cut(v Values, begin, shape, step []int64) Values {
	steps, off := rowMajor(v.Shape()), int64(0)
	t := make([]int64, len(steps))
	for i := range steps {
		off += begin[i] * steps[i]
		t[i] = steps[i] * step[i]
	}
	return newStrided(v, shape, t, off)
}

// broadcast repeats v to a shape by numpy's rules: axes are matched from the
// last on, and those of one are repeated. It reports false if they do not fit.
// Leading axes of one that shape has not are dropped. A repeated axis has step 0.
func broadcast(v Values, shape []int64) (Values, bool) {
	in := v.Shape()
	for len(in) > len(shape) && in[0] == 1 {
		in = in[1:]
	}
	if len(in) > len(shape) {
		return nil, false
	}
	steps, lead := rowMajor(in), len(shape)-len(in)
	t := make([]int64, len(shape))
	for i, d := range in {
		switch {
		case d == shape[lead+i]:
			t[lead+i] = steps[i]
		case d != 1:
			return nil, false
		}
	}
	for i, d := range shape {
		if d == 1 {
			t[i] = 0
		}
	}
	return newStrided(v, shape, t, 0), true
}

// broadcastShape is the shape that all of some shapes are repeated to.
func broadcastShape(shapes ...[]int64) ([]int64, bool) {
	var out []int64
	for _, s := range shapes {
		for len(s) > len(out) {
			out = append([]int64{1}, out...)
		}
		lead := len(out) - len(s)
		for i, d := range s {
			switch o := &out[lead+i]; {
			case *o == 1:
				*o = d
			case d != 1 && d != *o:
				return nil, false
			}
		}
	}
	return out, true
}

func (s *strided) Shape() []int64 { return s.shape }
func (s *strided) Exact() bool    { return isExact(s.in) }
func (s *strided) Cost() float64  { return cost(s.in) }

// Align keeps the alignment of what is only renamed.
func (s *strided) Align() int64 {
	if s.plain && s.off == 0 {
		return align(s.in)
	}
	return 1
}

func (s *strided) fast() bool { return isFast(s.in) && (s.plain || s.repeated() > 0) }

// repeated is the length of the runs in which elements are equal or lie side by
// side, if that is all there is on the last axes; else 0.
func (s *strided) repeated() int64 {
	n := int64(1)
	for i := len(s.shape) - 1; i >= 0; i-- {
		if s.shape[i] != 1 && s.steps[i] != 0 {
			break
		}
		n *= s.shape[i]
	}
	if n > 1 {
		return n
	}
	return s.sideBySide()
}

// sideBySide is the length of the runs of elements that lie side by side.
func (s *strided) sideBySide() int64 {
	n := int64(1)
	for i := len(s.shape) - 1; i >= 0 && (s.shape[i] == 1 || s.steps[i] == n); i-- {
		n *= s.shape[i]
	}
	return n
}

// place is where element i comes from in what is viewed: a division for each axis.
func (s *strided) place(i int64) int64 {
	o := s.off
	for k := len(s.shape) - 1; k >= 0; k-- {
		o += i % s.shape[k] * s.steps[k]
		i /= s.shape[k]
	}
	return o
}

func (s *strided) Range32(lo int64, y []float32) {
	in := s.in.(float32er)
	if s.plain {
		in.Range32(s.off+lo, y)
		return
	}
	run, side := s.repeated(), s.sideBySide()
	for len(y) > 0 {
		n := min(run-lo%run, int64(len(y)))
		if side > 1 {
			in.Range32(s.place(lo), y[:n])
		} else {
			in.Range32(s.place(lo), y[:1])
			for i := range y[:n] {
				y[i] = y[0]
			}
		}
		y, lo = y[n:], lo+n
	}
}

// shortRun is the length from which reading a run costs less than asking for
// its elements.
const shortRun = 16

func (s *strided) Range(lo int64, y, b []float64) {
	if s.plain {
		s.in.Range(s.off+lo, y, b)
		return
	}
	if run := s.sideBySide(); run >= shortRun {
		for len(y) > 0 {
			n := min(run-lo%run, int64(len(y)))
			var bounds []float64
			if b != nil {
				bounds, b = b[:n], b[n:]
			}
			s.in.Range(s.place(lo), y[:n], bounds)
			y, lo = y[n:], lo+n
		}
		return
	}
	s.idx = grow(s.idx, len(y))
	s.places(lo, s.idx)
	s.in.At(s.idx, y, b)
}

// places lists where consecutive elements come from.
// Counting up on the last axis and carrying over: an addition an element, not a division an axis.
func (s *strided) places(lo int64, idx []int64) {
	if len(idx) == 0 {
		return
	}
	at := nd.Place(lo, s.shape)
	o := s.place(lo)
	for i := range idx {
		idx[i] = o
		for k := len(at) - 1; k >= 0; k-- {
			at[k]++
			o += s.steps[k]
			if at[k] < s.shape[k] {
				break
			}
			o -= s.shape[k] * s.steps[k]
			at[k] = 0
		}
	}
}

func (s *strided) At(idx []int64, y, b []float64) {
	s.idx = grow(s.idx, len(idx))
	for i, k := range idx {
		s.idx[i] = s.place(k)
	}
	s.in.At(s.idx, y, b)
}

// formula is a tensor whose elements a function gives.
type formula struct {
	shape []int64
	f     func(i int64, at []int64) (y, b float64)
	exact bool
	cost  float64 // multiplications and additions, 0 for few
	at    []int64
}

func (v *formula) Shape() []int64 { return v.shape }
func (v *formula) Exact() bool    { return v.exact }
func (v *formula) Cost() float64  { return max(v.cost, 1) }

// f gets the number of the element and its place on each axis, in a buffer that is used again.
func (v *formula) one(i int64, y, b []float64, k int) {
	v.at = grow(v.at, len(v.shape))
	nd.PlaceIn(i, v.shape, v.at)
	value, bound := v.f(i, v.at)
	y[k] = value
	if b != nil {
		b[k] = bound
	}
}

func (v *formula) Range(lo int64, y, b []float64) {
	for i := range y {
		v.one(lo+int64(i), y, b, i)
	}
}

func (v *formula) At(idx []int64, y, b []float64) {
	for i, k := range idx {
		v.one(k, y, b, i)
	}
}

// gather takes slices of x: element (l, j, i) is x[l, index[l', j], i], l' the
// batch of l.
type gather struct {
	shape             []int64
	x                 Values
	lead, n, inner    int64 // axes before, the axis, and those behind it
	batches, perBatch int64 // of the indices; lead is batches·rest
	indices           []int64
}

func (g *gather) Shape() []int64 { return g.shape }
func (g *gather) Exact() bool    { return isExact(g.x) }

func (g *gather) Range(lo int64, y, b []float64) {
	for at := int64(0); at < int64(len(y)); {
		k, i := (lo+at)/g.inner, (lo+at)%g.inner
		n := min(g.inner-i, int64(len(y))-at)
		var bounds []float64
		if b != nil {
			bounds = b[at : at+n]
		}
		g.x.Range(g.source(k)+i, y[at:at+n], bounds)
		at += n
	}
}

func (g *gather) At(idx []int64, y, b []float64) { oneByOne(g, idx, y, b) }

// source is where the run of inner elements begins that output run k is.
// l goes over lead, of which a batch of indices serves lead/batches in turn.
func (g *gather) source(k int64) int64 {
	l, j := k/g.perBatch, k%g.perBatch
	return (l*g.n + g.indices[l/(g.lead/g.batches)*g.perBatch+j]) * g.inner
}
