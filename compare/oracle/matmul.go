package oracle

import "precision/dump/dtype"

// matmul is x1·x2 + bias over the last two axes, leading ones broadcast.
//
// Formula and bound: y = Σ a·b + c, B = g(K+2)·(|a||b| + |c|), K the inner
// dimension. Prototypes: matrix_calculation_ops.h (MatMulV2, BatchMatMul,
// FullyConnection).
type matmul struct {
	product
	shape   []int64
	m, n, k int64
	a, b    Values // (batch, m, k) and (batch, k, n)
	batchA  []int64
	batchB  []int64 // batch of each operand for every batch of the result

	a32, b32 []float32
	held     bool
	opened   bool
	mul      product32
	buf      [3][]float64
	aw, aa   []float64
	bw, ba   []float64
	wide     [3]int64 // batch, first column and columns in bw and ba
}

func init() {
	register(func(c *Call) []Reading {
		x1 := c.need("x1", 0)
		x2 := c.need("x2", 1)
		return c.matmulReading(x1, x2, c.input("bias", 2))
	}, "MatMul", "MatMulV2", "MatMulV3", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
	register(single(buildFullyConnection), "FullyConnection")
}

func (c *Call) matmulReading(x1, x2 *operand, bias *operand) []Reading {
	if c.input("offset_w", 3) != nil {
		panic(refuse(Unsupported, "offset_w"))
	}
	v := c.matmulOf(x1, x2, bias)
	return []Reading{{Out: []Values{v}}}
}

func (c *Call) matmulOf(x1, x2, bias *operand) Values {
	flag := func(keys ...string) bool {
		for _, key := range keys {
			if b := c.attrBool(key, false); b {
				return b
			}
		}
		return false
	}
	t1 := flag("transpose_x1", "adj_x1", "transpose_a")
	t2 := flag("transpose_x2", "adj_x2", "transpose_b")
	var b Values
	if bias != nil {
		b = bias
	}
	return c.newMatmul(turned(x1, t1), turned(x2, t2), b)
}

// turned swaps the last two axes if asked to.
func turned(v Values, yes bool) Values {
	n := len(v.Shape())
	if !yes || n < 2 {
		return v
	}
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	perm[n-1], perm[n-2] = n-2, n-1
	return transpose(v, perm)
}

// newMatmul multiplies a (…, m, k) by b (…, k, n).
func (c *Call) newMatmul(a, b, bias Values) Values {
	sa, sb := a.Shape(), b.Shape()
	if len(sa) < 2 || len(sb) < 2 || sa[len(sa)-1] != sb[len(sb)-2] {
		panic(refuse(ShapesDiffer, shapeText(sa, sb)))
	}
	lead, ok := broadcastShape(sa[:len(sa)-2], sb[:len(sb)-2])
	if !ok {
		panic(refuse(ShapesDiffer, shapeText(sa, sb)))
	}
	m, k, n := sa[len(sa)-2], sa[len(sa)-1], sb[len(sb)-1]
	p := c.productOf(k, a, b, bias, n)
	x := &matmul{product: p, shape: append(append([]int64{}, lead...), m, n), m: m, n: n, k: k, a: a, b: b}
	if count(lead) > 1<<20 {
		panic(refuse(TooLarge, count(lead), 1<<20))
	}
	x.batchA, x.batchB = batches(sa[:len(sa)-2], lead), batches(sb[:len(sb)-2], lead)
	return x
}

// batches lists, for every matrix of a result, which one of an operand it is
// made of.
func batches(in, out []int64) []int64 {
	v, _ := broadcast(&dense{shape: in}, out)
	idx := make([]int64, count(out))
	switch s := v.(type) {
	case *strided:
		s.places(0, idx)
	default:
		for i := range idx {
			idx[i] = int64(i)
		}
	}
	return idx
}

func (x *matmul) Shape() []int64 { return x.shape }
func (x *matmul) Cost() float64  { return float64(x.k) }
func (x *matmul) Align() int64   { return x.n }
func (x *matmul) Exact() bool    { return x.exact }

func (x *matmul) open() error {
	if x.opened {
		return nil
	}
	var heldA, heldB bool
	var err error
	if count(x.a.Shape())+count(x.b.Shape()) <= maxHeld {
		if x.a32, heldA, err = whole32(x.a); err != nil {
			return err
		}
		if x.b32, heldB, err = whole32(x.b); err != nil {
			return err
		}
	}
	x.opened, x.held = true, heldA && heldB
	if x.held {
		x.bad = hasNonFinite(x.a32) || hasNonFinite(x.b32)
	}
	return nil
}

func (x *matmul) fast() bool { return x.open() == nil && x.held && !x.bad && !x.exact }

// each calls f for the rows of single matrices that make up a range: rows from
// r0 on of batch g, of which columns from c0 on, at place at of the range.
func (x *matmul) each(lo, n int64, f func(g, r0, rows, c0, cols, at int64) error) error {
	if x.n == 0 || x.m == 0 {
		return nil
	}
	for at := int64(0); at < n; {
		i := lo + at
		g, r, c := i/(x.m*x.n), i/x.n%x.m, i%x.n
		rows, cols := int64(1), min(x.n-c, n-at)
		if c == 0 && n-at >= x.n {
			rows, cols = min((n-at)/x.n, x.m-r), x.n
		}
		if err := f(g, r, rows, c, cols, at); err != nil {
			return err
		}
		at += rows * cols
	}
	return nil
}

func (x *matmul) Range32(lo int64, y []float32) error {
	return x.each(lo, int64(len(y)), func(g, r0, rows, c0, cols, at int64) error {
		a, b := x.a32[(x.batchA[g]*x.m+r0)*x.k:], x.b32[x.batchB[g]*x.k*x.n+c0:]
		out := y[at:]
		x.mul.multiply(int(rows), int(cols), int(x.k), matrix{a, int(x.k)}, matrix{b, int(x.n)}, matrix{out, int(cols)})
		for i := range rows {
			row := out[i*cols : (i+1)*cols]
			if x.bias != nil {
				for j := range row {
					row[j] += float32(x.bias[c0+int64(j)])
				}
			}
		}
		return nil
	})
}

func (x *matmul) Range(lo int64, y, b []float64) error {
	if err := x.open(); err != nil {
		return err
	}
	if !x.held {
		return refuse(TooLarge, count(x.a.Shape())+count(x.b.Shape()), maxHeld)
	}
	return x.each(lo, int64(len(y)), func(g, r0, rows, c0, cols, at int64) error {
		some := max(rowBlock/max(x.k, 1), 1) // rows and columns that are widened at once
		for c := int64(0); c < cols; c += 2 * some {
			width := min(2*some, cols-c)
			x.widenColumns(x.batchB[g], c0+c, width)
			for r := int64(0); r < rows; r += some {
				height := min(some, rows-r)
				size := int(height * x.k)
				x.aw, x.aa = grow(x.aw, size), grow(x.aa, size)
				widened(x.a32[(x.batchA[g]*x.m+r0+r)*x.k:][:size], x.aw, x.aa)
				to := at + r*cols + c
				gemm64(int(height), int(width), int(x.k), x.aw, int(x.k), x.bw, int(width), y[to:], int(cols), x.bad)
				if b != nil {
					gemm64(int(height), int(width), int(x.k), x.aa, int(x.k), x.ba, int(width), b[to:], int(cols), false)
				}
			}
		}
		for i := range rows * cols {
			x.finish(c0+i%cols, &y[at+i], b, at+i)
		}
		return nil
	})
}

// widenColumns makes columns [c, c+n) of a matrix of the second operand wide, and
// their absolute values. The last ones stay.
func (x *matmul) widenColumns(batch, c, n int64) {
	id := [3]int64{batch, c, n}
	if x.wide == id && x.bw != nil {
		return
	}
	x.bw, x.ba, x.wide = grow(x.bw, int(x.k*n)), grow(x.ba, int(x.k*n)), id
	for l := range x.k {
		from := x.b32[(batch*x.k+l)*x.n+c:][:n]
		widened(from, x.bw[l*n:(l+1)*n], x.ba[l*n:(l+1)*n])
	}
}

// finish adds the bias to a sum and turns the size of it into a bound.
func (x *matmul) finish(col int64, y *float64, b []float64, at int64) {
	size := 0.0
	if x.bias != nil {
		*y += x.bias[col]
		size = abs(x.bias[col])
	}
	if b != nil {
		b[at] = x.bound(b[at] + size)
	}
}

func (x *matmul) At(idx []int64, y, b []float64) error {
	if err := x.open(); err != nil {
		return err
	}
	for i, id := range idx {
		g, r, c := id/(x.m*x.n), id/x.n%x.m, id%x.n
		sum, size := 0.0, 0.0
		if x.held {
			row := x.a32[(x.batchA[g]*x.m+r)*x.k:][:x.k]
			col := x.b32[x.batchB[g]*x.k*x.n+c:]
			for l, v := range row {
				t := float64(v) * float64(col[int64(l)*x.n])
				sum += t
				size += abs(t)
			}
		} else {
			var err error
			if sum, size, err = x.far(g, r, c); err != nil {
				return err
			}
		}
		y[i] = sum
		if b != nil {
			b[i] = size
		}
		x.finish(c, &y[i], b, int64(i))
	}
	return nil
}

// far computes one element of operands that are not held.
func (x *matmul) far(g, r, c int64) (sum, size float64, err error) {
	for i := range x.buf {
		x.buf[i] = grow(x.buf[i], int(x.k))
	}
	if err := x.a.Range((x.batchA[g]*x.m+r)*x.k, x.buf[0], nil); err != nil {
		return 0, 0, err
	}
	col := newStrided(x.b, []int64{x.k}, []int64{x.n}, x.batchB[g]*x.k*x.n+c)
	if err := col.Range(0, x.buf[1], nil); err != nil {
		return 0, 0, err
	}
	for l, v := range x.buf[0] {
		t := v * x.buf[1][l]
		sum += t
		size += abs(t)
	}
	return sum, size, nil
}

// buildFullyConnection flattens x from an axis on and multiplies it by filters
// of shape (N, C, H, W), or of (C·H·W, N) when told to.
func buildFullyConnection(c *Call) Values {
	x := c.need("x", 0)
	w := c.need("w", 1)
	axis := c.attrInt("axis", 1)
	flip := c.attrBool("transpose", false)
	if axis < 0 {
		axis += int64(len(x.shape))
	}
	if axis < 1 || axis > int64(len(x.shape)) || len(w.shape) < 1 || c.input("offset_w", 3) != nil {
		panic(refuse(BadAttribute, "axis", axis, "an axis of x"))
	}
	if x.typ == dtype.Int8 {
		if off := c.attrInt("offset_x", 0); off != 0 {
			panic(refuse(Unsupported, "offset_x"))
		}
	}
	m, k := count(x.shape[:axis]), count(x.shape[axis:])
	n := count(w.shape) / max(k, 1)
	if n*k != count(w.shape) || k == 0 {
		panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape)))
	}
	second := turned(reshape(w, []int64{n, k}), true)
	if flip {
		second = reshape(w, []int64{k, n})
	}
	var b Values
	if o := c.input("b", 2); o != nil {
		b = o
	}
	v := c.newMatmul(reshape(x, []int64{m, k}), second, b)
	return c.asRecorded(v, 0)
}

// asRecorded gives v the shape that an output was recorded with, which has as
// many elements.
func (c *Call) asRecorded(v Values, i int) Values {
	shape, ok := c.out(i)
	if !ok {
		return v
	}
	if count(shape) != count(v.Shape()) {
		panic(refuse(ShapeComputed, shapeText(v.Shape()), shapeText(shape)))
	}
	return reshape(v, shape)
}
