package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"precision/compare/result"
	"precision/internal/build"
	"precision/internal/interrupt"
)

// Pool is workers that several runs share, one after the other or at the same
// time: what they hold depends on their number and not on that of the runs.
type Pool struct{ crew *crew }

// NewPool makes workers; below 1 they are as many as there are processors.
func NewPool(workers int) *Pool {
	opt := &Options{Workers: max(workers, 0)}
	opt.EnsureDefaults()
	return &Pool{newCrewOf(opt.Workers, opt)}
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
	opt.repeats = newRepeats()
	out := &Outcome{Groups: len(groups), Table: table}
	out.Table.Meta.Time, out.Table.Meta.Version = time.Now(), build.Name()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	line := &emitter{emit: emit, out: out, ready: map[int]Found{}, opt: &opt}
	if r, ok := inner(from).(reviser); ok {
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
		if note, tells := of(out.Table); tells {
			out.Table.Meta.Pairing.Why = append(out.Table.Meta.Pairing.Why, note)
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

// chooser is a source that knows what feeds what.
type chooser interface {
	choices(ctx context.Context, p *Pool, t *result.Table) error
}

// Run compares what a source pairs. Every row goes to each of emit and into the
// table of the outcome, in the order of the source's groups. The outcome is there
// also when the run was stopped early: by the context, or by an error of emit.
func Run(ctx context.Context, from Source, opt Options, emit ...func(*result.Row) error) (*Outcome, error) {
	if err := opt.Validate(); err != nil {
		return &Outcome{Table: &result.Table{}}, err
	}
	p := NewPool(opt.Workers)
	defer p.Close()
	return p.Run(ctx, from, opt, emit...)
}

// emitter brings what was found back into order.
type emitter struct {
	mu     sync.Mutex
	emit   []func(*result.Row) error
	opt    *Options
	out    *Outcome
	ready  map[int]Found
	next   int
	failed error
	// revise, if not nil, has the rows held back until release.
	revise func([]result.Row)
	held   []result.Row
}

// release emits the rows that were held back, when all are there.
func (l *emitter) release() error {
	if l.revise == nil || l.failed != nil || l.out.Done < l.out.Groups {
		return l.failed
	}
	l.revise(l.held)
	if l.failed = l.pass(l.held); l.failed != nil {
		l.out.Done = 0
	}
	return l.failed
}

// pass hands rows on.
func (l *emitter) pass(rows []result.Row) error {
	for i := range rows {
		for _, emit := range l.emit {
			if err := emit(&rows[i]); err != nil {
				return err
			}
		}
	}
	if l.out.Table.Rows == nil && l.revise != nil {
		l.out.Table.Rows = rows // all there are
	} else {
		l.out.Table.Rows = append(l.room(l.out.Table.Rows, len(rows)), rows...)
	}
	return nil
}

// room makes room for n more rows. A long table grows to what it will come to if
// groups go on as they did: to double it would hold the rows of a large network three
// times at its end.
func (l *emitter) room(rows []result.Row, n int) []result.Row {
	need := len(rows) + n
	if need <= cap(rows) || need < 1024 {
		return rows
	}
	guess := need * l.out.Groups / (l.out.Done + 1)
	return slices.Grow(rows, min(max(guess+guess/64, need+need/4), 4*need)-len(rows))
}

func (l *emitter) put(i int, found Found) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	if i != l.next {
		l.ready[i] = found
		return nil
	}
	for ok := true; ok; {
		l.next++
		if found.Err != nil {
			l.failed = found.Err
			return found.Err
		}
		if l.revise != nil {
			l.held = append(l.room(l.held, len(found.Rows)), found.Rows...)
			found.Rows = nil
		}
		if l.failed = l.pass(found.Rows); l.failed != nil {
			return l.failed
		}
		if l.out.Failed == nil {
			l.out.Failed = found.Failed
		}
		l.out.Done++
		if l.opt.Progress != nil {
			l.opt.Progress(l.out.Done, l.out.Groups)
		}
		if len(l.ready) == 0 {
			break
		}
		if found, ok = l.ready[l.next]; ok {
			delete(l.ready, l.next)
		}
	}
	return nil
}
