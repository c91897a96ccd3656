package pattern_test

import (
	"fmt"

	"precision/compare/pattern"
	"precision/dump/dtype"
)

// A matrix of 4 rows and 32 columns whose last block of 16 columns was not written.
func ExampleFind() {
	c := pattern.Case{Shape: []int64{4, 32}, Axes: "NC", Block: []int64{0, 16}, DType: dtype.Float16}
	for i := range 128 {
		w := float64(i%7) - 2.5
		c.Want = append(c.Want, w)
		if i%32 >= 16 {
			w = 0
		}
		c.Got = append(c.Got, w)
	}
	found, err := pattern.Find(c)
	if err != nil {
		fmt.Println(err)
	}
	for _, f := range found {
		hole := f.Args.(pattern.Unfilled)
		fmt.Println(f.Kind, f.Explained, f.Elements, hole.Value, hole.Region.From, hole.Region.To, hole.Region.Aligned, hole.Region.Tail)
	}
	// Output: unwritten 1 64 0 [0 16] [4 32] true true
}
