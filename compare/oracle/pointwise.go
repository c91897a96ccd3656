package oracle

// kernel computes elements of an element-wise operator. x and e hold the values
// and bounds of the operands, b is nil when no bounds are wanted.
type kernel func(x, e [][]float64, y, b []float64)

// pointwise is a tensor each of whose elements depends on those of its operands
// at the same place.
type pointwise struct {
	shape []int64
	in    []Values // all of shape
	f     kernel
	f32   func(x [][]float32, y []float32) // nil if there is no quick way
	exact bool
	x, e  [][]float64
	x32   [][]float32
}

// newPointwise broadcasts the operands to their common shape.
func newPointwise(f kernel, in ...Values) *pointwise {
	shapes := make([][]int64, len(in))
	for i, v := range in {
		shapes[i] = v.Shape()
	}
	shape, ok := broadcastShape(shapes...)
	if !ok {
		panic(refuse(ShapesDiffer, shapeText(shapes...)))
	}
	p := &pointwise{shape: shape, f: f, in: make([]Values, len(in)), x: make([][]float64, len(in)), e: make([][]float64, len(in)),
		x32: make([][]float32, len(in))}
	for i, v := range in {
		if p.in[i], ok = broadcast(v, shape); !ok {
			panic(refuse(ShapesDiffer, shapeText(shapes...)))
		}
	}
	return p
}

func (p *pointwise) Shape() []int64 { return p.shape }
func (p *pointwise) Exact() bool    { return p.exact }

func (p *pointwise) Cost() float64 {
	c := 1.0
	for _, v := range p.in {
		c += cost(v)
	}
	return c
}

// Align is that of the operand that takes most.
func (p *pointwise) Align() int64 {
	a, most := int64(1), 0.0
	for _, v := range p.in {
		if c := cost(v); c > most {
			a, most = align(v), c
		}
	}
	return a
}

func (p *pointwise) fast() bool {
	if p.f32 == nil {
		return false
	}
	for _, v := range p.in {
		if !isFast(v) {
			return false
		}
	}
	return true
}

func (p *pointwise) Range32(lo int64, y []float32) error {
	for i, v := range p.in {
		p.x32[i] = grow(p.x32[i], len(y))
		if err := v.(float32er).Range32(lo, p.x32[i]); err != nil {
			return err
		}
	}
	p.f32(p.x32, y)
	return nil
}

func (p *pointwise) Range(lo int64, y, b []float64) error {
	return p.run(y, b, func(v Values, y, b []float64) error { return v.Range(lo, y, b) })
}

func (p *pointwise) At(idx []int64, y, b []float64) error {
	return p.run(y, b, func(v Values, y, b []float64) error { return v.At(idx, y, b) })
}

func (p *pointwise) run(y, b []float64, get func(v Values, y, b []float64) error) error {
	for i, v := range p.in {
		p.x[i] = grow(p.x[i], len(y))
		if b != nil {
			p.e[i] = grow(p.e[i], len(y))
		} else {
			p.e[i] = nil
		}
		if err := get(v, p.x[i], p.e[i]); err != nil {
			return err
		}
	}
	p.f(p.x, p.e, y, b)
	return nil
}

// unary makes a kernel of a function of one number: f is its value and slope
// how much an error of x grows at most; own is the relative error of the
// function itself, and floor a part of min(|x|, 1) that it applies to as well.
func unary(f func(x float64) float64, slope func(x, y float64) float64, own, floor float64) kernel {
	return func(x, e [][]float64, y, b []float64) {
		for i, x := range x[0] {
			y[i] = f(x)
		}
		for i := range b {
			b[i] = own * (abs(y[i]) + floor*min(abs(x[0][i]), 1))
			if e[0][i] != 0 {
				b[i] += slope(x[0][i], y[i]) * e[0][i]
			}
		}
	}
}

// exactly makes a kernel of a function whose result has no error when its
// operands have none.
func exactly(f func(x []float64) float64) kernel {
	return func(x, e [][]float64, y, b []float64) {
		at := make([]float64, len(x))
		for i := range y {
			for k := range x {
				at[k] = x[k][i]
			}
			y[i] = f(at)
		}
		clear(b)
	}
}

// rounded allows for an operator's result being rounded to a type before the
// next part of a fused kernel takes it. Whether it was is not known; both stay
// within the bound.
type rounded struct {
	Values
	p precisionOf
}

func (r *rounded) Exact() bool   { return false }
func (r *rounded) Cost() float64 { return cost(r.Values) }
func (r *rounded) Align() int64  { return align(r.Values) }
func (r *rounded) fast() bool    { return isFast(r.Values) }

func (r *rounded) Range32(lo int64, y []float32) error { return r.Values.(float32er).Range32(lo, y) }

func (r *rounded) Range(lo int64, y, b []float64) error {
	return r.widen(r.Values.Range(lo, y, b), y, b)
}

func (r *rounded) At(idx []int64, y, b []float64) error { return r.widen(r.Values.At(idx, y, b), y, b) }

func (r *rounded) widen(err error, y, b []float64) error {
	for i := range b {
		b[i] += r.p.v*(abs(y[i])+b[i]) + r.p.t
	}
	return err
}
