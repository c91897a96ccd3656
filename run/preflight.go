package run

import (
	"cmp"
	"context"
	"io"
	"sync"
	"sync/atomic"

	"precision/internal/msg"
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
	// JSON writes it for programs, Page as a page that opens in a language; Text says it.
	JSON func(io.Writer) error
	Page func(io.Writer, msg.Lang) error
	Text func(report.Text) string
}

// Find finds out what both files are.
func (p *Preflight) Find() error {
	if p.Kind != "" {
		return nil
	}
	a, err := preflight.Detect(p.A)
	if err != nil {
		return err
	}
	b, err := preflight.Detect(p.B)
	if err == nil && a != b {
		err = explain.Say("err.preflight.unlike", p.A, a, p.B, b)
	}
	p.Kind = a
	return err
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
	page := func(lang msg.Lang) report.Page { return report.Page{Lang: lang, A: p.A, B: p.B, Strict: p.Strict} }
	switch p.Kind {
	case preflight.Manifest:
		d := must.Get(manifest.Diff(ctx, p.A, p.B))
		done.Differs = d.Differs()
		done.JSON = func(w io.Writer) error { return report.ManifestJSON(w, d) }
		done.Page = func(w io.Writer, lang msg.Lang) error { return page(lang).Manifest(w, d) }
		done.Text = func(t report.Text) string { return t.Manifest(d) }
	case preflight.Config:
		x := must.Get(config.Open(p.A, p.Format))
		y := must.Get(config.Open(p.B, p.Format))
		d := config.Diff(x, y, p.Ignore)
		done.Differs = d.Differs()
		done.JSON = func(w io.Writer) error { return report.ConfigJSON(w, d) }
		done.Page = func(w io.Writer, lang msg.Lang) error { return page(lang).Config(w, d) }
		done.Text = func(t report.Text) string { return t.Config(d) }
	default:
		x, y, err := p.logs(ctx, Forward(tell))
		if err != nil {
			return nil, err
		}
		d := trainlog.Diff(x, y, trainlog.Options{Floor: p.Floor, Start: trainlog.DefaultOptions.Start})
		done.Differs = d.Differs() || d.Inconclusive() || p.Strict && d.Lost()
		done.JSON = func(w io.Writer) error { return report.LogJSON(w, d) }
		done.Page = func(w io.Writer, lang msg.Lang) error { return page(lang).Log(w, d) }
		done.Text = func(t report.Text) string { return t.Log(d) }
	}
	return done, nil
}
