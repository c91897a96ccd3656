package pattern

import "math"

// RegionOnly is an error that stays inside a part of the tensor.
const RegionOnly Kind = "region"

// Region is a part of a tensor: a box, or, when Flat, a range in row-major order.
type Region struct {
	From  []int64 `json:"from"`  // coordinates of the first element of the box
	To    []int64 `json:"to"`    // one past the last, along each axis
	Shape []int64 `json:"shape"` // of the tensor
	First int64   `json:"first"` // flat index of the first element concerned
	Last  int64   `json:"last"`  // of the last
	Flat  bool    `json:"flat"`  // the range First…Last describes the elements better than the box

	Elements int64   `json:"elements"` // concerned elements inside
	Volume   int64   `json:"volume"`   // all elements inside, those of a sample that are known
	Share    float64 `json:"share"`    // Elements / Volume
	Of       float64 `json:"of"`       // Volume / elements of the tensor (or sample)
	Axes     string  `json:"axes,omitempty"`

	// Aligned: along every axis that the box does not fill it begins and ends at a
	// border of the device layout's blocks (of 16 where that is not known) or of the tensor.
	Aligned bool `json:"aligned"`
	// Tail: along every such axis it ends where the tensor ends.
	Tail bool `json:"tail"`
}

// Whole reports whether the region is the whole tensor.
func (r Region) Whole() bool { return r.Of == 1 }

// describeBox sets Aligned and Tail, and what the axes are.
func (l *look) describeBox(r *Region) {
	r.Aligned, r.Tail, r.Shape = true, true, l.shape
	if len(l.Axes) == len(l.shape) {
		r.Axes = l.Axes
	}
	for a, d := range l.shape {
		if from, to := r.From[a], r.To[a]; from > 0 || to < d {
			b := l.block(a)
			r.Aligned = r.Aligned && from%b == 0 && (to%b == 0 || to == d)
			r.Tail = r.Tail && to == d
		}
	}
}

// bins is the resolution at which ranges in flat order are found.
const bins = 4096

// locate finds the box and the range that hold all but half a percent of the elements
// kept, per axis. It makes two passes.
func (l *look) locate(keep func(p int) (float64, bool)) (r Region) {
	var histograms [][]int64
	for _, d := range l.shape {
		histograms = append(histograms, make([]int64, min(d, 1<<20)))
	}
	width := max(1, (l.total+bins-1)/bins)
	flat := make([]int64, (l.total+width-1)/width)
	n := int64(0)
	l.each(keep, func(p int, _ float64, at []int64) {
		n++
		flat[l.flat(p)/width]++
		for a, i := range at {
			if i < int64(len(histograms[a])) {
				histograms[a][i]++
			}
		}
	})
	if n == 0 {
		return r
	}
	for a, h := range histograms {
		from, to := interval(h, n)
		if l.shape[a] > int64(len(h)) {
			from, to = 0, l.shape[a]
		}
		r.From, r.To = append(r.From, from), append(r.To, to)
	}
	l.describeBox(&r)
	first, last := interval(flat, n)
	l.fill(&r, keep, first*width, last*width)
	return r
}

// interval is a reach of bins that holds all but 0.5 % of n. What was cut off comes back as
// far as it is at least a quarter as dense as the rest: only stragglers stay outside.
func interval(h []int64, n int64) (from, to int64) {
	spare, held := n/400, n
	to = int64(len(h))
	for c := int64(0); from < to; from++ {
		if c += h[from]; c > spare {
			break
		}
		held -= h[from]
	}
	for c := int64(0); to > from; to-- {
		if c += h[to-1]; c > spare {
			break
		}
		held -= h[to-1]
	}
	width := max(to-from, 1)
	dense := func(c, bins int64) bool { return 4*c*width >= bins*held }
	low, high := from, to
	for i, c := from-1, int64(0); i >= 0; i-- {
		if c += h[i]; h[i] > 0 && dense(c, from-i) {
			low = i
		}
	}
	for i, c := to, int64(0); i < int64(len(h)); i++ {
		if c += h[i]; h[i] > 0 && dense(c, i-to+1) {
			high = i + 1
		}
	}
	return low, high
}

// fill counts what is inside the box and in the range [low, high) of flat indices.
func (l *look) fill(r *Region, keep func(p int) (float64, bool), low, high int64) {
	box, line := int64(0), int64(0)
	r.First, r.Last = math.MaxInt64, -1
	l.each(keep, func(p int, _ float64, at []int64) {
		if inside(r, at) {
			box++
		}
		if i := l.flat(p); i >= low && i < high {
			line++
			r.First, r.Last = min(r.First, i), max(r.Last, i)
		}
	})
	r.Volume = l.volume(*r)
	known := max(int64(len(l.Want)), 1)
	length := l.length(r.First, r.Last)
	if r.Volume == 0 || float64(line)/float64(max(length, 1)) > 1.05*float64(box)/float64(r.Volume) {
		r.Flat, r.Volume, box = true, length, line
		r.Aligned, r.Tail = false, r.Last == l.total-1
	}
	r.Elements = box
	r.Share = float64(box) / float64(max(r.Volume, 1))
	r.Of = float64(r.Volume) / float64(known)
}

func inside(r *Region, at []int64) bool {
	for a, i := range at {
		if i < r.From[a] || i >= r.To[a] {
			return false
		}
	}
	return true
}

// holdsElement reports whether the element at flat index i, with coordinates at, is in the region.
func (r *Region) holdsElement(i int64, at []int64) bool {
	if r.Flat {
		return i >= r.First && i <= r.Last
	}
	return inside(r, at)
}

// volume is the number of known elements in the box.
func (l *look) volume(r Region) int64 {
	if l.At == nil {
		v := int64(1)
		for a := range r.From {
			v *= r.To[a] - r.From[a]
		}
		return v
	}
	v := int64(0)
	l.each(func(int) (float64, bool) { return 0, true }, func(_ int, _ float64, at []int64) {
		if inside(&r, at) {
			v++
		}
	})
	return v
}

// length is the number of known elements from first to last.
func (l *look) length(first, last int64) int64 {
	if last < first {
		return 0
	}
	if l.At == nil {
		return last - first + 1
	}
	v := int64(0)
	for _, i := range l.At {
		if i >= first && i <= last {
			v++
		}
	}
	return v
}

// isBeyond keeps the elements that are beyond.
func (l *look) isBeyond(p int) (float64, bool) {
	e := l.got[p] - l.Want[p]
	if e == 0 {
		return 0, false
	}
	e, ok := l.error(p)
	return e, ok && math.Abs(e) > l.allowed(p)
}

// regionOnly tells that errors are confined to a small part of the tensor and are many
// there: at least 4, in no more than half of the tensor, and 20 times as dense inside as outside.
func regionOnly(l *look) []Finding {
	if l.beyond < 4 || l.everywhere() {
		return nil
	}
	r := l.region()
	if r.Elements < 4 || r.Of > 0.5 || r.Volume == int64(len(l.Want)) {
		return nil
	}
	in, left := l.squaresIn(r)
	outside := float64(l.beyond-r.Elements) / float64(max(1, int64(len(l.Want))-r.Volume))
	if r.Share < 20*outside || r.Share < 0.2 || in < 0.5*l.sumBeyond {
		return nil
	}
	return []Finding{{Kind: RegionOnly, Args: r, Explained: in / l.sumBeyond, Left: left, Elements: r.Elements}}
}

// everywhere reports whether the elements beyond are too many to be confined to a part.
func (l *look) everywhere() bool { return 10*l.beyond > 6*int64(len(l.Want)) }

// region is where the elements beyond are.
func (l *look) region() Region {
	if l.where == nil {
		r := l.locate(l.isBeyond)
		l.where = &r
	}
	return *l.where
}

// squaresIn is the squared error of the elements beyond that are inside r, and the worst
// error over what is allowed outside.
func (l *look) squaresIn(r Region) (in, left float64) {
	l.eachBeyond(func(p int, e float64, at []int64) {
		if r.holdsElement(l.flat(p), at) {
			in += e * e
		} else {
			left = max(left, math.Abs(e)/l.allowed(p))
		}
	})
	return in, left
}
