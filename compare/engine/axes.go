package engine

import (
	"context"
	"math"
	"slices"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/layout"
	"precision/internal/must"
	"precision/internal/nd"
)

// Without a graph nothing names the axes of a golden array. Often its dims tell: of the
// orders in which frameworks keep a tensor only one fits. Where several fit, the other
// tensors of the recording tell, and where these do not either, the pair is not compared:
// elements in another order agree with nothing, whatever the operator did.

// reading is one way to read a tensor, as channels first, channels last, both (if there is
// but one place, say) or neither.
type reading struct {
	view        layout.View
	first, last bool
}

// namedPlan prepares a tensor for the golden array of its name. known tells whether channels
// are last on the golden side, if that is known at all.
func namedPlan(op string, s stored, g rightShape, known func() (last, ok bool)) plan {
	n, okLeft := nd.Count(s.shape...)
	goldenCount, okRight := nd.Count(g.data...)
	format := layout.AsStored(s.format, len(s.shape))
	dims := s.shape // in the order of the header
	if !plain(format) {
		dims = s.origin
	}
	switch {
	case !okLeft || !okRight || s.elements < n || n <= 1 || goldenCount <= 1,
		plain(format) && n != goldenCount,               // at most a batch to cut
		!plain(format) && slices.Equal(s.shape, g.data): // saved in the device layout
		return bestPlan(op, s, g)
	}
	list := readings(s, g.data)
	several := len(list) > 1
	if several {
		if last, ok := known(); ok {
			list = slices.DeleteFunc(list, func(r reading) bool { return last && !r.last || !last && !r.first })
		} else if format.Letters() != "" || len(s.origin) > 0 && len(s.origin) != len(g.data) {
			list = list[:1] // the header's word
		}
	}
	switch {
	case len(list) == 1:
	case several, otherOrder(dims, g.data) && !plain(format):
		must.Do(planFailed(result.AxesUnknown, op, shapeText(s.shape), shapeText(g.data)))
	default:
		return bestPlan(op, s, g)
	}
	v := list[0].view
	p := plan{view: v, shape: v.Dims, count: goldenCount}
	if !slices.Equal(nd.WithoutOnes(v.Dims), nd.WithoutOnes(g.data)) {
		p.remarks = append(p.remarks, result.Because(result.StorageOrder, shapeText(v.Dims), shapeText(g.data)))
	}
	return p
}

// readings are the ways to read a tensor that the dims of the golden array allow, the one
// of the header first.
func readings(s stored, golden []int64) (list []reading) {
	format := layout.AsStored(s.format, len(s.shape))
	count, _ := nd.Count(golden...)
	add := func(order layout.Format, v layout.View) {
		if v.Len() != count || !fitsAxes(v.Dims, golden) {
			return
		}
		at := slices.IndexFunc(list, func(r reading) bool { return r.view.Same(v) })
		if at < 0 {
			at, list = len(list), append(list, reading{view: v})
		}
		list[at].first = list[at].first || order == layout.NCHW || order == layout.NCDHW
		list[at].last = list[at].last || order == layout.NHWC || order == layout.NDHWC
	}
	// all adds a view in its own order and in those of the frameworks.
	all := func(order layout.Format, v layout.View) {
		add(order, v)
		for _, to := range guesses(format, len(v.Dims)) {
			if axes, ok := layout.Order(order, to); ok && len(axes) == len(v.Dims) {
				if w, err := v.Transpose(axes); err == nil {
					add(to, w)
				}
			}
		}
	}
	if !plain(format) {
		for _, want := range [][]int64{golden, s.origin} { // a framework may reshape behind the operator
			for _, to := range guesses(format, len(want)) {
				if v, err := layout.Restore(format, to, s.shape, want, s.group); err == nil && len(want) > 0 {
					all(to, v)
				}
			}
			if len(list) > 0 {
				break
			}
		}
		return list
	}
	own, err := layout.Contiguous(s.shape)
	if err != nil {
		return nil
	}
	if len(s.origin) == len(s.shape) && !slices.Equal(s.origin, s.shape) && !slices.Equal(golden, s.shape) {
		// The header has the shape in the framework's order, too.
		for axes := range permutations(s.shape) {
			v, err := own.Transpose(axes)
			if err != nil || !slices.Equal(v.Dims, s.origin) {
				continue
			}
			order := layout.Reserved
			for _, f := range guesses(format, len(axes)) {
				if known, ok := layout.Order(format, f); ok && slices.Equal(known, axes) {
					order = f
				}
			}
			if order != layout.Reserved || format.Letters() == "" {
				add(order, v)
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	all(format, own)
	return list
}

// inOrder takes the order of axes in which the elements of a tensor are those of its golden array:
// in any other they are about as far apart as numbers of two tensors are, so that one that is half as far is it, and
// of a few numbers one that is a hundredth. Where none stands out, as of what is wrong or constant, it is that of storage:
// a doubt about the order is no reason to leave out what may be bad. Dims that no order of its axes gives are not compared.
func (e *engine) inOrder(ctx context.Context, row *result.Row, left *dumpFile, t *dump.Tensor, right *rightTensor, p plan, s *Worker) plan {
	const few, ofMany, ofFew = 16, 2, 100
	golden := right.shape()
	if len(p.orders) < 2 {
		must.Do(planFailed(result.AxesUnknown, row.Op, shapeText(p.view.Dims), shapeText(golden)))
	}
	best, next, at := math.Inf(1), math.Inf(1), 0
	for i, v := range p.orders {
		d := e.distance(ctx, row, left, t, right, func(stored) plan { return plan{view: v, count: p.count} }, s)
		if d < best {
			best, next, at = d, best, i
		} else {
			next = min(next, d)
		}
	}
	factor := float64(ofMany)
	if p.count < few {
		factor = ofFew
	}
	if !(best*factor <= next && next > 0) || math.IsInf(best, 1) {
		at = 0
	}
	kind := result.AxesFound
	if at == 0 {
		kind = result.StorageOrder
	}
	p.remarks = append(p.remarks, result.Because(kind, shapeText(p.view.Dims), shapeText(golden)))
	p.view = p.orders[at]
	p.shape = p.view.Dims
	return p
}

const (
	// tellers is how many tensors have to tell the order of axes, if there are as many.
	tellers = 8
	// askedOf is how many operators are asked at most: the headers of two files each.
	askedOf = 256
)

// channelsLast tells whether the golden side keeps channels last. ok is false where no
// tensor tells, or they contradict each other.
func (e *engine) channelsLast() (last, ok bool) {
	f := &e.framework
	f.once.Do(func() {
		votes := map[bool]int{}
		asked := 0
		for _, op := range byTime(e.opt.Left) {
			if !e.rightOps[op.Key] {
				continue
			}
			if asked++; asked > askedOf || votes[false]+votes[true] >= tellers {
				break
			}
			e.askAxes(op, votes)
		}
		f.last, f.ok = votes[true] > 0, (votes[false] > 0) != (votes[true] > 0)
	})
	return f.last, f.ok
}

// askAxes counts the outputs of an operator that can be read in one order alone.
func (e *engine) askAxes(op *dump.Op, votes map[bool]int) {
	left, err := e.openDump(op)
	if err != nil {
		return
	}
	defer left.Close()
	for _, t := range left.tensors(false, true) {
		row := wholeRow(0)
		right, err := must.Of(func() *rightTensor { return e.rightArray(&row, op.Key, t.Index) })
		if err != nil {
			continue
		}
		golden := right.shape()
		right.Close()
		if n, ok := nd.Count(golden...); !ok || n <= 1 || len(golden) < 4 || t.Err != nil {
			continue // merged axes tell too little
		}
		if list := readings(storedOf(t), golden); len(list) == 1 && list[0].first != list[0].last {
			votes[list[0].last]++
		}
	}
}
