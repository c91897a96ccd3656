package oracle

import (
	"context"

	"precision/internal/each"
)

// checked runs check for every number below n, several at a time, until the context is done, and
// returns the findings in the order of the numbers. Workers below 1 are as many as there are processors; progress, if not
// nil, is called one at a time.
func checked(ctx context.Context, n, workers int, progress func(done, total int), check func(i int, budget *budget) []Finding) []Finding {
	out := make([][]Finding, n)
	memory := newBudget(memory)
	each.Number(ctx, n, workers, progress, func() func(int) {
		return func(i int) { out[i] = check(i, memory) }
	})
	var findings []Finding
	for _, f := range out {
		findings = append(findings, f...)
	}
	return findings
}
