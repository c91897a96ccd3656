package array

import "context"

type progressKey struct{}

// WithProgress lets long work of this package tell how far it has come: show gets
// the number of elements that are done and of all. It may be called from several
// goroutines at once.
func WithProgress(ctx context.Context, show func(done, total int64)) context.Context {
	return context.WithValue(ctx, progressKey{}, show)
}

func progressOf(ctx context.Context) func(done, total int64) {
	if show, ok := ctx.Value(progressKey{}).(func(done, total int64)); ok {
		return show
	}
	return func(int64, int64) {}
}
