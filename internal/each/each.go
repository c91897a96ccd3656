// Package each does something with each of many things: work by several workers, or another list.
package each

import (
	"context"
	"runtime"
	"sync"
)

// Number calls what worker returns for 0…n-1, each once, from several goroutines until the context is
// done. Every goroutine calls worker once, for what it keeps from number to number.
// Workers below 1 are as many as there are processors; progress, if not nil, is called after every
// number, one at a time.
func Number(ctx context.Context, n, workers int, progress func(done, total int), worker func() func(i int)) {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	next, done := 0, 0
	for range min(workers, n) {
		all.Go(func() {
			do := worker()
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n || ctx.Err() != nil {
					return
				}
				do(i)
				mu.Lock()
				done++
				if progress != nil {
					progress(done, n)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

// Of makes a list of what f makes of each of another one.
func Of[T, U any](list []T, f func(T) U) []U {
	made := make([]U, len(list))
	for i, x := range list {
		made[i] = f(x)
	}
	return made
}
