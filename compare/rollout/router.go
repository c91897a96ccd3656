package rollout

import (
	"cmp"
	"fmt"
	"slices"

	"precision/internal/order"
)

// Routers is how the experts differ that both engines chose: arrays [sequence, position, layer, choice], −1 where there is none.
type Routers struct {
	// Layers is, by layer, the share of tokens whose set of experts differs.
	Layers []float64 `json:"layers"`
	// Any is the share of tokens with another set in one layer at least; Tokens is how many were compared.
	Any    float64 `json:"tokens_with_one"`
	All    float64 `json:"disagreement"`
	Tokens int     `json:"tokens"`
	// Pairs counts, by layer, the exchanges of one expert for another: {train's, rollout's, how often}, the most frequent first.
	Pairs [][]Exchange `json:"-"`
}

// Exchange is one expert chosen in place of another.
type Exchange struct{ Train, Rollout, Times int }

// ReadRouters compares the experts in two files.
func ReadRouters(train, rollout string) (*Routers, error) {
	a, shape, err := Array(train)
	if err != nil {
		return nil, err
	}
	b, other, err := Array(rollout)
	if err != nil {
		return nil, err
	}
	switch {
	case len(shape) < 3:
		return nil, fmt.Errorf("%s: found experts of shape %v, expected [sequence, position, layer, choice]", train, shape)
	case !slices.Equal(shape, other):
		return nil, fmt.Errorf("%s: found experts of shape %v, expected %v as in %s", rollout, other, shape, train)
	}
	k := int(shape[len(shape)-1])
	layers := int(shape[len(shape)-2])
	r := &Routers{Layers: make([]float64, layers), Pairs: make([][]Exchange, layers)}
	if k == 0 || layers == 0 {
		return r, nil
	}
	seen := make([]int, layers)
	exchanged := make([]map[[2]int]int, layers)
	differ, all := 0, 0
	for t := 0; t+layers*k <= len(a); t += layers * k {
		any, counted := false, false
		for l := range layers {
			x, y := slices.Clone(a[t+l*k:t+l*k+k]), slices.Clone(b[t+l*k:t+l*k+k])
			if slices.Min(x) < 0 || slices.Min(y) < 0 {
				continue
			}
			counted = true
			seen[l]++
			all++
			only := func(v, of []float64) (list []int) {
				for _, e := range v {
					if !slices.Contains(of, e) {
						list = append(list, int(e))
					}
				}
				slices.Sort(list)
				return list
			}
			p, q := only(x, y), only(y, x)
			if len(p) == 0 && len(q) == 0 {
				continue
			}
			any = true
			differ++
			r.Layers[l]++
			if len(p) == 1 && len(q) == 1 {
				if exchanged[l] == nil {
					exchanged[l] = map[[2]int]int{}
				}
				exchanged[l][[2]int{p[0], q[0]}]++
			}
		}
		if counted {
			r.Tokens++
			if any {
				r.Any++
			}
		}
	}
	for l := range layers {
		r.Layers[l] /= float64(max(seen[l], 1))
		for e, n := range exchanged[l] {
			r.Pairs[l] = append(r.Pairs[l], Exchange{e[0], e[1], n})
		}
		order.Stable(r.Pairs[l], func(x, y Exchange) int {
			return cmp.Or(cmp.Compare(y.Times, x.Times), cmp.Compare(x.Train, y.Train), cmp.Compare(x.Rollout, y.Rollout))
		})
	}
	r.Any /= float64(max(r.Tokens, 1))
	r.All = float64(differ) / float64(max(all, 1))
	return r, nil
}
