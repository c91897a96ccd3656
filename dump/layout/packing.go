package layout

import (
	"fmt"
	"slices"

	"precision/internal/must"
)

// Packing is the FRACTAL_Z layout of a convolution weight, grouped or not: the
// stored tensor is (G·C1·H·W, N1, N0, C0), padded with zeros. Of g groups, E are
// packed side by side along both C and N, to fill the blocks; G = ⌈g/E⌉ such
// packs follow each other. With more than one group this is no strided view,
// as the place of a channel depends on its group; elements are moved one by one.
//
// Source: definition of the FRACTAL_Z layout with groups.
type Packing struct {
	n, c, h, w int64 // of one logical tensor; c is per group
	groups     int64
	per        int64 // E, groups in a pack
	packs      int64 // G
	ng         int64 // outputs of one group
	n1, c1     int64 // blocks of one pack
	n0, c0     int64
	axes       [4]axis // N, C, H, W of the logical tensor
	size       int64   // logical elements
	stored     int64
}

// DefaultBlock is N0 and C0 of FRACTAL_Z for 2-byte elements, and what
// msaccucmp.py uses for all.
const DefaultBlock = 16

// NewPacking plans the FRACTAL_Z layout of a weight with the given logical dims
// in the order of plain format f (NCHW, NHWC, HWCN or CHWN). N counts the outputs
// of all groups, C the channels of one. group below 2 means one group. n0 and c0
// are the block sizes, [DefaultBlock] unless the stored shape says otherwise.
func NewPacking(f Format, dims []int64, group int, n0, c0 int64) (_ *Packing, err error) {
	defer must.Catch(&err)
	l := plan{from: f, to: FractalZ, stored: dims}
	l.needs(len(letters[f]) == 4, ErrNoConverter, "")
	l.needs(len(dims) == 4, ErrShapeShort, "%d dimensions", len(dims))
	size := must.Get(Count(dims))
	l.needs(size > 0 && n0 >= 1 && c0 >= 1 && n0 <= 1<<16 && c0 <= 1<<16, ErrBadDim, "blocks of %d×%d", n0, c0)
	p := &Packing{groups: max(int64(group), 1), n0: n0, c0: c0, size: size}
	order, _ := Order(f, NCHW)
	for i, a := range plainAxes(dims) {
		p.axes[slices.Index(order, i)] = a
	}
	p.n, p.c, p.h, p.w = p.axes[0].dim, p.axes[1].dim, p.axes[2].dim, p.axes[3].dim
	l.needs(p.n%p.groups == 0, ErrMismatch, "%d outputs in %d groups", p.n, p.groups)
	p.ng = p.n / p.groups
	// As many groups as bring both C and N to whole blocks.
	p.per = min(lcm(c0/gcd(p.c, c0), n0/gcd(p.ng, n0)), p.groups)
	p.packs = ceilDiv(p.groups, p.per)
	ok := true
	product := func(a, b int64) int64 {
		n, fits := mul(a, b)
		ok = ok && fits
		return n
	}
	p.c1 = ceilDiv(product(p.per, p.c), c0)
	p.n1 = ceilDiv(product(p.per, p.ng), n0)
	rows := product(product(p.packs, p.c1), p.h*p.w)
	p.stored = product(product(rows, product(p.n1, n0)), c0)
	l.needs(ok, ErrTooBig, "packed")
	return p, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func lcm(a, b int64) int64 { return a / gcd(a, b) * b }

// Shape returns the stored shape (G·C1·H·W, N1, N0, C0).
func (p *Packing) Shape() []int64 {
	return []int64{p.packs * p.c1 * p.h * p.w, p.n1, p.n0, p.c0}
}

// Len returns the number of logical elements.
func (p *Packing) Len() int64 { return p.size }

// Stored returns the number of stored elements, padding included.
func (p *Packing) Stored() int64 { return p.stored }

// Offset returns the stored place of output n, channel c of its group, and
// position h, w; all must be in range.
func (p *Packing) Offset(n, c, h, w int64) int64 {
	group := n / p.ng
	e := group % p.per
	dc := e*p.c + c
	dn := e*p.ng + n%p.ng
	row := ((group/p.per*p.c1+dc/p.c0)*p.h+h)*p.w + w
	return (row*p.n1*p.n0+dn)*p.c0 + dc%p.c0
}

// Pack moves a logical tensor to its stored form. dst must have room for Stored
// elements; its padding is set to zero.
func (p *Packing) Pack(dst, src []byte, elemSize int) error {
	if err := p.check(dst, src, p.stored, p.size, elemSize); err != nil {
		return err
	}
	clear(dst[:p.stored*int64(elemSize)])
	p.each(int64(elemSize), func(logical, stored int64) {
		copy(dst[stored:stored+int64(elemSize)], src[logical:])
	})
	return nil
}

// Unpack moves a stored tensor to its logical form. dst must have room for Len
// elements.
func (p *Packing) Unpack(dst, src []byte, elemSize int) error {
	if err := p.check(dst, src, p.size, p.stored, elemSize); err != nil {
		return err
	}
	p.each(int64(elemSize), func(logical, stored int64) {
		copy(dst[logical:logical+int64(elemSize)], src[stored:])
	})
	return nil
}

func (p *Packing) check(dst, src []byte, to, from int64, elemSize int) error {
	if !validElemSize(elemSize) {
		return fmt.Errorf("layout: %w: %d", ErrElemSize, elemSize)
	}
	if have := int64(len(src) / elemSize); have < from {
		return fmt.Errorf("layout: FRACTAL_Z %v: %d elements, %d needed: %w", p.Shape(), have, from, ErrRange)
	}
	if have := int64(len(dst) / elemSize); have < to {
		return fmt.Errorf("layout: FRACTAL_Z %v: room for %d elements, %d needed: %w", p.Shape(), have, to, ErrRange)
	}
	return nil
}

// each calls f with the byte offsets of every element.
func (p *Packing) each(es int64, f func(logical, stored int64)) {
	for n := range p.n {
		for c := range p.c {
			for h := range p.h {
				for w := range p.w {
					logical := n*p.axes[0].step + c*p.axes[1].step + h*p.axes[2].step + w*p.axes[3].step
					f(logical*es, p.Offset(n, c, h, w)*es)
				}
			}
		}
	}
}
