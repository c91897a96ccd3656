package each

import (
	"context"
	"sync"
	"testing"
)

// TestNumber: every number once, progress in order, no more workers than numbers, and an end
// when the context is done.
func TestNumber(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 100} {
		var mu sync.Mutex
		started, last, calls := 0, 0, make([]int, 20)
		Number(t.Context(), len(calls), workers, func(done, total int) {
			if done != last+1 || total != len(calls) {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
		}, func() func(int) {
			mu.Lock()
			started++
			mu.Unlock()
			return func(i int) { calls[i]++ }
		})
		for i, n := range calls {
			if n != 1 {
				t.Errorf("%d workers: %d was done %d times", workers, i, n)
			}
		}
		if last != len(calls) || started > len(calls) || workers > 0 && started > workers {
			t.Errorf("%d workers: %d started, %d done", workers, started, last)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	Number(ctx, 10, 1, nil, func() func(int) {
		return func(i int) {
			if n++; i == 2 {
				cancel()
			}
		}
	})
	if n != 3 {
		t.Errorf("%d were done, expected 3", n)
	}
}
