package engine

import (
	"os"

	"precision/compare/result"
	"precision/internal/nd"
)

// shapesNote tells when most pairs of a table could not be compared for their
// shapes: one note that names the batches says more than a reason in every row.
func shapesNote(t *result.Table) (result.Reason, bool) {
	pairs, differ := 0, 0
	batches := map[[2]int64]int{}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Role != result.Output {
			continue
		}
		if (r.Compared || r.Recorded != nil && r.Recorded.Both > 0 && r.Class() != result.ShapeDiffers) && !r.Has(result.FrontOnly) {
			pairs++
			continue
		}
		if r.Class() != result.ShapeDiffers && !r.Has(result.FrontOnly) {
			continue
		}
		pairs++
		differ++
		if b, ok := batchOf(r.Left.Shape, r.Right.Shape); ok {
			batches[b]++
		}
	}
	if differ < 2 || 2*differ <= pairs {
		return result.Reason{}, false
	}
	for b, n := range batches {
		if 2*n > differ {
			return result.Because(result.BatchDiffers, count(differ), count(pairs), count(b[0]), count(b[1])), true
		}
	}
	return result.Because(result.ShapesMostly, count(differ), count(pairs)), true
}

// batchOf is the first dim of both shapes where they differ there and have the
// same number of elements behind it, whatever the layout.
func batchOf(left, right []int64) (batches [2]int64, ok bool) {
	if len(left) == 0 || len(right) == 0 || left[0] == right[0] {
		return batches, false
	}
	x, okX := nd.Count(left[1:]...)
	y, okY := nd.Count(right[1:]...)
	if !okX || !okY || len(left) == len(right) && x != y {
		return batches, false
	}
	return [2]int64{left[0], right[0]}, true
}

// sameNote tells that both sides of a table are one recording, under whatever paths: what is
// held against itself is always equal, so that nothing was compared with anything.
func sameNote(t *result.Table) (result.Reason, bool) {
	left, right := &t.Meta.Left, &t.Meta.Right
	a, err := os.Stat(left.Dir)
	b, failed := os.Stat(right.Dir)
	if err != nil || failed != nil || !os.SameFile(a, b) || left.Recording != right.Recording {
		return result.Reason{}, false
	}
	return result.Because(result.SameSides, left.Dir), true
}
