package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// summed is what an argument without elements should be that was on its way from other ranks when it was recorded: the sum
// of the summands that the ranks of the step have from the last call before that leaves some of its form. nil if there are
// none. Which call that was is not recorded, so that nothing is called wrong by it, and of more than two ranks the order
// of the sum is not known, either: what it does not explain stays unknown.
func (b *bound) summed(a *argument) *operand {
	n, ok := a.v.Elements()
	taker := b.forward()
	if !strings.HasSuffix(a.v.Type, "AsyncCollectiveTensor") || taker == nil || !ok || n > maxDense || a.v.Elem != dtype.Float32 {
		return nil
	}
	from, place := b.of.lastSummand(a.v, taker.order)
	if from == nil {
		return nil
	}
	sum, x := make([]float64, n), make([]float64, n)
	for _, r := range b.of.step {
		c := r.index[from.Name]
		if c == nil || place >= len(c.Values) || !summand(&c.Values[place], a.v, len(b.of.step)) {
			return nil
		}
		own := &files{path: r.path}
		o, err := own.tensor(&c.Values[place], a.place)
		if err == nil {
			err = o.Range(0, x, nil)
		}
		if own.close(); err != nil {
			return nil
		}
		for i := range sum {
			sum[i] += x[i]
		}
	}
	o := inMemory(a.place, dtype.Float32, a.v.Shape)
	for i, x := range sum {
		o.f32[i] = float32(x)
	}
	return o
}

// partOfSum is the first output of a call that the ranks have one summand each of, among those of its form.
type partOfSum struct {
	call  *recordedCall
	place int
}

// lastSummand is the last call before that of an order that gives summands of the form of a tensor, and the place of the
// first of them; nil if there is none. Calls are looked through once, however many ask.
func (r *recordedCalls) lastSummand(like *msprobe.Value, before int) (*recordedCall, int) {
	form := func(v *msprobe.Value) string { return fmt.Sprint(v.Elem, v.Shape) }
	r.summing.Do(func() {
		r.summands = map[string][]partOfSum{}
		for _, c := range r.calls {
			for i := range c.Values {
				v := &c.Values[i]
				if !summand(v, v, len(r.step)) {
					continue
				}
				key := form(v)
				if list := r.summands[key]; len(list) == 0 || list[len(list)-1].call != c {
					r.summands[key] = append(list, partOfSum{c, i})
				}
			}
		}
	})
	list := r.summands[form(like)]
	at, _ := slices.BinarySearchFunc(list, before, func(s partOfSum, order int) int { return cmp.Compare(s.call.order, order) })
	if at == 0 {
		return nil, -1
	}
	return list[at-1].call, list[at-1].place
}

// summand tells of an output that n ranks have one summand each of a tensor of the form of another.
func summand(v, like *msprobe.Value, n int) bool {
	mesh, list := v.Mesh(), v.Placements()
	return v.Section == msprobe.Output && filed(&argument{v: v}) && v.Elem == like.Elem && slices.Equal(v.Shape, like.Shape) &&
		slices.Equal(mesh, []int{n}) && len(list) == 1 && list[0].Kind == "Partial" && list[0].Op == "sum"
}
