package compare

import (
	"context"
	"sync/atomic"

	"precision/dump"
	"precision/graph/fusion"
	"precision/internal/readahead"
)

// aheadBy is how many groups before its turn a group's files are asked for: enough for a few
// tens of megabytes of most networks to be on their way.
const aheadBy = 8

// foresight asks the system for the files of the groups whose turn is next, while storage is what a run waits
// for. Whether it is, a look at the next files tells now and then: what the page cache holds
// already needs no asking. It changes nothing but the time a run takes.
type foresight struct {
	files []func(yield func(path string)) // of the groups, in their order
	next  atomic.Int64                    // the group to ask for
	warm  atomic.Int64                    // no look before this group: the files were in memory
}

// before is a group that looks ahead as its turn comes. Groups are added before any runs.
func (f *foresight) before(g Group, files func(yield func(path string))) Group {
	turn := int64(len(f.files))
	f.files = append(f.files, files)
	return func(ctx context.Context, w *Worker) Found {
		f.turn(turn, readahead.File)
		return g(ctx, w)
	}
}

// turn asks for files until those of aheadBy groups behind this one have been asked for. What is asked for tells whether it was
// not in memory.
func (f *foresight) turn(now int64, ask func(path string) (cold bool)) {
	for {
		old := f.next.Load()
		i := max(old, now+1, f.warm.Load())
		if i > now+aheadBy || i >= int64(len(f.files)) {
			return
		}
		if !f.next.CompareAndSwap(old, i+1) {
			continue // somebody else asks for these
		}
		cold := false
		f.files[i](func(path string) { cold = ask(path) || cold })
		if !cold {
			f.warm.Store(i + 4*aheadBy)
		}
	}
}

// groupFiles are those that a group of the graph reads first: the newest dumps and the golden arrays of their outputs.
func (e *engine) groupFiles(g *fusion.Group, yield func(path string)) {
	for _, op := range g.Ops {
		if op.Filtered {
			continue
		}
		if files := e.leftFiles(op.Name); files != nil {
			yield(files.Newest().Path)
		}
		if e.opt.Right.Device() {
			continue
		}
		if ref, err := e.opt.Rules.GoldenOutput(op, 0); err == nil {
			if files := e.opt.Right.Output(ref.Op, int(ref.Index)); files != nil {
				yield(files.Newest().Path)
			}
		}
	}
}

// namedFiles are those of an operator that is paired by its name.
func (e *engine) namedFiles(op *dump.Op, yield func(path string)) {
	yield(op.Newest().Path)
	if files := e.opt.Right.Output(op.Key, 0); files != nil {
		yield(files.Newest().Path)
	}
}
