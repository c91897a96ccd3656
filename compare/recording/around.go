package recording

import (
	"slices"
	"strings"

	"precision/dump/msprobe"
	"precision/internal/each"
)

// Calls that do the same with the same can be told apart by the gradients that come back to them. It does not matter which
// of them is whose partner until that.

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

// byGradients exchanges the partners of calls that do the same with the same, so that those that get the same gradients
// are together. The rest stays in its order.
func byGradients(left, right *side) {
	type group struct{ token, content identity }
	groups := map[group][]*call{}
	for _, c := range left.calls {
		if c.pair != nil && c.how != byMap && c.fused == nil && c.Parsed.Direction == msprobe.Forward && c.content == c.pair.content && c.token == c.pair.token {
			key := group{c.token, c.content}
			groups[key] = append(groups[key], c)
		}
	}
	for _, list := range groups {
		if len(list) == 1 {
			continue
		}
		partners := each.Of(list, func(c *call) *call { return c.pair })
		free, taken := map[identity][]*call{}, map[*call]bool{}
		for _, p := range partners {
			key := gradients(p, right)
			free[key] = append(free[key], p)
		}
		var rest []*call
		for _, c := range list {
			key := gradients(c, left)
			if key == 0 || len(free[key]) == 0 {
				rest = append(rest, c)
				continue
			}
			p := free[key][0]
			free[key], taken[p] = free[key][1:], true
			join(c, p)
		}
		partners = slices.DeleteFunc(partners, func(p *call) bool { return taken[p] })
		for i, c := range rest {
			join(c, partners[i])
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
