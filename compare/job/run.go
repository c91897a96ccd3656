package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"precision/compare"
	"precision/compare/verdict"
	"precision/graph"
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
	// Units, if any, are the names of those to compute: no more than these are.
	Units []string
	// Shard of Shards is computed, 1 to Shards; 0 of 0 is all.
	Shard, Shards int
	// Progress is told how many of the bytes are done, Tell what to know of the run. They are
	// called one at a time.
	Progress func(done, total int64)
	Tell     func(Note)
	// Page, if not nil, writes the page about the result, PartPage that of one part.
	Page     func(io.Writer, *Result) error
	PartPage func(io.Writer, *verdict.Judged) error

	given map[int]compare.Found // groups of the one unit that need no comparing
}

// runner is a run in the making.
type runner struct {
	*Plan
	Settings
	ctx     context.Context
	dir     *whole.Folder
	pool    *compare.Pool
	journal *journal
	mu      sync.Mutex // of Progress
	// checking is held by the part that recomputes.
	checking sync.Mutex
	done     atomic.Int64
	total    int64
	ops      once[map[string]*graph.Op]

	contents contents
}

// unit is a piece of work with a name of its own: a part or a meeting.
type unit struct {
	name, stamp, seen string
	bytes             int64
	folders           []string // what it reads
	run               func(ctx context.Context, r *runner) (*entry, error)
}

// units are the parts and meetings in order: the meetings of a step follow its parts.
func (p *Plan) units() []unit {
	var list []unit
	meet := 0
	meetings := func(before int) {
		for meet < len(p.Meetings) && p.Meetings[meet].Step < before {
			m := &p.Meetings[meet]
			list = append(list, unit{m.Name, m.Stamp, m.seen, m.Bytes, m.folders(), func(ctx context.Context, r *runner) (*entry, error) { return r.meeting(ctx, m) }})
			meet++
		}
	}
	for i := range p.Parts {
		x := &p.Parts[i]
		meetings(x.Step)
		list = append(list, unit{x.Name, x.Stamp, x.seen, x.Bytes, []string{x.Left, x.Right}, func(ctx context.Context, r *runner) (*entry, error) { return r.part(ctx, x) }})
	}
	meetings(int(^uint(0) >> 1))
	return list
}

// Run compares what was planned and writes the output folder. Of a shard the result is
// nil. When the context ends, what is finished stays in the journal.
func (p *Plan) Run(ctx context.Context, s Settings) (*Result, error) {
	if s.Tell == nil {
		s.Tell = func(Note) {}
	}
	units := p.units()
	mine := units
	if s.Shards > 0 {
		mine = shardOf(units, s.Shard, s.Shards)
	}
	if len(s.Units) > 0 {
		mine = slices.DeleteFunc(slices.Clone(mine), func(u unit) bool { return !slices.Contains(s.Units, u.name) })
	}
	dir, err := whole.OpenFolder(s.Out)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	held, err := lockFolder(ctx, dir, s.Tell)
	if err != nil {
		return nil, err
	}
	defer held.free()
	named := map[string]unit{}
	for _, u := range mine {
		named[u.name] = u
	}
	r := &runner{Plan: p, Settings: s, ctx: ctx, dir: dir}
	if s.Verify {
		defer r.contents.watch()()
	}
	head := journalHead{Journal: journalForm, Version: p.Version, Options: p.options}
	if r.journal, err = openJournal(dir, head, named, s.Fresh, r.verifies(), s.Tell); err != nil {
		return nil, err
	}
	r.contents.dirs = once[contentOf]{} // from here on what counts is what is read
	closed := false
	defer func() {
		if !closed {
			r.journal.close()
		}
	}()
	if err := dir.Fill(PlanFile, p.WriteJSON); err != nil {
		return nil, err
	}
	if err := writeShard(dir, s); err != nil {
		return nil, err
	}
	if err := r.all(mine); err != nil {
		return nil, err
	}
	closed = true
	if err := r.journal.close(); err != nil {
		return nil, err
	}
	dir.RemoveAll(rowFolder)
	if err := settle(dir, mine); err != nil {
		return nil, err
	}
	if s.Shards > 0 || len(s.Units) > 0 {
		return nil, nil
	}
	return p.conclude(ctx, dir, &s)
}

// all runs the units that are not done. As many are open as there are workers: while one is
// being opened or written the others compute.
func (r *runner) all(units []unit) error {
	for _, u := range units {
		r.total += u.bytes
		if r.journal.has(u.name) {
			r.done.Add(u.bytes)
		}
	}
	opt := r.Options
	opt.EnsureDefaults()
	r.pool = compare.NewPool(opt.Workers)
	defer r.pool.Close()
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	next := make(chan unit)
	var all sync.WaitGroup
	for range opt.Workers {
		all.Go(func() {
			for u := range next {
				e, err := u.run(ctx, r)
				if content := r.verifies(); err == nil && content != nil {
					e.Content = content(u)
				}
				if err == nil {
					err = r.journal.finish(e)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, u := range units {
		if r.journal.has(u.name) {
			continue
		}
		select {
		case next <- u:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	all.Wait()
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
