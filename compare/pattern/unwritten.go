package pattern

import (
	"math"
	"slices"

	"precision/internal/nd"
)

// Unwritten is a block of one constant, mostly 0, where other numbers are expected.
const Unwritten Kind = "unwritten"

// Unfilled belongs to Unwritten.
type Unfilled struct {
	Value  float64 `json:"value"`
	Region Region  `json:"region"`
	// Held is the share of the elements of Region that are Value; 0 where that was not counted.
	Held float64 `json:"held,omitempty"`
}

// unwritten looks for the constant that most elements beyond hold. Nearly every element
// of their region must hold it, and outside hardly any that should not: zeros that come and go
// with the numbers are no hole. Where the expectation is as constant, only 0 counts.
func unwritten(l *look) []Finding {
	value, ok := l.commonValue()
	if !ok {
		return nil
	}
	keep := func(p int) (float64, bool) {
		if l.got[p] != value {
			return 0, false
		}
		return l.isBeyond(p)
	}
	r := l.locate(keep)
	if !slices.ContainsFunc(l.got, func(g float64) bool { return g != value }) {
		r = l.locate(func(int) (float64, bool) { return 0, true })
	}
	if r.Elements < 4 {
		return nil
	}
	l.grow(&r, value)
	h := l.hole(r, value)
	if 100*h.equal < 95*h.inside || 100*h.has < 95*h.should || 5*h.hasOut > h.shouldOut || value != 0 && !h.varied {
		return nil
	}
	in, left := 0.0, 0.0
	l.eachBeyond(func(p int, e float64, at []int64) {
		if l.got[p] == value && r.holdsElement(l.flat(p), at) {
			in += e * e
		} else {
			left = max(left, math.Abs(e)/l.allowed(p))
		}
	})
	if !(in >= 0.5*l.sumBeyond) {
		return nil
	}
	return []Finding{{Kind: Unwritten, Args: Unfilled{value, r, float64(h.equal) / float64(h.inside)}, Explained: in / l.sumBeyond, Left: left, Elements: h.has}}
}

// hole counts elements in a region and outside.
type hole struct {
	inside, equal     int64 // elements inside; those that hold the constant
	should, has       int64 // inside, those that should not hold it; of these, those that do
	shouldOut, hasOut int64 // the same outside
	varied            bool  // expectations inside differ from each other
}

func (l *look) hole(r Region, value float64) (h hole) {
	first := math.NaN()
	l.each(func(int) (float64, bool) { return 0, true }, func(p int, _ float64, at []int64) {
		w := l.Want[p]
		equal, should := int64(0), int64(0)
		if l.got[p] == value {
			equal = 1
		}
		if math.Abs(w-value) > l.allowed(p) {
			should = 1
		}
		if !r.holdsElement(l.flat(p), at) {
			h.shouldOut += should
			h.hasOut += should & equal
			return
		}
		h.inside++
		h.equal += equal
		h.should += should
		h.has += should & equal
		if first != first {
			first = w
		}
		h.varied = h.varied || w != first && w == w
	})
	return h
}

// commonValue is the number that at least a fifth of the elements beyond hold, by a
// sample of them.
func (l *look) commonValue() (float64, bool) {
	if l.beyond < 4 {
		return 0, false
	}
	counts, n := map[float64]int{}, 0
	every := max(1, l.beyond/1024)
	i := int64(0)
	l.eachBeyond(func(p int, _ float64, _ []int64) {
		if i%every == 0 {
			counts[l.got[p]]++
			n++
		}
		i++
	})
	value, most := 0.0, 0
	for v, c := range counts {
		if c > most || c == most && v < value {
			value, most = v, c
		}
	}
	return value, most >= 3 && 5*most >= n
}

// grow extends the box along an axis to the end of the tensor, if all that lies between holds the
// value, too: where zeros are expected nothing tells that they were not written.
func (l *look) grow(r *Region, value float64) {
	if r.Flat || l.At != nil {
		return
	}
	for a := range r.From {
		slab := *r
		slab.From, slab.To = slices.Clone(r.From), slices.Clone(r.To)
		if slab.From[a], slab.To[a] = 0, r.From[a]; l.allEqual(slab, value) {
			r.From[a] = 0
		}
		if slab.From[a], slab.To[a] = r.To[a], l.shape[a]; l.allEqual(slab, value) {
			r.To[a] = l.shape[a]
		}
	}
	l.describeBox(r)
	r.Volume = l.volume(*r)
	r.Share = float64(r.Elements) / float64(max(r.Volume, 1))
	r.Of = float64(r.Volume) / float64(max(len(l.Want), 1))
}

// allEqual reports whether every element of a box holds the value.
func (l *look) allEqual(r Region, value float64) bool {
	at := slices.Clone(r.From)
	for a := range at {
		if r.From[a] >= r.To[a] {
			return true
		}
	}
	for {
		if l.got[nd.Number(at, l.step)] != value {
			return false
		}
		a := len(at) - 1
		for ; a >= 0; a-- {
			if at[a]++; at[a] < r.To[a] {
				break
			}
			at[a] = r.From[a]
		}
		if a < 0 {
			return true
		}
	}
}
