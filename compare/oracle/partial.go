package oracle

import (
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/dump/layout"
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
	var from *recordedCall
	place := -1
	for k := taker.order - 1; k >= 0 && from == nil; k-- {
		c := b.of.calls[k]
		if place = slices.IndexFunc(c.Values, func(v msprobe.Value) bool { return summand(&v, a.v, len(b.of.step)) }); place >= 0 {
			from = c
		}
	}
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
	o := &operand{name: a.place, typ: dtype.Float32, shape: a.v.Shape, f32: make([]float32, n), packed: true}
	for i, x := range sum {
		o.f32[i] = float32(x)
	}
	var err error
	if o.view, err = layout.Contiguous(o.shape); err != nil {
		return nil
	}
	return o
}

// summand tells of an output that n ranks have one summand each of a tensor of the form of another.
func summand(v, like *msprobe.Value, n int) bool {
	mesh, list := v.Mesh(), v.Placements()
	return v.Section == msprobe.Output && filed(&argument{v: v}) && v.Elem == like.Elem && slices.Equal(v.Shape, like.Shape) &&
		slices.Equal(mesh, []int{n}) && len(list) == 1 && list[0].Kind == "Partial" && list[0].Op == "sum"
}
