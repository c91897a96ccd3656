package job

import (
	"context"
	"time"

	"precision/compare/engine"
)

// Rate is how fast parts are compared on this machine.
type Rate struct {
	// Part is the part that was taken: the smallest one. Bytes of it were read in Took.
	Part  string
	Bytes int64
	Took  time.Duration
}

// Of is how long so many bytes will take; 0 where nothing was measured.
func (r Rate) Of(bytes int64) time.Duration {
	if r.Bytes <= 0 {
		return 0
	}
	return time.Duration(float64(r.Took) / float64(r.Bytes) * float64(bytes))
}

// Measure compares the smallest part, for so long at most, and keeps nothing of it but
// the time.
func (p *Plan) Measure(ctx context.Context, most time.Duration) (Rate, error) {
	least := &p.Parts[0]
	for i := range p.Parts {
		if p.Parts[i].Bytes < least.Bytes {
			least = &p.Parts[i]
		}
	}
	start := time.Now()
	opt := p.Options
	opt.EnsureDefaults()
	r := &runner{Plan: p, ctx: ctx, pool: engine.NewPool(opt.Workers)}
	defer r.pool.Close()
	o, err := r.open(ctx, least)
	if err != nil {
		return Rate{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	out, err := r.pool.Run(ctx, o.Source, o.Options)
	if err != nil && ctx.Err() == nil || out.Groups == 0 {
		return Rate{}, err
	}
	return Rate{least.Name, least.Bytes / int64(out.Groups) * int64(out.Done), time.Since(start)}, nil
}
