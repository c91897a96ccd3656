package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/compare/script"
	"precision/dump/layout"
)

// Source is where pairs of tensors come from: two folders brought together by a
// graph or by names ([Folders]), or recordings of a framework (packages recording and
// torch). It says what to pair; the engine does the rest.
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

// wholeRow is a row about operator number i of those that are paired by name.
func wholeRow(i int) result.Row {
	return result.Row{Index: i, Sequence: int64(i), Role: result.Whole, Slot: -1, Facts: result.Facts{Order: i}}
}

// Worker compares pairs, one at a time, and keeps the memory for it.
type Worker struct {
	crew     *crew
	opt      *Options
	raw      []byte
	x32, y32 []float32
	x64, y64 []float64
	xs, ys   []uint64 // 64-bit integers as they are stored
	complex  []float64
	partial  metric.Partial
	held     [2][]byte         // tensors of both sides as they are stored
	readers  [2]*layout.Reader // the last of each side, for their buffers
	helper   *script.Helper    // runs the user's scripts, if there are any
}

// crew is the pool of workers of a run. Every worker holds one token while it
// computes; a large tensor invites holders of spare tokens, so that one giant
// tensor and a thousand small ones both use all cores.
type crew struct {
	size   int
	tokens chan *Worker
}

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
