package weights

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"

	"precision/dump/dtype"
	"precision/internal/lazy"
	"precision/internal/must"
)

// adapter is what low-rank training adds to a weight: scale times up·down (peft's lora_B and lora_A, arXiv:2106.09685). What the scale is,
// alpha over the rank or over its root, no state dict says.
type adapter struct {
	matrices    func() (up, down []float64)
	rank, width int
	// scale is settled once: by the trainer's calls, or as that which explains the merged weight best, which spread says how well.
	settled       sync.Once
	scale, spread float64
	err           error // what could not be read for it
	// bare: the merged weight is the weight alone. hidden: with the largest scale in use, too, what is added rounds away; seen: with the
	// smallest it does not.
	bare, hidden, seen bool
}

// Scales in use: alpha 16 of rank 256, and alpha 256 over the root of that.
const leastScale, mostScale = 1.0 / 16, 16.0

var (
	errAdapter = errors.New("the matrices of low-rank training beside it cannot be read, or are too large")
	errApart   = errors.New("the rollout has matrices of low-rank training beside it, and the trainer has the base weight")
)

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
		to.add = &adapter{rank: int(down.shape[0]), width: int(down.shape[1]),
			matrices: sync.OnceValues(func() ([]float64, []float64) { return up.whole(), down.whole() })}
		used[up], used[down] = true, true
	}
	for _, p := range list {
		if !used[p] {
			rest = append(rest, p)
		}
	}
	return rest
}

// product writes the elements from first on of up·down, and into most, unless it is nil, the sums of their terms without signs, which the rounding of
// the sums goes by.
func (a *adapter) product(sum, most []float64, first int64) {
	up, down := a.matrices()
	if up == nil || down == nil {
		must.Do(errAdapter)
	}
	clear(sum)
	clear(most)
	for done := 0; done < len(sum); {
		at := int(first) + done
		row, column := at/a.width, at%a.width
		k := min(a.width-column, len(sum)-done)
		to := sum[done : done+k]
		for r, u := range up[row*a.rank : (row+1)*a.rank] {
			from := down[r*a.width+column:][:k]
			if most == nil {
				for i, v := range from {
					to[i] += u * v
				}
				continue
			}
			all := most[done : done+k]
			for i, v := range from {
				term := u * v
				to[i] += term
				all[i] += math.Abs(term)
			}
		}
		done += k
	}
}

// adapted are the side that has an adapter and the one that has not; nil where none or both have one, or a side is missing.
func (p *pair) adapted() (base, merged *part) {
	switch {
	case p.a == nil || p.b == nil || (p.a.add == nil) == (p.b.add == nil):
		return nil, nil
	case p.a.add != nil:
		return p.a, p.b
	}
	return p.b, p.a
}

// tiles calls f with the elements of an adapter's base, of the merged weight and of the product, a tile at a time, until it says that it has seen enough.
func (p *pair) tiles(ctx context.Context, f func(x, y, sum, most []float64) bool) {
	base, merged := p.adapted()
	plain := *base
	plain.add = nil
	x, y := plain.open(), merged.open()
	var v [4][]float64
	for i := range v {
		v[i] = make([]float64, tile)
	}
	n := min(base.len(), merged.len())
	for first := int64(0); first < n && ctx.Err() == nil; first += tile {
		k := min(tile, n-first)
		x.read(v[0][:k], first)
		y.read(v[1][:k], first)
		base.add.product(v[2][:k], v[3][:k], first)
		if !f(v[0][:k], v[1][:k], v[2][:k], v[3][:k]) {
			break
		}
	}
	must.Do(ctx.Err())
}

// off bounds what merging rounds: what is added, and the sum, in the type that is kept, and terms as they are added up, in float32 at least.
func (p *pair) off() func(x, added, most float64) float64 {
	base, _ := p.adapted()
	t := p.narrow()
	unit, terms, least := 2*t.Unit(), (2+math.Sqrt(float64(base.add.rank)))*min(t.Unit(), dtype.Float32.Unit()), t.MinSubnormal()
	return func(x, added, most float64) float64 { return unit*(x+added) + terms*most + least }
}

// settle fits the scale, unless it is known. What cannot be read ends every work that asks for it.
func (p *pair) settle(ctx context.Context) {
	base, _ := p.adapted()
	if base == nil {
		return
	}
	a := base.add
	a.settled.Do(func() { a.err = must.Try(func() { p.explain(ctx, a) }) })
	must.Do(a.err)
}

// explain fits the scale of an adapter.
func (p *pair) explain(ctx context.Context, a *adapter) {
	narrow, off := p.narrow().Rounding(), p.off()
	a.bare, a.hidden = true, true
	a.spread = math.Inf(1)
	sum, size, alone, terms := 0.0, 0.0, 0.0, 0.0
	p.tiles(ctx, func(x, y, product, most []float64) bool {
		for i, d := range product {
			rounded := narrow.Round(x[i])
			a.bare = a.bare && rounded == narrow.Round(y[i])
			a.hidden = a.hidden && rounded == narrow.Round(x[i]+mostScale*d) && rounded == narrow.Round(x[i]-mostScale*d)
			a.seen = a.seen || rounded != narrow.Round(x[i]+leastScale*d)
			sum += (y[i] - x[i]) * d
			size += d * d
			alone += math.Abs(d) * off(math.Abs(x[i]), 0, 0)
			terms += math.Abs(d) * off(0, math.Abs(d), most[i])
		}
		return true
	})
	if !a.bare && size > 0 && sum-sum == 0 {
		a.scale = sum / size
		a.spread = (alone + math.Abs(a.scale)*terms) / size
	}
}

// join relates a weight with what training adds to it to the merged one: no kind where that explains nothing.
func (p *pair) join(ctx context.Context) Kind {
	base, _ := p.adapted()
	if base == nil {
		return ""
	}
	p.settle(ctx)
	a := base.add
	p.Value, p.Spread, p.Rank = a.scale, a.spread, a.rank
	switch {
	case a.bare && a.hidden:
		return Same
	case a.bare && a.seen && base == p.a:
		return Unmerged
	case a.bare && a.seen:
		must.Do(errApart)
	case a.bare:
		return Merged // with which scale is not known
	}
	fits, off := !math.IsInf(a.spread, 0), p.off()
	scale := math.Abs(a.scale)
	p.tiles(ctx, func(x, y, product, most []float64) bool {
		for i, d := range product {
			sum := x[i] + a.scale*d
			if !(math.Abs(sum-y[i]) <= off(max(math.Abs(x[i]), math.Abs(sum)), scale*math.Abs(d), scale*most[i])+a.spread*math.Abs(d)) {
				fits = false
			}
		}
		return fits
	})
	if !fits {
		return ""
	}
	return Merged
}

// Adapt sets the scale of what low-rank training adds on a side, where it is known.
func (n *Network) Adapt(side int, scale float64) {
	for _, p := range n.pairs {
		if x := []*part{p.a, p.b}[side]; x != nil && x.add != nil {
			x.add.settled.Do(func() {})
			x.add.scale = scale
		}
	}
}
