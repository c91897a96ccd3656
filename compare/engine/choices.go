package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"precision/compare/choice"
	"precision/compare/metric"
	"precision/compare/result"
	"precision/graph"
)

// Choices between near equals
//
// Where indices that an operator chose by scores differ, the scores are looked at
// again when all rows are there, and what depends on choices that noise explains
// is computed a second time without them. It is rare that any differ, and then
// few tensors are read again: those of the operators that choose, and the ones
// behind them of which elements are left out.

// lookedAt is how many elements the tensors of operators that choose may have
// together, all read at once: 128 MiB a side as float64.
const lookedAt = 16 << 20

// stirred is how large the largest error must be, over the golden root mean square,
// before the choices behind numbers are looked at. Rounding of float16 and what it
// comes to in a network stays below; a gradient that went another way is as large
// as others.
const stirred = 1.0 / 64

func (s *Session) choices(ctx context.Context, p *Pool, t *result.Table) error {
	if s.arrays != nil {
		return nil
	}
	return s.Folders.choices(ctx, p, t)
}

// choices looks for choices that differ, and sets [result.Row.Chosen] where they
// are and behind them.
func (f *Folders) choices(ctx context.Context, p *Pool, t *result.Table) error {
	if f.Rules == nil || f.dialect().obeys || f.TableOnly || f.Glance != nil || f.MaxElements > 0 {
		return nil
	}
	c := &choices{rows: map[string][]*result.Row{}, ops: map[string]*result.Operator{}, masks: map[result.Port]*choice.Mask{}}
	if !c.begin(t) {
		return nil
	}
	for i := range t.Rows {
		c.rows[t.Rows[i].Op] = append(c.rows[t.Rows[i].Op], &t.Rows[i])
	}
	c.order(t)
	behind, wanted := c.behind()
	pairs, err := f.look(ctx, p, wanted)
	if err != nil {
		return err
	}
	for _, op := range behind {
		var node *graph.Op
		if known := f.Rules.Op(op.Name); known != nil {
			node = known.Op
		}
		c.follow(op, node, pairs)
	}
	return c.others(ctx, f, p)
}

// choices is what is known of choices while they are followed.
type choices struct {
	ops   map[string]*result.Operator
	rows  map[string][]*result.Row
	list  []*result.Operator // in execution order
	first map[string]bool    // operators whose choices differ, or may
	masks map[result.Port]*choice.Mask
}

// begin tells whether an operator may have chosen otherwise than the golden one.
func (c *choices) begin(t *result.Table) bool {
	c.first = map[string]bool{}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Role != result.Output || !r.Compared || !choice.Chooses(r.Type) {
			continue
		}
		f := &r.Result().Facts
		switch {
		case !f.Known || f.Differ == 0:
		case choice.Gate(r.Type):
			if f.MaxAbs > stirred*f.Y.RMS || f.Y.RMS == 0 || math.IsNaN(f.Distance) {
				c.first[r.Op] = true
			}
		case !r.Left.DType.Float():
			c.first[r.Op] = true
		}
	}
	return len(c.first) > 0
}

func (c *choices) order(t *result.Table) {
	for i := range t.Ops {
		op := &t.Ops[i]
		if c.ops[op.Name] == nil {
			c.ops[op.Name] = op
			c.list = append(c.list, op)
		}
	}
	slices.SortStableFunc(c.list, func(a, b *result.Operator) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Index, b.Index))
	})
}

// behind lists the operators that choices may arrive at, and the tensors of those
// among them that choose themselves.
func (c *choices) behind() (list []*result.Operator, wanted map[string]bool) {
	wanted = map[string]bool{}
	in := map[string]bool{}
	room := int64(lookedAt)
	for _, op := range c.list {
		reached := c.first[op.Name]
		for _, p := range op.Inputs {
			reached = reached || in[p.Op]
		}
		if !reached {
			continue
		}
		list = append(list, op)
		in[op.Name] = true
		if !choice.Chooses(op.Type) {
			continue
		}
		var names []string
		need := int64(0)
		add := func(r *result.Row) {
			if r != nil && !wanted[r.Tensor()] {
				names = append(names, r.Tensor())
				need += r.Result().N
			}
		}
		for slot := range op.Inputs {
			add(c.input(op, slot))
		}
		for _, r := range c.rows[op.Name] {
			if r.Role == result.Output && r.Compared {
				add(r)
			}
		}
		if room -= need; room < 0 {
			break
		}
		for _, name := range names {
			wanted[name] = true
		}
	}
	return list, wanted
}

// input is the row of an input: its own, or that of the output that feeds it.
func (c *choices) input(op *result.Operator, slot int) *result.Row {
	for _, r := range c.rows[op.Name] {
		if r.Role == result.Input && r.Slot == slot && r.Compared {
			return r
		}
	}
	if slot >= len(op.Inputs) {
		return nil
	}
	return c.output(op.Inputs[slot])
}

func (c *choices) output(at result.Port) *result.Row {
	for _, r := range c.rows[at.Op] {
		if r.Role == result.Output && r.Slot == at.Index && r.Compared {
			return r
		}
	}
	return nil
}

// look reads tensors, by name.
func (f *Folders) look(ctx context.Context, p *Pool, wanted map[string]bool) (map[string]*choice.Pair, error) {
	var mu sync.Mutex
	pairs := map[string]*choice.Pair{}
	err := f.glance(ctx, p, wanted, func(r *result.Row, left, right []float64) {
		mu.Lock()
		defer mu.Unlock()
		pairs[r.Tensor()] = &choice.Pair{Shape: slices.Clone(r.Shape), Left: left, Right: right}
	})
	return pairs, err
}

// glance hands the elements of tensors on, by name.
func (f *Folders) glance(ctx context.Context, p *Pool, wanted map[string]bool, take func(r *result.Row, left, right []float64)) error {
	if len(wanted) == 0 {
		return nil
	}
	of := map[string]bool{}
	for name := range wanted {
		if op, _, _, err := result.ParseTensor(name); err == nil {
			of[op] = true
		}
	}
	again := *f
	again.Progress = nil
	again.Glance = &Glance{
		Ops:    func(name string) bool { return of[name] },
		Wanted: func(r *result.Row) bool { return wanted[r.Tensor()] },
		Most:   lookedAt,
		Take:   func(r *result.Row, s Seen) { take(r, s.Left, s.Right) },
	}
	_, err := p.Run(ctx, &again, again.Options)
	return err
}

// follow finds what the choices of one operator come to, and what of its outputs
// depends on those before.
func (c *choices) follow(op *result.Operator, node *graph.Op, pairs map[string]*choice.Pair) {
	call := &choice.Call{Type: op.Type, Op: node}
	n := len(op.Inputs)
	shapes, masks := make([][]int64, n), make([]*choice.Mask, n)
	for slot := range n {
		r := c.input(op, slot)
		if r != nil {
			shapes[slot] = r.Shape
			call.In = append(call.In, pairs[r.Tensor()])
		} else {
			call.In = append(call.In, nil)
		}
		masks[slot] = c.masks[op.Inputs[slot]]
	}
	outs := 0
	for _, r := range c.rows[op.Name] {
		if r.Role == result.Output && r.Compared {
			for outs = max(outs, r.Slot+1); len(call.Out) < outs; {
				call.Out = append(call.Out, nil)
			}
			call.Out[r.Slot] = pairs[r.Tensor()]
		}
	}
	found := call.Look()
	for _, r := range c.rows[op.Name] {
		if r.Role != result.Output || !r.Compared {
			continue
		}
		mask := call.Follow(shapes, masks, r.Shape)
		if r.Slot < len(found) {
			if f := &found[r.Slot]; f.Differ > 0 {
				r.Chosen = &result.Chosen{Choices: f.Choices, Differ: f.Differ, Explained: f.Explained, Unknown: f.Unknown}
				r.Add(result.Because(result.ChoicesDiffer, count(f.Differ), count(f.Choices), count(f.Explained)))
				if choice.Gate(op.Type) {
					mask = choice.Join(mask, f.Mask)
				} else {
					mask = f.Mask // the scores say it, whatever went into them
				}
			}
		}
		if mask != nil && (mask.Mixed || mask.Count() > 0) {
			c.masks[result.Port{Op: op.Name, Index: r.Slot}] = mask
		}
	}
}

// others computes the tensors of which elements depend on choices a second time,
// without those.
func (c *choices) others(ctx context.Context, f *Folders, p *Pool) error {
	rows := map[string]*result.Row{}
	of := map[string]*choice.Mask{}
	wanted := map[string]bool{}
	add := func(r *result.Row, m *choice.Mask) {
		if r == nil || m == nil || !r.Compared {
			return
		}
		n := r.Result().N
		if r.Chosen == nil {
			r.Chosen = &result.Chosen{}
		}
		r.Chosen.Mixed = m.Mixed
		if left := m.Count(); left > 0 && r.Role == result.Output {
			r.Add(result.Because(result.ChoicesLeave, count(left), count(n)))
		}
		if r.Chosen.Left = m.Count(); r.Chosen.Left == 0 || r.Chosen.Left == n || int64(len(m.Bits)) != n {
			return
		}
		rows[r.Tensor()], of[r.Tensor()], wanted[r.Tensor()] = r, m, true
	}
	for at, m := range c.masks {
		add(c.output(at), m)
	}
	for _, op := range c.list {
		for slot, at := range op.Inputs {
			if r := c.input(op, slot); r != nil && r.Role == result.Input {
				add(r, c.masks[at])
			}
		}
	}
	return f.glance(ctx, p, wanted, func(again *result.Row, left, right []float64) {
		name := again.Tensor()
		r, m := rows[name], of[name]
		x, y := left[:0], right[:0]
		for i, out := range m.Bits {
			if !out {
				x, y = append(x, left[i]), append(y, right[i])
			}
		}
		values := metric.Compute64(metric.Config{Numerics: f.Numerics, Metrics: f.Metrics}, x, y)
		values.Notes = nil
		r.Chosen.Result = values // each row is one of its own
	})
}
