package look

import (
	"context"
	"math"
	"slices"
	"strconv"
	"sync"

	"precision/compare/engine"
	"precision/compare/metric"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/nd"
)

// Are the right things compared? Where inputs or weights differ, and at the first roots, it is
// tried on elements whether one side is the other in another order, padded, transposed, another
// tensor, or with another one added. What is found is a hint beside the verdict.

const (
	askedMost = 8       // tensors that are asked about
	turnedMax = 1 << 12 // slices that are looked for on the other side
	equalTo   = 1e-3    // relative distance of what is the same but for rounding, in half precision
	fewValues = 16      // elements of which a relation may hold by chance
)

// Compared tries on elements whether the right things are compared, and adds hints to the judged
// table where they are not. Nothing is read where no premise and no root asks for it.
func Compared(ctx context.Context, again Again, j *verdict.Judged) error {
	var asked []*result.Row
	weights := map[string]bool{}
	ask := func(r *result.Row, weight bool) {
		if r.Compared && r.Shape != nil && len(asked) < askedMost && !slices.Contains(asked, r) && r.Result().Facts.N <= otherMost {
			asked = append(asked, r)
			weights[r.Tensor()] = weight
		}
	}
	for i := range j.Premises {
		p := &j.Premises[i]
		for _, at := range p.Rows {
			ask(&j.Table.Rows[at], p.Kind != verdict.PremiseInputs)
		}
	}
	hints, hinted := givenHints(j)
	for _, k := range j.Prominent()[:min(len(j.Roots), askedMost/2)] {
		if root := &j.Roots[k]; root.Kind == verdict.RootWeight && root.Begin != nil && !hinted[j.Table.Rows[root.Begin.Row].Tensor()] {
			ask(&j.Table.Rows[root.Begin.Row], true)
		}
	}
	given := len(asked)
	others := map[string]bool{} // tensors that may be what was taken or added
	order := j.Prominent()
	for _, k := range order[:min(len(order), askedMost/2)] {
		root := &j.Roots[k]
		if root.Recomputed || root.Begin != nil {
			continue // what its kernel did is known, or what it was given
		}
		op := &j.Operators[root.Operator]
		ask(j.Row(&op.Outputs[root.Output]), false)
		for i := range op.Inputs {
			others[j.Row(&op.Inputs[i]).Tensor()] = true
		}
		for i := max(0, root.Operator-priorMost); i < min(len(j.Operators), root.Operator+3); i++ {
			for k := range j.Operators[i].Outputs {
				others[j.Row(&j.Operators[i].Outputs[k]).Tensor()] = true
			}
		}
	}
	if len(asked) == 0 {
		if len(hints) > 0 {
			j.Table.Meta.Hints = hints
			j.AddHints(hints...)
		}
		return nil
	}
	wanted, ops := map[string]bool{}, map[string]bool{}
	want := func(r *result.Row) { wanted[r.Tensor()], ops[r.Op] = true, true }
	held := int64(0)
	for _, r := range asked {
		want(r)
		held += 2 * r.Result().Facts.N
	}
	for i := range j.Table.Rows { // of as many elements as one that is asked about
		r := &j.Table.Rows[i]
		n := r.Result().Facts.N
		if held+2*n > heldMost/4 || !r.Compared || wanted[r.Tensor()] {
			continue
		}
		near := slices.ContainsFunc(asked, func(a *result.Row) bool {
			return a.Result().Facts.N == n && (weights[a.Tensor()] && r.Role == result.Input || !weights[a.Tensor()] && others[r.Tensor()])
		})
		if near {
			want(r)
			held += 2 * n
		}
	}
	var mu sync.Mutex
	seen := map[string]elements{}
	err := again(ctx, &engine.Glance{
		Ops:    func(name string) bool { return ops[name] },
		Wanted: func(r *result.Row) bool { return wanted[r.Tensor()] },
		Most:   otherMost,
		Take: func(r *result.Row, s engine.Seen) {
			if s.LeftRest != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			seen[r.Tensor()] = elements{nil, s.Left, s.Right, slices.Clone(r.Shape)}
		},
	})
	if err != nil {
		return err
	}
	for i, r := range asked {
		e, ok := seen[r.Tensor()]
		if !ok || len(e.left) < fewValues {
			continue
		}
		var list []known
		for k := range j.Table.Rows {
			name := j.Table.Rows[k].Tensor()
			if o, ok := seen[name]; ok && name != r.Tensor() && len(o.left) == len(e.left) {
				list = append(list, known{name, o})
			}
		}
		if h, is := hintOf(r.Tensor(), e, list, weights[r.Tensor()], i < given); is && !slices.ContainsFunc(hints, h.Equal) {
			hints = slices.DeleteFunc(hints, func(x result.Reason) bool { return x.Kind == result.HintMoved && x.Args[0] == r.Tensor() })
			hints = append(hints, h)
		}
	}
	j.Table.Meta.Hints = hints
	j.AddHints(hints...)
	return nil
}

// known are the elements of a tensor of a name.
type known struct {
	name string
	elements
}

// hintOf is what relates the sides of a tensor, if anything does.
func hintOf(name string, e elements, others []known, weight, given bool) (result.Reason, bool) {
	if same(e.left, e.right) {
		return result.Reason{}, false
	}
	if weight {
		if flipped(e) {
			return result.Because(result.HintFlipped, name), true
		}
		for _, o := range others {
			if same(e.left, o.right) {
				return result.Because(result.HintOther, name, o.name), true
			}
		}
		return result.Reason{}, false
	}
	for axis := range min(len(e.shape), 2) {
		if r, is := sliced(name, e, axis, given); is {
			return r, true
		}
	}
	if given {
		return result.Reason{}, false
	}
	for _, side := range []string{"left", "right"} {
		x, y := e.left, e.right
		if side == "right" {
			x, y = y, x
		}
		for _, o := range others {
			z := o.left
			if side == "right" {
				z = o.right
			}
			if sum(x, y, z) {
				return result.Because(result.HintSum, side, name, o.name), true
			}
		}
	}
	return result.Reason{}, false
}

// same tells that two tensors hold the same numbers, but for rounding, and not just one number.
func same(x, y []float64) bool { return near(x, y, metric.RMS(y)) && spread(y) }

// near tells that x is y within the rounding of numbers of a size.
func near(x, y []float64, size float64) bool {
	off := 0.0
	for i := range x {
		d := x[i] - y[i]
		off += d * d
	}
	return math.Sqrt(off/float64(max(len(x), 1))) <= equalTo*size // not NaN
}

func spread(x []float64) bool {
	return slices.ContainsFunc(x, func(v float64) bool { return math.Abs(v-x[0]) > equalTo*math.Abs(x[0]) })
}

// sum tells that x is y and z added, of which neither is next to nothing.
func sum(x, y, z []float64) bool {
	if s := metric.RMS(y); metric.RMS(z) < 16*equalTo*s || s < 16*equalTo*metric.RMS(z) {
		return false
	}
	off := 0.0
	for i := range x {
		d := x[i] - y[i] - z[i]
		off += d * d
	}
	return math.Sqrt(off/float64(len(x))) <= equalTo*(metric.RMS(y)+metric.RMS(z)) && spread(z)
}

// flipped tells that a matrix, or the last two axes, are exchanged between the sides, the numbers
// written row by row into the same shape.
func flipped(e elements) bool {
	k := len(e.shape)
	if k < 2 {
		return false
	}
	rows, columns := int(e.shape[k-2]), int(e.shape[k-1])
	if rows < 2 || columns < 2 {
		return false
	}
	t := make([]float64, len(e.left))
	for i := range t {
		page, at := i/(rows*columns)*rows*columns, i%(rows*columns)
		t[i] = e.right[page+at%rows*columns+at/rows]
	}
	return same(e.left, t)
}

// sliced tells whether the slices of an axis are those of the other side: further on, in another
// order, or as far as one side is not padded. Other data is of an input alone: a kernel may
// change the order of what it writes.
func sliced(name string, e elements, axis int, given bool) (r result.Reason, is bool) {
	n := int(e.shape[axis])
	if n < 2 || n > turnedMax || nd.Size(e.shape) != int64(len(e.left)) {
		return r, false
	}
	inner := int(nd.Size(e.shape[axis+1:]))
	outer := len(e.left) / (n * inner)
	take := func(of []float64, k int) []float64 {
		s := make([]float64, 0, outer*inner)
		for o := range outer {
			at := (o*n + k) * inner
			s = append(s, of[at:at+inner]...)
		}
		return s
	}
	left, right := make([][]float64, n), make([][]float64, n)
	for k := range n {
		left[k], right[k] = take(e.left, k), take(e.right, k)
	}
	zero := func(s []float64) bool { return !slices.ContainsFunc(s, func(v float64) bool { return v != 0 }) }
	first := 0
	for first < n && near(left[first], right[first], metric.RMS(e.right)) {
		first++
	}
	if first > 0 && first < n && spread(e.right) {
		for i, side := range [][][]float64{left, right} {
			if i == 0 && !given {
				continue // a kernel that did not write all of its output
			}
			if !slices.ContainsFunc(side[first:], func(s []float64) bool { return !zero(s) }) {
				return result.Because(result.HintPadded, []string{"left", "right"}[i], name, strconv.Itoa(axis), strconv.Itoa(first)), true
			}
		}
	}
	if !given || outer*inner < 2 {
		return r, false
	}
	// Slices of the right side by their first number, for near ones of the left.
	order := make([]int, n)
	used := make([]bool, n)
	for k := range n {
		order[k] = -1
		for m := range n {
			if at := (k + m) % n; !used[at] && near(left[k][:1], right[at][:1], math.Abs(right[at][0])) && same(left[k], right[at]) {
				order[k], used[at] = at, true
				break
			}
		}
		if order[k] < 0 {
			return r, false
		}
	}
	turn := order[0]
	for k, at := range order {
		if at != (k+turn)%n {
			return result.Because(result.HintOrder, name, strconv.Itoa(axis)), true
		}
	}
	return result.Because(result.HintTurned, name, strconv.Itoa(axis), strconv.Itoa(turn)), turn > 0
}
