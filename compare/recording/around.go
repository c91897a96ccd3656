package recording

import (
	"strings"

	"precision/dump/msprobe"
)

// Calls that do the same with the same can be told apart by where they are made: in which module,
// and which gradients come back to them. It does not matter which of them is whose partner until
// that.

// places notes the module around every call: its path and how often it was called before.
func (s *side) places() {
	known := map[string]identity{"": 0}
	for _, c := range s.calls {
		name := s.parent[c.Name]
		at, ok := known[name]
		if !ok {
			if n := msprobe.ParseName(name); n.Form == msprobe.Module {
				var h hash
				h.text(n.API)
				h.number(uint64(n.Number))
				at = h.identity()
			}
			known[name] = at
		}
		c.around = at
	}
}

// scope is the path of the module that a call was made in; of a module's own call, its path. What gradients are
// computed by stands apart, in backward.
func (s *side) scope(c *call) string {
	n := c.Parsed
	if n.Form != msprobe.Module {
		n = msprobe.ParseName(s.parent[c.Name])
	}
	path := ""
	if n.Form == msprobe.Module {
		path = n.API
	}
	if c.Parsed.Direction == msprobe.Backward {
		path = strings.TrimSuffix("backward."+path, ".")
	}
	return path
}

// sameModule tells two calls that are known to be made in modules of one path.
func sameModule(a, b *call) bool { return a.around != 0 && a.around == b.around }

// byModules exchanges the partners of calls that do the same with the same, so that those made in
// the same module are together, and of these such as get the same gradients.
func byModules(left, right *side) {
	type group struct{ token, content identity }
	groups := map[group][]*call{}
	var order []group
	for _, c := range left.calls {
		if c.pair == nil || c.how == byMap || c.fused != nil || c.Parsed.Direction != msprobe.Forward || c.content != c.pair.content || c.token != c.pair.token {
			continue
		}
		key := group{c.token, c.content}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], c)
	}
	for _, key := range order {
		if list := groups[key]; len(list) > 1 {
			regroup(list, left, right)
		}
	}
}

// regroup pairs some calls anew with the partners that they have together.
func regroup(list []*call, left, right *side) {
	apart := false
	partners := make([]*call, len(list))
	for i, c := range list {
		partners[i] = c.pair
		apart = apart || !sameModule(c, c.pair) || gradients(c, left) != gradients(c.pair, right)
	}
	if !apart {
		return
	}
	taken := map[*call]bool{}
	done := make([]bool, len(list))
	// What most tells them apart first; the rest stays in its order.
	for _, key := range []func(c *call, s *side) identity{
		func(c *call, s *side) identity {
			g := gradients(c, s)
			if c.around == 0 || g == 0 {
				return 0
			}
			h := hash(c.around)
			h.number(uint64(g))
			return h.identity()
		},
		func(c *call, _ *side) identity { return c.around },
		gradients,
		func(*call, *side) identity { return 1 },
	} {
		free := map[identity][]*call{}
		for _, p := range partners {
			if k := key(p, right); k != 0 && !taken[p] {
				free[k] = append(free[k], p)
			}
		}
		for i, c := range list {
			k := key(c, left)
			if done[i] || k == 0 || len(free[k]) == 0 {
				continue
			}
			p := free[k][0]
			free[k] = free[k][1:]
			taken[p], done[i] = true, true
			join(c, p)
		}
	}
}

// gradients identify what comes back to a call, 0 where that was not recorded.
func gradients(c *call, s *side) identity {
	if back := s.find(backwardOf(c)); back != nil {
		return back.content
	}
	return 0
}
