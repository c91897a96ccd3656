package compare

import (
	"sync"
)

// crew is the pool of workers of a run. Every worker holds one token while it
// computes; a large tensor invites holders of spare tokens, so that one giant
// tensor and a thousand small ones both use all cores.
type crew struct {
	size   int
	tokens chan *scratch
}

func newCrew(size int) *crew {
	c := &crew{size: size, tokens: make(chan *scratch, size)}
	for range size {
		c.tokens <- new(scratch)
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
// until work returns false or stop is closed.
func (c *crew) each(n int, stop <-chan struct{}, work func(i int, s *scratch)) {
	var all sync.WaitGroup
	defer all.Wait()
	for i := range n {
		var s *scratch
		select {
		case <-stop:
			return
		case s = <-c.tokens:
		}
		all.Go(func() {
			defer func() { c.tokens <- s }()
			work(i, s)
		})
	}
}

// invite starts work on a spare worker, if there is one.
func (c *crew) invite(wait *sync.WaitGroup, work func(*scratch)) {
	select {
	case s := <-c.tokens:
		wait.Go(func() {
			defer func() { c.tokens <- s }()
			work(s)
		})
	default:
	}
}
