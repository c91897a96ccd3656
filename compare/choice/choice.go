// Package choice tells which differences between two recordings come from choices
// between near equals: TopK, Sort, ArgMax, comparisons, gates and gradients of
// pooling jump where two scores are closer than the error they carry.
//
// A chosen place is right if the golden scores at it lie within the error of the
// scores of the golden choice. What depends on a choice that fell otherwise,
// elements that were gathered by it, cannot be compared, and all others can: a
// [Mask] says which. The package knows numbers and types of operators, no files.
package choice

import (
	"math"
	"slices"

	"precision/graph"
	"precision/internal/nd"
	catalogue "precision/op"
)

// Pair is a tensor of both sides, in the order of its shape.
type Pair struct {
	Shape       []int64
	Left, Right []float64
}

// Mask tells which elements of a tensor depend on choices that differ.
type Mask struct {
	// Mixed: an operator before mixed such elements with others, so that any may
	// depend.
	Mixed bool
	// Bits are those that are known to, nil for none.
	Bits []bool
}

// Count is how many elements are known to depend.
func (m *Mask) Count() (count int64) {
	if m == nil {
		return 0
	}
	for _, b := range m.Bits {
		if b {
			count++
		}
	}
	return count
}

// Call is an operator with its tensors; what was not compared is nil.
type Call struct {
	Type string
	// Op has the attributes.
	Op      *graph.Op
	In, Out []*Pair
}

// Found is what was found of an output.
type Found struct {
	// Choices were made, of which Differ differ between the sides, and Explained of
	// these lie between scores closer than their error.
	Choices, Differ, Explained int64
	// Unknown: NaN among the scores has no order.
	Unknown bool
	// Mask are the elements that are explained choices, or follow from them.
	Mask *Mask
}

// looks find what an operator's choices come to, by the words and arguments that the catalogue
// has for how it chooses.
var looks = map[string]func(c *Call, argument int) []Found{
	"arg":        (*Call).arg,
	"ranked":     func(c *Call, _ int) []Found { return c.ranked(1) },
	"compared":   func(c *Call, _ int) []Found { return c.compared() },
	"suppressed": func(c *Call, _ int) []Found { return c.suppressed() },
	"positive":   func(c *Call, input int) []Found { return c.gated(input, positive) },
	"six": func(c *Call, input int) []Found {
		return c.gated(input, func(v float64) int { return positive(v) + positive(v-6) + positive(6-v) })
	},
	"truth": func(c *Call, input int) []Found {
		return c.gated(input, func(v float64) int {
			if v != 0 {
				return 1
			}
			return 0
		})
	},
	"pooled": func(c *Call, _ int) []Found { return c.pooledGradient() },
}

// positive is the side of zero that a number gates by.
func positive(v float64) int {
	if v > 0 {
		return 1
	}
	return 0
}

// Chooses tells whether an operator type chooses by the values of its inputs.
func Chooses(typ string) bool { return catalogue.Of(typ).Choice != "" }

// Gate tells whether it does so without saying what it chose: only the numbers
// behind its choices leave it.
func Gate(typ string) bool {
	word, _ := catalogue.Call(catalogue.Of(typ).Choice)
	return word == "positive" || word == "six" || word == "truth" || word == "pooled"
}

// Look finds what the choices of an operator come to, by output. An operator whose
// tensors are not all known has no findings.
func (c *Call) Look() []Found {
	word, argument := catalogue.Call(catalogue.Of(c.Type).Choice)
	if look := looks[word]; look != nil {
		return look(c, int(argument))
	}
	return nil
}

func (c *Call) in(i int) *Pair  { return at(c.In, i) }
func (c *Call) out(i int) *Pair { return at(c.Out, i) }

func at(list []*Pair, i int) *Pair {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// attribute is a whole number of the graph.
func (c *Call) attribute(missing int64, keys ...string) int64 {
	for _, key := range keys {
		if c.Op == nil {
			break
		}
		if n, ok := c.Op.Attr(key).Int(); ok {
			return n
		}
	}
	return missing
}

// noise is the largest error of a row of scores; ok is false if some are NaN.
func noise(left, right []float64, row []int64) (most float64, ok bool) {
	for _, i := range row {
		x, y := left[i], right[i]
		if math.IsNaN(x) || math.IsNaN(y) {
			return 0, false
		}
		if d := math.Abs(x - y); x != y && d > most {
			most = d
		}
	}
	return most, true
}

// row are the places of one row of a shape along an axis: inner after the axis,
// outer before it.
func rowOf(shape []int64, axis int, outer, inner int64, buf []int64) []int64 {
	step := nd.Size(shape[axis+1:])
	buf = buf[:0]
	for i := range shape[axis] {
		buf = append(buf, (outer*shape[axis]+i)*step+inner)
	}
	return buf
}

// axisOf is an axis within a rank; negative ones count from the end.
func axisOf(axis int64, rank int) (int, bool) {
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis), axis >= 0 && axis < int64(rank)
}

// arg looks at the places of largest or smallest scores along an axis.
func (c *Call) arg(slot int) []Found {
	x, y := c.in(0), c.out(slot)
	if x == nil || y == nil {
		return nil
	}
	axis, ok := axisOf(c.attribute(-1, "dimension", "axis", "dim"), len(x.Shape))
	if !ok {
		return nil
	}
	rows := nd.Size(x.Shape) / max(x.Shape[axis], 1)
	if int64(len(y.Left)) != rows {
		return nil
	}
	return c.places(slot, x, y, axis, 1)
}

// ranked looks at the places of the best scores of every row, in order.
func (c *Call) ranked(slot int) []Found {
	x, y := c.in(0), c.out(slot)
	if x == nil || y == nil || len(x.Shape) == 0 || len(y.Shape) != len(x.Shape) {
		return nil
	}
	axis, ok := axisOf(c.attribute(-1, "dim", "axis"), len(x.Shape))
	if !ok || !slices.Equal(x.Shape[:axis], y.Shape[:axis]) || !slices.Equal(x.Shape[axis+1:], y.Shape[axis+1:]) {
		return nil
	}
	return c.places(slot, x, y, axis, y.Shape[axis])
}

// places looks at k places of every row of x along an axis. An element of rank k
// of scores that are off by at most e is off by at most e itself, and so is the
// score at its place: the golden scores of the two choices are no more than 2e
// apart.
func (c *Call) places(slot int, x, y *Pair, axis int, k int64) []Found {
	found := make([]Found, slot+1)
	f := &found[slot]
	f.Choices = int64(len(y.Left))
	f.Mask = &Mask{Bits: make([]bool, len(y.Left))}
	inner := nd.Size(x.Shape[axis+1:])
	var row []int64
	for outer := range nd.Size(x.Shape[:axis]) {
		for in := range inner {
			row = rowOf(x.Shape, axis, outer, in, row)
			e, known := 0.0, false
			looked := false
			seen := map[float64]bool{}
			for r := range k {
				i := (outer*k+r)*inner + in
				twice := seen[y.Left[i]]
				seen[y.Left[i]] = true
				if y.Left[i] == y.Right[i] {
					continue
				}
				if !looked {
					e, known = noise(x.Left, x.Right, row)
					looked = true
				}
				f.Differ++
				if !known {
					f.Unknown = true
					f.Mask.Bits[i] = true
					continue
				}
				a, b := y.Left[i], y.Right[i]
				if twice || !(a >= 0 && b >= 0 && a < float64(len(row)) && b < float64(len(row))) {
					continue
				}
				s, t := x.Right[row[int(a)]], x.Right[row[int(b)]]
				if s == t || math.Abs(s-t) <= 2*e {
					f.Explained++
					f.Mask.Bits[i] = true
				}
			}
		}
	}
	return found
}

// compared looks at the results of comparisons: where they differ, the golden
// operands are no further apart than both are off. A second operand that was not
// compared, a number of the graph, is the same on both sides: there is one that
// all results of both sides go with.
func (c *Call) compared() []Found {
	a, b, y := c.in(0), c.in(1), c.out(0)
	if a == nil || y == nil {
		return nil
	}
	f := Found{Choices: int64(len(y.Left)), Mask: &Mask{Bits: make([]bool, len(y.Left))}}
	if b == nil {
		if len(a.Left) != len(y.Left) || !oneThreshold(a, y) {
			return nil
		}
		for i := range y.Left {
			if y.Left[i] != y.Right[i] {
				f.Differ++
				f.Explained++
				f.Mask.Bits[i] = true
			}
		}
		return []Found{f}
	}
	p, q := spread(a.Shape, y.Shape), spread(b.Shape, y.Shape)
	if p == nil || q == nil {
		return nil
	}
	for i := range y.Left {
		if y.Left[i] == y.Right[i] {
			continue
		}
		f.Differ++
		m, n := p(int64(i)), q(int64(i))
		gap := math.Abs(a.Right[m] - b.Right[n])
		off := math.Abs(a.Left[m]-a.Right[m]) + math.Abs(b.Left[n]-b.Right[n])
		switch {
		case math.IsNaN(gap) || math.IsNaN(off):
			f.Unknown = true
			f.Mask.Bits[i] = true
		case gap <= off && off > 0:
			f.Explained++
			f.Mask.Bits[i] = true
		}
	}
	return []Found{f}
}

// oneThreshold tells whether one number parts what is true on both sides from what
// is false.
func oneThreshold(x, y *Pair) bool {
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, side := range [][2][]float64{{x.Left, y.Left}, {x.Right, y.Right}} {
		for i, v := range side[0] {
			if math.IsNaN(v) {
				return false
			}
			k := 0
			if side[1][i] != 0 {
				k = 1
			}
			lo[k], hi[k] = min(lo[k], v), max(hi[k], v)
		}
	}
	return hi[0] <= lo[1] || hi[1] <= lo[0]
}

// spread maps places of a result to those of an operand that is broadcast to it;
// nil if it is not.
func spread(from, to []int64) func(i int64) int64 {
	if slices.Equal(from, to) {
		return func(i int64) int64 { return i }
	}
	if len(from) > len(to) {
		if nd.Size(from) == nd.Size(to) {
			return func(i int64) int64 { return i }
		}
		return nil
	}
	steps := make([]int64, len(to))
	for d, step := range nd.Strides(from) {
		k := d + len(to) - len(from)
		switch from[d] {
		case to[k]:
			steps[k] = step
		case 1:
		default:
			return nil
		}
	}
	return func(i int64) int64 { return nd.Restep(i, to, steps) }
}

// gated looks at what decides, element by element, which of two formulas holds:
// where it falls to different kinds on the two sides, results are not comparable.
func (c *Call) gated(slot int, kind func(v float64) int) []Found {
	x, y := c.in(slot), c.out(0)
	if x == nil || y == nil {
		return nil
	}
	place := spread(x.Shape, y.Shape)
	if place == nil {
		return nil
	}
	f := Found{Choices: int64(len(y.Left)), Mask: &Mask{Bits: make([]bool, len(y.Left))}}
	for i := range y.Left {
		k := place(int64(i))
		if kind(x.Left[k]) != kind(x.Right[k]) {
			f.Differ++
			f.Explained++
			f.Mask.Bits[i] = true
		}
	}
	return []Found{f}
}

// pooledGradient looks at the windows of a pooling by maximum: where the largest
// elements of a window are others on the two sides, the gradient went another way.
func (c *Call) pooledGradient() []Found {
	x, g, y := c.in(0), c.in(2), c.out(0)
	if x == nil || g == nil || y == nil || c.Op == nil || len(x.Shape) != 4 || len(g.Shape) != 4 || !slices.Equal(x.Shape, y.Shape) {
		return nil
	}
	size, step := c.Op.Attr("ksize").Ints(), c.Op.Attr("strides").Ints()
	if len(size) != 4 || len(step) != 4 {
		return nil
	}
	var before [4]int64
	for d := range 4 {
		if size[d] < 1 || step[d] < 1 || size[d] > 1<<10 {
			return nil
		}
		if total := (g.Shape[d]-1)*step[d] + size[d] - x.Shape[d]; total > 0 {
			before[d] = total / 2
		}
	}
	if pads := c.Op.Attr("pads").Ints(); len(pads) == 4 && pads[0] >= 0 {
		before[2], before[3] = pads[0], pads[2]
	}
	if nd.Size(g.Shape)*nd.Size(size) > 64*int64(len(x.Left)) {
		return nil
	}
	f := Found{Choices: nd.Size(g.Shape), Mask: &Mask{Bits: make([]bool, len(y.Left))}}
	var window []int64
	for w := range nd.Size(g.Shape) {
		var first [4]int64
		rest := w
		for d := 3; d >= 0; d-- {
			first[d] = rest%g.Shape[d]*step[d] - before[d]
			rest /= g.Shape[d]
		}
		window = window[:0]
		most := [2]float64{math.Inf(-1), math.Inf(-1)}
		for k := range nd.Size(size) {
			at, rest, inside := int64(0), k, true
			unit := int64(1)
			for d := 3; d >= 0; d-- {
				p := first[d] + rest%size[d]
				rest /= size[d]
				inside = inside && p >= 0 && p < x.Shape[d]
				at += p * unit
				unit *= x.Shape[d]
			}
			if inside {
				window = append(window, at)
				most[0], most[1] = max(most[0], x.Left[at]), max(most[1], x.Right[at])
			}
		}
		if slices.ContainsFunc(window, func(i int64) bool { return (x.Left[i] == most[0]) != (x.Right[i] == most[1]) }) {
			f.Differ++
			f.Explained++
			for _, i := range window {
				f.Mask.Bits[i] = true
			}
		}
	}
	return []Found{f}
}

// suppressed looks at boxes that were kept. Whether one is depends on its score and
// on its overlap with those kept before: of the boxes that only one side keeps a
// few are what noise explains, and more are not. Their order is that of the scores.
func (c *Call) suppressed() []Found {
	scores, y := c.in(1), c.out(0)
	if scores == nil || y == nil || len(y.Shape) == 0 {
		return nil
	}
	columns := int64(1)
	if len(y.Shape) > 1 {
		columns = y.Shape[len(y.Shape)-1]
	}
	kept := func(v []float64) map[float64]bool {
		set := map[float64]bool{}
		for i := columns - 1; i < int64(len(v)); i += columns {
			if v[i] >= 0 {
				set[v[i]] = true
			}
		}
		return set
	}
	left, right := kept(y.Left), kept(y.Right)
	alone := 0
	for k := range left {
		if !right[k] {
			alone++
		}
	}
	for k := range right {
		if !left[k] {
			alone++
		}
	}
	f := Found{Choices: int64(len(y.Left)) / columns, Mask: &Mask{Bits: make([]bool, len(y.Left))}}
	all := make([]int64, len(scores.Left))
	for i := range all {
		all[i] = int64(i)
	}
	e, known := noise(scores.Left, scores.Right, all)
	if known && e == 0 {
		if boxes := c.in(0); boxes != nil && slices.Equal(boxes.Left, boxes.Right) {
			return nil // of equal boxes equal ones are kept
		}
	}
	few := alone <= max(2, (len(left)+len(right))/8)
	for i := int64(0); i+columns <= int64(len(y.Left)); i += columns {
		if slices.Equal(y.Left[i:i+columns], y.Right[i:i+columns]) {
			continue
		}
		f.Differ++
		f.Unknown = f.Unknown || !known
		a, b := y.Left[i+columns-1], y.Right[i+columns-1]
		ok := !known || few && alone > 0
		if !ok && alone == 0 && a >= 0 && b >= 0 && int(max(a, b)) < len(scores.Right) {
			ok = math.Abs(scores.Right[int(a)]-scores.Right[int(b)]) <= 2*e
		}
		if ok {
			f.Explained++
			for k := i; k < i+columns; k++ {
				f.Mask.Bits[k] = true
			}
		}
	}
	return []Found{f}
}
