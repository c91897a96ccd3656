package nd

import (
	"math"
	"slices"
	"testing"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		dims []int64
		n    int64
		ok   bool
	}{
		{nil, 1, true}, {[]int64{2, 3}, 6, true}, {[]int64{2, -1}, 0, false}, {[]int64{-1, 0}, 0, true},
		{[]int64{1 << 32, 1 << 31}, 0, false}, {[]int64{1 << 32, 1 << 32, 0}, 0, true}, {[]int64{math.MaxInt64, 1}, math.MaxInt64, true},
	} {
		if n, ok := Count(c.dims...); n != c.n || ok != c.ok {
			t.Errorf("%d: %d %v, expected %d %v", c.dims, n, ok, c.n, c.ok)
		}
	}
}

func TestOnes(t *testing.T) {
	if got := Strides([]int64{2, 3, 4}); !slices.Equal(got, []int64{12, 4, 1}) {
		t.Errorf("strides %d", got)
	}
	if got := WithoutOnes([]int64{1, 3, 1}); !slices.Equal(got, []int64{3}) {
		t.Errorf("without ones %d", got)
	}
	if got := WithOnes([]int64{3, 2}, 4); !slices.Equal(got, []int64{3, 2, 1, 1}) || len(WithOnes(got, 2)) != 4 {
		t.Errorf("with ones %d", got)
	}
	for i := range int64(24) {
		if got := Number(Place(i, []int64{2, 3, 4}), []int64{12, 4, 1}); got != i {
			t.Errorf("element %d is number %d by its place", i, got)
		}
	}
	if !Single(nil) || !Single([]int64{1, 1}) || Single([]int64{1, 0}) {
		t.Error("single")
	}
}

func TestTuple(t *testing.T) {
	for want, shape := range map[string][]int64{"()": nil, "(3,)": {3}, "(2, -3)": {2, -3}} {
		if got := Tuple(shape); got != want {
			t.Errorf("%v: %s, want %s", shape, got, want)
		}
	}
}
