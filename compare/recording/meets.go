package recording

import (
	"fmt"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// transfers tell of the functions between two ranks whether the rank sends, and where its partner
// stands.
var transfers = map[string]struct {
	sends bool
	peer  [2]string
}{
	"send": {true, [2]string{"input.1", "kwargs.dst"}}, "isend": {true, [2]string{"input.1", "kwargs.dst"}},
	"recv": {false, [2]string{"input.1", "kwargs.src"}}, "irecv": {false, [2]string{"input.1", "kwargs.src"}},
}

// meets gives a call that ranks run together the name that it has on all of them: the n-th of a
// function on a group, the n-th transfer from one rank to another. Calls are numbered as the
// sides come in the order of the table.
func (p *part) meets(c *call) {
	if !c.distributed() {
		return
	}
	var key string
	if t, ok := transfers[c.Parsed.API]; ok {
		peer, certain := c.number(t.peer)
		if !certain || p.rank < 0 {
			return
		}
		if key = fmt.Sprintf("%d>%d", p.rank, peer); !t.sends {
			key = fmt.Sprintf("%d>%d", peer, p.rank)
		}
	} else if peers := c.peers(); len(peers) > 0 {
		if p.rank < 0 {
			return
		}
		peers = append(peers, int64(p.rank))
		slices.Sort(peers)
		key = fmt.Sprint(c.Parsed.API, slices.Compact(peers))
	} else {
		key = c.Parsed.API + c.group()
	}
	p.met[key]++
	c.meets = fmt.Sprintf("%s #%d", key, p.met[key]-1)
}

// distributed tells of a call that it is one of torch.distributed.
func (c *call) distributed() bool {
	return c.Parsed.Form == msprobe.API && strings.HasSuffix(strings.ToLower(c.Parsed.Prefix), "distributed")
}

// unconnected is how many ranks were compared, if no side has a call by which they exchange anything; else 0.
func (s *Source) unconnected() int {
	ranks := map[int]bool{}
	for _, p := range s.parts {
		if slices.ContainsFunc(p.left.calls, (*call).distributed) || slices.ContainsFunc(p.right.calls, (*call).distributed) {
			return 0
		}
		if ranks[p.rank] = true; p.rank < 0 {
			return 0
		}
	}
	return len(ranks)
}

// peers are the ranks at the other ends of the transfers that a call makes together, as batch_isend_irecv.
func (c *call) peers() (list []int64) {
	for i := range c.leaves {
		if l := &c.leaves[i]; l.role == result.Input && l.arg != nil && strings.HasSuffix(l.place, ".peer") && l.arg.Value.Kind == msprobe.Int {
			list = append(list, l.arg.Value.I)
		}
	}
	return list
}

// number is a whole number at one of two places of a call.
func (c *call) number(places [2]string) (int64, bool) {
	for i := range c.leaves {
		if l := &c.leaves[i]; (l.place == places[0] || l.place == places[1]) && l.arg != nil && l.arg.Value.Kind == msprobe.Int {
			return l.arg.Value.I, true
		}
	}
	return 0, false
}

// group are the ranks of the group that a call names, empty for all.
func (c *call) group() string {
	for i := range c.leaves {
		l := &c.leaves[i]
		if l.Kind != msprobe.Group || l.role != result.Input || l.arg == nil {
			continue
		}
		text := ""
		for _, n := range l.arg.Items {
			text += " " + n.String()
		}
		return text
	}
	return ""
}

// gave are the tensors that a call gave, and those that it may have written in place.
func (c *call) gave() (list []int64) {
	for i := range c.leaves {
		l := &c.leaves[i]
		if l.role == result.Output && l.content() != 0 {
			list = append(list, l.summary.Print(l.Shape))
		}
	}
	return list
}
