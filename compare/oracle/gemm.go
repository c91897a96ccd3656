package oracle

import (
	"math"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
)

// gemm64 computes c = a·b in float64, c n elements a row. With nonFinite set no
// product is left out, also not those with zero.
func gemm64(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int, nonFinite bool) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || nonFinite {
		for i := range m {
			row := c[i*ldc : i*ldc+n]
			clear(row)
			for l, x := range a[i*lda : i*lda+k] {
				for j, y := range b[l*ldb : l*ldb+n] {
					row[j] += x * y
				}
			}
		}
		return
	}
	blasgonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a, lda, b, ldb, 0, c, ldc)
}

// hasNonFinite reports whether there is an Inf or NaN among numbers.
func hasNonFinite(x []float32) bool {
	for _, v := range x {
		if math.Float32bits(v)&0x7f800000 == 0x7f800000 {
			return true
		}
	}
	return false
}

// widened returns numbers as float64, and their absolute values.
func widened(x []float32, y, a []float64) {
	for i, v := range x {
		y[i] = float64(v)
		a[i] = abs(y[i])
	}
}

// fits32 reports whether all elements of v are exact in float32.
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
func whole32(v Values) ([]float32, bool, error) {
	if o, ok := v.(*operand); ok {
		held, err := o.hold()
		return o.f32, held, err
	}
	s, ok := v.(*strided)
	if !ok {
		return nil, false, refuse(Unsupported, "an operand that is not recorded")
	}
	n := count(v.Shape())
	if n > maxHeld {
		return nil, false, nil
	}
	if s.plain {
		all, held, err := whole32(s.in)
		if !held || err != nil {
			return nil, held, err
		}
		return all[s.off : s.off+n], true, nil
	}
	out, buf := make([]float32, n), make([]float64, min(n, batch))
	for lo := int64(0); lo < n; lo += batch {
		part := buf[:min(batch, n-lo)]
		if err := v.Range(lo, part, nil); err != nil {
			return nil, false, err
		}
		for i, x := range part {
			out[lo+int64(i)] = float32(x)
		}
	}
	return out, true, nil
}

// product is what convolutions and matrix products share: elements that are
// sums of K products and perhaps a bias.
type product struct {
	k     float64 // terms of a sum
	bias  []float64
	exact bool // of integers: no rounding at all
	unit  float64
	// input is the relative error of each factor, where the unit that
	// multiplies takes fewer bits than the operand has.
	input float64
	bad   bool // an operand has Inf or NaN
}

// bound is that of a sum of absolute products, bias included: g(K+2)·S in any
// order of adding (Higham, 3.1); the two are the bias and one addition of
// partial sums.
func (p *product) bound(size float64) float64 {
	if p.exact {
		return 0
	}
	return (gamma(p.k+2, p.unit) + 2*p.input) * size
}

// productOf reads the bias and sets units.
func (c *Call) productOf(k int64, x, w Values, bias Values, outputs int64) product {
	p := product{k: float64(k), unit: c.sumUnit(), exact: true}
	refuseIf(!fits32(x) || !fits32(w), Unsupported, "operands wider than float32")
	for _, v := range []Values{x, w} {
		o := leaf(v)
		if !discrete(o.typ) {
			p.exact = false
		}
		if o.typ.Bits() == 32 && !discrete(o.typ) && c.loose != strict {
			// The multiplying unit takes float32 as HF32 or float16 unless told
			// otherwise.
			p.input = 0x1p-11
		}
	}
	refuseIf(math.IsInf(gamma(p.k+2, p.unit), 1), NoBound, k)
	if bias == nil {
		return p
	}
	if n := count(bias.Shape()); n != outputs {
		panic(refuse(ShapesDiffer, "bias "+shapeText(bias.Shape())))
	}
	d := must(held(bias))
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

// matrix is a float32 matrix by rows, ld elements apart.
type matrix struct {
	data []float32
	ld   int
}

// The vector kernel works on tiles of tileRows × tileCols elements, over at most
// tileDepth terms at a time, so that what it reads again stays in the cache.
const (
	tileRows  = 6
	tileCols  = 16
	tileDepth = 384
)

// product32 multiplies matrices in float32. Where the processor has no vector
// kernel gonum's BLAS does it. Its buffers are kept between calls.
type product32 struct{ a, b, c []float32 }

// multiply computes c = a·b for a of m×k and b of k×n. The bound of sums in any
// order covers the order of either way.
func (p *product32) multiply(m, n, k int, a, b, c matrix) {
	switch {
	case m == 0 || n == 0:
		return
	case k == 0:
		for i := range m {
			clear(c.data[i*c.ld : i*c.ld+n])
		}
		return
	case !vectors || m < 2 || n < tileCols:
		blasgonum.Implementation{}.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a.data, a.ld, b.data, b.ld, 0, c.data, c.ld)
		return
	}
	p.tiles(m, n, k, a, b, c)
}

// tiles is multiply by the vector kernel. Edges are filled up with zeros.
func (p *product32) tiles(m, n, k int, a, b, c matrix) {
	strips := (m + tileRows - 1) / tileRows
	p.a = grow(p.a, strips*tileRows*min(k, tileDepth))
	p.b = grow(p.b, tileCols*min(k, tileDepth))
	p.c = grow(p.c, tileRows*tileCols)
	for k0 := 0; k0 < k; k0 += tileDepth {
		depth := min(tileDepth, k-k0)
		for s := range strips {
			packRows(p.a[s*tileRows*depth:], a, s*tileRows, min(tileRows, m-s*tileRows), k0, depth)
		}
		for j := 0; j < n; j += tileCols {
			cols := min(tileCols, n-j)
			packColumns(p.b, b, k0, depth, j, cols)
			for s := range strips {
				rows := min(tileRows, m-s*tileRows)
				t := p.c[:tileRows*tileCols]
				if k0 == 0 {
					clear(t)
				} else {
					for r := range rows {
						copy(t[r*tileCols:r*tileCols+cols], c.data[(s*tileRows+r)*c.ld+j:])
					}
				}
				tile6x16(depth, &p.a[s*tileRows*depth], &p.b[0], &t[0])
				for r := range rows {
					copy(c.data[(s*tileRows+r)*c.ld+j:][:cols], t[r*tileCols:])
				}
			}
		}
	}
}

// packRows lays columns [k0, k0+depth) of some rows of a out in the order the
// kernel reads them.
func packRows(dst []float32, a matrix, row, rows, k0, depth int) {
	for r := range tileRows {
		if r >= rows {
			for l := range depth {
				dst[l*tileRows+r] = 0
			}
			continue
		}
		for l, x := range a.data[(row+r)*a.ld+k0:][:depth] {
			dst[l*tileRows+r] = x
		}
	}
}

// packColumns does the same for some columns of b.
func packColumns(dst []float32, b matrix, k0, depth, col, cols int) {
	for l := range depth {
		n := copy(dst[l*tileCols:(l+1)*tileCols], b.data[(k0+l)*b.ld+col:][:cols])
		clear(dst[l*tileCols+n : (l+1)*tileCols])
	}
}
