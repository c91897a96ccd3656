// Package order has the orders that package cmp lacks.
package order

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
