package compare

import (
	"context"
	"slices"
	"sync"

	"precision/compare/result"
)

// Source is where pairs of tensors come from: two folders brought together by a
// graph or by names ([Folders]), operators of the same name on any two sides
// ([ByName]), recordings of a framework (package torch). It says what to pair; the
// engine does the rest.
type Source interface {
	// Table says what will be compared: a table with its Meta and Ops, without
	// rows.
	Table() *result.Table
	// Groups are the units of work. Their rows make the table, in this order.
	Groups() []Group
}

// Group compares the pairs of one operator or of a few that belong together. It
// must keep to itself what goes wrong with a tensor: that is a reason in its row.
type Group func(ctx context.Context, w *Worker) Found

// Found is what became of a group.
type Found struct {
	Rows []result.Row
	// Failed is what was wrong with the last operator that failed as a whole.
	Failed error
	// Err ends the run: only a context that is done.
	Err error
}

func (f *Found) add(rows ...result.Row) { f.Rows = append(f.Rows, rows...) }

// reviser is a source whose rows depend on each other: they are held back until
// all are there, and revised.
type reviser interface {
	// Revision is nil if rows can leave as they come.
	Revision() func(rows []result.Row)
}

// Outcome is what a run found, and how far it came.
type Outcome struct {
	// Table holds the rows so far, in order.
	Table *result.Table
	// Groups and Done count groups: all, and those finished.
	Groups, Done int
	// Failed is the first error of an operator that failed as a whole.
	Failed error
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
		if l.opt.Row != nil {
			l.opt.Row(&rows[i])
		}
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
