package recording

import (
	"cmp"
	"slices"
	"strings"

	"precision/dump/msprobe"
	"precision/internal/each"
	"precision/internal/order"
)

// link is a line of a mapping of tensors: a value of a left call and one of b.
type link struct {
	b    *call
	i, k int // their leaves
	line int
}

// tensors pairs the calls whose values a mapping of tensors names. One call may stand for
// several of the other side, as a fused kernel does.
func (m *mapper) tensors(left, right *side) {
	links := map[*call][]link{}    // by the left call
	fans := map[*call][]*call{}    // the left calls of one of the right
	targets := map[*call][]*call{} // the right calls of one of the left
	l, r := left.names(), right.names()
	for _, p := range m.Data {
		a, i := value(l, p.Left)
		b, k := value(r, p.Right)
		if a == nil || b == nil || a.leaves[i].role != b.leaves[k].role {
			continue
		}
		links[a] = append(links[a], link{b, i, k, p.Line})
		if !slices.Contains(fans[b], a) {
			fans[b] = append(fans[b], a)
			targets[a] = append(targets[a], b)
		}
	}
	inOrder := func(x, y *call) int { return cmp.Compare(x.at, y.at) }
	for _, a := range left.calls {
		list := links[a]
		if len(list) == 0 || a.pair != nil || a.fused != nil {
			continue
		}
		to := targets[a]
		order.Stable(to, inOrder)
		alone := !slices.ContainsFunc(to, func(b *call) bool { return len(fans[b]) > 1 })
		from := fans[to[0]]
		order.Stable(from, inOrder)
		switch {
		case len(to) > 1 && alone:
			whole := gather(to)
			for _, x := range list {
				whole.copyOf(&x.b.leaves[x.k], a.leaves[x.i].place)
				m.used[x.line] = true
			}
			joinMapped(a, whole)
		case len(to) == 1 && len(from) > 1 && !slices.ContainsFunc(from, func(x *call) bool { return len(targets[x]) > 1 }):
			whole := gather(from)
			for _, c := range from {
				for _, x := range links[c] {
					whole.copyOf(&c.leaves[x.i], x.b.leaves[x.k].place)
					m.used[x.line] = true
				}
			}
			joinMapped(whole, to[0])
		default:
			// Of several that others share the one with most values.
			var best *call
			most := 0
			for _, b := range to {
				n := 0
				for _, x := range list {
					if x.b == b {
						n++
					}
				}
				if n > most && b.pair == nil && b.fused == nil {
					best, most = b, n
				}
			}
			if best == nil {
				continue
			}
			list = slices.DeleteFunc(list, func(x link) bool { return x.b != best })
			best.putAt(a, list)
			joinMapped(a, best)
			for _, x := range list {
				m.used[x.line] = true
			}
		}
	}
}

// names leads from the names of calls to them.
func (s *side) names() map[string]*call {
	m := make(map[string]*call, len(s.calls))
	for _, c := range s.calls {
		m[c.Name] = c
	}
	return m
}

// value finds a value by its full name; nil if there is none. An argument with a keyword
// is kwargs in the names of files and input in those of statistics.
func value(calls map[string]*call, name string) (*call, int) {
	for cut := len(name); cut > 0; cut = strings.LastIndexByte(name[:cut], '.') {
		c := calls[name[:cut]]
		if c == nil {
			continue
		}
		rest := strings.TrimPrefix(name[cut:], ".")
		places := []string{rest, msprobe.Gradients.String() + "." + rest, strings.TrimSuffix(msprobe.Saved.String()+"."+rest, ".")}
		if path, ok := strings.CutPrefix(rest, msprobe.Input.String()+"."); ok {
			places = append(places, msprobe.Kwargs.String()+"."+path)
		}
		for _, place := range places {
			if i := slices.IndexFunc(c.leaves, func(l leaf) bool { return l.place == place }); i >= 0 {
				return c, i
			}
		}
	}
	return nil, 0
}

// gather makes calls parts of one.
func gather(list []*call) *call {
	last := list[len(list)-1]
	names := each.Of(list, func(c *call) string { return c.Name })
	whole := &call{Name: strings.Join(names, ", "), Parsed: last.Parsed, at: last.at, parts: list}
	for _, c := range list {
		c.fused = whole
	}
	return whole
}

// copyOf makes a value of a part one of the whole.
func (c *call) copyOf(l *leaf, place string) {
	c.leaves = append(c.leaves, *l)
	c.place(len(c.leaves)-1, place)
	c.taken = append(c.taken, l)
}

// putAt moves the values of a call to where they are in its partner. What stands there
// and was not named has no partner.
func (c *call) putAt(partner *call, list []link) {
	taken, named, n := map[string]bool{}, map[int]bool{}, len(c.leaves)
	for _, x := range list {
		taken[partner.leaves[x.i].place] = true
	}
	for _, x := range list {
		to := partner.leaves[x.i].place
		if named[x.k] { // the same value for two of the partner
			c.leaves = append(c.leaves, c.leaves[x.k])
			c.place(len(c.leaves)-1, to)
			continue
		}
		named[x.k] = true
		c.place(x.k, to)
	}
	for i := range n {
		if l := &c.leaves[i]; !named[i] && taken[l.place] {
			c.place(i, l.place+noPartner)
		}
	}
}
