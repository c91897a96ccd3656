// Package pairwise adds numbers in numpy's order, on which the last digits of a
// sum depend: blocks of 8192 elements (its buffer) are added to a running total
// one by one, and the sum of a block is pairwise.
package pairwise

// Block is the number of elements that numpy sums at a time.
const Block = 8192

// Leaf is the number of elements of eight lanes that are not halved further.
const Leaf = 128

// Halve is where a run of more elements than a leaf has is cut in two.
func Halve(n, lanes int) int {
	h := n / 2
	return h - h%lanes
}

// Sum sums a block: halves of halves down to leaves of at most 16 elements a
// lane. Real numbers have 8 lanes, the parts of complex ones 4.
func Sum[T float32 | float64](v []T, lanes int) (sum T) {
	if len(v) > Leaf/8*lanes {
		h := Halve(len(v), lanes)
		return Sum(v[:h], lanes) + Sum(v[h:], lanes)
	}
	if len(v) >= lanes {
		var a [8]T
		copy(a[:lanes], v)
		v = v[lanes:]
		for ; len(v) >= lanes; v = v[lanes:] {
			w := v[:lanes]
			a[0] += w[0]
			a[1] += w[1]
			a[2] += w[2]
			a[3] += w[3]
			if len(w) == 8 {
				a[4] += w[4]
				a[5] += w[5]
				a[6] += w[6]
				a[7] += w[7]
			}
		}
		sum = (a[0] + a[1]) + (a[2] + a[3])
		if lanes == 8 {
			sum += (a[4] + a[5]) + (a[6] + a[7])
		}
	}
	for _, x := range v {
		sum += x
	}
	return sum
}
