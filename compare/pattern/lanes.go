package pattern

import "slices"

// Lanes is an error in the same places of every block of channels or columns.
const Lanes Kind = "lanes"

// LaneSet belongs to Lanes.
type LaneSet struct {
	Axis  int     `json:"axis"`
	Block int64   `json:"block"`
	Lanes []int64 `json:"lanes"`
	Share float64 `json:"share"` // of the elements in these lanes, those beyond
}

// laneCount is how many elements beyond are in each lane of an axis, and in which blocks any are.
type laneCount struct {
	axis   int
	block  int64
	lanes  []int64
	blocks []bool
}

// lanes looks, along each axis of at least two blocks, for few lanes (up to half) that hold all but half
// a percent of the elements beyond, in most of the blocks.
func lanes(l *look) []Finding {
	if l.beyond < 16 || l.everywhere() {
		return nil
	}
	var counts []laneCount
	for a, d := range l.shape {
		if b := l.block(a); d >= 2*b {
			counts = append(counts, laneCount{a, b, make([]int64, b), make([]bool, (d+b-1)/b)})
		}
	}
	if len(counts) == 0 {
		return nil
	}
	l.eachBeyond(func(_ int, _ float64, at []int64) {
		for _, c := range counts {
			c.lanes[at[c.axis]%c.block]++
			c.blocks[at[c.axis]/c.block] = true
		}
	})
	for _, c := range counts {
		if s, held := c.few(l); len(s.Lanes) > 0 {
			return []Finding{{Kind: Lanes, Args: s, Explained: float64(held) / float64(l.beyond), Left: l.worst, Elements: held}}
		}
	}
	return nil
}

// few gives the lanes with at least a tenth of the errors of the worst, if they are as lanes asks.
func (c laneCount) few(l *look) (s LaneSet, held int64) {
	s = LaneSet{Axis: c.axis, Block: c.block}
	most := slices.Max(c.lanes)
	for lane, n := range c.lanes {
		if 10*n >= most {
			s.Lanes = append(s.Lanes, int64(lane))
			held += n
		}
	}
	touched := 0
	for _, b := range c.blocks {
		if b {
			touched++
		}
	}
	s.Share = float64(held) * float64(c.block) / float64(len(s.Lanes)) / float64(len(l.Want))
	if int64(2*len(s.Lanes)) > c.block || held < l.beyond-l.beyond/200 || touched < 2 || 2*touched <= len(c.blocks) || s.Share < 0.2 {
		s.Lanes = nil
	}
	return s, held
}
