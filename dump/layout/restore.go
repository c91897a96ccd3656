package layout

import (
	"fmt"
	"slices"

	"precision/internal/must"
)

// Supported reports whether Restore knows a way between two layouts: ours, and
// whether msaccucmp.py has a converter for the pair, old. A layout always
// converts to itself. NCHW, NHWC and HWCN to FRACTAL_Z count as supported
// though they go through [Packing] and not a View.
func Supported(from, to Format) (old, ours bool) {
	if from == to {
		return true, true
	}
	if to == FractalZ {
		ok := from == NCHW || from == NHWC || from == HWCN
		return ok, ok
	}
	switch from {
	case NCHW:
		old = to == NHWC
	case NHWC:
		old = to == NCHW || to == HWCN
	case HWCN:
		old = to == NCHW || to == NHWC
	case NC1HWC0:
		old = to == NCHW || to == NHWC || to == HWCN
	case FractalZ:
		old = to == NCHW || to == HWCN
	case FractalNZ:
		old = to == ND || to == NCHW || to == NHWC
	case NDC1HWC0:
		old = to == ND || to == NCDHW
	}
	if old {
		return true, true
	}
	if from == FractalNZ {
		return false, letters[to] != ""
	}
	if _, ok := Order(from, to); ok {
		return false, true
	}
	named := blockedLetters(from)
	return false, named != 0 && len(letters[to]) == named
}

// blockedLetters returns the number of logical axes of a blocked format that
// Convert can open, 0 for others.
func blockedLetters(f Format) int {
	switch f {
	case NC1HWC0, NC1HWC0C04, NHWC1C0, C1HWNC0, C1HWNCoC0, FractalZ, FractalZC04:
		return 4
	case NDC1HWC0, FractalZ3D:
		return 5
	}
	return 0
}

// plan collects what one conversion is about, for its errors.
type plan struct {
	from, to     Format
	stored, want []int64
}

// needs ends the plan where something is not as it has to be.
func (p plan) needs(ok bool, kind error, format string, args ...any) {
	if !ok {
		panic(must.Failure(p.fail(kind, format, args...)))
	}
}

func (p plan) fail(kind error, format string, args ...any) error {
	return &Error{From: p.from, To: p.to, Stored: slices.Clone(p.stored), Want: slices.Clone(p.want),
		Detail: fmt.Sprintf(format, args...), Err: kind}
}

// Convert plans the conversion of a stored tensor to another layout as
// msaccucmp.py does it, before any slicing: channels padded to whole blocks
// stay unless the pair itself needs the wanted shape.
//
//   - FRACTAL_Z and FRACTAL_Z_3D take height, width (and depth) from want, which
//     is in the axis order of to, and cut N and C to it.
//   - NDC1HWC0 to NCDHW cuts C to want[1]; to ND only if want has five dims.
//   - FRACTAL_Z_C04 does the same, and only to formats with height before width.
//   - FRACTAL_NZ yields (rows, columns), or (batch, rows, columns) with all
//     leading dims of want in one; want (n) counts as (1, n).
//   - all others ignore want.
//
// group is the group count of the stored tensor (its sub format); below 2 means
// none. Only FRACTAL_Z cares. The source of the mappings is the definition of
// the device layouts; block sizes come from the stored shape.
func Convert(from, to Format, stored, want []int64, group int) (View, error) {
	return must.Of(func() View { return plan{from, to, stored, want}.convert(group) })
}

func (p plan) convert(group int) View {
	v := p.open(group)
	if p.from == p.to || p.from == FractalNZ || p.from == FractalZC04 {
		return v
	}
	p.needs(p.from != NDC1HWC0 || p.to != NCDHW || len(p.want) >= 2, ErrShapeShort, "the wanted shape has no channels")
	if p.from == FractalZ || p.from == FractalZ3D {
		return p.cut(v, p.want)
	}
	if cut := p.channelCut(); cut >= 0 {
		dims := v.Full()
		dims[1] = cut
		return p.cut(v, dims)
	}
	return v
}

// Restore plans the conversion of a stored tensor to exactly the wanted logical
// shape, in the axis order of to. Only block padding is cut; all other axes must
// agree. It is [Convert] without the traps of cutting by position:
//
//   - an axis stored in blocks may be less than one block short of its padded
//     size, for every blocked layout;
//   - axes of one may be missing from want, or added in it;
//   - FRACTAL_NZ keeps all leading dims of want, and want (n) stays one-dimensional;
//     a want it cannot hold, or none, is a [*NZShapeError];
//   - a layout to itself is the stored tensor, want is not looked at;
//   - with an empty want the View keeps its padding, where the layout does not
//     need want.
func Restore(from, to Format, stored, want []int64, group int) (View, error) {
	return must.Of(func() View { return plan{from, to, stored, want}.restore(group) })
}

func (p plan) restore(group int) View {
	if _, ok := Supported(p.from, p.to); ok && p.from == FractalNZ && p.to != FractalNZ {
		must.Do(CheckNZ(p.stored, p.want))
		return p.restoreNZ()
	}
	v := p.open(group)
	if p.from == p.to || len(p.want) == 0 || p.from == FractalZC04 {
		return v
	}
	if p.from == FractalZ || p.from == FractalZ3D {
		n, err := Count(v.Full())
		p.needs(err == nil && n == v.stored, ErrMismatch, "%d stored elements, %v with padding", v.stored, v.Full())
	}
	return p.fit(v)
}

// open returns the View with its padding; FRACTAL_NZ comes cut.
func (p plan) open(group int) View {
	for _, d := range p.want {
		p.needs(d >= 0, ErrBadDim, "%d wanted", d)
	}
	count := must.Get(Count(p.stored))
	if p.from == p.to {
		return newView(plainAxes(p.stored), count)
	}
	_, ok := Supported(p.from, p.to)
	p.needs(ok, ErrNoConverter, "")
	p.needs(p.to != FractalZ, ErrNoConverter, "packing weights is not a strided view")
	if p.from == FractalNZ {
		return p.fromNZ(count)
	}
	if p.from == FractalZC04 {
		return p.openC04()
	}
	named, target := p.letters(group), letters[p.to]
	if p.to == ND { // only NDC1HWC0 gets here
		target = letters[NCDHW]
	}
	axes := make([]axis, len(target))
	for i := range target {
		axes[i] = named[target[i]]
	}
	return newView(axes, count)
}

// cut keeps the front of each axis; its errors name the conversion.
func (p plan) cut(v View, dims []int64) View {
	for i, d := range dims {
		p.needs(d <= v.Dims[i], ErrExceeds, "%d of %d at axis %d", d, v.Dims[i], i)
	}
	return must.Get(v.Cut(dims))
}

// channelCut returns the channels NDC1HWC0 is cut to, -1 for no cut.
func (p plan) channelCut() int64 {
	if p.from == NDC1HWC0 && (p.to == NCDHW && len(p.want) >= 2 || p.to == ND && len(p.want) == 5) {
		return p.want[1]
	}
	return -1
}

// letters returns the logical axes of the stored tensor, padding included, by
// their letters.
func (p plan) letters(group int) map[byte]axis {
	s := plainAxes(p.stored)
	rank := func(n int) { p.needs(len(s) == n, ErrShapeShort, "%v has %d dimensions, %d stored", p.from, n, len(s)) }
	if l := letters[p.from]; l != "" {
		rank(len(l))
		m := make(map[byte]axis, len(l))
		for i := range l {
			m[l[i]] = s[i]
		}
		return m
	}
	switch p.from {
	case NC1HWC0, NC1HWC0C04:
		rank(5)
		return map[byte]axis{'N': s[0], 'C': blocked(s[1], s[4]), 'H': s[2], 'W': s[3]}
	case NHWC1C0:
		rank(5)
		return map[byte]axis{'N': s[0], 'H': s[1], 'W': s[2], 'C': blocked(s[3], s[4])}
	case C1HWNC0:
		rank(5)
		return map[byte]axis{'C': blocked(s[0], s[4]), 'H': s[1], 'W': s[2], 'N': s[3]}
	case C1HWNCoC0:
		rank(6)
		// A depthwise weight: the square of Co and C0 is a diagonal, the rest
		// of it zero. Neighbours on a diagonal are a row and a column apart.
		p.needs(s[4].dim == s[5].dim, ErrMismatch, "Co is %d, C0 is %d", s[4].dim, s[5].dim)
		diagonal := s[5]
		diagonal.step = s[4].step + s[5].step
		return map[byte]axis{'C': blocked(s[0], diagonal), 'H': s[1], 'W': s[2], 'N': s[3]}
	case NDC1HWC0:
		rank(6)
		return map[byte]axis{'N': s[0], 'D': s[1], 'C': blocked(s[2], s[5]), 'H': s[3], 'W': s[4]}
	case FractalZ, FractalZ3D:
		rank(4)
		p.needs(group < 2, ErrGrouped, "%d groups", group)
		return p.openFractalZ(s)
	}
	panic(must.Failure(p.fail(ErrNoConverter, "")))
}

// openFractalZ splits the first stored dim, C1·H·W or D·C1·H·W, by the wanted
// shape.
func (p plan) openFractalZ(s []axis) map[byte]axis {
	l := letters[p.to]
	p.needs(len(p.want) == len(l), ErrShapeShort, "%v needs an original shape of %d dimensions", p.from, len(l))
	w := map[byte]int64{'D': 1}
	for i := range l {
		w[l[i]] = p.want[i]
	}
	hw, ok := mul(w['H'], w['W'])
	plane, ok2 := mul(hw, w['D'])
	p.needs(ok && ok2 && plane != 0 && plane <= s[0].dim, ErrMismatch, "%d×%d×%d positions in %d rows", w['D'], w['H'], w['W'], s[0].dim)
	c1 := s[0].dim / plane
	row := s[0].step // ≥ 1, and row·S0 is the size of the tensor
	block := func(n, step int64) axis { return axis{dim: n, full: n, step: step} }
	return map[byte]axis{
		'W': block(w['W'], row),
		'H': block(w['H'], row*w['W']),
		'D': block(w['D'], row*hw*c1),
		'C': blocked(block(c1, row*hw), s[3]),
		'N': blocked(s[1], s[2]),
	}
}

// blocked joins a stored axis of blocks and the one inside a block.
func blocked(outer, inner axis) axis {
	n := outer.dim * inner.dim // both are factors of a counted product, or one is zero
	if n == 0 {
		return axis{}
	}
	return axis{dim: n, full: n, block: inner.dim, step: inner.step, jump: outer.step}
}
