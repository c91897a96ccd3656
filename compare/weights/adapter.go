package weights

import (
	"math"
	"strings"

	"precision/dump/dtype"
	"precision/internal/lazy"
)

// adapter is what low-rank training adds to a weight: scale times up·down (peft's lora_B and lora_A, arXiv:2106.09685). What the scale is,
// alpha over the rank or over its root, no state dict says.
type adapter struct {
	up, down    []float64
	rank, width int
	scale       float64
}

var lowRank = lazy.Regexp(`^(.*)\.lora_A(?:\.[^.]+)?\.weight$`)

// adapted joins the matrices of low-rank training with the weights that they change: where the other side has these alone, as merged ones are, or always.
func adapted(list []*part, other map[string]*part, always bool) (rest []*part) {
	byName := map[string]*part{}
	for _, p := range list {
		byName[p.name] = p
	}
	used := map[*part]bool{}
	for _, down := range list {
		m := lowRank().FindStringSubmatch(down.name)
		if m == nil || other[down.name] != nil && !always {
			continue
		}
		up, to := byName[strings.Replace(down.name, ".lora_A", ".lora_B", 1)], byName[m[1]+".weight"]
		if up == nil || to == nil || to.add != nil || len(down.shape) != 2 || len(up.shape) != 2 || len(to.shape) != 2 ||
			down.shape[0] != up.shape[1] || down.shape[1] != to.shape[1] || up.shape[0] != to.shape[0] {
			continue
		}
		a := &adapter{up: up.whole(), down: down.whole(), rank: int(down.shape[0]), width: int(down.shape[1])}
		if a.up == nil || a.down == nil {
			continue
		}
		if merged := other[to.name]; merged != nil {
			a.fit(to, merged)
		}
		to.add = a
		used[up], used[down] = true, true
	}
	for _, p := range list {
		if !used[p] {
			rest = append(rest, p)
		}
	}
	return rest
}

// fit takes the scale that explains the merged weight best: 0 where it is the weight alone.
func (a *adapter) fit(base, merged *part) {
	x, y := base.whole(), merged.whole()
	if len(x) != len(y) {
		return
	}
	narrow, bare := dtype.Coarser(base.t.Type, merged.t.Type).Rounding(), true
	a.scale = 1
	sum, size := 0.0, 0.0
	for i := range x {
		d := a.at(i)
		bare = bare && narrow.Round(x[i]) == narrow.Round(y[i])
		sum += (y[i] - x[i]) * d
		size += d * d
	}
	if a.scale = 0; !bare && size > 0 && sum-sum == 0 {
		a.scale = sum / size
	}
}

// at is what is added to an element.
func (a *adapter) at(i int) (sum float64) {
	row, column := i/a.width, i%a.width
	for r := range a.rank {
		sum += a.up[row*a.rank+r] * a.down[r*a.width+column]
	}
	return a.scale * sum
}

// merged relates a weight with what training adds to it to the merged one. Merging rounds what is added, and then the sum.
func (p *pair) merged() bool {
	a := p.a.add
	if a == nil || p.Kind == Same {
		return false
	}
	x, y := p.a.whole(), p.b.whole()
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	p.Value = a.scale
	unit := p.narrow().Unit()
	for i := range x {
		// Three roundings at most, of numbers up to the larger of base and sum.
		if d := math.Abs(x[i] - y[i]); !(d <= 2*unit*(math.Abs(x[i])+math.Abs(a.at(i)))) {
			return false
		}
	}
	return true
}

// Adapt sets the scale of what low-rank training adds on a side, where it is known.
func (n *Network) Adapt(side int, scale float64) {
	for _, p := range n.pairs {
		if x := []*part{p.a, p.b}[side]; x != nil && x.add != nil {
			x.add.scale = scale
		}
	}
}
