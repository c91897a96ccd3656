package scaled

import (
	"fmt"
	"math"
	"testing"

	"precision/dump/dtype"
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

// Shapes that no tensor has, as damaged headers claim them, are refused, whichever of the two has them and whatever holds the numbers.
func TestImpossibleShapes(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range [][2][]int64{
		{{-8}, {32}}, {{32}, {-8}}, {{-8}, {1}}, {{-4, -8}, {32}}, {{32, -1}, {32}}, {{-32}, {-32}}, {{-1, 0}, {4}},
		{{most}, {32}}, {{most}, {1}}, {{most}, {most}}, {{4}, {most}}, {{1, most}, {1, most - 1}}, {{most}, {most / 32, 2}},
		{{1 << 32, 1 << 32}, {1}}, {{1 << 32, 1 << 32}, {1 << 32}}, {{1<<61 + 1}, {1}}, {{1<<61 + 1}, {8}}, {{1 << 62}, {1}}, {{2}, {1 << 31, 1 << 33}},
		{{most/2 + 5}, {8}}, {{math.MinInt64}, {1}}, {{math.MinInt64, -1}, {-1}},
	} {
		for _, powers := range []bool{false, true} {
			if _, err := Places(c[0], c[1], powers); err == nil {
				t.Errorf("scales %v have a place for each of numbers %v", c[1], c[0])
			}
		}
		for _, numbers := range []dtype.Type{dtype.Int8, dtype.Uint8, dtype.Int32, dtype.Float4E2M1} {
			for _, scales := range []dtype.Type{dtype.Float32, dtype.Uint8, dtype.Float8E8M0} {
				all := []Tensor{{numbers, c[0]}, {scales, c[1]}}
				for _, given := range []bool{false, true} {
					if _, err := Of(all[0], all[1], nil, given); err == nil {
						t.Errorf("%v and %v of shapes %v are a pair", numbers, scales, c)
					}
					if _, _, ok := Pair(all, given, 1); ok {
						t.Errorf("%v and %v of shapes %v are found as a pair", numbers, scales, c)
					}
				}
			}
		}
	}
}

// Which of the tensors of a kernel are numbers and their scales: those of a quantiser by their order, what a kernel takes where nothing
// else fits.
func TestPair(t *testing.T) {
	q := func(typ dtype.Type, shape ...int64) Tensor { return Tensor{typ, shape} }
	for name, c := range map[string]struct {
		tensors         []Tensor
		outputs         bool
		i               int
		numbers, scales int // -1 for none
	}{
		"by token":         {[]Tensor{q(dtype.Int8, 4, 64), q(dtype.Float32, 4)}, true, 1, 0, 1},
		"two of two":       {[]Tensor{q(dtype.Int8, 4, 64), q(dtype.Int8, 4, 64), q(dtype.BFloat16, 4, 64), q(dtype.Float32, 4), q(dtype.Float32, 4)}, true, 1, 1, 4},
		"beside them":      {[]Tensor{q(dtype.Int8, 4, 64), q(dtype.BFloat16, 4, 64), q(dtype.Float32, 4)}, true, 1, -1, 0},
		"bytes of float8":  {[]Tensor{q(dtype.Float8E4M3FN, 2, 64), q(dtype.Uint8, 2, 2)}, true, 0, 0, 1},
		"bytes of int8":    {[]Tensor{q(dtype.Int8, 2, 64), q(dtype.Uint8, 2, 2)}, true, 0, -1, 0},
		"float8 of float4": {[]Tensor{q(dtype.Float4E2M1, 2, 64), q(dtype.Float8E4M3FN, 2, 4)}, true, 0, 0, 1},
		"product":          {[]Tensor{q(dtype.Int8, 4, 64), q(dtype.Int8, 64, 32), q(dtype.Float32, 32), q(dtype.Float32, 4)}, false, 3, 0, 3},
		"its weight":       {[]Tensor{q(dtype.Int8, 4, 64), q(dtype.Int8, 64, 32), q(dtype.Float32, 32), q(dtype.Float32, 4)}, false, 1, 1, 2},
		"either way":       {[]Tensor{q(dtype.Int8, 64, 64), q(dtype.Int8, 64, 64), q(dtype.Float32, 64), q(dtype.Float32, 64)}, false, 0, -1, 0},
	} {
		n, s, ok := Pair(c.tensors, c.outputs, c.i)
		if ok != (c.numbers >= 0) || ok && (n != c.numbers || s != c.scales) {
			t.Errorf("%s: %d, %d, %t; expected %d, %d", name, n, s, ok, c.numbers, c.scales)
		}
	}
}

// TestPairOfMany: what is done to find the pair of a tensor grows as the tensors do: of 256 experts a kernel takes a weight and scales each.
func TestPairOfMany(t *testing.T) {
	const experts = 256
	for _, shape := range [][]int64{{8, 6}, {8, 7}} { // all fit, and none
		tensors := []Tensor{{dtype.Int8, []int64{4, 8}}}
		for range experts {
			tensors = append(tensors, Tensor{dtype.Int8, shape})
		}
		for range experts {
			tensors = append(tensors, Tensor{dtype.Float32, []int64{6}})
		}
		for _, i := range []int{1, experts, experts + 1, 2 * experts} {
			if n := testing.AllocsPerRun(1, func() {
				if n, s, ok := Pair(tensors, false, i); ok {
					t.Errorf("%v: %d and %d are found as the pair of %d", shape, n, s, i)
				}
			}); n > 20*experts {
				t.Errorf("%v: %g allocations for the pair of %d among %d tensors", shape, n, i, len(tensors))
			}
		}
	}
}
