package compare

import (
	"context"
	"strings"
	"sync"

	"precision/compare/result"
	"precision/dump"
	"precision/graph/fusion"
)

// engine is a run in progress.
type engine struct {
	opt   Options
	crew  *crew
	order map[*fusion.Op]int    // place in execution order
	byKey map[string]*fusion.Op // by name as dumps spell it
	// goldenOps are the operators of which there are golden arrays.
	goldenOps map[string]bool
}

// Outcome is what a run found, and how far it came.
type Outcome struct {
	// Table holds the rows so far, in order.
	Table *result.Table
	// Groups and Done count operator groups: all, and those finished.
	Groups, Done int
	// Code is the exit code msaccucmp.py would give for operator failures.
	Code int
}

// Run compares the two sides. Every row goes to each of emit, in order of their
// Index, and into the table of the outcome. The outcome is there also when the
// run was stopped early: by the context, or by an error of emit.
func (s *Session) Run(ctx context.Context, emit ...func(*result.Row) error) (*Outcome, error) {
	opt := s.Options
	if err := opt.Validate(); err != nil {
		return &Outcome{Table: &result.Table{}}, err
	}
	e := &engine{opt: opt, crew: newCrew(opt.Workers)}
	jobs := e.jobs()
	out := &Outcome{Groups: len(jobs), Table: &result.Table{Meta: s.meta(), Ops: e.operators()}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer e.crew.close()
	line := &emitter{emit: emit, out: out, ready: map[int]outcome{}, progress: opt.Progress, hold: opt.heldBack()}
	e.crew.each(len(jobs), ctx.Done(), func(i int, s *scratch) {
		found := jobs[i](ctx, s)
		if err := line.put(i, found); err != nil {
			cancel(err)
		}
	})
	if err := line.release(); err != nil {
		cancel(err)
	}
	if note, differ := shapesNote(out.Table); differ {
		out.Table.Meta.Pairing.Why = append(out.Table.Meta.Pairing.Why, note)
	}
	if out.Done < out.Groups {
		if err := context.Cause(ctx); err != nil {
			return out, err
		}
	}
	return out, nil
}

// job compares one operator group.
type job func(context.Context, *scratch) outcome

// jobs lists the work in the order of the result.
func (e *engine) jobs() []job {
	var jobs []job
	if rules := e.opt.Rules; rules != nil {
		e.order = make(map[*fusion.Op]int, len(rules.Ops))
		e.byKey = make(map[string]*fusion.Op, len(rules.Ops))
		for i, op := range rules.Ops {
			e.order[op] = i
			if key := dump.Normalise(op.Name); e.byKey[key] == nil {
				e.byKey[key] = op
			}
		}
	}
	if rules := e.opt.Rules; e.opt.byGraph() {
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
	e.goldenOps = arrayNames(e.opt.Golden)
	for i, op := range byTime(e.opt.Mine) {
		p := pairOp{index: i, mine: op}
		jobs = append(jobs, func(ctx context.Context, s *scratch) outcome { return e.named(ctx, p, s) })
	}
	return jobs
}

// arrayNames are the operators of which a folder has golden arrays.
func arrayNames(f *dump.Folder) map[string]bool {
	names := map[string]bool{}
	if f.Kind == dump.Offline {
		return names
	}
	for _, op := range f.Ops {
		if i := strings.LastIndexByte(op.Key, '.'); i >= 0 {
			names[op.Key[:i]] = true
		}
	}
	return names
}

// emitter brings outcomes back into order.
type emitter struct {
	mu       sync.Mutex
	emit     []func(*result.Row) error
	progress func(done, total int)
	out      *Outcome
	ready    map[int]outcome
	next     int
	failed   error
	// hold keeps rows back until release.
	hold bool
	held []result.Row
}

// release emits the rows that were held back, when all are there.
func (l *emitter) release() error {
	if !l.hold || l.failed != nil || l.out.Done < l.out.Groups {
		return l.failed
	}
	lendSliced(l.held)
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
	l.out.Table.Rows = append(l.out.Table.Rows, rows...)
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
		if l.failed = l.pass(out.rows); l.failed != nil {
			return l.failed
		}
		if l.out.Code == 0 {
			l.out.Code = out.code
		}
		l.out.Done++
		if l.progress != nil {
			l.progress(l.out.Done, l.out.Groups)
		}
	}
}
