package engine

import (
	"context"
	"testing"

	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
)

// A tensor that is split among workers must give the very digits of one
// worker's pass, in both numerics.
func TestSplitTensorKeepsItsDigits(t *testing.T) {
	const n = splitChunks*chunkTiles*metric.TileLen*2 + 12345 // several chunks, a short last tile
	job := writePair(t, t.TempDir(), 1, n)
	for _, numerics := range []metric.Numerics{metric.Exact, metric.Reference} {
		job.Numerics = numerics
		var want []string
		for _, workers := range []int{1, 2, 5} {
			job.Workers = workers
			s, err := job.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var cells []string
			if _, err := s.Run(context.Background(), func(r *result.Row) error {
				cells = report.Cells(s.Folders.Columns(), r)
				for _, v := range r.Result().Values {
					cells = append(cells, v.Text(0))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = cells
				continue
			}
			for i := range want {
				if cells[i] != want[i] {
					t.Errorf("%s, %d workers: cell %d is %s, with one worker %s", numerics, workers, i, cells[i], want[i])
				}
			}
		}
	}
}

func TestSplitStopsOnCancel(t *testing.T) {
	const n = splitChunks * chunkTiles * metric.TileLen * 2
	job := writePair(t, t.TempDir(), 1, n)
	job.Workers = 2
	s, err := job.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out, err := s.Run(ctx, func(*result.Row) error { return nil })
	if err == nil || out.Done != 0 {
		t.Errorf("%d operators done, error %v", out.Done, err)
	}
}
