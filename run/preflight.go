package run

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"precision/internal/must"
	"precision/preflight"
	"precision/preflight/config"
	"precision/preflight/manifest"
	"precision/preflight/report"
	"precision/preflight/trainlog"
	"precision/run/explain"
)

// Preflight is a request to compare what two trainings begin with, or how they go.
type Preflight struct {
	A, B string
	// Kind is what both files are; empty finds out.
	Kind preflight.Kind
	// Format is that of configurations, empty finds out; Ignore are keys of theirs that do not matter.
	Format config.Format
	Ignore []string
	// Patterns find values in logs, Floor is the difference below which values are the same.
	Patterns []trainlog.Expression
	Floor    float64
	// Strict: what one side lacks differs, too.
	Strict bool
}

// Preflighted is what differs.
type Preflighted struct {
	Kind    preflight.Kind
	Differs bool
	Found   report.Found
}

// Find finds out what both files are.
func (p *Preflight) Find() (err error) {
	defer must.Catch(&err)
	if p.Kind != "" {
		return nil
	}
	p.Kind = must.Get(preflight.Detect(p.A))
	b := must.Get(preflight.Detect(p.B))
	explain.Refuse(p.Kind != b, "err.preflight.unlike", p.A, p.Kind, p.B, b)
	return nil
}

// logs reads both logs at a time.
func (p *Preflight) logs(ctx context.Context, tell Listener) (a, b *trainlog.Log, err error) {
	var done atomic.Int64
	total := int(trainlog.Size(p.A) + trainlog.Size(p.B))
	read := func(n int) {
		tell(Event{Action: Progress, Stage: Reading, Bytes: true, Done: int(done.Add(int64(n))), Total: total})
	}
	var failed error
	var other sync.WaitGroup
	other.Go(func() { b, failed = trainlog.Open(ctx, p.B, p.Patterns, read) })
	a, err = trainlog.Open(ctx, p.A, p.Patterns, read)
	other.Wait()
	return a, b, cmp.Or(err, failed)
}

// Run compares.
func (p *Preflight) Run(ctx context.Context, tell Listener) (_ *Preflighted, err error) {
	defer must.Catch(&err)
	must.Do(p.Find())
	done := &Preflighted{Kind: p.Kind}
	switch p.Kind {
	case preflight.Manifest:
		d := must.Get(manifest.Diff(ctx, p.A, p.B))
		done.Found, done.Differs = report.Manifest{Difference: d}, d.Differs()
	case preflight.Config:
		x := must.Get(config.Open(p.A, p.Format))
		d := config.Diff(x, must.Get(config.Open(p.B, p.Format)), p.Ignore)
		done.Found, done.Differs = report.Config{Difference: d}, d.Differs()
	default:
		x, y, err := p.logs(ctx, Forward(tell))
		must.Do(err)
		d := trainlog.Diff(x, y, p.Floor)
		done.Found, done.Differs = report.Log{Difference: d, Strict: p.Strict}, d.Differs() || d.Inconclusive() || p.Strict && d.Lost()
	}
	return done, nil
}
