package oracle

import "slices"

// strided is a tensor whose elements are those of another one, evenly spaced on
// every axis: transposed, cut, broadcast, or of another shape.
type strided struct {
	shape, steps []int64
	off          int64
	in           Values
	plain        bool // the elements of in from off on, in order
	idx          []int64
}

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

// reshape returns the same elements under another shape of as many.
func reshape(v Values, shape []int64) Values { return newStrided(v, shape, rowMajor(shape), 0) }

// transpose returns v with axis perm[i] as axis i.
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

func (s *strided) place(i int64) int64 {
	o := s.off
	for k := len(s.shape) - 1; k >= 0; k-- {
		o += i % s.shape[k] * s.steps[k]
		i /= s.shape[k]
	}
	return o
}

func (s *strided) Range32(lo int64, y []float32) error {
	in := s.in.(float32er)
	if s.plain {
		return in.Range32(s.off+lo, y)
	}
	run, side := s.repeated(), s.sideBySide()
	for len(y) > 0 {
		n := min(run-lo%run, int64(len(y)))
		if side > 1 {
			if err := in.Range32(s.place(lo), y[:n]); err != nil {
				return err
			}
		} else {
			if err := in.Range32(s.place(lo), y[:1]); err != nil {
				return err
			}
			for i := range y[:n] {
				y[i] = y[0]
			}
		}
		y, lo = y[n:], lo+n
	}
	return nil
}

// shortRun is the length from which reading a run costs less than asking for
// its elements.
const shortRun = 16

func (s *strided) Range(lo int64, y, b []float64) error {
	if s.plain {
		return s.in.Range(s.off+lo, y, b)
	}
	if run := s.sideBySide(); run >= shortRun {
		for len(y) > 0 {
			n := min(run-lo%run, int64(len(y)))
			var bounds []float64
			if b != nil {
				bounds, b = b[:n], b[n:]
			}
			if err := s.in.Range(s.place(lo), y[:n], bounds); err != nil {
				return err
			}
			y, lo = y[n:], lo+n
		}
		return nil
	}
	s.idx = grow(s.idx, len(y))
	s.places(lo, s.idx)
	return s.in.At(s.idx, y, b)
}

// places lists where consecutive elements come from.
func (s *strided) places(lo int64, idx []int64) {
	if len(idx) == 0 {
		return
	}
	at := make([]int64, len(s.shape))
	rest := lo
	for k := len(s.shape) - 1; k >= 0; k-- {
		at[k] = rest % s.shape[k]
		rest /= s.shape[k]
	}
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

func (s *strided) At(idx []int64, y, b []float64) error {
	s.idx = grow(s.idx, len(idx))
	for i, k := range idx {
		s.idx[i] = s.place(k)
	}
	return s.in.At(s.idx, y, b)
}
