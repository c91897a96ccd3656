package msprobe

import "slices"

// Partners brings the processes of two sides together by their numbers: for each of left it
// gives the index of its partner in right, -1 where it has none. A process outside a group has another number
// in every run, so that one which is left on either side is a pair, too; of several it is not known
// which belongs to which.
func Partners[T comparable](left, right []T) []int {
	at := map[T][]int{}
	for k, n := range right {
		at[n] = append(at[n], k)
	}
	partner := make([]int, len(left))
	taken := make([]bool, len(right))
	var alone []int
	for i, n := range left {
		partner[i] = -1
		if list := at[n]; len(list) > 0 {
			partner[i], at[n] = list[0], list[1:]
			taken[list[0]] = true
		} else {
			alone = append(alone, i)
		}
	}
	if len(alone) == 1 && len(right) == len(left) {
		partner[alone[0]] = slices.Index(taken, false)
	}
	return partner
}
