package recording

import (
	"math"
	"slices"

	"precision/compare/result"
	"precision/dump/msprobe"
	"precision/internal/each"
)

// align pairs the calls of two recordings. It tells whether these differ too much for pairs
// that are sure to be the most there can be.
func align(left, right *side, m *mapper, maps []result.Map) (apart bool) {
	if m != nil {
		m.align(left, right)
	}
	if kernels, calls, ok := kernelwise(left, right); ok {
		byKernels(kernels, calls)
		return false
	}
	if ms, pt, ok := across(left, right); ok {
		migrated(ms, pt)
		byMaps(left, right, maps)
		replaced(left, right, func(a, b *call) {
			if ms == left {
				standFor([]*call{a}, b)
			} else {
				standFor([]*call{b}, a)
			}
		})
		return false
	}
	if left.unordered != right.unordered {
		byNames(left.calls, right.calls, func(a, b *call) bool { return true })
	}
	tell(left, right)
	defer left.forget()
	defer right.forget()
	apart = byToken(alone(left.calls), alone(right.calls))
	byMaps(left, right, maps)
	byContent(left.calls, right.calls)
	off := shifted(left.calls)
	byNames(left.calls, right.calls, func(a, b *call) bool { return !off[a] && fits(a, b) })
	// Kernels are named by their place in the program, whatever the shapes.
	byNames(left.calls, right.calls, func(a, b *call) bool {
		return a.kernel() && !off[a] && typeOf(a) == typeOf(b) && sameSize(a, b)
	})
	changePlaces(left.calls)
	byGradients(left, right)
	strangers(left, right)
	followForward(left, right)
	replaced(left, right, join)
	blocks(left, right)
	tuples(left)
	operands(left)
	return apart
}

// join makes a pair.
func join(a, b *call) {
	a.pair, b.pair = b, a
	a.how = byOrder
	if a.Name == b.Name {
		a.how = byName
	}
	b.how = a.how
}

// mostApart is the share of calls that may differ, one in so many, for an answer that is
// exact; leastEdits is how many may in any case. Beyond that calls are paired between those
// that occur once on both sides.
const mostApart, leastEdits = 10, 256

// byToken pairs what both sides do in the same order: the longest common subsequence of
// tokens, and of several such the one whose pairs look most alike. Calls that are told from all
// others are pairs of each other or of none. It tells whether the sides differ too much for one
// that is sure to be the longest.
func byToken(a, b []*call) (apart bool) {
	same := func(x, y *call) bool { return x.token == y.token && x.content == y.content }
	for len(a) > 0 && len(b) > 0 && same(a[0], b[0]) {
		join(a[0], b[0])
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && same(a[len(a)-1], b[len(b)-1]) {
		join(a[len(a)-1], b[len(b)-1])
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	a, b, x, y := shared(a, b)
	if len(a) == 0 {
		return false
	}
	certain := inOrder(a, x, y, anchors(a, b, (*leaf).content))
	for i, p := range certain {
		x[p[0]], y[p[1]] = int32(-1-i), int32(-1-i)
	}
	best := newSubsequence(x, y)
	best.strict = true
	best.find(0, len(x), 0, len(y))
	if apart = !best.exact; apart {
		best = newSubsequence(x, y)
		best.between(certain)
	}
	if n := best.count(); n < max(len(a), len(b)) && 2*len(certain) < n {
		// What is computed otherwise is still known by its size.
		near := newSubsequence(x, y)
		near.between(anchors(a, b, (*leaf).size))
		if worth(a, b, near) > worth(a, b, best) {
			best = near
		}
	}
	best.settle(func(i, j int) float64 { return likeness(a[i], b[j]) })
	for i, k := range best.pair {
		if k >= 0 {
			join(a[i], b[k])
		}
	}
	return apart
}

// inOrder leaves out of pairs that are certain by what goes in those that cross others, where both sides make the same calls in the same order
// between what does not cross and no weight goes into those that do: a pass over the next token whose positions are one too large gets what the
// pass after it gets. x and y number the tokens.
func inOrder(a []*call, x, y []int32, certain [][2]int32) [][2]int32 {
	chain := ascending(certain)
	if len(chain) == len(certain) {
		return certain
	}
	// Of either side, the places of calls that cross with a weight.
	var heavy [2][]int
	for _, p := range certain {
		if _, straight := slices.BinarySearchFunc(chain, p, func(q, p [2]int32) int { return int(q[0] - p[0]) }); !straight && weighted(a[p[0]]) {
			heavy[0], heavy[1] = append(heavy[0], int(p[0])), append(heavy[1], int(p[1]))
		}
	}
	slices.Sort(heavy[1])
	level := [2][]bool{make([]bool, len(x)), make([]bool, len(y))}
	i, j := 0, 0
	for _, p := range append(chain, [2]int32{int32(len(x)), int32(len(y))}) {
		none := func(places []int, from, to int) bool {
			k, _ := slices.BinarySearch(places, from)
			return k == len(places) || places[k] >= to
		}
		if l := x[i:p[0]]; slices.Equal(l, y[j:p[1]]) && none(heavy[0], i, int(p[0])) && none(heavy[1], j, int(p[1])) {
			for k := range l {
				level[0][i+k], level[1][j+k] = true, true
			}
		}
		i, j = int(p[0])+1, int(p[1])+1
	}
	return slices.DeleteFunc(certain, func(p [2]int32) bool { return level[0][p[0]] && level[1][p[1]] })
}

// weighted tells of a call that a parameter goes into it.
func weighted(c *call) bool {
	return slices.ContainsFunc(c.leaves, func(l leaf) bool { return parameter(c, &l) })
}

// likeness is how much two calls that do the same look like a pair, more than by that:
// they get the same, or nearly, or have the same name. It is less than 1.
func likeness(a, b *call) float64 {
	w := 0.5
	if a.content != b.content {
		w = 0.4 * (1 - min(1, strange(a, b, math.Nextafter(1, 0))))
		if a.Name == b.Name {
			w += 0.01
		}
	}
	return w
}

// worth of pairs is their number and how much they look like pairs.
func worth(a, b []*call, c *subsequence) (sum float64) {
	for i, k := range c.pair {
		if k >= 0 {
			sum += 1 + likeness(a[i], b[k])
		}
	}
	return sum
}

// shared leaves out the calls whose token the other side does not have. x and y number the
// tokens of those that are left.
func shared(a, b []*call) (left, right []*call, x, y []int32) {
	type uses struct {
		number int32
		by     [2]bool
	}
	all := map[identity]*uses{}
	for side, list := range [][]*call{a, b} {
		for _, c := range list {
			u := all[c.token]
			if u == nil {
				u = &uses{number: int32(len(all))}
				all[c.token] = u
			}
			u.by[side] = true
		}
	}
	both := func(list []*call) (keep []*call, numbers []int32) {
		for _, c := range list {
			if u := all[c.token]; u.by[0] && u.by[1] {
				keep, numbers = append(keep, c), append(numbers, u.number)
			}
		}
		return keep, numbers
	}
	left, x = both(a)
	right, y = both(b)
	return left, right, x, y
}

// anchors are calls that can be told from all others that do the same on both sides, by a
// tensor that goes in: weights above all, which stay where everything else is off. key is
// what tells tensors apart, 0 where it does not. A call that two others are like is none, and
// neither are these.
func anchors(a, b []*call, key func(*leaf) identity) (pairs [][2]int32) {
	const several = -1
	number := make(map[identity]int32, len(a))
	places := make([][2]int32, 0, len(a)) // of each mark on both sides, from 1 on
	var marks [][2]int32                  // of a: its calls from 1 on and their marks
	for side, list := range [][]*call{a, b} {
		for i, c := range list {
			c.marks(key, func(mark identity) {
				k, ok := number[mark]
				if side == 0 {
					if !ok {
						k = int32(len(places))
						number[mark], places = k, append(places, [2]int32{})
					}
					marks = append(marks, [2]int32{int32(i + 1), k})
				} else if !ok {
					return
				}
				if at := &places[k][side]; *at == 0 {
					*at = int32(i + 1)
				} else if *at != int32(i+1) {
					*at = several
				}
			})
		}
	}
	partner, doubt := make([]int32, len(a)), make([]bool, len(b))
	from := make([]int32, len(b))
	for _, m := range marks {
		i, at := m[0]-1, places[m[1]]
		if at[0] != m[0] || at[1] <= 0 {
			continue
		}
		j := at[1] - 1
		if partner[i] != 0 && partner[i] != at[1] {
			doubt[partner[i]-1], doubt[j] = true, true
		}
		if from[j] != 0 && from[j] != m[0] {
			doubt[j] = true
		}
		partner[i], from[j] = at[1], m[0]
	}
	for i, k := range partner {
		if k > 0 && !doubt[k-1] {
			pairs = append(pairs, [2]int32{int32(i), k - 1})
		}
	}
	return pairs
}

// marks are what may tell a call from others that do the same.
func (c *call) marks(key func(*leaf) identity, mark func(identity)) {
	for i := range c.gists {
		g := &c.gists[i]
		if g.blank {
			continue
		}
		if k := key(&c.leaves[g.at]); k != 0 {
			var h hash
			h.number(uint64(c.token))
			h.number(uint64(g.place))
			h.number(uint64(k))
			mark(h.identity())
		}
	}
}

// byNames pairs what is left by name, where agree allows it.
func byNames(a, b []*call, agree func(a, b *call) bool) {
	byName := map[string]*call{}
	for _, c := range b {
		if c.pair == nil && c.fused == nil {
			byName[c.Name] = c
		}
	}
	for _, c := range a {
		if other := byName[c.Name]; c.pair == nil && c.fused == nil && other != nil && other.pair == nil && c.again == other.again && agree(c, other) {
			join(c, other)
		}
	}
}

// shifted are the calls around which numbers count otherwise than on the other side: one of
// the function before or behind has a partner of another name.
func shifted(calls []*call) map[*call]bool {
	found := map[*call]bool{}
	for _, forwards := range []bool{true, false} {
		last := map[string]bool{}
		for i, c := range calls {
			if !forwards {
				c = calls[len(calls)-1-i]
			}
			switch key := c.Parsed.Prefix + "." + c.Parsed.API; {
			case c.pair != nil:
				last[key] = c.how == byOrder
			case last[key]:
				found[c] = true
			}
		}
	}
	return found
}

// fits tells whether the tensors that go into two calls have the same shapes; of calls
// that nothing goes into, or of which that is not known, what comes out.
func fits(a, b *call) bool {
	for _, role := range []result.Role{result.Input, result.Output} {
		some := false
		for i := range a.leaves {
			l := &a.leaves[i]
			if l.role != role || !l.tensor() {
				continue
			}
			if o := b.leaf(l.place, i); o != nil && o.tensor() {
				if !sameShape(l.Shape, o.Shape) {
					return false
				}
				some = true
			}
		}
		if some {
			return true
		}
	}
	return true
}

// byContent pairs what is left, does the same and gets the same tensor, which no other call
// does: those that were made in another order.
func byContent(a, b []*call) {
	a, b = alone(a), alone(b)
	for _, p := range anchors(a, b, (*leaf).content) {
		join(a[p[0]], b[p[1]])
	}
}

// near is how many calls of the same token on are looked at for one that took
// this one's place.
const near = 64

// mostStrange is how far apart the arguments of two calls may be, together, to agree.
const mostStrange = 0.2

// changePlaces finds calls of one function that were made in another order: pairs
// whose arguments differ and agree crosswise.
func changePlaces(a []*call) {
	groups := map[identity][]*call{}
	var order []identity
	for _, c := range a {
		if c.pair == nil || c.how == byMap || c.content == c.pair.content || c.Parsed.Form != msprobe.API {
			continue
		}
		if len(groups[c.token]) == 0 {
			order = append(order, c.token)
		}
		groups[c.token] = append(groups[c.token], c)
	}
	for _, token := range order {
		list := groups[token]
		own := each.Of(list, func(x *call) float64 { return strange(x, x.pair, math.Inf(1)) })
		for i, x := range list {
			best, at := 0.25, -1
			for k := i + 1; k < min(len(list), i+near); k++ {
				y := list[k]
				most := min(best*(own[i]+own[k]), mostStrange, own[i]) // beyond it they do not agree better
				s := strange(x, y.pair, most)
				if s > most {
					continue
				}
				t := strange(y, x.pair, own[k])
				if share := (s + t) / (own[i] + own[k]); share < best && t <= own[k] && s+t < mostStrange {
					best, at = share, k
				}
			}
			if at >= 0 {
				y := list[at]
				p, q := x.pair, y.pair
				join(x, q)
				join(y, p)
				own[at] = strange(y, p, math.Inf(1))
			}
		}
	}
}

// strangers takes apart pairs that stand for themselves between calls that either side alone makes, count (positions, flags of a mask)
// and get or give something else. Two versions of a library make a mask in other ways: a step of one that happens to be called as a step of
// the other is not it, and what the mask does shows where it is taken.
func strangers(left, right *side) {
	lone := func(s *side, c *call) bool {
		for _, at := range []int{c.at - 1, c.at + 1} {
			if at < 0 || at >= len(s.calls) || !s.calls[at].alone() {
				return false
			}
		}
		return true
	}
	for _, c := range left.calls {
		o := c.pair
		if o == nil || c.Parsed.Form != msprobe.API || c.parts != nil || o.parts != nil || c.how == byMap || c.content == o.content || !lone(left, c) || !lone(right, o) {
			continue
		}
		counts := func(l *leaf) bool { return l != nil && (l.sort() == 'i' || l.sort() == 'b') }
		if a, b := c.first(), o.first(); counts(a) && counts(b) && a.sameness() != b.sameness() {
			c.pair, o.pair, c.how, o.how = nil, nil, 0, 0
		}
	}
}

// followForward pairs backward calls as their forward calls are.
func followForward(left, right *side) {
	var list [][2]*call
	for _, c := range left.calls {
		if c.how == byMap || c.fused != nil {
			continue
		}
		f := left.find(forwardOf(c))
		if f == nil || f.pair == nil || f.how == byMap {
			continue
		}
		if want := right.find(backwardOf(f.pair)); want != nil && want != c.pair {
			list = append(list, [2]*call{c, want})
		}
	}
	for _, p := range list {
		for _, c := range p {
			if c.pair != nil {
				c.pair.pair, c.pair.how = nil, 0
				c.pair = nil
			}
		}
	}
	for _, p := range list {
		if p[0].pair == nil && p[1].pair == nil {
			join(p[0], p[1])
		}
	}
	if len(list) > 0 {
		byToken(alone(left.calls), alone(right.calls))
	}
}

// alone lists the calls without a partner.
func alone(list []*call) (left []*call) {
	for _, c := range list {
		if c.pair == nil && c.fused == nil {
			left = append(left, c)
		}
	}
	return left
}
