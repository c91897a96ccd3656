package compare

import (
	"context"
	"strings"
	"sync"

	"precision/dump"
	"precision/graph/fusion"
)

// engine is a run in progress.
type engine struct {
	opt   Options
	crew  *crew
	order map[*fusion.Op]int // place in execution order
	// goldenOps are the operators of which there are golden arrays.
	goldenOps map[string]bool
}

// Run compares the two sides and hands the rows to emit in order of their
// Index. It returns the summary, also when it was stopped early: by the
// context, or by an error of emit.
func Run(ctx context.Context, opt Options, threshold float64, emit func(*Row) error) (*Summary, error) {
	if err := opt.Validate(); err != nil {
		return &Summary{}, err
	}
	e := &engine{opt: opt, crew: newCrew(opt.Workers)}
	jobs := e.jobs()
	sum := newSummary(len(jobs), threshold, opt.Metrics)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer e.crew.close()
	line := &emitter{emit: emit, sum: sum, ready: map[int]outcome{}, progress: opt.Progress, hold: opt.heldBack()}
	e.crew.each(len(jobs), ctx.Done(), func(i int, s *scratch) {
		out := jobs[i](ctx, s)
		if err := line.put(i, out); err != nil {
			cancel(err)
		}
	})
	if err := line.release(); err != nil {
		cancel(err)
	}
	sum.finish()
	if sum.Done < sum.Operators {
		if err := context.Cause(ctx); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// job compares one operator group.
type job func(context.Context, *scratch) outcome

// jobs lists the work in the order of the result.
func (e *engine) jobs() []job {
	var jobs []job
	if rules := e.opt.Rules; rules != nil {
		e.order = make(map[*fusion.Op]int, len(rules.Ops))
		for i, op := range rules.Ops {
			e.order[op] = i
		}
		for _, g := range rules.Groups {
			if e.opt.Only != nil && !e.opt.Only(g) {
				continue
			}
			jobs = append(jobs, func(ctx context.Context, s *scratch) outcome { return e.group(ctx, g, s) })
		}
		return jobs
	}
	if e.opt.Golden.Kind == dump.Offline {
		for _, p := range pairOps(e.opt.Mine, e.opt.Golden) {
			jobs = append(jobs, func(ctx context.Context, s *scratch) outcome { return e.direct(ctx, p, s) })
		}
		return jobs
	}
	e.goldenOps = map[string]bool{}
	for _, op := range e.opt.Golden.Ops {
		if i := strings.LastIndexByte(op.Key, '.'); i >= 0 {
			e.goldenOps[op.Key[:i]] = true
		}
	}
	for i, op := range byTime(e.opt.Mine) {
		p := pairOp{index: i, mine: op}
		jobs = append(jobs, func(ctx context.Context, s *scratch) outcome { return e.named(ctx, p, s) })
	}
	return jobs
}

// emitter brings outcomes back into order.
type emitter struct {
	mu       sync.Mutex
	emit     func(*Row) error
	progress func(done, total int)
	sum      *Summary
	ready    map[int]outcome
	next     int
	failed   error
	// hold keeps rows back until release.
	hold bool
	held []Row
}

// release emits the rows that were held back, when all are there.
func (l *emitter) release() error {
	if !l.hold || l.failed != nil || l.sum.Done < l.sum.Operators {
		return l.failed
	}
	lendSliced(l.held)
	for i := range l.held {
		l.sum.add(&l.held[i])
		if l.failed = l.emit(&l.held[i]); l.failed != nil {
			l.sum.Done = 0
			return l.failed
		}
	}
	return nil
}

func (l *emitter) put(i int, out outcome) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	l.ready[i] = out
	for {
		out, ok := l.ready[l.next]
		if !ok {
			return nil
		}
		delete(l.ready, l.next)
		l.next++
		if out.err != nil {
			l.failed = out.err
			return out.err
		}
		if l.hold {
			l.held = append(l.held, out.rows...)
			out.rows = nil
		}
		for k := range out.rows {
			l.sum.add(&out.rows[k])
			if err := l.emit(&out.rows[k]); err != nil {
				l.failed = err
				return err
			}
		}
		if l.sum.Code == 0 {
			l.sum.Code = out.code
		}
		l.sum.Matched = l.sum.Matched || out.matched
		l.sum.Done++
		if l.progress != nil {
			l.progress(l.sum.Done, l.sum.Operators)
		}
	}
}
