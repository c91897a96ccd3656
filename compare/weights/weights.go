// Package weights compares two checkpoints of one network tensor by tensor, whatever names and fused forms
// trainer and engine keep them in, and says of each tensor that differs how: of another step, quantised, another tensor's,
// never loaded, transposed, of a network whose hidden states were rotated.
//
// Tensors are paired by the names that Hugging Face's files have ([Name]); fused ones are taken apart first. Both sides are rounded to the
// narrower of their types before they are compared: a float32 master beside an engine's bfloat16 is the same weight.
package weights

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"precision/compare/metric"
	"precision/dump/checkpoint"
	"precision/dump/dtype"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/nd"

	"gonum.org/v1/gonum/floats"
)

// Kind is how a tensor of the right side is related to that of the left.
type Kind string

const (
	Same        Kind = "same"       // all elements are equal in the narrower type
	Step        Kind = "step"       // of a step before or behind: nearly equal
	Near        Kind = "near"       // a multiple of that away, but less than Unlike
	Quantised   Kind = "quantised"  // the left one rounded to a few levels a row
	Elsewhere   Kind = "elsewhere"  // another tensor of the left side, Of
	Constant    Kind = "constant"   // one number, which the left one is not: never loaded
	Transposed  Kind = "transposed" // the left one with its axes exchanged
	Permuted    Kind = "permuted"   // of another expert, and the router knows it
	Rotated     Kind = "rotated"    // in a basis of the hidden states that was rotated as a whole
	Merged      Kind = "merged"     // with what low-rank training adds, Value times its product, rounded otherwise at most
	Unmerged    Kind = "unmerged"   // without what low-rank training adds
	Folded      Kind = "folded"     // a norm's weight that went into the next products, ones
	Unlike      Kind = "unlike"     // something else
	Shape       Kind = "shape"      // of another shape
	Unreadable  Kind = "unreadable" // no numbers, or not to be read: Err
	MissingHere Kind = "missing"    // the right side lacks it
	Extra       Kind = "extra"      // the left side lacks it
)

// Harmless reports whether a relation leaves what the network computes as it is.
func (k Kind) Harmless() bool {
	return k == Same || k == Permuted || k == Rotated || k == Folded || k == Merged
}

// Tensor is the relation of a pair.
type Tensor struct {
	Name   string
	Kind   Kind
	Shapes [2][]int64
	// Equal is the share of equal elements, Rel the norm of the difference over that of the left side.
	Equal, Rel float64
	// Even is the share of the elements that differ whose difference is within a factor of 1.5 of the middle one: an optimiser
	// such as Adam moves nearly all weights by the learning rate.
	Even float64
	// Of is the left tensor that an Elsewhere or Permuted one equals; Levels are those of a Quantised one; Value that of a Constant one, or the scale of a Merged one.
	Of     string
	Levels int
	Value  float64
	// Spread bounds how far what merging rounds may have moved the scale of a Merged one; Rank is that of what is added.
	Spread float64
	Rank   int
	Err    error
}

// Report is what a comparison of two checkpoints found.
type Report struct {
	// Tensors are those of the left side in its order, then Extra ones.
	Tensors []Tensor
}

// Count is the number of tensors that are related in one of some ways.
func (r *Report) Count(kinds ...Kind) (n int) {
	for i := range r.Tensors {
		if slices.Contains(kinds, r.Tensors[i].Kind) {
			n++
		}
	}
	return n
}

// Differ are the tensors that make the network compute something else.
func (r *Report) Differ() (list []*Tensor) {
	for i := range r.Tensors {
		if t := &r.Tensors[i]; !t.Kind.Harmless() {
			list = append(list, t)
		}
	}
	return list
}

// tile is how many elements are read at a time.
const tile = 1 << 15

// Compare relates the tensors of the right checkpoint to those of the left. The error is that of the context: what is wrong with a
// tensor is its own affair.
func Compare(ctx context.Context, left, right *checkpoint.Set, workers int, progress func(done, total int)) (*Report, error) {
	c := newComparison(left, right, nil, func(list []*part, other map[string]*part) []*part { return adapted(list, other, false) })
	each.Number(ctx, len(c.pairs), workers, progress, func() func(int) {
		return func(i int) { c.pairs[i].compare(ctx) }
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.seek(ctx)
	c.permutations()
	c.rotation()
	r := &Report{}
	for _, p := range c.pairs {
		r.Tensors = append(r.Tensors, p.Tensor)
	}
	return r, ctx.Err()
}

type comparison struct {
	pairs  []*pair
	byName map[string]*pair
}

// pair is a tensor of both sides; one of them is nil where the other side lacks it.
type pair struct {
	Tensor
	a, b *part
}

// newComparison pairs the tensors of two checkpoints; join puts those of one side together, nil leaves them as they are. What m names is
// a pair before anything else.
func newComparison(left, right *checkpoint.Set, m *mapping, join func(list []*part, other map[string]*part) []*part) *comparison {
	a, b := parts(left), parts(right)
	mapped := m.join(a, b)
	byName := func(list []*part) map[string]*part {
		m := map[string]*part{}
		for _, p := range list {
			if p.mate == nil {
				m[p.name] = p
			}
		}
		return m
	}
	kernelsA, kernelsB := translate(a, b), translate(b, a)
	inA, inB := byName(a), byName(b)
	if beheaded(a, inA, inB) || beheaded(b, inB, inA) {
		inA, inB = byName(a), byName(b)
	}
	reorder(mapped, nil)
	reorder(kernelsA, inB)
	reorder(kernelsB, inA)
	split := func(list []*part, other map[string]*part) (all []*part) {
		for _, p := range list {
			if p.mate != nil {
				all = append(all, p)
			} else {
				all = append(all, qkv(p, other)...)
			}
		}
		return all
	}
	a, b = split(a, inB), split(b, inA)
	if join != nil {
		a, b = join(a, byName(b)), join(b, byName(a))
	}
	inA, inB = byName(a), byName(b)
	if !slices.ContainsFunc(a, func(p *part) bool { return inB[p.name] != nil }) && plainly(a) && plainly(b) {
		inA, inB = byName(a), byName(b)
	}
	c := &comparison{byName: map[string]*pair{}}
	for _, p := range a {
		c.add(p.name, p, cmp.Or(p.mate, partner(inB, p.name)))
	}
	for _, p := range b {
		if p.mate == nil && inA[p.name] == nil {
			c.add(p.name, partner(inA, p.name), p)
		}
	}
	return c
}

// partner is the tensor of a name. A tied output layer is in a state dict, but not in the files: there it is the embedding.
func partner(side map[string]*part, name string) *part {
	if p := side[name]; p != nil || name != "lm_head.weight" {
		return p
	}
	return side["model.embed_tokens.weight"]
}

func (c *comparison) add(name string, a, b *part) {
	p := &pair{a: a, b: b}
	p.Name = name
	if a != nil {
		p.Shapes[0] = a.shape
	}
	if b != nil {
		p.Shapes[1] = b.shape
	}
	c.pairs = append(c.pairs, p)
	c.byName[name] = p
}

// narrow is the type in which both sides are compared.
func (p *pair) narrow() dtype.Type { return dtype.Coarser(p.a.t.Type, p.b.t.Type) }

// fit cuts rows off the side of a table of words that the engine padded to a round number of them.
func (p *pair) fit() bool {
	x, y := p.a.shape, p.b.shape
	if slices.Equal(x, y) {
		return true
	}
	if len(x) != len(y) || len(x) == 0 || !slices.Equal(x[1:], y[1:]) || !strings.HasSuffix(p.Name, "embed_tokens.weight") && p.Name != "lm_head.weight" {
		return nd.Size(x) == nd.Size(y) && slices.Equal(squeezed(x), squeezed(y))
	}
	return true // the common rows come first
}

func squeezed(shape []int64) (s []int64) {
	for _, d := range shape {
		if d != 1 {
			s = append(s, d)
		}
	}
	return s
}

func (p *pair) compare(ctx context.Context) {
	switch {
	case p.b == nil:
		p.Kind = MissingHere
	case p.a == nil:
		p.Kind = Extra
	case !p.fit():
		p.Kind = Shape
		if turned, _ := must.Of(p.transposed); turned {
			p.Kind = Transposed
		}
	default:
		if err := must.Try(func() { p.relate(ctx) }); err != nil {
			p.Kind, p.Err = Unreadable, err
		}
	}
}

// Limits of what is called a step, and near. One step of training moves weights by a thousandth of their size at most, or
// leaves most elements of a narrow type as they are; two trainings from one beginning stay within a third of their size, and unrelated weights of one
// size differ by 1.4 times that (soundness.md, rollout.md 4).
const (
	stepRel, stepEqual = 1e-3, 0.5
	nearRel            = 0.3
	evenShare          = 0.8
)

func (p *pair) relate(ctx context.Context) {
	if p.Kind = p.join(ctx); p.Kind != "" {
		if p.Kind == Same {
			p.Equal = 1
		}
		return
	}
	x, y := p.a.open(), p.b.open()
	n, narrow := min(p.a.len(), p.b.len()), p.narrow().Rounding()
	wide := p.a.t.Type != p.b.t.Type || p.a.add != nil || p.b.add != nil // else elements are rounded as they are
	var equal int64
	var diff, size float64
	var moves moves
	u, v := make([]float64, tile), make([]float64, tile)
	var front, value float64 // the first elements
	constant, plain := true, true
	for first := int64(0); first < n && ctx.Err() == nil; first += tile {
		k := min(tile, n-first)
		if first > 0 && p.a.t.Type == p.b.t.Type && equal == first {
			// While all is equal bytes decide, at the speed of memory.
			if s, t := x.stored(first, k), y.stored(first, k); s != nil && bytes.Equal(s, t) {
				equal += k
				constant = false
				continue
			}
		}
		u, v := u[:k], v[:k]
		x.read(u, first)
		y.read(v, first)
		if wide {
			for i := range u {
				u[i], v[i] = narrow.Round(u[i]), narrow.Round(v[i])
			}
		}
		if first == 0 {
			front, value = u[0], v[0]
		}
		size += floats.Dot(u, u)
		for i, a := range u {
			b := v[i]
			constant, plain = constant && b == value, plain && a == front
			if a == b || a != a && b != b {
				equal++
				continue
			}
			d := math.Abs(a - b)
			diff += d * d
			moves.add(d)
		}
	}
	p.Equal = float64(equal) / float64(max(n, 1))
	p.Rel = math.Sqrt(diff / size)
	p.Even = moves.even()
	p.judge(constant && !plain, value)
}

// mostSampled is how many tiles tell how even the differences of a pair are whose other sums are known: two million elements.
const mostSampled = 64

// known relates a pair by what was summed up of all its elements, which are not read again; false where that does not tell.
func (p *pair) known(ctx context.Context, f *metric.Facts) bool {
	if !f.Known || f.Finite != f.N || f.N != min(p.a.len(), p.b.len()) || p.a.t.Type != p.b.t.Type || !p.a.t.Type.IsFloat() || p.a.add != nil || p.b.add != nil {
		return false
	}
	p.Equal, p.Rel = float64(f.N-f.Differ)/float64(f.N), f.Distance*f.Y.RMS/f.X.RMS
	if f.X.RMS == 0 || f.Y.RMS == 0 {
		return false
	}
	if p.Rel < nearRel {
		var moves moves
		x, y := p.a.open(), p.b.open()
		u, v := make([]float64, tile), make([]float64, tile)
		tiles := (f.N + tile - 1) / tile
		n := min(tiles, mostSampled)
		for i := range n {
			first := i * (tiles - 1) / max(n-1, 1) * tile
			k := min(tile, f.N-first)
			x.read(u[:k], first)
			y.read(v[:k], first)
			must.Do(ctx.Err())
			for j := range k {
				if u[j] != v[j] {
					moves.add(math.Abs(u[j] - v[j]))
				}
			}
		}
		p.Even = moves.even()
	}
	p.judge(f.Y.Lo == f.Y.Hi && f.X.Lo != f.X.Hi, f.Y.Lo)
	return true
}

// judge tells how a pair is related by its sums; never tells that the right side is one number, value, and the left is not.
func (p *pair) judge(never bool, value float64) {
	switch {
	case p.Equal == 1:
		p.Kind = Same
	case never:
		p.Kind, p.Value = Constant, value
	case p.quantised():
		p.Kind = Quantised
	case p.Rel < stepRel && p.Equal > stepEqual || p.Rel < nearRel && p.Even > evenShare:
		p.Kind = Step
	case p.Rel < nearRel || p.Equal > stepEqual && p.Rel == p.Rel: // not NaN
		p.Kind = Near
	case p.transposed():
		p.Kind = Transposed
	default:
		p.Kind = Unlike
	}
}

// moves counts differences by size: by their exponent and two bits more, which are quarters of a power of two.
type moves struct {
	n   int64
	bin [1 << 13]int64
}

func (m *moves) add(d float64) {
	m.n++
	m.bin[math.Float64bits(d)>>50]++
}

// even is the share of differences around the middle one, within a factor of about 1.5.
func (m *moves) even() float64 {
	if m.n == 0 {
		return 0
	}
	at, sum := 0, int64(0)
	for ; sum+m.bin[at] <= m.n/2; at++ {
		sum += m.bin[at]
	}
	near := int64(0)
	for i := max(at-2, 0); i <= min(at+2, len(m.bin)-1); i++ {
		near += m.bin[i]
	}
	return float64(near) / float64(m.n)
}

// mostHeld is how many elements of a part are held at once: 128 MB as float64.
const mostHeld = 1 << 24

// whole reads a part that is small enough, in its own type; nil else.
func (p *part) whole() []float64 {
	if p.len() > mostHeld {
		return nil
	}
	all, _ := must.Of(func() []float64 {
		v := make([]float64, p.len())
		p.open().read(v, 0)
		return v
	})
	return all
}

// levels of quantisation that are tried, by the largest number that a row is scaled to: int8, int4.
var levels = []float64{127, 7}

// widestRow is the longest row that is looked at as one: 8 MB as float64, and no product of a network has a longer one.
const widestRow = 1 << 20

// quantised tries whether the rows of the right side are those of the left, rounded to whole multiples of a step that the largest
// element of the row, or of the tensor, gives.
func (p *pair) quantised() bool {
	if len(p.a.shape) < 2 || !slices.Equal(p.a.shape, p.b.shape) {
		return false
	}
	width := p.a.shape[len(p.a.shape)-1]
	if width > widestRow {
		return false
	}
	total := p.a.len() / width
	n := min(total, 16) // rows looked at
	x, y := p.a.open(), p.b.open()
	a, b := make([]float64, width), make([]float64, width)
	hits := make([]int64, len(levels))
	trivial := int64(0)
	for i := range n {
		row := i * (total - 1) / max(n-1, 1)
		x.read(a, row*width)
		y.read(b, row*width)
		// The step is read off the quantised side: its largest element is the largest level.
		largest := 0.0
		for _, v := range b {
			largest = max(largest, math.Abs(v))
		}
		for j := range a {
			if a[j] == b[j] {
				trivial++
			}
			for l, most := range levels {
				if s := largest / most; s > 0 && math.Abs(math.RoundToEven(a[j]/s)*s-b[j]) <= math.Abs(b[j])*(2*p.b.t.Type.Unit()+1e-6) {
					hits[l]++
				}
			}
		}
	}
	for l := range levels {
		if hits[l] > (n*width*9)/10 && hits[l] > 2*trivial {
			p.Levels = int(2*levels[l] + 1)
			return true
		}
	}
	return false
}

// transposed reports whether the right side is the left with its two axes exchanged: on 64 columns of it.
func (p *pair) transposed() bool {
	if len(p.a.shape) != 2 || len(p.b.shape) != 2 || p.a.shape[0] != p.b.shape[1] || p.a.shape[1] != p.b.shape[0] {
		return false
	}
	x, y := p.a.open(), p.b.open()
	h, w := p.a.shape[0], p.a.shape[1]
	one, t := make([]float64, 1), p.narrow().Rounding()
	const most = 64
	equal, seen := 0, 0
	rows := min(h, most)
	row := make([]float64, w)
	for i := range rows {
		r := i * (h - 1) / max(rows-1, 1)
		x.read(row, r*w)
		for j := range min(w, most) {
			c := j * (w - 1) / max(min(w, most)-1, 1)
			y.read(one, c*h+r)
			if seen++; t.Round(row[c]) == t.Round(one[0]) {
				equal++
			}
		}
	}
	return equal > seen*9/10
}

// marks are some elements of a part, rounded to a type, by which equal parts are sought; it ends where there are none.
func (p *part) marks(t dtype.Type) (m [64]float64) {
	s := p.open()
	must.Not(p.len() == 0, "no elements")
	const run = 8
	r := t.Rounding()
	for i := 0; i < len(m); i += run {
		at := m[i : i+int(min(run, p.len()))]
		s.read(at, (p.len()-int64(len(at)))*int64(i)/int64(len(m)))
		for j, x := range at {
			at[j] = r.Round(x)
			must.Not(x != x, "a number that equals nothing")
		}
	}
	return m
}

// equals reports whether two parts of one size have the same elements, rounded to a type.
func (p *part) equals(ctx context.Context, q *part, t dtype.Type) bool {
	x, y := p.open(), q.open()
	u, v := make([]float64, tile), make([]float64, tile)
	r := t.Rounding()
	for first := int64(0); first < p.len(); first += tile {
		k := min(tile, p.len()-first)
		must.Do(ctx.Err())
		x.read(u[:k], first)
		y.read(v[:k], first)
		for i := range k {
			if r.Round(u[i]) != r.Round(v[i]) {
				return false
			}
		}
	}
	return true
}

// seek looks for what the right side has in place of a tensor among the other tensors of the left. Only those that are equal in some elements are read.
func (c *comparison) seek(ctx context.Context) {
	type key struct {
		n int64
		t dtype.Type
	}
	known := map[key]map[[64]float64][]*pair{}
	for _, p := range c.pairs {
		if p.Kind != Near && p.Kind != Unlike {
			continue
		}
		k := key{p.b.len(), p.narrow()}
		if known[k] == nil {
			known[k] = map[[64]float64][]*pair{}
			for _, q := range c.pairs {
				if q.a == nil || q.a.len() != k.n {
					continue
				}
				_ = must.Try(func() {
					m := q.a.marks(k.t)
					known[k][m] = append(known[k][m], q)
				})
			}
		}
		_ = must.Try(func() {
			for _, q := range known[k][p.b.marks(k.t)] {
				if same, _ := must.Of(func() bool { return q != p && q.a.equals(ctx, p.b, k.t) }); same {
					p.Kind, p.Of = Elsewhere, q.Name
					break
				}
			}
		})
	}
}
