package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"precision/compare/engine"
	"precision/compare/verdict"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/whole"
)

// Settings say where a plan runs and how it is watched. What comes out does not depend
// on them, but for the shard.
type Settings struct {
	// Out is the output folder.
	Out string
	// Fresh does not go on where an earlier run was.
	Fresh bool
	// Verify keeps in the journal what inputs held, and goes on from a unit only if they still do.
	Verify bool
	// Shard of Shards is computed, 1 to Shards; 0 of 0 is all.
	Shard, Shards int
	// Progress is told how many of the bytes are done, Tell what to know of the run. They are
	// called one at a time.
	Progress func(done, total int64)
	Tell     func(Note)
	// Page, if not nil, writes the page about the result, PartPage that of one part. AllPages asks for those of all parts, not of
	// the first that are wrong.
	Page     func(io.Writer, *Result) error
	PartPage func(io.Writer, *verdict.Judged) error
	AllPages bool

	paged *sync.Map // the parts whose page this run has written, by name
}

// runner is a run in the making.
type runner struct {
	*Plan
	Settings
	ctx     context.Context
	dir     *whole.Folder
	held    *lock
	mine    []unit // what there is to do
	unwatch func()
	pool    *engine.Pool
	journal *journal
	mu      sync.Mutex // of Progress
	// checking is held by the part that recomputes.
	checking sync.Mutex
	done     atomic.Int64
	total    int64

	contents contents
	given    map[int]engine.Found // groups of the one unit that need no comparing
}

// unit is a piece of work with a name of its own: a part or a meeting.
type unit struct {
	name, stamp, seen string
	bytes             int64
	folders           []string // what it reads
	part              *Part    // nil for a meeting
	run               func(ctx context.Context, r *runner) (*entry, error)
}

// units are the parts and meetings in order: the meetings of a step follow its parts.
func (p *Plan) units() (list []unit) {
	meet := 0
	meetings := func(before int) {
		for meet < len(p.Meetings) && p.Meetings[meet].Step < before {
			m := &p.Meetings[meet]
			list = append(list, unit{m.Name, m.Stamp, m.seen, m.Bytes, m.folders(), nil, func(ctx context.Context, r *runner) (*entry, error) { return r.meeting(ctx, m) }})
			meet++
		}
	}
	for i := range p.Parts {
		x := &p.Parts[i]
		meetings(x.Step)
		list = append(list, unit{x.Name, x.Stamp, x.seen, x.Bytes, []string{x.Left, x.Right}, x, func(ctx context.Context, r *runner) (*entry, error) { return r.part(ctx, x) }})
	}
	meetings(int(^uint(0) >> 1))
	return list
}

// Run compares what was planned and writes the output folder. Of a shard the result is
// nil. When the context ends, what is finished stays in the journal.
func (p *Plan) Run(ctx context.Context, s Settings) (*Result, error) {
	return must.Of(func() *Result {
		r := p.begin(ctx, s)
		defer r.end()
		must.Do(r.all(r.mine))
		return r.finish(ctx)
	})
}

// begin takes the output folder for a run, and goes on with its journal.
func (p *Plan) begin(ctx context.Context, s Settings) *runner {
	if s.Tell == nil {
		s.Tell = func(Note) {}
	}
	s.paged = &sync.Map{}
	mine := p.units()
	if s.Shards > 0 {
		mine = shardOf(mine, s.Shard, s.Shards)
	}
	named := map[string]unit{}
	for _, u := range mine {
		named[u.name] = u
	}
	dir := must.Get(whole.OpenFolder(s.Out))
	r := &runner{Plan: p, Settings: s, ctx: ctx, dir: dir, mine: mine}
	err := must.Try(func() {
		r.held = must.Get(lockFolder(ctx, dir, s.Tell))
		if s.Verify {
			r.unwatch = r.contents.watch()
		}
		r.journal = must.Get(openJournal(dir, p.head(), named, s.Fresh, r.verifies(), s.Tell))
		r.contents.dirs = once[string, []byte]{} // from here on what counts is what is read
		must.Do(dir.Fill(PlanFile, p.WriteJSON))
		must.Do(forget(dir))
		must.Do(writeShard(dir, s))
	})
	if err != nil {
		r.end()
		must.Do(err)
	}
	return r
}

// forget removes what an earlier run concluded: beside tables of this one it would pass for its result.
func forget(dir *whole.Folder) error { return cmp.Or(dir.Remove(PageFile), dir.Remove(ResultFile)) }

// head is the head of a journal of this plan.
func (p *Plan) head() journalHead {
	return journalHead{Journal: journalForm, Version: p.Version, Options: p.options}
}

// finish puts the journal in order when all units are done, and draws them together.
func (r *runner) finish(ctx context.Context) *Result {
	err := r.journal.close()
	r.journal = nil
	must.Do(err)
	r.dir.RemoveAll(rowFolder)
	settle(r.dir, r.mine)
	if r.Shards > 0 {
		return nil
	}
	return r.conclude(ctx, r.dir, &r.Settings)
}

// end gives the output folder back.
func (r *runner) end() {
	if r.unwatch != nil {
		r.unwatch()
	}
	if r.journal != nil {
		r.journal.close()
	}
	if r.held != nil {
		r.held.free()
	}
	r.dir.Close()
}

// all runs the units that are not done. As many are open as there are workers: while one is
// being opened or written the others compute.
func (r *runner) all(units []unit) error {
	var open []unit
	for _, u := range units {
		if r.total += u.bytes; r.journal.has(u.name) {
			r.done.Add(u.bytes)
		} else {
			open = append(open, u)
		}
	}
	opt := r.Options
	opt.EnsureDefaults()
	r.pool = engine.NewPool(opt.Workers)
	defer r.pool.Close()
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	content := r.verifies()
	each.Number(ctx, len(open), opt.Workers, nil, func() func(int) {
		return func(i int) {
			if err := must.Try(func() {
				e := must.Get(open[i].run(ctx, r))
				if content != nil {
					e.Content = content(open[i])
				}
				r.journal.finish(e)
			}); err != nil {
				cancel(err)
			}
		}
	})
	if err := r.ctx.Err(); err != nil {
		return &InterruptedError{Done: len(r.journal.done), Units: len(units), Err: context.Cause(r.ctx)}
	}
	return context.Cause(ctx)
}

// InterruptedError: the run was ended before it was complete.
type InterruptedError struct {
	Done, Units int
	Err         error
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("interrupted after %d of %d units; the same command goes on from there", e.Done, e.Units)
}

func (e *InterruptedError) Unwrap() error { return e.Err }

// progress is told how much of a unit is done: from and to of its share.
func (r *runner) progress(bytes int64) {
	done := r.done.Add(bytes)
	if r.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Progress(done, r.total)
}

// stopped tells whether an error is that of the context.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}
