package compare

import (
	"sync"
	"sync/atomic"
)

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
