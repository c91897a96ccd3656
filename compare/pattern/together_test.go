package pattern_test

import (
	"math"
	"reflect"
	"sync"
	"testing"

	"precision/compare/pattern"
	"precision/dump/dtype"
)

// TestTogether: tensors that are looked at side by side have the findings that each has alone.
func TestTogether(t *testing.T) {
	made := func(scale float64) (c pattern.Case) {
		c = pattern.Case{Shape: []int64{64, 512}, DType: dtype.Float32}
		for i := range 64 * 512 {
			x := scale * math.Sin(float64(i)*0.7) * math.Cos(float64(i)*0.013)
			c.Got, c.Want = append(c.Got, x), append(c.Want, x/(1+math.Exp(-x)))
		}
		return c
	}
	cases, alone := []pattern.Case{made(3), made(5), made(8)}, make([][]pattern.Finding, 3)
	for i, c := range cases {
		found, err := pattern.Find(c)
		if err != nil || len(found) == 0 || found[0].Kind != pattern.ActivationMissing {
			t.Fatal(found, err)
		}
		alone[i] = found
	}
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			if found, err := pattern.Find(cases[i%3]); err != nil || !reflect.DeepEqual(found, alone[i%3]) {
				t.Errorf("case %d: %v, %v, alone %v", i%3, found, err, alone[i%3])
			}
		})
	}
	all.Wait()
}
