package repl

import (
	"context"

	"precision/repl/array"
)

// watched is the size of the tensors from which on reading them shows its
// progress, in bytes: what takes longer than a blink.
const watched = 128 << 20

// watch shows the progress of reading a tensor, or several at once, on a terminal
// if they are large. done wipes it.
func (s *session) watch(ctx context.Context, label string, arrays ...*array.Array) (watching context.Context, done func()) {
	var size int64
	for _, a := range arrays {
		size += a.Type.Bytes(a.Len())
	}
	bar := s.Bar(label)
	if bar == nil || size < watched {
		return ctx, func() {}
	}
	return array.WithProgress(ctx, func(done, total int64) {
		bar.Set(int(float64(done)/float64(total)*float64(size>>20)), int(size>>20)) // in MB
	}), bar.Done
}

// measure takes the statistics of a tensor and shows its progress.
func (s *session) measure(ctx context.Context, label string, a *array.Array) (array.Stats, error) {
	watching, done := s.watch(ctx, label, a)
	defer done()
	return a.Measure(watching, s.set.Workers)
}
