package engine

import (
	"context"
	"sync/atomic"

	"precision/dump"
	"precision/graph/fusion"
	"precision/internal/readahead"
)

const (
	// aheadBy is how many groups before its turn a group's files are asked for at least, aheadMost
	// at most: as many as make aheadBytes, or the storage would hold more than it keeps.
	aheadBy, aheadMost = 8, 64
	aheadBytes         = 64 << 20
	// askers is how many files are opened for that at a time: where a request takes milliseconds, opening a
	// small file takes as long as reading it.
	askers = 16
)

// foresight asks the system for the files of the groups whose turn is next, while storage is what a run waits
// for. Whether it is, a look at the next files tells now and then: what the page cache holds
// already needs no asking. It changes nothing but the time a run takes.
type foresight struct {
	groups int                                      // how many there are
	files  func(group int, yield func(path string)) // of a group
	now    atomic.Int64                             // the last group whose turn came
	next   atomic.Int64                             // the group to ask for
	warm   atomic.Int64                             // no look before this group: the files were in memory
	busy   atomic.Int64                             // askers at work
	cold   atomic.Int64                             // groups that were asked for, and their
	bytes  atomic.Int64                             // bytes
}

// foreseen are groups that have the files of others asked for as their turn comes.
func foreseen[T any](of []T, compare func(context.Context, *Worker, T) Found, files func(T, func(path string))) []Group {
	f := &foresight{groups: len(of), files: func(i int, yield func(string)) { files(of[i], yield) }}
	list := make([]Group, len(of))
	for i := range of {
		list[i] = func(ctx context.Context, w *Worker) Found {
			f.come(i)
			return compare(ctx, w, of[i])
		}
	}
	return list
}

// come tells that a group's turn has come, and has those that are due asked for.
func (f *foresight) come(group int) {
	f.turn(int64(group))
	for f.due() && f.enter() {
		go func() {
			defer f.busy.Add(-1)
			f.ask(readahead.File)
		}()
		if f.cold.Load() == 0 {
			break // one finds out whether it is worth while
		}
	}
}

// turn tells that a group's turn has come.
func (f *foresight) turn(i int64) {
	for {
		old := f.now.Load()
		if old >= i || f.now.CompareAndSwap(old, i) {
			return
		}
	}
}

// enter makes the caller an asker if there are not enough.
func (f *foresight) enter() bool {
	if f.busy.Add(1) > askers {
		f.busy.Add(-1)
		return false
	}
	return true
}

// group is the next to ask for, at least this one.
func (f *foresight) group(old int64) int64 { return max(old, f.now.Load()+1, f.warm.Load()) }

// due tells whether a group is to be asked for by now.
func (f *foresight) due() bool {
	i := f.group(f.next.Load())
	return i <= f.now.Load()+f.reach() && i < int64(f.groups)
}

// reach is how many groups ahead are asked for.
func (f *foresight) reach() int64 {
	groups, bytes := f.cold.Load(), f.bytes.Load()
	if groups < aheadBy {
		return aheadBy
	}
	return min(max(aheadBytes*groups/max(bytes, 1), aheadBy), aheadMost)
}

// ask asks for the files of all groups that are due. What is asked for tells the size of what was not in memory.
func (f *foresight) ask(file func(path string) (bytes int64)) {
	for f.due() {
		old := f.next.Load()
		i := f.group(old)
		if i >= int64(f.groups) || !f.next.CompareAndSwap(old, i+1) {
			continue // somebody else asks for these
		}
		bytes := int64(0)
		f.files(int(i), func(path string) { bytes += file(path) })
		if bytes == 0 {
			f.warm.Store(i + 4*aheadBy)
			continue
		}
		f.bytes.Add(bytes)
		f.cold.Add(1)
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
				alone(files, yield)
			}
		}
	}
}

// namedFiles are those of an operator that is paired by its name.
func (e *engine) namedFiles(p pairOp, yield func(path string)) {
	yield(p.left.Newest().Path)
	if files := e.opt.Right.Output(p.left.Key, 0); files != nil {
		alone(files, yield)
	}
}

// alone gives the newest file unless it holds the recordings of others, too: these would all be asked for.
func alone(files *dump.Op, yield func(path string)) {
	if e := files.Newest(); e.Alone() {
		yield(e.Path)
	}
}
