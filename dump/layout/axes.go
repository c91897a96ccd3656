package layout

import (
	"fmt"
	"math/bits"
	"strings"
)

// letters spells the axes of the plain formats, those that store one tensor
// axis per stored dimension without padding.
var letters = map[Format]string{
	NCHW: "NCHW", NHWC: "NHWC", HWCN: "HWCN", CHWN: "CHWN",
	NCDHW: "NCDHW", NDHWC: "NDHWC", DHWCN: "DHWCN", DHWNC: "DHWNC",
	NC: "NC", CN: "CN",
}

// Letters returns the axes of a plain format from slowest to fastest, "NHWC"
// for NHWC, and "" for formats that block or do not name their axes.
func (f Format) Letters() string { return letters[f] }

// AsStored returns the format a tensor of the given stored rank has in effect:
// NCHW, NHWC and HWCN of a rank other than 4 are labels without meaning and
// count as ND.
func AsStored(f Format, rank int) Format {
	if rank != 4 && (f == NCHW || f == NHWC || f == HWCN) {
		return ND
	}
	return f
}

// Order returns the axes of plain format from in the order of plain format to:
// dims in from's order, taken at these indexes, are in to's order. It reports
// false unless both formats name the same set of axes.
func Order(from, to Format) ([]int, bool) {
	a, b := letters[from], letters[to]
	if a == "" || len(a) != len(b) {
		return nil, false
	}
	order := make([]int, len(b))
	for i := range b {
		if order[i] = strings.IndexByte(a, b[i]); order[i] < 0 {
			return nil, false
		}
	}
	return order, true
}

// PermuteDims returns logical dims given in the axis order of plain format
// from in the axis order of to. It fails with ErrNoConverter when the formats
// do not name the same axes, and with ErrShapeShort when dims has another rank.
func PermuteDims(dims []int64, from, to Format) ([]int64, error) {
	order, ok := Order(from, to)
	if !ok {
		return nil, &Error{From: from, To: to, Stored: dims, Err: ErrNoConverter}
	}
	if len(dims) != len(order) {
		return nil, &Error{From: from, To: to, Stored: dims, Err: ErrShapeShort,
			Detail: fmt.Sprintf("%d given, %d needed", len(dims), len(order))}
	}
	out := make([]int64, len(order))
	for i, k := range order {
		out[i] = dims[k]
	}
	return out, nil
}

// mul returns a·b for non-negative a and b, and false on overflow of int64.
func mul(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > 1<<63-1 {
		return 0, false
	}
	return int64(lo), true
}

// Count returns the number of elements of a shape: 1 for no dimensions. It
// fails on a negative dimension (ErrBadDim) and when the product of the
// dimensions other than zero overflows (ErrTooBig).
func Count(dims []int64) (int64, error) {
	n, zero := int64(1), false
	for i, d := range dims {
		switch {
		case d < 0:
			return 0, fmt.Errorf("layout: shape %v: %w: dimension %d is %d", dims, ErrBadDim, i, d)
		case d == 0:
			zero = true
		default:
			var ok bool
			if n, ok = mul(n, d); !ok {
				return 0, fmt.Errorf("layout: shape %v: %w", dims, ErrTooBig)
			}
		}
	}
	if zero {
		return 0, nil
	}
	return n, nil
}
