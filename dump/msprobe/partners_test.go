package msprobe

import (
	"slices"
	"testing"
)

func TestPartners(t *testing.T) {
	for _, c := range []struct{ left, right, want []int }{
		{nil, []int{1}, []int{}},
		{[]int{1}, nil, []int{-1}},
		{[]int{7}, []int{17}, []int{0}},
		{[]int{7, 8}, []int{17, 18}, []int{-1, -1}},
		{[]int{7}, []int{17, 18}, []int{-1}},
		{[]int{7, 8}, []int{17}, []int{-1, -1}},
		{[]int{7, 8}, []int{8, 7}, []int{1, 0}},
		{[]int{7, 8}, []int{17, 7}, []int{1, 0}},
		{[]int{7, 8, 9}, []int{7, 17}, []int{0, -1, -1}},
		{[]int{7, 7}, []int{7, 7}, []int{0, 1}},
	} {
		if got := Partners(c.left, c.right); !slices.Equal(got, c.want) {
			t.Errorf("%v and %v: %v, expected %v", c.left, c.right, got, c.want)
		}
	}
}
