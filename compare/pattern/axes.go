package pattern

import "precision/internal/nd"

// AxesPermuted are numbers that lie in the order of other axes.
const AxesPermuted Kind = "axes-permuted"

// Permutation belongs to AxesPermuted: the recorded numbers are, in flat order, those of the
// expected tensor transposed by Perm (axis i of the transposed one is axis Perm[i]).
type Permutation struct {
	Perm  []int  `json:"perm"`
	Order string `json:"order,omitempty"` // names of the axes in that order, as "NHWC"
}

// permuteMost bounds the axes longer than 1 whose permutations are all tried.
const permuteMost = 5

// axesPermuted tries every order of the axes that are longer than 1.
func axesPermuted(l *look) (found []Finding) {
	var long []int
	for a, d := range l.shape {
		if d > 1 {
			long = append(long, a)
		}
	}
	if len(long) < 2 || len(long) > permuteMost {
		return nil
	}
	orders := permutations(len(long))
	for _, order := range orders[1:] {
		perm := l.everyAxis(long, order)
		found = append(found, l.mapped(AxesPermuted, Permutation{perm, l.order(perm)}, l.transposed(perm), int64(len(orders)))...)
	}
	return found
}

// everyAxis extends an order of the long axes to all: axes of length 1 stay.
func (l *look) everyAxis(long, order []int) []int {
	perm := make([]int, len(l.shape))
	for a := range perm {
		perm[a] = a
	}
	for i, o := range order {
		perm[long[i]] = long[o]
	}
	return perm
}

// order names the axes of a permutation.
func (l *look) order(perm []int) string {
	if len(l.Axes) != len(perm) {
		return ""
	}
	out := make([]byte, len(perm))
	for i, a := range perm {
		out[i] = l.Axes[a]
	}
	return string(out)
}

// transposed is the mapping of a permutation. In the transposed tensor axis i has the length
// of axis perm[i], and a step along it is a step along perm[i] in the expected one.
func (l *look) transposed(perm []int) mapping {
	k := len(perm)
	dims, jump := make([]int64, k), make([]int64, k)
	for i, a := range perm {
		dims[i], jump[i] = l.shape[a], l.step[a]
	}
	own := nd.Strides(dims)
	back := make([]int64, k) // a step along axis a of the expected tensor, in the transposed one
	for i, a := range perm {
		back[a] = own[i]
	}
	return mapping{
		from: func(i int64) int64 { return nd.Restep(i, dims, jump) },
		to:   func(j int64) int64 { return nd.Restep(j, l.shape, back) },
	}
}

// permutations of 0…n-1, the identity first.
func permutations(n int) (out [][]int) {
	if n == 0 {
		return [][]int{{}}
	}
	for first := range n {
		for _, rest := range permutations(n - 1) {
			p := []int{first}
			for _, r := range rest {
				if r >= first {
					r++
				}
				p = append(p, r)
			}
			out = append(out, p)
		}
	}
	return out
}
