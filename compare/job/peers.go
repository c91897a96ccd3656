package job

import (
	"cmp"

	"precision/internal/lazy"
	"precision/internal/order"
)

// Deviation is a tensor that ranks must have in common, as data-parallel ranks their weights,
// and that some have otherwise.
type Deviation struct {
	Step   int    `json:"step"`
	Tensor string `json:"tensor"`
	// Ranks have it otherwise than the Of-Count others of their group. With Tie no
	// side has the majority: Ranks is the smaller part, or the one without the lowest rank.
	Ranks string `json:"ranks"`
	Count int    `json:"count"`
	Of    int    `json:"of"`
	Tie   bool   `json:"tie,omitempty"`
	// Groups is how many groups of ranks have a tensor of their own, as the ranks of tensor
	// parallel slices have; Way tells how ranks are spread over them: blocks, strides or "" for one.
	Groups int    `json:"groups"`
	Way    string `json:"way,omitempty"`
}

// peerSet gathers what ranks have of tensors, by sums of their elements.
type peerSet struct{ tensors map[peerKey]*peerTensor }

type peerKey struct {
	step          int
	model, tensor string
}

// peerTensor is a tensor: the sum that came first, and the ranks with others.
type peerTensor struct {
	first  string
	others map[string][]int
	count  int
}

// started is the time in the names of models, which ranks may have otherwise.
var started = lazy.Regexp(`\d{14}`)

// add takes what a part has. Where no folder tells the rank it may be that of any, or a copy of
// another's, so that it has no peers.
func (s *peerSet) add(x *Part, list []Peer) {
	if x.Rank < 0 {
		return
	}
	if s.tensors == nil {
		s.tensors = map[peerKey]*peerTensor{}
	}
	model := started().ReplaceAllString(x.Model, "")
	for _, p := range list {
		k := peerKey{x.Step, model, p.Tensor}
		t := s.tensors[k]
		if t == nil {
			t = &peerTensor{first: p.Sum}
			s.tensors[k] = t
		}
		t.count++
		if p.Sum != t.first {
			if t.others == nil {
				t.others = map[string][]int{}
			}
			t.others[p.Sum] = append(t.others[p.Sum], x.Rank)
		}
	}
}

// deviations are the tensors that a minority has otherwise, by step and name.
func (s *peerSet) deviations(p *Plan) (list []Deviation) {
	for k, t := range s.tensors {
		if t.others == nil {
			continue
		}
		var ranks []int
		for i := range p.Parts {
			if x := &p.Parts[i]; x.Rank >= 0 && x.Step == k.step && started().ReplaceAllString(x.Model, "") == k.model {
				ranks = append(ranks, x.Rank)
			}
		}
		ranks = unique(ranks)
		if len(ranks) != t.count {
			continue // some rank could not be read: who has the first sum is not known
		}
		sums := map[int]string{}
		for sum, of := range t.others {
			for _, r := range of {
				sums[r] = sum
			}
		}
		for _, r := range ranks {
			if sums[r] == "" {
				sums[r] = t.first
			}
		}
		if d, ok := deviate(ranks, sums); ok {
			d.Step, d.Tensor = k.step, k.tensor
			list = append(list, d)
		}
	}
	order.Stable(list, func(a, b Deviation) int { return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Tensor, b.Tensor)) })
	return list
}

// deviate finds ranks that have another tensor than their peers. Who the peers are is
// not known: all ranks, or, as with slices of a tensor, those of one of several groups of the same size, in
// blocks or at equal strides. The fewest groups are taken in which a minority deviates: at most a quarter
// of the ranks. Where none fits each rank has a tensor of its own, and there is nothing to say.
func deviate(ranks []int, sums map[int]string) (Deviation, bool) {
	n := len(ranks)
	if n == 2 {
		return Deviation{Ranks: ranges(ranks[1:]), Count: 1, Of: 2, Tie: true, Groups: 1}, true
	}
	for groups := 1; groups <= n/2; groups++ {
		if n%groups != 0 {
			continue
		}
		for _, way := range []string{"blocks", "strides"} {
			var off []int
			tie := false
			size := n / groups
			fits := true
			for g := range groups {
				count := map[string]int{}
				var mine []int
				for i := range size {
					at := g*size + i
					if way == "strides" {
						at = i*groups + g
					}
					mine = append(mine, ranks[at])
					count[sums[ranks[at]]]++
				}
				most := ""
				for _, r := range mine { // in the order of ranks, so that ties fall the same way
					if s := sums[r]; most == "" || count[s] > count[most] {
						most = s
					}
				}
				if 2*count[most] <= size {
					if size > 2 || groups > 1 || count[most]*2 < size {
						fits = false
						break
					}
					tie = true
				}
				for _, r := range mine {
					if sums[r] != most {
						off = append(off, r)
					}
				}
			}
			if fits && len(off) == 0 {
				return Deviation{}, false // each group has one tensor
			}
			if fits && (4*len(off) <= n || n == 3 && len(off) == 1) {
				d := Deviation{Ranks: ranges(unique(off)), Count: len(off), Of: n, Tie: tie, Groups: groups}
				if groups > 1 {
					d.Way = way
				}
				return d, true
			}
			if groups == 1 {
				break // both ways are the same
			}
		}
	}
	return Deviation{}, false
}
