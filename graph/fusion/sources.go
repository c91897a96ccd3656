package fusion

import "precision/graph"

// Source is an output of an operator.
type Source struct {
	Op     *Op
	Output int
}

// maxSources bounds how many outputs are looked at for one input.
const maxSources = 1024

// Sources returns the outputs whose elements arrive at input i of op, counted over connected data inputs. It is the
// [Rules.Producer] unless that only passes elements on: a Data operator of a called graph stands for what the callers are
// fed with, an operator such as PartitionedCall, If or While for what the graphs it calls return. There are several behind
// branches, those of the first branch first, and where a graph is called from several places. The error is a *[GoldenError].
func (r *Rules) Sources(op *Op, i int) ([]Source, error) {
	var room [1]Source // of the caller, as this is inlined: mostly that is all
	return r.sources(op, i, room[:0])
}

func (r *Rules) sources(op *Op, i int, list []Source) ([]Source, error) {
	p, k, err := r.Producer(op, i)
	if err != nil {
		return nil, err
	}
	s := Source{p, k}
	if r.behind(s) == nil {
		return append(list, s), nil
	}
	seen := map[Source]bool{}
	todo := []Source{s}
	for len(todo) > 0 && len(seen) < maxSources {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		behind := r.behind(s)
		if behind == nil {
			list = append(list, s)
		}
		for n := len(behind) - 1; n >= 0; n-- {
			todo = append(todo, behind[n])
		}
	}
	return list, nil
}

// behind is what an output passes on, nil where its operator makes it.
func (r *Rules) behind(s Source) (list []Source) {
	add := func(op *graph.Op, slot int) {
		if p, k, ok := r.slot(op, slot); ok {
			list = append(list, Source{p, k})
		}
	}
	if slot, ok := graph.Parameter(s.Op.Op); ok {
		for _, c := range r.calls.Callers(s.Op.Graph) {
			if c.Graph != s.Op.Graph {
				add(c, slot)
			}
		}
		return list
	}
	called := r.calls.Callees(s.Op.Op)
	if (s.Op.Type == "While" || s.Op.Type == "StatelessWhile") && len(called) > 1 {
		called = called[1:] // the first is the condition: it returns whether to go on
	}
	for _, g := range called {
		if slot, ok := r.calls.Returned(g, s.Output); ok && g != s.Op.Graph {
			add(r.calls.Result(g), slot)
		}
	}
	return list
}

// Called tells whether op is in a graph that other operators call.
func (r *Rules) Called(op *Op) bool { return r.caller(op.Graph) != nil }

// Turn is the operator's place in an order in which elements can flow: by id, as [Rules.Ops] are, but none before what its
// inputs come from, also across called graphs. Where operators feed each other in a circle, the first by id comes first.
func (r *Rules) Turn(op *Op) int {
	if op.place == 0 {
		return 0
	}
	r.ordered.Do(r.order)
	return int(r.turns[op.place-1])
}

func (r *Rules) order() {
	r.turns = make([]int32, len(r.Ops))
	turn := int32(0)
	const (
		open = 1
		done = 2
	)
	state := make([]uint8, len(r.Ops))
	var sources [][]int // of the operators on the stack, that are still to come
	var stack []int
	push := func(i int) {
		var from []int
		op := r.Ops[i]
		for slot := len(op.Inputs) - 1; slot >= 0; slot-- {
			list, _ := r.Sources(op, slot)
			for _, s := range list {
				if p := s.Op.Place(); p >= 0 && state[p] == 0 {
					from = append(from, p)
				}
			}
		}
		state[i] = open
		stack, sources = append(stack, i), append(sources, from)
	}
	for i := range r.Ops {
		if state[i] != 0 {
			continue
		}
		push(i)
		for len(stack) > 0 {
			top := len(stack) - 1
			if n := len(sources[top]); n > 0 {
				next := sources[top][n-1]
				sources[top] = sources[top][:n-1]
				if state[next] == 0 {
					push(next)
				}
				continue
			}
			state[stack[top]] = done
			r.turns[stack[top]] = turn
			turn++
			stack, sources = stack[:top], sources[:top]
		}
	}
}
