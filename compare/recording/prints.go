package recording

import (
	"container/heap"
	"sort"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// Recordings of elements alone say nothing of a tensor that another could be found
// by. For these a part of the elements is read: what feeds an input has the same.

// sampled is how many elements are read at the beginning, in the middle and at the
// end of a tensor.
const sampled = 4096

// prints reads the parts of all tensors that nothing is said of.
func (s *side) prints() {
	if s.printed {
		return
	}
	s.printed = true
	var buf []byte
	for _, c := range s.calls {
		read := false
		for i := range c.leaves {
			l := &c.leaves[i]
			if !l.tensor() || !l.Known || l.DataName == "" || l.arg != nil || l.summary.Known != 0 || recorded(l.sum()) {
				continue
			}
			if buf == nil {
				buf = make([]byte, 0, sampled*16)
			}
			p, all := s.print(l, buf)
			switch {
			case p != 0:
				l.arg, read = &argument{print: p}, true
			case all != 0 && c.kernel():
				l.arg, read = &argument{few: all}, true // attributes of kernels are such inputs
			}
		}
		if read {
			c.token, c.content = c.describe()
		}
	}
}

// mostFew is the length of a list of whole numbers that tells calls apart though it says too little to be found by: as many
// as a tensor may have axes, twice.
const mostFew = 16

// print is the identity of the elements that are read of a tensor; 0 where these are
// few or all the same, or cannot be read, of which its row will tell. few is that of a short list of whole numbers.
func (s *side) print(l *leaf, buf []byte) (all, few identity) {
	n, ok := l.Elements()
	if !ok || n < 4 && !l.Elem.IsInteger() {
		return 0, 0
	}
	t, err := s.open(l)
	if err != nil {
		return 0, 0
	}
	defer t.Close()
	size := int64(t.Type.Bits() / 8)
	if t.Count != n || size == 0 || size > 16 {
		return 0, 0
	}
	var h hash
	in, constant := t.Open(), true
	part := min(n, sampled)
	last := int64(-1)
	for _, at := range []int64{0, (n - part) / 2, n - part} {
		if at <= last {
			continue
		}
		last = at
		b := buf[:part*size]
		if err := in.ReadTile(b, at, part); err != nil {
			return 0, 0
		}
		for i := size; constant && i < int64(len(b)); i++ {
			constant = b[i] == b[i-size]
		}
		h.text(string(b))
	}
	if l.Elem.IsInteger() && n <= mostFew {
		few = h.identity()
	}
	if constant || n < 4 {
		return 0, few
	}
	return h.identity(), few
}

// arrange puts calls whose order was not recorded into one in which outputs come
// before the inputs they feed, and modules behind what is in them; else it keeps to
// the order they have.
func (s *side) arrange() {
	s.prints()
	made := map[identity][]int{}
	for k, c := range s.calls {
		for i := range c.leaves {
			if l := &c.leaves[i]; l.role == result.Output {
				if key := l.content(); key != 0 {
					made[key] = append(made[key], k)
				}
			}
		}
	}
	waits, next := make([]int, len(s.calls)), make([][]int, len(s.calls))
	for k, c := range s.calls {
		seen := map[int]bool{k: true}
		for i := range c.leaves {
			l := &c.leaves[i]
			for _, from := range made[l.content()] {
				inner := l.role == result.Output && c.Parsed.Form == msprobe.Module && s.calls[from].Parsed.Form != msprobe.Module
				if (l.role == result.Input || inner) && !seen[from] {
					seen[from] = true
					waits[k]++
					next[from] = append(next[from], k)
				}
			}
		}
	}
	order, done := make([]*call, 0, len(s.calls)), make([]bool, len(s.calls))
	ready := &indexes{}
	take := func(k int) {
		done[k] = true
		order = append(order, s.calls[k])
		for _, n := range next[k] {
			if waits[n]--; waits[n] == 0 && !done[n] {
				heap.Push(ready, n)
			}
		}
	}
	for k := range s.calls {
		if waits[k] == 0 {
			heap.Push(ready, k)
		}
	}
	for first := 0; len(order) < len(s.calls); {
		if ready.Len() > 0 {
			if k := heap.Pop(ready).(int); !done[k] {
				take(k)
			}
			continue
		}
		for done[first] { // a circle, as of calls that change nothing
			first++
		}
		take(first)
	}
	for k, c := range order {
		c.at = k
	}
	s.calls = order
}

// indexes is a heap that gives the smallest number first.
type indexes struct{ sort.IntSlice }

func (h *indexes) Push(v any) { h.IntSlice = append(h.IntSlice, v.(int)) }

func (h *indexes) Pop() any {
	last := len(h.IntSlice) - 1
	v := h.IntSlice[last]
	h.IntSlice = h.IntSlice[:last]
	return v
}
