package layout

import (
	"slices"

	"precision/internal/must"
)

// PaddedNZ returns the logical shape a FRACTAL_NZ tensor of the stored shape
// (…, C1, R1, R0, C0) has with its padding: (…, R1·R0, C1·C0). It fails when
// stored has fewer than four dims or is no shape.
func PaddedNZ(stored []int64) ([]int64, error) {
	if _, err := Count(stored); err != nil {
		return nil, err
	}
	k := len(stored) - 4
	if k < 0 {
		return nil, &Error{From: FractalNZ, To: ND, Stored: slices.Clone(stored), Err: ErrShapeShort,
			Detail: "FRACTAL_NZ has four dimensions or more"}
	}
	return append(slices.Clone(stored[:k]), satMul(stored[k+1], stored[k+2]), satMul(stored[k], stored[k+3])), nil
}

// satMul is a·b, saturating: the factors of a product that is zero elsewhere
// may overflow on their own.
func satMul(a, b int64) int64 {
	if n, ok := mul(a, b); ok {
		return n
	}
	return 1<<63 - 1
}

// CheckNZ tells whether want can be the original shape of a FRACTAL_NZ tensor:
// same number of leading dims and these equal, rows and columns at most the
// padded ones and less than one block below. The block sizes are the stored
// ones. A shape (n) counts as (1, n). The error is a [*NZShapeError] unless
// stored itself is wrong.
func CheckNZ(stored, want []int64) error {
	padded, err := PaddedNZ(stored)
	if err != nil {
		return err
	}
	k := len(stored) - 4
	e := &NZShapeError{Stored: slices.Clone(stored), Want: slices.Clone(want), Recommended: padded,
		Block: [2]int64{stored[k+2], stored[k+3]}}
	w := want
	if len(w) == 1 {
		w = []int64{1, w[0]}
	}
	if len(w) != len(padded) || !slices.Equal(w[:k], padded[:k]) {
		return e
	}
	for i, block := range e.Block {
		have := padded[k+i]
		if w[k+i] < 0 || w[k+i] > have || w[k+i] <= have-block {
			return e
		}
	}
	return nil
}

// BatchFitsNZ reports whether the batch of an original shape (all but its last
// two dims) times one stored matrix (the last four stored dims) is the whole
// stored tensor.
func BatchFitsNZ(stored, original []int64) bool {
	total, err := Count(stored)
	if err != nil || len(stored) < 4 {
		return false
	}
	matrix, err := Count(stored[len(stored)-4:])
	if err != nil {
		return false
	}
	batch, err := Count(original[:max(len(original)-2, 0)])
	if err != nil {
		return false
	}
	n, ok := mul(batch, matrix)
	return ok && n == total
}

// fromNZ plans FRACTAL_NZ to (rows, columns) or (batch, rows, columns).
func (p plan) fromNZ(count int64) View {
	if len(p.want) == 0 || len(p.stored) < 4 {
		panic(must.Failure(CheckNZ(p.stored, p.want)))
	}
	w := p.want
	if len(w) == 1 {
		w = []int64{1, w[0]}
	}
	p.needs(BatchFitsNZ(p.stored, w), ErrMismatch, "batch of %v times matrix of %v is not %d elements", w[:len(w)-2], p.stored[len(p.stored)-4:], count)
	if k := len(w) - 2; k > 1 {
		w = []int64{must.Get(Count(w[:k])), w[k], w[k+1]}
	}
	return newView(p.axesNZ(w), count)
}

// axesNZ returns the axes of want (rank 2 or more), whose batch fits.
func (p plan) axesNZ(want []int64) []axis {
	s := plainAxes(p.stored)
	k := len(s) - 4
	rows, cols := blocked(s[k+1], s[k+2]), blocked(s[k], s[k+3])
	b := len(want) - 2
	for i, a := range []axis{rows, cols} {
		p.needs(want[b+i] <= a.dim, ErrExceeds, "%d of %d %s", want[b+i], a.dim, []string{"rows", "columns"}[i])
	}
	axes := make([]axis, len(want))
	matrix := s[k].step * max(s[k].dim, 1)
	for i := b - 1; i >= 0; i-- {
		axes[i] = axis{dim: want[i], full: want[i], step: matrix}
		matrix *= max(want[i], 1)
	}
	rows.dim, cols.dim = want[b], want[b+1]
	axes[b], axes[b+1] = rows, cols
	return axes
}

// restoreNZ is fromNZ with all leading dims of want, and one dim only if want
// has one.
func (p plan) restoreNZ() View {
	w := p.want
	if len(w) == 1 {
		w = []int64{1, w[0]}
	}
	return newView(p.axesNZ(w)[len(w)-len(p.want):], must.Get(Count(p.stored)))
}
