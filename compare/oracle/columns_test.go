package oracle

import (
	"slices"
	"testing"
)

// TestColumnsOfRows: what is summed up down the columns of a tensor that is computed row by row takes each row a few times and not once a column,
// whether all sums are asked for or some of them.
func TestColumnsOfRows(t *testing.T) {
	const rows, columns = 512, 256
	computed := 0
	in := &dense{shape: []int64{rows, columns}, y: make([]float64, rows*columns), exact: true}
	for i := range in.y {
		in.y[i] = float64(i % 7)
	}
	sums := func() *reduced {
		computed = 0
		down := transpose(newRows(in, columns, func(_ int64, x, _, y, b []float64) {
			computed++
			copy(y, x)
			clear(b)
		}), []int{1, 0})
		return &reduced{shape: []int64{columns}, in: down, n: rows, f: func(x, _ []float64) (sum, b float64) {
			for _, v := range x {
				sum += v
			}
			return sum, 0
		}}
	}
	want := make([]float64, columns)
	for i, v := range in.y {
		want[i%columns] += v
	}
	got, b := make([]float64, columns), make([]float64, columns)
	sums().Range(0, got, b)
	if !slices.Equal(got, want) || computed > 2*rows {
		t.Errorf("all: %d rows of %d were computed, sums %v", computed, rows, got[:8])
	}
	var idx []int64
	var some []float64
	for i := int64(3); i < columns; i += 5 {
		idx, some = append(idx, i), append(some, want[i])
	}
	got = make([]float64, len(idx))
	sums().At(idx, got, nil)
	if !slices.Equal(got, some) || computed > 2*rows {
		t.Errorf("some: %d rows of %d were computed, sums %v", computed, rows, got[:8])
	}
}
