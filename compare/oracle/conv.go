package oracle

import "slices"

// conv is a convolution in any number of spatial dimensions:
//
//	y[n,o,p] = Σ x[n, c, p·stride - before + k·dilation]·w[o,c,k] + bias[o]
//
// over the channels c of o's group and the places k of the kernel. Places
// outside x hold pad, which is 0 but for quantised inputs; with spread > 1 the
// elements of x are that far apart, with zeros between them (transposed
// convolutions). The bound is g(K+2)·(|x|∗|w| + |b|), K = C/groups·Π kernel.
// Prototypes: nn_calculation_ops.h.
type conv struct {
	product
	shape  []int64 // N, O, spatial
	x, w   Values  // (N, C, spatial) and (O, C/groups, kernel)
	groups int64
	geometry

	n, c, o, cg, og int64
	in, out, kernel []int64 // spatial
	plane, places   int64   // elements of an output plane; places of the kernel
	inPlane         int64
	pad             float32

	x32, w32 []float32
	opened   bool
	held     bool

	mul product32

	// cols holds the columns of a tile: K rows of the elements that go into
	// positions [p0, p1) of image and group at.
	cols    []float32
	at      [2]int64
	p0, p1  int64
	cw, ca  []float64
	wideAt  [2]int64
	ww, wa  []float64
	scratch []int64
}

// geometry is how a kernel moves, one entry a spatial axis.
type geometry struct {
	stride, before, dilation, spread []int64
}

// newConv plans a convolution of x (N, C, …) with w (O, C/groups, …) to an
// output of the given spatial dims.
func (c *Call) newConv(x, w, bias Values, groups int64, g geometry, out []int64) *conv {
	sx, sw := x.Shape(), w.Shape()
	d := len(sx) - 2
	if d < 1 || len(sw) != len(sx) || len(out) != d || groups < 1 || sw[0]%groups != 0 || sx[1] != sw[1]*groups {
		panic(refuse(ShapesDiffer, shapeText(sx, sw)))
	}
	v := &conv{x: x, w: w, groups: groups, geometry: g, n: sx[0], c: sx[1], o: sw[0], cg: sw[1], og: sw[0] / groups,
		in: sx[2:], kernel: sw[2:], out: out, shape: append([]int64{sx[0], sw[0]}, out...)}
	for i := range d {
		if !within(g.stride[i], 1, 1<<20) || !within(g.dilation[i], 1, 1<<20) || !within(g.spread[i], 1, 1<<20) || !within(g.before[i], -1<<20, 1<<20) {
			panic(refuse(BadAttribute, "strides, pads, dilations", shapeText(g.stride, g.before, g.dilation), "small whole numbers"))
		}
	}
	v.plane, v.places, v.inPlane = count(out), count(v.kernel), count(v.in)
	v.product = c.productOf(v.cg*v.places, x, w, bias, v.o)
	return v
}

func within(x, lo, hi int64) bool { return x >= lo && x <= hi }

func (v *conv) Shape() []int64 { return v.shape }
func (v *conv) Cost() float64  { return v.k }
func (v *conv) Align() int64   { return v.plane }
func (v *conv) Exact() bool    { return v.exact }

func (v *conv) open() error {
	if v.opened {
		return nil
	}
	if count(v.x.Shape())+count(v.w.Shape()) > maxHeld {
		v.opened = true
		return nil
	}
	var heldX, heldW bool
	var err error
	if v.x32, heldX, err = whole32(v.x); err != nil {
		return err
	}
	if v.w32, heldW, err = whole32(v.w); err != nil {
		return err
	}
	v.opened, v.held, v.at, v.wideAt = true, heldX && heldW, [2]int64{-1, -1}, [2]int64{-1, -1}
	if v.held {
		v.bad = hasNonFinite(v.x32) || hasNonFinite(v.w32)
	}
	return nil
}

func (v *conv) fast() bool { return v.open() == nil && v.held && !v.bad && !v.exact }

// plain reports whether the columns of an image are the image: kernels of one
// place that do not move.
func (v *conv) plain() bool {
	if v.places != 1 || !slices.Equal(v.in, v.out) {
		return false
	}
	for i := range v.in {
		if v.stride[i] != 1 || v.before[i] != 0 || v.spread[i] != 1 {
			return false
		}
	}
	return true
}

// maxColumns bounds the elements of the columns that are made at once.
const maxColumns = 4 << 20

// columns returns the columns of positions [p0, p1) of image n and group g as a
// matrix, and where its positions begin and end.
func (v *conv) columns(n, g, p0 int64) (m matrix, from, to int64) {
	if v.plain() {
		return matrix{v.x32[(n*v.c+g*v.cg)*v.inPlane:], int(v.plane)}, 0, v.plane
	}
	if v.at == [2]int64{n, g} && p0 >= v.p0 && p0 < v.p1 {
		return matrix{v.cols, int(v.p1 - v.p0)}, v.p0, v.p1
	}
	width := min(v.plane, max(maxColumns/max(v.cg*v.places, 1), 1))
	p0 -= p0 % width
	p1 := min(p0+width, v.plane)
	width = p1 - p0
	v.at, v.p0, v.p1 = [2]int64{n, g}, p0, p1
	v.cols = grow(v.cols, int(v.cg*v.places*width))
	d := len(v.in)
	k, p := make([]int64, d), make([]int64, d)
	src := grow(v.scratch, int(width)) // place in a plane of x for every position, -1 for none
	v.scratch = src
	for place := range v.places {
		unravel(place, v.kernel, k)
		unravel(p0, v.out, p)
		for i := range src {
			src[i] = v.source(p, k)
			for a := d - 1; a >= 0; a-- {
				if p[a]++; p[a] < v.out[a] {
					break
				}
				p[a] = 0
			}
		}
		for c := range v.cg {
			dst := v.cols[(c*v.places+place)*width:][:width]
			from := v.x32[(n*v.c+g*v.cg+c)*v.inPlane:][:v.inPlane]
			for i, s := range src {
				if s < 0 {
					dst[i] = v.pad
				} else {
					dst[i] = from[s]
				}
			}
		}
	}
	return matrix{v.cols, int(width)}, p0, p1
}

// source is the place in a plane of x that position p takes place k of the
// kernel from; -1 if it is outside.
func (v *conv) source(p, k []int64) int64 {
	at := int64(0)
	for a := range v.in {
		i := p[a]*v.stride[a] - v.before[a] + k[a]*v.dilation[a]
		if i < 0 || i%v.spread[a] != 0 || i/v.spread[a] >= v.in[a] {
			return -1
		}
		at = at*v.in[a] + i/v.spread[a]
	}
	return at
}

func unravel(i int64, dims, at []int64) {
	for k := len(dims) - 1; k >= 0; k-- {
		at[k] = i % dims[k]
		i /= dims[k]
	}
}

// each calls f for the rectangles that make up a range: outputs [o0, o0+rows) of
// image n, all of one group, at positions [p0, p0+cols), at place at of the range.
func (v *conv) each(lo, n int64, f func(img, o0, rows, p0, cols, at int64) error) error {
	for at := int64(0); at < n; {
		i := lo + at
		img, o, p := i/(v.o*v.plane), i/v.plane%v.o, i%v.plane
		rows, cols := int64(1), min(v.plane-p, n-at)
		if p == 0 && n-at >= v.plane {
			rows, cols = min((n-at)/v.plane, v.og-o%v.og), v.plane
		}
		if err := f(img, o, rows, p, cols, at); err != nil {
			return err
		}
		at += rows * cols
	}
	return nil
}

func (v *conv) Range32(lo int64, y []float32) error {
	k := int(v.cg * v.places)
	return v.each(lo, int64(len(y)), func(img, o0, rows, p0, cols, at int64) error {
		for p := p0; p < p0+cols; {
			m, from, to := v.columns(img, o0/v.og, p)
			n := min(to, p0+cols) - p
			v.mul.multiply(int(rows), int(n), k, matrix{v.w32[o0*int64(k):], k}, matrix{m.data[p-from:], m.ld},
				matrix{y[at+p-p0:], int(cols)})
			p += n
		}
		if v.product.bias != nil {
			for r := range rows {
				b := float32(v.product.bias[o0+r])
				row := y[at+r*cols:][:cols]
				for i := range row {
					row[i] += b
				}
			}
		}
		return nil
	})
}

// rowBlock is how many filter elements are widened at once.
const rowBlock = 1 << 20

func (v *conv) Range(lo int64, y, b []float64) error {
	if err := v.open(); err != nil {
		return err
	}
	if !v.held {
		return refuse(TooLarge, count(v.x.Shape())+count(v.w.Shape()), maxHeld)
	}
	k := v.cg * v.places
	return v.each(lo, int64(len(y)), func(img, o0, rows, p0, cols, at int64) error {
		for p := p0; p < p0+cols; {
			m, from, to := v.columns(img, o0/v.og, p)
			width := to - from
			if id := [2]int64{img*v.groups + o0/v.og, from}; v.wideAt != id || int64(len(v.cw)) != k*width {
				v.cw, v.ca = grow(v.cw, int(k*width)), grow(v.ca, int(k*width))
				widened(m.data[:k*width], v.cw, v.ca)
				v.wideAt = id
			}
			n := min(to, p0+cols) - p
			for r := int64(0); r < rows; {
				some := min(rows-r, max(rowBlock/max(k, 1), 1))
				v.ww, v.wa = grow(v.ww, int(some*k)), grow(v.wa, int(some*k))
				widened(v.w32[(o0+r)*k:][:some*k], v.ww, v.wa)
				gemm64(int(some), int(n), int(k), v.ww, int(k), v.cw[p-from:], int(width), y[at+r*cols+p-p0:], int(cols), v.bad)
				if b != nil {
					gemm64(int(some), int(n), int(k), v.wa, int(k), v.ca[p-from:], int(width), b[at+r*cols+p-p0:], int(cols), false)
				}
				r += some
			}
			p += n
		}
		for r := range rows {
			for i := at + r*cols; i < at+(r+1)*cols; i++ {
				v.finish(o0+r, &y[i], b, i)
			}
		}
		return nil
	})
}

func (v *conv) finish(o int64, y *float64, b []float64, at int64) {
	size := 0.0
	if v.product.bias != nil {
		*y += v.product.bias[o]
		size = abs(v.product.bias[o])
	}
	if b != nil {
		b[at] = v.bound(b[at] + size)
	}
}

func (v *conv) At(idx []int64, y, b []float64) error {
	if err := v.open(); err != nil {
		return err
	}
	d := len(v.in)
	k, p := make([]int64, d), make([]int64, d)
	xs, ws := make([]int64, 0, v.cg*v.places), make([]int64, 0, v.cg*v.places)
	var xv, wv []float64
	for i, id := range idx {
		img, o := id/(v.o*v.plane), id/v.plane%v.o
		unravel(id%v.plane, v.out, p)
		sum, size := 0.0, 0.0
		xs, ws = xs[:0], ws[:0]
		for place := range v.places {
			unravel(place, v.kernel, k)
			s := v.source(p, k)
			if s < 0 && v.pad == 0 {
				continue
			}
			x := (img*v.c+o/v.og*v.cg)*v.inPlane + s
			w := o*v.cg*v.places + place
			for c := range v.cg {
				switch {
				case s < 0:
					t := float64(v.pad) * float64(v.w32[w+c*v.places])
					sum += t
					size += abs(t)
				case v.held:
					t := float64(v.x32[x+c*v.inPlane]) * float64(v.w32[w+c*v.places])
					sum += t
					size += abs(t)
				default:
					xs, ws = append(xs, x+c*v.inPlane), append(ws, w+c*v.places)
				}
			}
		}
		if !v.held {
			xv, wv = grow(xv, len(xs)), grow(wv, len(ws))
			if err := v.x.At(xs, xv, nil); err != nil {
				return err
			}
			if err := v.w.At(ws, wv, nil); err != nil {
				return err
			}
			for j, a := range xv {
				t := a * wv[j]
				sum += t
				size += abs(t)
			}
		}
		y[i] = sum
		if b != nil {
			b[i] = size
		}
		v.finish(o, &y[i], b, int64(i))
	}
	return nil
}
