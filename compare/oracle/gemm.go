package oracle

import (
	"encoding/binary"
	"math"
	"sync"
	"unsafe"

	"precision/internal/must"
)

// Products as they are computed: sums of K products for matrix products and convolutions alike, in
// tiles, with the sums of their sizes beside them, which bounds are made of.
//
// A product y = Σ a·b + c is bounded by g·(Σ|a·b| + |c|). The second sum costs as much as the
// first, and both are the same kernel: it is run on the numbers, and on their absolute values. In
// float32 it is run once, to find what has to be looked at closer; in float64 both, for a sample or
// for doubts.
//
// The kernels in assembly (tile_*.s, generated) multiply 6 rows by 8 to 32 columns, packed without
// gaps; [goTile] says the same in Go, for other processors and for tests. Blocks are chosen so that
// what is read again stays in the first two caches.

// hasNonFinite reports whether there is an Inf or NaN among numbers: adding one to an exponent of
// ones alone gets into the bit of the sign.
func hasNonFinite(x []float32) bool {
	const magnitudes, one = 0x7fffffff_7fffffff, 0x00800000_00800000
	any := uint64(0)
	if n := len(x) / 8; n > 0 { // two numbers at a time: what is added to a magnitude does not get into the other one
		for _, p := range unsafe.Slice((*[4]pair)(unsafe.Pointer(&x[0])), n) {
			any |= (p[0].bits()&magnitudes + one) | (p[1].bits()&magnitudes + one) | (p[2].bits()&magnitudes + one) | (p[3].bits()&magnitudes + one)
		}
		x = x[8*n:]
	}
	for _, v := range x {
		any |= uint64(math.Float32bits(v))&magnitudes + one
	}
	return any&^magnitudes != 0
}

// pair are two numbers of float32 side by side.
type pair [8]byte

func (p *pair) bits() uint64 { return binary.NativeEndian.Uint64(p[:]) }

// fits32 reports whether all elements of v are exact in float32.
// Those of types all of whose values float32 has, and views of such.
func fits32(v Values) bool {
	switch v := v.(type) {
	case *operand:
		return v.fast()
	case *strided:
		return fits32(v.in)
	}
	return false
}

// whole32 returns all elements of v, which fits32 is true of; false if they are
// too many to hold.
func whole32(v Values) ([]float32, bool) {
	if o, ok := v.(*operand); ok {
		held := o.hold()
		return o.f32, held
	}
	s, ok := v.(*strided)
	refuseIf(!ok, Unsupported, "an operand that is not recorded")
	n := count(v.Shape())
	if n > maxHeld {
		return nil, false
	}
	if s.plain {
		all, held := whole32(s.in)
		if !held {
			return nil, false
		}
		return all[s.off : s.off+n : len(all)], true
	}
	out, buf := make([]float32, n), make([]float64, min(n, batch))
	for lo := int64(0); lo < n; lo += batch {
		part := buf[:min(batch, n-lo)]
		v.Range(lo, part, nil)
		for i, x := range part {
			out[lo+int64(i)] = float32(x)
		}
	}
	return out, true
}

// product is a tensor of sums of K products and perhaps a bias: convolutions and matrix products.
// Its elements are blocks of so many rows and columns, one behind the other, each of K numbers of
// every row on the left times as many in every column on the right.
type product struct {
	shape       []int64
	left, right Values // (…, rows, K) and (…, K, columns), or the image that columns are made of
	k           int64  // terms of a sum
	rows, cols  int64  // of a block
	// lefts and rights are the matrices that every block of a matrix product is made of.
	lefts, rights []int64
	conv          *moving // of a convolution, else nil
	bias          []float64
	along         bool // the bias goes along the columns
	exact         bool // of integers: no rounding at all
	// g is how far sums may be off, as a share of the sum of sizes.
	g float64
	// likely: g is that of practice, and [product.scatter] comes on top; single: of factors of
	// float32.
	likely, single bool
	// input is the relative error of each factor, where the unit that
	// multiplies takes fewer bits than the operand has.
	input float64

	l32, r32     []float32
	opened, held bool
	bad          bool // an operand has Inf or NaN
	factors      [2][]float64
}

func (v *product) Shape() []int64 { return v.shape }
func (v *product) Cost() float64  { return float64(v.k) }
func (v *product) Align() int64   { return v.cols }
func (v *product) Exact() bool    { return v.exact }

// open takes both operands into memory, unless they are too large.
// Together they hold 32 M numbers at most; larger ones are read element by element.
func (v *product) open() {
	if v.opened {
		return
	}
	v.held = count(v.left.Shape())+count(v.right.Shape()) <= maxHeld
	for side, from := range []Values{v.left, v.right} {
		if !v.held {
			break
		}
		all, whole := whole32(from)
		if v.held = whole; side == 0 {
			v.l32 = all
		} else {
			v.r32 = all
		}
	}
	v.opened, v.bad = true, v.held && (hasNonFinite(v.l32) || hasNonFinite(v.r32))
}

func (v *product) fast() bool { return must.Try(v.open) == nil && v.held && !v.bad && !v.exact }

// row is the number of a row of a block among all rows on the left. Of a convolution the rows on
// the left are filters, of which a group has its own; a block is an image and a group.
func (v *product) row(block, r int64) int64 {
	if v.conv != nil {
		return block%v.conv.groups*v.rows + r
	}
	return v.lefts[block]*v.rows + r
}

// columns are columns of a block from one on as a matrix, and where they begin and end.
func (v *product) columns(block, from int64) (m matrix, lo, hi int64) {
	if v.conv != nil {
		return v.conv.columns(v.r32, block, from)
	}
	return matrix{v.r32[v.rights[block]*v.k*v.cols:], int(v.cols)}, 0, v.cols
}

// each calls f for the rectangles that make up a range: rows from a first one on of a block, of
// which columns [c0, c0+cols), at place at of the range; row is the first one among all rows on the
// left.
func (v *product) each(lo, n int64, f func(block, row, rows, c0, cols, at int64)) {
	for at := int64(0); at < n; {
		i := lo + at
		block, r, c := i/(v.rows*v.cols), i/v.cols%v.rows, i%v.cols
		rows, cols := int64(1), min(v.cols-c, n-at)
		if c == 0 && n-at >= v.cols {
			rows, cols = min((n-at)/v.cols, v.rows-r), v.cols
		}
		f(block, v.row(block, r), rows, c, cols, at)
		at += rows * cols
	}
}

// A quick look in float32: what it finds beyond the bound is computed again in float64.
func (v *product) Range32(lo int64, y []float32) {
	v.each(lo, int64(len(y)), func(block, row, rows, c0, cols, at int64) {
		left := matrix{v.l32[row*v.k:], int(v.k)}
		for c := c0; c < c0+cols; {
			m, from, to := v.columns(block, c)
			n := min(to, c0+cols) - c
			multiply32(int(rows), int(n), int(v.k), left, matrix{m.data[c-from:], m.ld}, matrix{y[at+c-c0:], int(cols)})
			c += n
		}
		for r := int64(0); v.bias != nil && r < rows; r++ {
			line := y[at+r*cols:][:cols]
			if v.along {
				for c, x := range v.bias[c0:][:cols] {
					line[c] += float32(x)
				}
				continue
			}
			x := float32(v.bias[row+r])
			for c := range line {
				line[c] += x
			}
		}
	})
}

// Sums in float64 and, for the bounds, Σ|a||b| by a second product of magnitudes.
func (v *product) Range(lo int64, y, b []float64) {
	v.open()
	refuseIf(!v.held, TooLarge, count(v.left.Shape())+count(v.right.Shape()), maxHeld)
	v.each(lo, int64(len(y)), func(block, row, rows, c0, cols, at int64) {
		left := matrix{v.l32[row*v.k:], int(v.k)}
		for c := c0; c < c0+cols; {
			m, from, to := v.columns(block, c)
			n := min(to, c0+cols) - c
			var size []float64
			if b != nil {
				size = b[at+c-c0:]
			}
			multiply64(int(rows), int(n), int(v.k), left, matrix{m.data[c-from:], m.ld}, y[at+c-c0:], size, int(cols))
			c += n
		}
		for r := range rows {
			line, size := y[at+r*cols:][:cols], b
			if b != nil {
				size = b[at+r*cols:][:cols]
			}
			v.finish(row+r, c0, line, size)
		}
	})
}

func (v *product) biasAt(row, col int64) float64 {
	if v.along {
		return v.bias[col]
	}
	return v.bias[row]
}

// finish adds the bias to sums of a row from a column on, and turns their sizes into bounds.
func (v *product) finish(row, col int64, y, b []float64) {
	for i := range y {
		x := 0.0
		if v.bias != nil {
			x = v.biasAt(row, col+int64(i))
			y[i] += x
		}
		if b != nil {
			b[i] = v.bound(b[i] + abs(x))
		}
	}
}

// At computes single elements, each by its whole sum.
// Only these elements get the scatter of practice on top, since it needs the factors one by one.
func (v *product) At(idx []int64, y, b []float64) {
	v.open()
	for i, id := range idx {
		block, c := id/(v.rows*v.cols), id%v.cols
		row := v.row(block, id/v.cols%v.rows)
		sum, size := v.take(block, row, c)
		y[i] = sum
		if b != nil {
			b[i] = size
		}
		of := b
		if b != nil {
			of = b[i : i+1]
		}
		if v.finish(row, c, y[i:i+1], of); b != nil && !v.exact && v.likely {
			b[i] += v.scatter()
		}
	}
}

// take takes the factors of an element, and sums their products and the sizes of these.
func (v *product) take(block, row, c int64) (sum, size float64) {
	if v.conv != nil {
		return v.moved(block, row, c)
	}
	for i := range v.factors {
		v.factors[i] = grow(v.factors[i], int(v.k))
	}
	at, left, right := v.rights[block]*v.k*v.cols+c, v.factors[0], v.factors[1]
	if v.held {
		column := v.r32[at:]
		for l, x := range v.l32[row*v.k:][:v.k] {
			a, b := float64(x), float64(column[int64(l)*v.cols])
			if v.likely { // else nobody asks for them
				left[l], right[l] = a, b
			}
			sum += a * b
			size += abs(a * b)
		}
		return sum, size
	}
	v.left.Range(row*v.k, left, nil)
	newStrided(v.right, []int64{v.k}, []int64{v.cols}, at).Range(0, right, nil)
	return v.summed()
}

// summed are the sums of the factors that were taken.
func (v *product) summed() (sum, size float64) {
	right := v.factors[1]
	for l, a := range v.factors[0] {
		t := a * right[l]
		sum += t
		size += abs(t)
	}
	return sum, size
}

// bound is that of a sum of absolute products, bias included: g(K+2)·S in any
// order of adding (Higham, 3.1); the two are the bias and one addition of
// partial sums.
func (p *product) bound(size float64) float64 {
	if p.exact {
		return 0
	}
	return (p.g + 2*p.input) * size
}

// leastTerms is from how many terms on sums are held to what they are off by in practice.
const leastTerms = 512

// summed is how far a sum of n terms may be off, as a share of the sum of sizes: in any order g(n),
// and in practice g(6·√n). Roundings that have nothing to do with each other add up to more in one
// of 10^7 sums at most, whatever the order and the terms (Higham and Mary, A new approach to
// probabilistic rounding error analysis, 2019, theorem 2.4).
func (c *Call) summed(n float64) float64 {
	unit := c.sumUnit()
	if n >= leastTerms && unit == u32 {
		if c.terms = max(c.terms, n); c.likely {
			return gamma(6*math.Sqrt(n), unit)
		}
	}
	return gamma(n, unit)
}

// scatter is what the sum of products of the factors that were taken last may be off by on top of
// that: by as much as adding them one behind the other is, where roundings of terms that are alike
// all go one way; and by what float32 loses as HF32, 6 standard deviations of it. 2·|sum in
// float32, one behind the other − sum in float64| shows how far this very row drifts; with factors
// of float32, what HF32 loses, and 6 standard deviations of 2⁻¹² a factor.
func (p *product) scatter() float64 {
	sum, squares, running, short := 0.0, 0.0, float32(0), 0.0
	for l, x := range p.factors[0] {
		z := p.factors[1][l]
		t := x * z
		sum += t
		squares += t * t
		running += float32(t)
		short += hf32(x) * hf32(z)
	}
	off := 2 * abs(float64(running)-sum)
	if p.single {
		off += 2*abs(short-sum) + 6*0x1p-12*math.Sqrt(squares)
	}
	return off
}

// hf32 is a number of float32 as multiplying units may take it, with 11 bits behind the point.
// Half of the last bit that stays is added, and what is behind it is cut.
func hf32(x float64) float64 {
	return float64(math.Float32frombits((math.Float32bits(float32(x)) + 1<<11) &^ (1<<12 - 1)))
}

// newProduct reads the bias and sets units.
func (c *Call) newProduct(k int64, left, right, bias Values, outputs int64) *product {
	p := &product{k: k, left: left, right: right, exact: true, likely: c.likely}
	refuseIf(!fits32(left) || !fits32(right), Unsupported, "operands wider than float32")
	for _, v := range []Values{left, right} {
		o := leaf(v)
		if !discrete(o.typ) {
			p.exact = false
			p.single = p.single || o.typ.Bits() == 32
		}
		if o.typ.Bits() == 32 && !discrete(o.typ) && c.loose != strict {
			// The multiplying unit takes float32 as HF32 or float16 unless told
			// otherwise.
			// Half a unit of 11 bits of mantissa, of each of two factors.
			p.input = 0x1p-11
		}
	}
	p.g = c.summed(float64(k + 2))
	refuseIf(math.IsInf(p.g, 1), NoBound, k)
	if bias == nil {
		return p
	}
	refuseIf(count(bias.Shape()) != outputs, ShapesDiffer, "bias "+shapeText(bias.Shape()))
	d := held(bias)
	p.bias = d.y
	return p
}

// leaf is the recorded tensor that moved elements come from.
func leaf(v Values) *operand {
	for {
		switch w := v.(type) {
		case *operand:
			return w
		case *strided:
			v = w.in
		default:
			return nil
		}
	}
}

//go:generate go -C ../../tools/gen run ./oracle/amd64 -out ../../compare/oracle/tile_amd64.s -stubs ../../compare/oracle/tile_amd64.go -pkg oracle
//go:generate go -C ../../tools/gen run ./oracle/arm64 -out ../../compare/oracle/tile_arm64.s

// matrix is a float32 matrix by rows, ld elements apart.
type matrix struct {
	data []float32
	ld   int
}

type float interface{ float32 | float64 }

// tileKernel is a vector kernel: add adds a·b to c, where a is k columns of tileRows numbers and b
// k rows of cols, without gaps, and c tileRows rows of cols, ld numbers apart.
type tileKernel[T float] struct {
	cols int
	add  func(k int, a, b, c *T, ld int)
}

// tileLevel are the kernels for a set of instructions.
type tileLevel struct {
	name   string
	single tileKernel[float32]
	double tileKernel[float64]
}

// level has the kernels in use, a variable for tests to change: the last of levels.
var level = levels[len(levels)-1]

const (
	tileRows = 6
	// tileDepth is how many terms are added at a time, tileStrips how many tiles below each other
	// take the same columns, and tilePanels how many beside each other are laid out at once: what
	// is read again stays in the first and second-level cache, and what is far apart is read in
	// runs.
	tileDepth  = 256
	tileStrips = 64
	tilePanels = 8
	// fewColumns is the number of columns below which most of a tile would be thrown away.
	fewColumns = 4
)

// multiply32 computes c = a·b in float32 for a of m×k and b of k×n. The bound of sums in any
// order covers the order of either way.
// b may be a part of a wider matrix, as its rows are b.ld numbers apart.
func multiply32(m, n, k int, a, b, c matrix) {
	p := tiles32.Get().(*tiles[float32])
	p.product(level.single, m, n, k, a, b, c.data, nil, c.ld)
	tiles32.Put(p)
}

// multiply64 computes y = a·b in float64, and |a|·|b| if size is not nil; rows of both are ld
// numbers apart.
func multiply64(m, n, k int, a, b matrix, y, size []float64, ld int) {
	p := tiles64.Get().(*tiles[float64])
	p.product(level.double, m, n, k, a, b, y, size, ld)
	tiles64.Put(p)
}

// tiles32 and tiles64 are kept from one product to the next.
var (
	tiles32 = sync.Pool{New: func() any { return new(tiles[float32]) }}
	tiles64 = sync.Pool{New: func() any { return new(tiles[float64]) }}
)

// tiles are what a product is made in: rows of a and their sizes, columns of b, and a tile at an
// edge.
type tiles[T float] struct{ a, sizes, b, c []T }

// product computes y = a·b, and |a|·|b| where size is not nil, tile by tile, whose edges are filled
// up with zeros. Loops from the outside: terms (256), rows (384), columns; what is packed of a
// serves all columns, what is packed of b all rows of the strip.
func (p *tiles[T]) product(kernel tileKernel[T], m, n, k int, a, b matrix, y, size []T, ld int) {
	if m < 2 || n < fewColumns || k == 0 {
		plain(m, n, k, a, b, y, size, ld)
		return
	}
	p.a = grow(p.a, min(m+tileRows, tileStrips*tileRows)*min(k, tileDepth))
	p.b = grow(p.b, min(n+kernel.cols, tilePanels*kernel.cols)*min(k, tileDepth))
	p.c = grow(p.c, tileRows*kernel.cols)
	for i := range m {
		clear(y[i*ld:][:n])
		if size != nil {
			clear(size[i*ld:][:n])
		}
	}
	for k0 := 0; k0 < k; k0 += tileDepth {
		depth := min(tileDepth, k-k0)
		for m0 := 0; m0 < m; m0 += tileStrips * tileRows {
			m1 := min(m0+tileStrips*tileRows, m)
			for r := m0; r < m1; r += tileRows {
				packRows(p.a[(r-m0)*depth:], a, r, min(tileRows, m-r), k0, depth)
			}
			if size != nil {
				p.sizes = grow(p.sizes, len(p.a))
				positive(p.sizes, p.a)
			}
			for j := 0; j < n; j += tilePanels * kernel.cols {
				j1 := min(j+tilePanels*kernel.cols, n)
				packed := p.b[:(j1-j+kernel.cols-1)/kernel.cols*kernel.cols*depth]
				packColumns(packed, b, k0, depth, j, j1-j, kernel.cols)
				p.add(kernel, p.a, m0, m1, j, j1, depth, y, ld)
				if size != nil {
					positive(packed, packed)
					p.add(kernel, p.sizes, m0, m1, j, j1, depth, size, ld)
				}
			}
		}
	}
}

// add adds what was packed to rows [m0, m1) and columns [n0, n1) of c.
func (p *tiles[T]) add(kernel tileKernel[T], a []T, m0, m1, n0, n1, depth int, c []T, ld int) {
	for j := n0; j < n1; j += kernel.cols {
		cols, b := min(kernel.cols, n1-j), &p.b[(j-n0)*depth]
		for r := m0; r < m1; r += tileRows {
			rows := min(tileRows, m1-r)
			if rows == tileRows && cols == kernel.cols {
				kernel.add(depth, &a[(r-m0)*depth], b, &c[r*ld+j], ld)
				continue
			}
			clear(p.c)
			kernel.add(depth, &a[(r-m0)*depth], b, &p.c[0], kernel.cols)
			for i := range rows {
				to := c[(r+i)*ld+j:][:cols]
				for l, x := range p.c[i*kernel.cols:][:cols] {
					to[l] += x
				}
			}
		}
	}
}

// goTile is the reference of the kernels, with 4 columns.
// Two rows at a time, whose eight sums fit the registers.
func goTile[T float](k int, a, b, c *T, ld int) {
	x, y, z := unsafe.Slice(a, k*tileRows), unsafe.Slice(b, 4*k), unsafe.Slice(c, (tileRows-1)*ld+4)
	for r := 0; r < tileRows; r += 2 {
		var s, t [4]T
		for l := range k {
			v, w, from := x[l*tileRows+r], x[l*tileRows+r+1], y[4*l:][:4]
			s[0] += v * from[0]
			s[1] += v * from[1]
			s[2] += v * from[2]
			s[3] += v * from[3]
			t[0] += w * from[0]
			t[1] += w * from[1]
			t[2] += w * from[2]
			t[3] += w * from[3]
		}
		for j := range s {
			z[r*ld+j] += s[j]
			z[(r+1)*ld+j] += t[j]
		}
	}
}

// inGo are the kernels that are there everywhere.
var inGo = tileLevel{"Go", tileKernel[float32]{4, goTile[float32]}, tileKernel[float64]{4, goTile[float64]}}

// plain multiplies what is too small for a tile.
func plain[T float](m, n, k int, a, b matrix, y, size []T, ld int) {
	for i := range m {
		for _, to := range [][]T{y, size} {
			if to == nil {
				continue
			}
			row := to[i*ld:][:n]
			clear(row)
			for l, x := range a.data[i*a.ld:][:k] {
				for j, z := range b.data[l*b.ld:][:n] {
					t := T(x) * T(z)
					if &to[0] != &y[0] {
						t = max(t, -t)
					}
					row[j] += t
				}
			}
		}
	}
}

// packRows lays columns [k0, k0+depth) of some rows of a out in the order the
// kernels read them.
// Term by term, the six numbers of a tile's rows side by side; rows that are not there are 0.
func packRows[T float](dst []T, a matrix, row, rows, k0, depth int) {
	dst = dst[:tileRows*depth]
	line := func(r int) []float32 { return a.data[(row+r)*a.ld+k0:][:depth] }
	if rows == tileRows { // all at once, so that what is written lies side by side
		r0, r1, r2, r3, r4, r5 := line(0), line(1), line(2), line(3), line(4), line(5)
		for l := range r0 {
			to := dst[tileRows*l:][:tileRows]
			to[0], to[1], to[2], to[3], to[4], to[5] = T(r0[l]), T(r1[l]), T(r2[l]), T(r3[l]), T(r4[l]), T(r5[l])
		}
		return
	}
	clear(dst)
	for r := range rows {
		at := r
		for _, x := range line(r) {
			dst[at] = T(x)
			at += tileRows
		}
	}
}

// packColumns does the same for columns of b, tiles of width next to each other.
func packColumns[T float](dst []T, b matrix, k0, depth, col, cols, width int) {
	for l := range depth {
		from := b.data[(k0+l)*b.ld+col:][:cols]
		for at := l * width; len(from) > 0; at += depth * width {
			some := from[:min(width, len(from))]
			row := dst[at : at+width]
			from = from[len(some):]
			for len(some) >= 4 && len(row) >= 4 {
				row[0], row[1], row[2], row[3] = T(some[0]), T(some[1]), T(some[2]), T(some[3])
				some, row = some[4:], row[4:]
			}
			for j, x := range some {
				row[j] = T(x)
			}
			clear(row[len(some):])
		}
	}
}

// positive makes y the sizes of x.
func positive[T float](y, x []T) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = T(math.Abs(float64(v)))
	}
}
