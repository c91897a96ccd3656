package array

import (
	"context"
	"io"
	"sync"
	"testing"
)

// TestProgress: what takes long tells how far it is, up to the end.
func TestProgress(t *testing.T) {
	v := make([]float32, 3*tile+5)
	a, b := array(t, []int64{int64(len(v))}, v...), array(t, []int64{int64(len(v))}, v...)
	for name, work := range map[string]func(ctx context.Context) error{
		"measure": func(ctx context.Context) error { _, err := a.Measure(ctx, 2); return err },
		"compare": func(ctx context.Context) error {
			_, err := Compare(ctx, a, b, Options{Workers: 2})
			return err
		},
		"text": func(ctx context.Context) error { return a.WriteText(ctx, io.Discard) },
	} {
		var mu sync.Mutex
		var calls, last, total int64
		err := work(WithProgress(context.Background(), func(done, all int64) {
			mu.Lock()
			defer mu.Unlock()
			calls, last, total = calls+1, max(last, done), all
		}))
		if err != nil || calls != 4 || last != int64(len(v)) || total != int64(len(v)) {
			t.Errorf("%s: %d calls, the last of %d of %d, expected 4, %d: %v", name, calls, last, total, len(v), err)
		}
	}
}
