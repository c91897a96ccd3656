package pattern

import "math"

// SlicesPermuted are channels, rows or C0 lanes that stand in each other's places.
const SlicesPermuted Kind = "slices-permuted"

// Exchange belongs to SlicesPermuted.
type Exchange struct {
	Axis  int        `json:"axis"`
	Moved int        `json:"moved"` // slices that are not in their place
	Pairs [][2]int64 `json:"pairs"` // recorded at, expected at; at most 16 of them
	// Block: the same exchange in every block of so many slices (C0 lanes); 0 when it is none.
	Block int64 `json:"block"`
}

const (
	slicesMost  = 1024 // slices that are held against each other
	probesMost  = 24   // elements of each that are compared
	pairsListed = 16
)

// slicesPermuted holds every recorded slice along an axis against every expected one, on a
// few elements, and judges the exchange that the nearest ones make.
func slicesPermuted(l *look) (found []Finding) {
	if l.At != nil {
		return nil
	}
	for a, d := range l.shape {
		if d < 2 || d > slicesMost || l.total/d < 4 {
			continue
		}
		perm, moved := l.nearestSlices(a)
		if moved < 2 {
			continue
		}
		step := l.step[a]
		m := mapping{from: func(i int64) int64 {
			c := i / step % d
			return i + (perm[c]-c)*step
		}}
		f := l.judgeMapping(m, l.beyond == 0)
		if !f.holds(0.7, 0, 1) {
			continue
		}
		if by := distanceOf(perm, moved); by != 0 {
			found = append(found, l.finding(Shifted, Shift{Axis: a, By: -by}, f))
			continue
		}
		args := Exchange{Axis: a, Moved: moved, Block: laneBlock(perm, l.block(a))}
		for c, t := range perm {
			if t != int64(c) && len(args.Pairs) < pairsListed {
				args.Pairs = append(args.Pairs, [2]int64{int64(c), t})
			}
		}
		found = append(found, l.finding(SlicesPermuted, args, f))
	}
	return found
}

// distanceOf is how far all slices of an axis are from their places, but for those at the end that nothing
// moved to; 0 where they are not moved alike. By so few as they then are, a shift that wraps round does not hold.
func distanceOf(perm []int64, moved int) (by int64) {
	for c, t := range perm {
		if t == int64(c) {
			continue
		}
		if by == 0 {
			by = t - int64(c)
		}
		if t-int64(c) != by {
			return 0
		}
	}
	if moved < 3 || moved < len(perm)-int(max(by, -by)) {
		return 0
	}
	return by
}

// nearestSlices gives for each recorded slice the expected one that is nearest, where it
// is much nearer than the slice's own (a quarter of the squared distance), else itself.
func (l *look) nearestSlices(axis int) (perm []int64, moved int) {
	d, step := l.shape[axis], l.step[axis]
	rest := l.total / d
	probes := min(rest, probesMost)
	got, want := make([]float64, d*probes), make([]float64, d*probes)
	for k := range probes {
		r := k * rest / probes
		if rest > 4*probes {
			r += int64(mix(uint64(k)) % uint64(rest/probes))
		}
		base := r/step*step*d + r%step
		for c := range d {
			got[c*probes+k], want[c*probes+k] = l.got[base+c*step], l.Want[base+c*step]
		}
	}
	perm = make([]int64, d)
	taken := make([]bool, d)
	for c := range d {
		perm[c] = c
		own := distance(got[c*probes:(c+1)*probes], want[c*probes:(c+1)*probes], math.Inf(1))
		if own == 0 || own != own {
			continue
		}
		near := own / 4
		for t := range d {
			if s := distance(got[c*probes:(c+1)*probes], want[t*probes:(t+1)*probes], near); s < near && t != c {
				near, perm[c] = s, t
			}
		}
		if t := perm[c]; t != c {
			moved++
			if taken[t] {
				return nil, 0 // two slices hold the same numbers: no exchange
			}
			taken[t] = true
		}
	}
	return perm, moved
}

// distance is the squared distance of two slices, given up once it exceeds most.
func distance(g, w []float64, most float64) float64 {
	s := 0.0
	for i, v := range g {
		e := v - w[i]
		if s += e * e; s > most {
			return s
		}
	}
	return s
}

// laneBlock is the block within which all blocks are exchanged alike; else 0.
func laneBlock(perm []int64, block int64) int64 {
	if int64(len(perm)) <= block {
		return 0
	}
	for c, t := range perm {
		lane := int64(c) % block
		if t/block != int64(c)/block || t%block != perm[lane]%block {
			return 0
		}
	}
	return block
}
