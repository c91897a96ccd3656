package compare

import (
	"context"
	"sync"
	"sync/atomic"
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
	opt.repeats = newRepeats()
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

// crew is the pool of workers of a run. Every worker holds one token while it
// computes; a large tensor invites holders of spare tokens, so that one giant
// tensor and a thousand small ones both use all cores.
type crew struct {
	size   int
	tokens chan *Worker
}

// newCrew makes the workers of a run.
func newCrew(opt *Options) *crew { return newCrewOf(opt.Workers, opt) }

func newCrewOf(size int, opt *Options) *crew {
	c := &crew{size: size, tokens: make(chan *Worker, size)}
	for range size {
		c.tokens <- &Worker{crew: c, opt: opt}
	}
	return c
}

// close ends what workers keep between tasks, when all are idle.
func (c *crew) close() {
	for range c.size {
		if s := <-c.tokens; s.helper != nil {
			s.helper.Close()
		}
	}
}

// each calls work for every number below n, in parallel but started in order,
// until stop is closed. What runs a number goes on with the next, on a stack that has grown.
func (c *crew) each(n int, stop <-chan struct{}, work func(i int, s *Worker)) {
	var all sync.WaitGroup
	defer all.Wait()
	var next atomic.Int64
	one := func() bool {
		var s *Worker
		select {
		case <-stop:
			return false
		case s = <-c.tokens:
		}
		defer func() { c.tokens <- s }()
		i := int(next.Add(1)) - 1
		if i >= n {
			return false
		}
		work(i, s)
		return true
	}
	for range min(c.size, n) {
		all.Go(func() {
			for one() {
			}
		})
	}
}

// invite starts work on a spare worker, if there is one.
func (c *crew) invite(wait *sync.WaitGroup, work func(*Worker)) {
	select {
	case s := <-c.tokens:
		wait.Go(func() {
			defer func() { c.tokens <- s }()
			work(s)
		})
	default:
	}
}
