package layout

import "precision/internal/must"

// FRACTAL_Z_C04 holds the filter of a first convolution, one with at most four
// channels: (K1, N1, N0, K0), where K = K1·K0 counts the channels, filled up to
// four, of every place of the kernel, (h·W + w)·4 + c. A block of K0 holds
// several places of the kernel, so that height and width are one axis in
// blocks; apart they have no strides.

// c04 is the number of channels that a place of the kernel takes.
const c04 = 4

// openC04 plans FRACTAL_Z_C04 to a plain format in which height and width stand
// together in this order. The View has the wanted dims; to Cut and Transpose,
// height and width are one axis.
func (p plan) openC04() View {
	s, order := plainAxes(p.stored), letters[p.to]
	p.needs(len(s) == 4, ErrShapeShort, "%v has 4 dimensions, %d stored", p.from, len(s))
	p.needs(len(p.want) == 4 && len(order) == 4, ErrShapeShort, "%v needs an original shape of 4 dimensions", p.from)
	dim := map[byte]int64{}
	for i := range order {
		dim[order[i]] = p.want[i]
	}
	count := must.Get(Count(p.stored))
	k0 := s[3].dim
	places, ok := mul(dim['H'], dim['W'])
	rows := satMul(s[0].dim, k0)
	p.needs(k0 > 0 && k0%c04 == 0 && ok && places <= rows/c04 && rows-places*c04 < k0, ErrMismatch, "%d×%d positions of %d channels in %d×%d", dim['H'], dim['W'], c04, s[0].dim, k0)
	kernel := axis{dim: places, full: rows / c04, block: k0 / c04, step: c04, jump: s[0].step}
	channel := axis{dim: dim['C'], full: c04, block: c04, step: 1, jump: c04}
	output := blocked(s[1], s[2])
	for _, a := range []struct {
		name byte
		axis axis
	}{{'C', channel}, {'N', output}} {
		d := dim[a.name]
		p.needs(d <= 0 || a.axis.fits(d), ErrMismatch, "%d of %d at axis %c", d, a.axis.full, a.name)
	}
	output.dim = dim['N']
	named := map[byte]axis{'N': output, 'C': channel, 'H': kernel}
	var axes []axis
	for i := range order {
		switch {
		case order[i] == 'W':
			p.needs(i > 0 && order[i-1] == 'H', ErrNoConverter, "height and width are one axis")
		default:
			axes = append(axes, named[order[i]])
		}
	}
	v := newView(axes, count)
	v.Dims = append([]int64(nil), p.want...)
	return v
}
