package recording

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/nd"
	catalogue "precision/op"
)

// Blocks
//
// What one side computes in one call the other may compute in several, or both in other ones: a norm in its steps, a
// product and the sum with a bias. No table says which these are. They lie between tensors that both sides have: a block is what
// leads, on either side, from the same tensors to one that is nearly the same again. Its inside is not judged; what
// comes out is compared.

// blocks pairs what is left between tensors that both sides have.
func blocks(left, right *side) {
	b := &blocking{sides: [2]*side{left, right}, readers: make([]reader, 1), block: map[*call]*block{}}
	for i, s := range b.sides {
		b.lone[i] = alone(s.calls)
		b.lone[i] = slices.DeleteFunc(b.lone[i], func(c *call) bool { return c.Parsed.Form != msprobe.API || c.again })
	}
	if len(b.lone[0])+len(b.lone[1]) == 0 {
		return
	}
	most := 1
	for _, s := range b.sides {
		for _, c := range s.calls {
			for k := range c.leaves {
				if c.leaves[k].number = 0; c.leaves[k].cuts() {
					most++
				}
			}
		}
	}
	b.traced = make([]traced, 1, most)
	for i := range b.sides {
		b.follow(i)
	}
	loose := b.loosen()
	if len(b.lone[0]) == 0 || len(b.lone[1]) == 0 {
		return
	}
	for i := range b.sides {
		b.survey(i)
	}
	b.same()
	for _, b.roundoffs = range []float64{closest, close} {
		for range mostRounds / 2 {
			before := b.next
			for _, side := range []int{1, 0} {
				for _, t := range b.cuts[side] {
					if t.leaf.role == result.Output && b.of(t.leaf).class == 0 && (side == 0 || !b.find(t)) {
						b.sum(side, t)
					}
				}
			}
			if b.next == before {
				break
			}
		}
	}
	back := b.backward()
	b.findTaking()
	for side := range b.sides {
		for _, c := range b.lone[side] {
			b.absorb(side, c, back)
		}
	}
	b.pair()
	for _, p := range loose {
		if of := cmp.Or(left.find(forwardOf(p[0])), p[0]); of.fused == nil && p[0].fused == nil && p[1].fused == nil {
			p[0].pair, p[1].pair = p[1], p[0]
		}
	}
}

// loosen takes pairs of calls apart that give something else and of which one side has what the other gives one call later: that is
// what the partner is, as of a scale of queries and one of scores around their product, or of a sum of two terms and one of three. Both may
// end a block then. Their gradients, which are made in another order, are no pairs either.
func (b *blocking) loosen() (pairs [][2]*call) {
	b.roundoffs = closest
	apart := map[*call]bool{}
	loose := func(c *call) [2]*call {
		pair := [2]*call{c, c.pair}
		apart[c], c.pair.pair, c.pair = true, nil, nil
		b.lone[0], b.lone[1] = append(b.lone[0], pair[0]), append(b.lone[1], pair[1])
		return pair
	}
	for side := range b.sides {
		for _, behind := range b.lone[side] {
			for k := range behind.leaves {
				c := b.of(b.of(&behind.leaves[k]).from).maker
				if c == nil || c.pair == nil || c.parts != nil || c.pair.parts != nil || !b.gives(behind, c.pair) || b.gives(c, c.pair) {
					continue
				}
				if side == 1 {
					c = c.pair
				}
				pairs = append(pairs, loose(c))
			}
		}
	}
	for _, c := range b.sides[0].calls {
		if c.pair == nil || c.parts != nil || c.pair.parts != nil || c.Parsed.Direction != msprobe.Backward {
			continue
		}
		switch f, g := b.sides[0].find(forwardOf(c)), b.sides[1].find(forwardOf(c.pair)); {
		case f == nil || g == nil:
		case apart[f]:
			pairs = append(pairs, loose(c))
		case f.pair != g && (f.pair != nil || g.pair != nil) && f.fused == nil && g.fused == nil:
			loose(c) // for good: one of them is the gradient of another pair
		}
	}
	if len(apart) > 0 {
		for i := range b.lone {
			slices.SortFunc(b.lone[i], func(x, y *call) int { return cmp.Compare(x.at, y.at) })
		}
	}
	return pairs
}

// gives tells that the first tensor that a call gives is nearly that of another.
func (b *blocking) gives(x, y *call) bool {
	l, r := x.first(), y.first()
	return l != nil && r != nil && l.cuts() && r.cuts() && b.again(l, r)
}

// mostRounds bounds how often what is left is looked through: what one block ends with is what another begins with.
const mostRounds = 8

// blocking finds blocks. Both sides have an entry in every array.
type blocking struct {
	sides [2]*side
	// lone are calls without a partner, cuts their values that can tell where the sides agree again.
	lone [2][]*call
	cuts [2][]cut
	// traced is what is known of leaves, by their numbers; the first is of those of which nothing is. readers are
	// the calls that take them, in lists from 1 on.
	traced  []traced
	readers []reader
	// next is the class of what both sides have next.
	next int32
	// roundoffs is how far apart tensors may be that are the same again.
	roundoffs float64
	block     map[*call]*block
	list      []*block
	// taking are the blocks that a tensor goes into, nil for several.
	taking [2]map[identity]*block
}

// cut is a value of a call without a partner.
type cut struct {
	call     *call
	leaf     *leaf
	elements int64
	// from and to bound the places of the calls of the other side that may be this call's partner.
	from, to int32
}

// traced is what is known of a leaf.
type traced struct {
	// from is the output that an input is, maker the call that made an output.
	from  *leaf
	maker *call
	// class numbers outputs that both sides have.
	class int32
	// first and last are the readers of an output.
	first, last int32
}

// of is what is known of a leaf, nil among them.
func (b *blocking) of(l *leaf) *traced {
	if l == nil {
		return &b.traced[0]
	}
	return &b.traced[l.number]
}

// found is where what becomes known of a leaf is kept.
func (b *blocking) found(l *leaf) *traced {
	if l.number == 0 {
		l.number = int32(len(b.traced))
		b.traced = append(b.traced, traced{})
	}
	return &b.traced[l.number]
}

// reader is a call that takes an output as one of its values, and the next one that does.
type reader struct {
	*call
	at   int
	next int32
}

// reads are the calls that take an output, in their order.
func (b *blocking) reads(l *leaf) iter.Seq[reader] {
	return func(yield func(reader) bool) {
		for at := b.of(l).first; at != 0 && yield(b.readers[at]); at = b.readers[at].next {
		}
	}
}

// block is a pair of sets of calls, with the pairs of what goes in and what comes out.
type block struct {
	calls   [2][]*call
	in, out [][2]*leaf
}

// cuts tells of a tensor that it can tell where the sides agree again: numbers that are not all the same.
func (l *leaf) cuts() bool { return l.tensor() && l.sort() == 'f' && l.tells() && !nd.Single(l.Shape) }

// follow finds what feeds the calls of a side.
func (b *blocking) follow(i int) {
	made := make(map[identity]*leaf, len(b.sides[i].calls))
	for _, c := range b.sides[i].calls {
		if c.Parsed.Form != msprobe.API {
			continue
		}
		for k := range c.leaves {
			l := &c.leaves[k]
			if l.role != result.Input || !l.cuts() {
				continue
			}
			out := made[l.content()]
			if out == nil {
				out = made[l.alike()]
			}
			if out != nil {
				b.found(l).from = out
				n, v := int32(len(b.readers)), b.of(out)
				b.readers[v.last].next, v.last, v.first = n, n, cmp.Or(v.first, n)
				b.readers = append(b.readers, reader{c, k, 0})
			}
		}
		for k := range c.leaves {
			if l := &c.leaves[k]; l.role == result.Output && l.cuts() {
				made[l.content()], b.found(l).maker = l, c
				if a := l.alike(); a != 0 {
					made[a] = l
				}
			}
		}
	}
}

// same numbers the outputs of calls that have partners.
func (b *blocking) same() {
	for _, c := range b.sides[0].calls {
		if c.pair == nil && c.fused == nil {
			continue
		}
		whole, other := c, c.pair
		if c.fused != nil {
			whole, other = c.fused, c.fused.pair
		}
		for _, x := range pairsOf(whole, other) {
			if x.left == nil || x.right == nil || x.left.role != result.Output {
				continue
			}
			b.next++
			b.found(original(whole, x.left)).class = b.next
			b.found(original(other, x.right)).class = b.next
		}
	}
}

// original is the value that one of a call put together is a copy of.
func original(c *call, l *leaf) *leaf {
	for i := range c.taken {
		if &c.leaves[i] == l {
			return c.taken[i]
		}
	}
	return l
}

// mostInBlock bounds the calls of one side of a block.
const mostInBlock = 64

// closure are the calls without a partner that an output was made by since tensors that both sides have, and the
// first inputs of them that are such.
func (b *blocking) closure(side int, out *leaf) (calls []*call, in []*leaf) {
	seen, taken := map[*call]bool{}, map[*leaf]bool{}
	next := []*leaf{out}
	for len(next) > 0 && len(calls) < mostInBlock {
		c := b.of(next[0]).maker
		if next = next[1:]; seen[c] {
			continue
		}
		seen[c] = true
		calls = append(calls, c)
		for k := range c.leaves {
			l := &c.leaves[k]
			if l.role != result.Input || !l.cuts() {
				continue
			}
			from := b.of(l).from
			maker := b.of(from).maker
			if from != nil && b.of(from).class == 0 && maker.pair == nil && maker.fused == nil && maker.Parsed.Direction == c.Parsed.Direction {
				next = append(next, from)
				continue
			}
			if from == nil {
				from = l
			}
			if !taken[from] && !slices.ContainsFunc(in, func(x *leaf) bool { return x.content() == l.content() }) {
				taken[from] = true
				in = append(in, l)
			}
		}
	}
	slices.SortFunc(calls, func(a, b *call) int { return cmp.Compare(a.at, b.at) })
	return calls, in
}

// closest and close are how many roundoffs tensors may be apart that are the same again: as a rule, and where nothing else is.
const closest, close = 64, 1 << 14

// again tells of two tensors that they are the same but for what rounding may have made of them.
func (b *blocking) again(x, y *leaf) bool {
	if x.sort() != y.sort() {
		return false
	}
	const all = result.KnownMax | result.KnownMin | result.KnownNorm
	if !x.summary.Has(all) || !y.summary.Has(all) {
		return x.content() != 0 && x.content() == y.content() && sameCount(x, y)
	}
	limit := b.roundoffs * dtype.Float32.Unit()
	for _, l := range []*leaf{x, y} {
		if l.Known {
			limit = max(limit, min(b.roundoffs/16, 16)*l.Elem.Unit())
		}
	}
	v, w := &x.summary.Stats, &y.summary.Stats
	peak := max(math.Abs(w.Max), math.Abs(w.Min))
	return math.Abs(v.Max-w.Max) <= limit*peak && math.Abs(v.Min-w.Min) <= limit*peak && math.Abs(v.Norm-w.Norm) <= limit*w.Norm && sameCount(x, y)
}

// sameCount tells of two tensors that they are known to have as many elements.
func sameCount(x, y *leaf) bool {
	n, ok := x.Elements()
	m, too := y.Elements()
	return ok && too && n == m
}

// match brings what goes into two closures together; ok tells that each is the other's.
func (b *blocking) match(left, right []*leaf) (pairs [][2]*leaf, ok bool) {
	pairs, more := b.inCommon(left, right)
	return pairs, len(pairs) > 0 && len(more) == 0
}

// inCommon pairs what goes into two closures; more goes into one of them.
func (b *blocking) inCommon(left, right []*leaf) (pairs [][2]*leaf, more []*leaf) {
	free := slices.Clone(right)
	for _, l := range left {
		k := slices.IndexFunc(free, func(r *leaf) bool {
			x, y := b.of(b.of(l).from).class, b.of(b.of(r).from).class
			return x != 0 && x == y || (x == 0 || y == 0) && b.again(l, r)
		})
		if k < 0 {
			more = append(more, l)
			continue
		}
		pairs = append(pairs, [2]*leaf{l, free[k]})
		free = slices.Delete(free, k, k+1)
	}
	return pairs, append(more, free...)
}

// mostAway bounds how many calls are looked through where the sides have little in common.
const mostAway = 512

// survey lists the values that can tell where the sides agree again, of the calls of a side without a partner: that would stand
// between the partners of the calls around, or not far from there.
func (b *blocking) survey(side int) {
	calls := b.sides[side].calls
	behind := make([]int32, len(calls)) // where the partner of the next call that has one is, -1 if none has
	next := int32(-1)
	for i, c := range slices.Backward(calls) {
		behind[i] = next
		if c.pair != nil && c.pair.parts == nil {
			next = int32(c.pair.at)
		}
	}
	last, at, most := -1, 0, 0
	for _, c := range b.lone[side] {
		most += len(c.leaves)
	}
	b.cuts[side] = make([]cut, 0, most)
	for _, c := range b.lone[side] {
		for ; at < c.at; at++ {
			if p := calls[at].pair; p != nil && p.parts == nil {
				last = p.at
			}
		}
		from, to := c.at-mostAway, c.at+mostAway
		if last >= 0 {
			from = last - near
		}
		if behind[c.at] >= 0 {
			to = int(behind[c.at]) + near
		}
		for k := range c.leaves {
			if l := &c.leaves[k]; l.cuts() {
				n, _ := l.Elements()
				b.cuts[side] = append(b.cuts[side], cut{c, l, n, int32(from), int32(min(to, from+2*mostAway))})
			}
		}
	}
}

// others are the values of the other side that one may be again, or what leads to it.
func (b *blocking) others(side int, t cut) []cut {
	list := b.cuts[1-side]
	place := func(x cut, at int32) int { return cmp.Compare(int32(x.call.at), at) }
	first, _ := slices.BinarySearchFunc(list, t.from, place)
	last, _ := slices.BinarySearchFunc(list, t.to, place)
	return list[first:max(first, last)]
}

// find looks for the block that ends with an output of a call of the right side.
func (b *blocking) find(t cut) bool {
	var calls []*call
	var in []*leaf
	for _, x := range b.others(1, t) {
		l := x.leaf
		if x.elements != t.elements || l.role != result.Output || x.call.Parsed.Direction != t.call.Parsed.Direction || !b.again(l, t.leaf) || b.of(l).class != 0 {
			continue
		}
		if calls == nil {
			calls, in = b.closure(1, t.leaf)
		}
		others, into := b.closure(0, l)
		pairs, more := b.inCommon(into, in)
		// What one side takes besides is on both, as a term that is added and taken off again.
		if len(pairs) > 0 && !slices.ContainsFunc(more, func(l *leaf) bool { return b.of(b.of(l).from).class == 0 }) {
			b.next++
			b.found(l).class = b.next
			b.found(t.leaf).class = b.next
			b.add([2][]*call{others, calls}, pairs, [2]*leaf{l, t.leaf})
			return true
		}
	}
	return false
}

// add makes calls a block with what goes in and what comes out, or adds them to the one that they have a part of.
func (b *blocking) add(calls [2][]*call, in [][2]*leaf, out [2]*leaf) {
	var of *block
	for _, list := range calls {
		for _, c := range list {
			if x := b.block[c]; x != nil && slices.Contains(calls[0], x.last(0)) && slices.Contains(calls[1], x.last(1)) {
				of = x
			}
		}
	}
	if of == nil {
		of = &block{}
		b.list = append(b.list, of)
	}
	for i, list := range calls {
		for _, c := range list {
			if b.block[c] == nil {
				b.block[c] = of
				of.calls[i] = append(of.calls[i], c)
			}
		}
	}
	for _, p := range in {
		if !slices.ContainsFunc(of.in, func(x [2]*leaf) bool { return x[0].content() == p[0].content() }) {
			of.in = append(of.in, p)
		}
	}
	of.out = append(of.out, out)
}

// last is the last call of a side, nil if there is none.
func (x *block) last(side int) (last *call) {
	for _, c := range x.calls[side] {
		if last == nil || c.at > last.at {
			last = c
		}
	}
	return last
}

// sum looks for a block that ends, on one side, with an output, and on the other with a sum of outputs that no call
// makes: gradients that come by several ways. The sum is known by who takes it.
func (b *blocking) sum(side int, t cut) {
	if t.call.Parsed.Direction != msprobe.Backward {
		return
	}
	other, out := 1-side, t.leaf
	sum := b.untraced(side, t)
	if sum == nil {
		return
	}
	calls, in := b.closure(side, out)
	var parts []*call
	for _, x := range b.others(side, t) {
		l := x.leaf
		if x.call.Parsed.Direction != msprobe.Backward || b.block[x.call] != nil || l.role != result.Output || b.of(l).class != 0 || b.of(l).maker != x.call {
			continue
		}
		list, into := b.closure(other, l)
		if _, ok := b.match(b.order(side, in, into)); !ok {
			continue
		}
		for _, y := range list {
			if !slices.Contains(parts, y) {
				parts = append(parts, y)
			}
		}
	}
	if len(parts) < 2 {
		return
	}
	pairs, ok := b.match(b.order(side, in, b.into(other, parts)))
	if !ok {
		return
	}
	b.next++
	b.found(out).class = b.next
	v := b.found(sum)
	v.class, v.from = b.next, sum
	if side == 0 {
		b.add([2][]*call{calls, parts}, pairs, [2]*leaf{out, sum})
	} else {
		b.add([2][]*call{parts, calls}, pairs, [2]*leaf{sum, out})
	}
}

// order gives what belongs to a side and to the other as left and right.
func (b *blocking) order(side int, own, other []*leaf) (left, right []*leaf) {
	if side == 0 {
		return own, other
	}
	return other, own
}

// into are the first inputs of calls that others made.
func (b *blocking) into(side int, calls []*call) (in []*leaf) {
	for _, c := range calls {
		for k := range c.leaves {
			l := &c.leaves[k]
			if l.role == result.Input && l.cuts() && !slices.Contains(calls, b.of(b.of(l).from).maker) && !slices.ContainsFunc(in, func(x *leaf) bool { return x.content() == l.content() }) {
				in = append(in, l)
			}
		}
	}
	return in
}

// untraced is what no call made and a call of the other side takes that is nearly an output: of the partner of who takes it, or of
// one without a partner; nil if there is none.
func (b *blocking) untraced(side int, t cut) *leaf {
	out := t.leaf
	fits := func(l *leaf) bool {
		return l != nil && l.role == result.Input && l.cuts() && b.of(l).from == nil && b.again(l, out)
	}
	for r := range b.reads(out) {
		if r.pair != nil && r.pair.parts == nil {
			if l := r.pair.leaf(r.leaves[r.at].place, r.at); fits(l) {
				return l
			}
		}
	}
	for _, x := range b.others(side, t) {
		if x.call.Parsed.Direction == msprobe.Backward && fits(x.leaf) {
			return x.leaf
		}
	}
	return nil
}

// backward leads from the forward calls of blocks to the blocks of their gradients.
func (b *blocking) backward() map[*block]*block {
	back := map[*block]*block{}
	for _, x := range b.list {
		for side, list := range x.calls {
			for _, c := range list {
				if f := b.block[b.sides[side].find(forwardOf(c))]; f != nil {
					back[f] = x
				}
			}
		}
	}
	return back
}

// absorb adds to a block what comes of it or of what goes into it on one side alone, as the gradient of a weight by a call of its own:
// where others take it, the other side must take what no call there is known to have made.
func (b *blocking) absorb(side int, c *call, back map[*block]*block) {
	if b.block[c] != nil {
		return
	}
	of := back[b.block[b.sides[side].find(forwardOf(c))]]
	known := of != nil
	for k := range c.leaves {
		l := &c.leaves[k]
		if nan, inf := l.summary.NotFinite(); l.role == result.Output && (nan || inf) {
			return
		}
		if known || l.role != result.Input || !l.cuts() {
			continue
		}
		from := b.of(l).from
		x := b.block[b.of(from).maker]
		if x == nil {
			x = b.taking[side][l.content()]
		}
		if x == nil || of != nil && of != x {
			return
		}
		of = x
	}
	if of == nil {
		return
	}
	var out [][2]*leaf
	for k := range c.leaves {
		l := &c.leaves[k]
		for r := range b.reads(l) {
			if r.pair == nil {
				continue
			}
			if r.pair.parts != nil {
				return
			}
			o := r.pair.leaf(r.leaves[r.at].place, r.at)
			if o == nil || b.of(o).from != nil || !b.again(o, l) {
				return
			}
			if side == 0 {
				out = append(out, [2]*leaf{l, o})
			} else {
				out = append(out, [2]*leaf{o, l})
			}
		}
	}
	b.block[c] = of
	of.calls[side] = append(of.calls[side], c)
	of.out = append(of.out, out...)
}

// findTaking finds the blocks that alone take an input.
func (b *blocking) findTaking() {
	for side := range b.sides {
		b.taking[side] = map[identity]*block{}
		for _, x := range b.list {
			for _, p := range x.in {
				key := p[side].content()
				if y, ok := b.taking[side][key]; ok && y != x {
					b.taking[side][key] = nil
				} else {
					b.taking[side][key] = x
				}
			}
		}
	}
}

// pair makes every block a pair of calls that are put together.
func (b *blocking) pair() {
	for _, x := range b.list {
		if len(x.calls[0]) == 0 || len(x.calls[1]) == 0 { // what it is made of belongs to others
			continue
		}
		var wholes [2]*call
		for i, list := range x.calls {
			slices.SortFunc(list, func(a, b *call) int { return cmp.Compare(a.at, b.at) })
			last := list[len(list)-1]
			wholes[i] = &call{Name: last.Name, Parsed: last.Parsed, at: last.at, parts: list, block: true}
		}
		for role, pairs := range [][][2]*leaf{x.in, x.out} {
			for n, p := range pairs {
				like := *p[1]
				f := *like.form
				f.role = []result.Role{result.Input, result.Output}[role]
				f.place, f.Section = []string{"input.", "output."}[role]+strconv.Itoa(n), []msprobe.Section{msprobe.Input, msprobe.Output}[role]
				like.form = &f
				elements := b.compared(p, role == 1)
				for i, whole := range wholes {
					if whole.take(p[i], &like); !elements {
						whole.leaves[len(whole.leaves)-1].DataName = ""
					}
					if role == 1 && p[i].role == result.Input { // it stays the input of who takes it
						copied := *p[i]
						copied.number = 0
						whole.taken[len(whole.taken)-1] = &copied
					}
				}
			}
		}
		for i, list := range x.calls {
			for _, c := range list {
				c.fused = wholes[i]
			}
		}
		join(wholes[0], wholes[1])
		wholes[0].how, wholes[1].how = byMap, byMap
	}
}

// compared tells of what goes into blocks or comes out that its elements are to be compared: between blocks they may
// be in another order.
func (b *blocking) compared(p [2]*leaf, out bool) bool {
	if !out {
		x, y := b.of(p[0]).from, b.of(p[1]).from
		if x == nil || y == nil {
			return x == y
		}
		return b.of(x).maker != nil && b.of(y).maker != nil && b.of(x).maker.pair == b.of(y).maker
	}
	if p[0].role == result.Input || p[1].role == result.Input {
		return sameShape(p[0].Shape, p[1].Shape)
	}
	for r := range b.reads(p[0]) {
		if r.pair == nil || r.pair.parts != nil {
			continue
		}
		if l := r.pair.leaf(r.leaves[r.at].place, r.at); l != nil && b.of(l).from == p[1] {
			return true
		}
	}
	return false
}

// steps is how many calls a block has on the side that has more.
func (u *unit) steps() (n int) {
	for _, c := range []*call{u.left, u.right} {
		if c != nil && c.block {
			n = max(n, len(c.parts))
		}
	}
	return n
}

// mostLost bounds how many times larger than a result the numbers are taken to be that were added up to it.
const mostLost = 1 << 10

// lost is how many times larger than a result the numbers were, in the worst of the calls of a block, that were added up to it.
func (u *unit) lost() float64 {
	most := 1.0
	for _, c := range []*call{u.left, u.right} {
		if c == nil || !c.block {
			continue
		}
		for _, x := range c.parts {
			most = max(most, x.cancels())
		}
	}
	return min(most, mostLost)
}

// cancels is how many times larger than the result of a call, by their norms, the numbers are that it adds up; at least 1.
func (c *call) cancels() float64 {
	out := c.first()
	if out == nil || !out.summary.Has(result.KnownNorm) || !(math.Abs(out.summary.Stats.Norm) > 0) {
		return 1 // of a single number the recorder writes the number itself, with its sign
	}
	n, _ := out.Elements()
	sum := 0.0
	for i := range c.leaves {
		l := &c.leaves[i]
		m, _ := l.Elements()
		if l.role != result.Input || !l.tensor() || l.sort() != 'f' || !l.summary.Has(result.KnownNorm) || !(l.summary.Stats.Norm <= math.MaxFloat64) || m == 0 {
			continue
		}
		norm := math.Abs(l.summary.Stats.Norm)
		switch s := catalogue.Of(typeOf(c)).Summands; {
		case c.Parsed.Direction == msprobe.Backward:
			if m > n {
				sum = max(sum, norm)
			}
		case s == "terms":
			sum += norm * math.Sqrt(max(1, float64(n)/float64(m)))
		case s == "total", s == "argument":
			sum = max(sum, norm)
		case s == "mean":
			sum = max(sum, norm*float64(n)/float64(m))
		}
	}
	return max(1, sum/math.Abs(out.summary.Stats.Norm))
}
