package scaled

import (
	"fmt"
	"testing"
)

// Each number's scale, by shapes that kernels give and take.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		numbers, scales []int64
		powers          bool
		at, want        int64 // -1 where the shapes are none of a pair
	}{
		{[]int64{2, 3, 4}, []int64{1}, false, 23, 0},
		{[]int64{2, 3, 4}, []int64{2, 3}, false, 17, 4},
		{[]int64{2, 3, 4}, []int64{6}, false, 17, 4},
		{[]int64{2, 3, 4}, []int64{4}, false, 17, 1},
		{[]int64{2, 3, 4}, []int64{1, 1, 4}, false, 17, 1},
		{[]int64{4, 4}, []int64{4}, false, 7, 1},
		{[]int64{6, 8}, []int64{6, 2}, false, 15, 3},
		{[]int64{6, 8}, []int64{12}, false, 15, 3},
		{[]int64{256, 300}, []int64{2, 3}, false, 130*300 + 299, 5},
		{[]int64{3, 70}, []int64{3, 2, 2}, true, 70 + 69, 4 + 2},
		{[]int64{3, 70}, []int64{3, 4}, true, 70 + 69, 4 + 2},
		{[]int64{3, 70}, []int64{3, 3}, true, 70 + 69, 3 + 2},
		{[]int64{70, 3}, []int64{2, 3, 2}, true, 69*3 + 1, (1*3 + 1) * 2},
		{[]int64{2, 64, 3}, []int64{2, 1, 3, 2}, true, (64+40)*3 + 2, (3+2)*2 + 1},
		{[]int64{3, 70}, []int64{3, 7}, true, 0, -1},
		{[]int64{3, 4}, []int64{5}, false, 0, -1},
		{[]int64{3, 4}, []int64{2, 4, 7}, false, 0, -1},
		{[]int64{0, 4}, []int64{4}, false, 0, -1},
		{[]int64{}, []int64{2}, false, 0, -1},
	} {
		t.Run(fmt.Sprint(c.numbers, c.scales), func(t *testing.T) {
			at, err := Places(c.numbers, c.scales, c.powers)
			switch {
			case err != nil && c.want >= 0:
				t.Error(err)
			case err == nil && c.want < 0:
				t.Error("they are taken for a pair")
			case err == nil && at(c.at) != c.want:
				t.Errorf("%d, expected %d", at(c.at), c.want)
			}
		})
	}
}
