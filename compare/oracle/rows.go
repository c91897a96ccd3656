package oracle

// rows is a tensor whose last axes, n elements together, are computed from as
// many of its operand: softmax and normalisations.
type rows struct {
	in   Values // of the same shape
	n    int64
	f    func(row int64, x, e, y, b []float64)
	held int64 // the row in y and b, -1 for none

	x, e, y, b []float64
}

func newRows(in Values, n int64, f func(row int64, x, e, y, b []float64)) *rows {
	return &rows{in: in, n: n, f: f, held: -1}
}

func (r *rows) Shape() []int64 { return r.in.Shape() }
func (r *rows) Cost() float64  { return 8 + cost(r.in) }
func (r *rows) Align() int64   { return max(r.n, 1) }

// row computes a row. Its values stay until the next.
func (r *rows) row(k int64) error {
	if r.held == k {
		return nil
	}
	if r.n > maxDense {
		return refuse(TooLarge, r.n, maxDense)
	}
	r.held = -1
	for _, s := range []*[]float64{&r.x, &r.e, &r.y, &r.b} {
		*s = grow(*s, int(r.n))
	}
	if err := r.in.Range(k*r.n, r.x, r.e); err != nil {
		return err
	}
	r.f(k, r.x, r.e, r.y, r.b)
	r.held = k
	return nil
}

func (r *rows) Range(lo int64, y, b []float64) error {
	for at := 0; at < len(y); {
		k := (lo + int64(at)) / r.n
		if err := r.row(k); err != nil {
			return err
		}
		from := lo + int64(at) - k*r.n
		if b != nil {
			copy(b[at:], r.b[from:])
		}
		at += copy(y[at:], r.y[from:])
	}
	return nil
}

func (r *rows) At(idx []int64, y, b []float64) error {
	for i, k := range idx {
		if err := r.row(k / r.n); err != nil {
			return err
		}
		y[i] = r.y[k%r.n]
		if b != nil {
			b[i] = r.b[k%r.n]
		}
	}
	return nil
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

// batch is how many elements of the operand are read at once.
const batch = 1 << 16

func (r *reduced) Range(lo int64, y, b []float64) error {
	if r.n > maxDense {
		return refuse(TooLarge, r.n, maxDense)
	}
	if in := r.in.Shape(); count(in) != r.n*count(r.shape) {
		return refuse(ShapesDiffer, shapeText(in, r.shape))
	}
	per := int64(1)
	if r.n > 0 {
		per = max(batch/r.n, 1)
	}
	for at := int64(0); at < int64(len(y)); at += per {
		k := min(per, int64(len(y))-at)
		r.x, r.e = grow(r.x, int(k*r.n)), grow(r.e, int(k*r.n))
		if err := r.in.Range((lo+at)*r.n, r.x, r.e); err != nil {
			return err
		}
		for i := range k {
			v, bound := r.f(r.x[i*r.n:(i+1)*r.n], r.e[i*r.n:(i+1)*r.n])
			y[at+i] = v
			if b != nil {
				b[at+i] = bound
			}
		}
	}
	return nil
}

func (r *reduced) At(idx []int64, y, b []float64) error {
	for i, k := range idx {
		var bound []float64
		if b != nil {
			bound = b[i : i+1]
		}
		if err := r.Range(k, y[i:i+1], bound); err != nil {
			return err
		}
	}
	return nil
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
