package recording

import (
	"math"

	"precision/compare/result"
)

// gist is what is said of a value that goes into a call. While calls are aligned it is asked for again and again:
// it lies side by side for all calls, apart from the leaves.
type gist struct {
	place identity
	// at is the number of the leaf, known which statistics it has.
	at, known int32
	// key is its content; what is blank tells no tensors apart.
	key   identity
	blank bool
	stats [4]float64
	// root is that of the number of elements, 0 where it is not known.
	root float64
}

// tell notes what is said of what goes into the calls of both sides.
func tell(sides ...*side) {
	for _, s := range sides {
		n := 0
		for _, c := range s.calls {
			for i := range c.leaves {
				if c.leaves[i].role == result.Input {
					n++
				}
			}
		}
		all := make([]gist, 0, n)
		for _, c := range s.calls {
			first := len(all)
			for i := range c.leaves {
				l := &c.leaves[i]
				if l.role != result.Input {
					continue
				}
				l.key = l.content()
				l.keyed = true
				g := l.gist()
				g.at, g.blank, g.key = int32(i), l.unfilled || l.key == 0 && (l.arg == nil || l.arg.few == 0), l.key
				all = append(all, g)
			}
			c.gists = all[first:len(all):len(all)]
		}
	}
}

// forget frees what tell noted.
func (s *side) forget() {
	for _, c := range s.calls {
		c.gists = nil
		for i := range c.leaves {
			c.leaves[i].keyed = false
		}
	}
}

// gist is that of the value at a place, nil if there is none; it is likely to be number i.
func (c *call) gist(place identity, i int) *gist {
	if i < len(c.gists) && c.gists[i].place == place {
		return &c.gists[i]
	}
	for k := range c.gists {
		if c.gists[k].place == place {
			return &c.gists[k]
		}
	}
	return nil
}

// strange is how far the tensors that go into two calls are apart by their
// statistics, up to 1 each. Beyond limit it need not be exact.
func strange(a, b *call, limit float64) (sum float64) {
	for i := range a.gists {
		l := &a.gists[i]
		if l.blank {
			continue
		}
		o := b.gist(l.place, i)
		if o == nil {
			sum++
		} else if d, some := l.distance(o, limit); some && d > alike || !some && l.key != o.key || a.leaves[l.at].sameness() != b.leaves[o.at].sameness() {
			sum += d
		}
		if sum > limit {
			break
		}
	}
	return sum
}

// alike is the difference of tensors of which all statistics are the same.
const alike = 1e-9

// distance is the largest relative difference of two tensors' statistics, 1 at most, and
// never less than alike; beyond limit it need not be exact. Means are held against the root mean
// square. It tells whether there are statistics: else only the checksum tells.
func (a *gist) distance(b *gist, limit float64) (d float64, some bool) {
	both := a.known & b.known & (1<<atSum - 1)
	d = alike
	for i := range atSum {
		v, w := a.stats[i], b.stats[i]
		if both&(1<<i) == 0 || v == w || v != v && w != w {
			continue
		}
		size := max(math.Abs(v), math.Abs(w))
		if i == atMean && b.known&result.KnownNorm != 0 && a.root > 0 {
			size = max(size, b.stats[atNorm]/a.root)
		}
		if e := math.Abs(v-w) / size; e > d {
			if d = e; d > limit {
				break
			}
		} else if e != e {
			d = 1
		}
	}
	if both == 0 {
		d = 1
	}
	return min(1, d), both != 0
}

// gist is what the statistics of a tensor say.
func (l *leaf) gist() gist {
	var place hash
	place.text(l.place)
	g := gist{place: place.identity(), known: l.summary.Known, stats: l.statistics()}
	if n, _ := l.Elements(); n > 0 {
		g.root = math.Sqrt(float64(n))
	}
	return g
}

// apart is how far two tensors' statistics are apart, 1 where only the checksum tells.
func apart(a, b *leaf) float64 {
	x, y := a.gist(), b.gist()
	d, _ := x.distance(&y, 1)
	return d
}
