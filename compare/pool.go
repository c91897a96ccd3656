package compare

import (
	"context"
	"time"

	"precision/compare/result"
	"precision/internal/interrupt"
)

// Pool is workers that several runs share, one after the other or at the same
// time: what they hold depends on their number and not on that of the runs.
type Pool struct{ crew *crew }

// NewPool makes workers; below 1 they are as many as there are processors.
func NewPool(workers int) *Pool {
	opt := &Options{Workers: max(workers, 0)}
	opt.EnsureDefaults()
	return &Pool{newCrew(opt)}
}

// Close ends what workers keep between tasks, when all are idle.
func (p *Pool) Close() { p.crew.close() }

// Run is [Run] with the workers of the pool.
func (p *Pool) Run(ctx context.Context, from Source, opt Options, emit ...func(*result.Row) error) (*Outcome, error) {
	if err := opt.Validate(); err != nil {
		return &Outcome{Table: &result.Table{}}, err
	}
	var groups []Group
	table, err := interrupt.Await(ctx, func() (*result.Table, error) {
		groups = from.Groups()
		return from.Table(), nil
	})
	if err != nil {
		return &Outcome{Table: &result.Table{}}, err
	}
	out := &Outcome{Groups: len(groups), Table: table}
	out.Table.Meta.Time = time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	line := &emitter{emit: emit, out: out, ready: map[int]Found{}, opt: &opt}
	if r, ok := from.(reviser); ok {
		line.revise = r.Revision()
	}
	p.crew.each(len(groups), ctx.Done(), func(i int, w *Worker) {
		w.opt = &opt
		if err := line.put(i, groups[i](ctx, w)); err != nil {
			cancel(err)
		}
	})
	if err := line.release(); err != nil {
		cancel(err)
	}
	if c, ok := inner(from).(chooser); ok && out.Done == out.Groups {
		if err := c.choices(ctx, p, out.Table); err != nil {
			return out, err
		}
	}
	for _, of := range []func(*result.Table) (result.Reason, bool){sameNote, shapesNote} {
		note, tells := of(out.Table)
		if !tells {
			continue
		}
		out.Table.Meta.Pairing.Why = append(out.Table.Meta.Pairing.Why, note)
		if opt.Warning != nil {
			opt.Warning(note)
		}
	}
	if out.Done < out.Groups {
		if err := context.Cause(ctx); err != nil {
			return out, err
		}
	}
	return out, nil
}

// inner is the source that another one wraps.
func inner(from Source) Source {
	for {
		w, ok := from.(interface{ Inner() Source })
		if !ok {
			return from
		}
		from = w.Inner()
	}
}

// Each calls work for every number below n, each by a worker of the pool, and returns
// when all are done. The error is that of the context.
func (p *Pool) Each(ctx context.Context, n int, work func(i int)) error {
	p.crew.each(n, ctx.Done(), func(i int, _ *Worker) { work(i) })
	return context.Cause(ctx)
}
