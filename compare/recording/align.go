package recording

import (
	"math"
	"slices"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// align pairs the calls of two recordings.
func align(left, right *side, m *mapper, maps []result.Map) {
	if m != nil {
		m.align(left, right)
	}
	if left.unordered != right.unordered {
		byNames(left.calls, right.calls)
	}
	byToken(alone(left.calls), alone(right.calls))
	byMaps(left, right, maps)
	byNames(left.calls, right.calls)
	byContent(left.calls, right.calls)
	changePlaces(left.calls)
	followForward(left.calls, right.calls)
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

// byToken pairs what both sides do in the same order: the longest common
// subsequence of tokens.
func byToken(a, b []*call) {
	for len(a) > 0 && len(b) > 0 && a[0].token == b[0].token {
		join(a[0], b[0])
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1].token == b[len(b)-1].token {
		join(a[len(a)-1], b[len(b)-1])
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	number := map[identity]int{}
	tokens := func(list []*call) []int {
		out := make([]int, len(list))
		for i, c := range list {
			n, ok := number[c.token]
			if !ok {
				n = len(number)
				number[c.token] = n
			}
			out[i] = n
		}
		return out
	}
	x, y := tokens(a), tokens(b)
	same := func(i, j int) float64 {
		if x[i] != y[j] {
			return 0
		}
		// Equal content, and then equal names, decide between equals.
		switch {
		case a[i].content == b[j].content:
			return 1.5
		case a[i].Name == b[j].Name:
			return 1.01
		}
		return 1
	}
	for _, p := range longest(len(a), len(b), same) {
		join(a[p[0]], b[p[1]])
	}
}

// mostCells bounds the table that longest fills: 16 MB.
const mostCells = 16 << 20

// longest is the common subsequence of the greatest weight, as pairs of places.
// Sequences too long for a table are cut into parts of the same share.
func longest(n, m int, weight func(i, j int) float64) [][2]int {
	if n == 0 || m == 0 {
		return nil
	}
	if (n+1)*(m+1) > mostCells {
		list := longest(n/2, m/2, weight)
		for _, p := range longest(n-n/2, m-m/2, func(i, j int) float64 { return weight(i+n/2, j+m/2) }) {
			list = append(list, [2]int{p[0] + n/2, p[1] + m/2})
		}
		return list
	}
	const up, left, both = 1, 2, 3
	step := make([]byte, (n+1)*(m+1))
	last, next := make([]float64, m+1), make([]float64, m+1)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best, how := last[j], byte(up)
			if next[j+1] > best {
				best, how = next[j+1], left
			}
			if w := weight(i, j); w > 0 && last[j+1]+w >= best {
				best, how = last[j+1]+w, both
			}
			next[j], step[i*(m+1)+j] = best, how
		}
		last, next = next, last
		next[m] = 0
	}
	var list [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch step[i*(m+1)+j] {
		case both:
			list = append(list, [2]int{i, j})
			i, j = i+1, j+1
		case up:
			i++
		default:
			j++
		}
	}
	return list
}

// byNames pairs what is left by name.
func byNames(a, b []*call) {
	byName := map[string]*call{}
	for _, c := range b {
		if c.pair == nil && c.fused == nil {
			byName[c.Name] = c
		}
	}
	for _, c := range a {
		if other := byName[c.Name]; c.pair == nil && c.fused == nil && other != nil && other.pair == nil {
			join(c, other)
		}
	}
}

// byContent pairs what is left and has the same arguments.
func byContent(a, b []*call) {
	type does struct{ token, content identity }
	open := map[does][]*call{}
	for _, c := range b {
		if c.pair == nil && c.fused == nil {
			key := does{c.token, c.content}
			open[key] = append(open[key], c)
		}
	}
	for _, c := range a {
		key := does{c.token, c.content}
		if list := open[key]; c.pair == nil && c.fused == nil && len(list) > 0 {
			join(c, list[0])
			open[key] = list[1:]
		}
	}
}

// strange is how far the tensors that go into two calls are apart by their
// statistics, up to 1 each.
func strange(a, b *call) (sum float64) {
	for i := range a.leaves {
		l := &a.leaves[i]
		if l.role != result.Input || !l.tensor() || l.content() == 0 {
			continue
		}
		if o := b.leaf(l.place, i); o == nil {
			sum++
		} else if l.sameness() != o.sameness() {
			sum += apart(l, o)
		}
	}
	return sum
}

// apart is the largest relative difference of two tensors' statistics, 1 at most, and
// for unequal tensors never 0. Means are held against the root mean square.
func apart(a, b *leaf) float64 {
	d, told := 1e-9, false
	n, _ := a.Elements()
	for i := range atSum {
		v, ok := a.stat(i).Value()
		w, too := b.stat(i).Value()
		if !ok || !too {
			continue
		}
		told = true
		if v == w || math.IsNaN(v) && math.IsNaN(w) {
			continue
		}
		size := math.Max(math.Abs(v), math.Abs(w))
		if norm, ok := b.stat(atNorm).Value(); i == atMean && ok && n > 0 {
			size = math.Max(size, norm/math.Sqrt(float64(n)))
		}
		if e := math.Abs(v-w) / size; e > d {
			d = e
		} else if math.IsNaN(e) {
			d = 1
		}
	}
	if !told {
		return 1 // only the checksum tells
	}
	return math.Min(1, d)
}

// near is how many calls of the same token on are looked at for one that took
// this one's place.
const near = 64

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
		for i, x := range list {
			mine := strange(x, x.pair)
			best, at := 0.25, -1
			for k := i + 1; k < min(len(list), i+near); k++ {
				y := list[k]
				theirs := strange(y, y.pair)
				s, t := strange(x, y.pair), strange(y, x.pair)
				if share := (s + t) / (mine + theirs); share < best && s <= mine && t <= theirs {
					best, at = share, k
				}
			}
			if at >= 0 {
				y := list[at]
				p, q := x.pair, y.pair
				join(x, q)
				join(y, p)
			}
		}
	}
}

// followForward pairs backward calls as their forward calls are.
func followForward(a, b []*call) {
	index := func(list []*call) map[string]*call {
		m := make(map[string]*call, len(list))
		for _, c := range list {
			m[c.Name] = c
		}
		return m
	}
	left, right := index(a), index(b)
	forward := func(c *call) string {
		n := c.Parsed
		n.Direction = msprobe.Forward
		return n.String()
	}
	backward := func(c *call) string {
		n := c.Parsed
		n.Direction = msprobe.Backward
		return n.String()
	}
	type change struct{ x, y *call }
	var list []change
	for _, c := range a {
		if c.Parsed.Direction != msprobe.Backward || c.how == byMap || c.fused != nil {
			continue
		}
		f := left[forward(c)]
		if f == nil || f.pair == nil || f.how == byMap {
			continue
		}
		if want := right[backward(f.pair)]; want != nil && want != c.pair {
			list = append(list, change{c, want})
		}
	}
	for _, p := range list {
		for _, c := range []*call{p.x, p.y} {
			if c.pair != nil {
				c.pair.pair, c.pair.how = nil, 0
				c.pair = nil
			}
		}
	}
	for _, p := range list {
		if !slices.Contains([]bool{p.x.pair == nil, p.y.pair == nil}, false) {
			join(p.x, p.y)
		}
	}
	byToken(alone(a), alone(b))
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
