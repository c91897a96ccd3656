package oracle

import (
	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
)

//go:generate go -C ../../internal/gen run ./oracle/amd64 -out ../../compare/oracle/tile_amd64.s -stubs ../../compare/oracle/tile_amd64.go -pkg oracle

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
