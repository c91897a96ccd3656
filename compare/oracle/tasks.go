package oracle

import (
	"context"
	"runtime"
	"sync"
)

// checked runs check for every number below n, several at a time, until the context is done, and
// returns the findings in the order of the numbers. Workers below 1 are as many as there are processors; progress, if not
// nil, is called one at a time.
func checked(ctx context.Context, n, workers int, progress func(done, total int), check func(i int, budget *budget) []Finding) []Finding {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	out := make([][]Finding, n)
	memory := newBudget(memory)
	var next, done int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range min(workers, max(n, 1)) {
		all.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n || ctx.Err() != nil {
					return
				}
				out[i] = check(i, memory)
				mu.Lock()
				if done++; progress != nil {
					progress(done, n)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	var findings []Finding
	for _, f := range out {
		findings = append(findings, f...)
	}
	return findings
}
