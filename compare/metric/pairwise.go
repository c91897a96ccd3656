package metric

// The float32 sums of Reference numerics depend on the order of their terms.
// That order is numpy's: blocks of 8192 elements (its buffer) are added to a
// running total one by one, and the sum of a block is pairwise.
const (
	sumBlock   = 8192
	sumLeaf    = 128
	tileBlocks = TileLen / sumBlock
)

// pairwise sums a block: halves of halves down to leaves of at most 128
// elements, every leaf in eight lanes.
func pairwise[T float32 | float64](v []T) T {
	if len(v) > sumLeaf {
		h := halve(len(v))
		return pairwise(v[:h]) + pairwise(v[h:])
	}
	if len(v) < 8 {
		var s T
		for _, f := range v {
			s += f
		}
		return s
	}
	var a [8]T
	copy(a[:], v)
	i := 8
	for ; i+8 <= len(v); i += 8 {
		w := v[i : i+8 : i+8]
		a[0] += w[0]
		a[1] += w[1]
		a[2] += w[2]
		a[3] += w[3]
		a[4] += w[4]
		a[5] += w[5]
		a[6] += w[6]
		a[7] += w[7]
	}
	s := ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]))
	for _, f := range v[i:] {
		s += f
	}
	return s
}

// halve is where a run of n > 128 elements is cut in two.
func halve(n int) int {
	h := n / 2
	return h - h%8
}
