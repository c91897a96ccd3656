// Package order has the orders and the sort that packages cmp and slices lack.
package order

import "sort"

// Stable sorts as slices.SortStableFunc does. That is compiled again for each type of element (10 KB a type, and there are
// dozens); this one is compiled once, at the price of a call through a swapper an exchange: for lists that people make.
func Stable[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// FalseFirst compares as cmp.Compare does, with false before true.
func FalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
