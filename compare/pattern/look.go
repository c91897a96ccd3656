package pattern

import (
	"iter"
	"math"
	"slices"

	"precision/internal/nd"
)

const (
	pickMost    = 1 << 20 // elements that hypotheses about a whole tensor look at
	pickChunk   = 64      // consecutive ones among them
	noiseMost   = 1 << 14 // elements the noise is measured on
	noiseTimes  = 15      // an error of so many 35 % quantiles is beyond the noise: 6.8 standard deviations
	noiseMostOf = 1.5     // what is beyond would have to be larger than the numbers
)

// look is a case with what all hypotheses want to know of it.
type look struct {
	Case
	num   number
	total int64     // elements of the tensor
	shape []int64   // never empty
	step  []int64   // distance of neighbours along each axis
	got   []float64 // recorded, of the length of Want
	full  []float64 // recorded, whole; nil when only a sample is known

	unit, tiny, limit, largest float64
	mid, noise                 float64 // m and q of the package comment

	simpler fit     // of the whole tensor's factor and offset, if these explain much
	where   *Region // of the elements beyond, once asked for

	stage []int // places on which mappings are tried, once asked for
	pick  []int // places in Want of the elements that dense hypotheses look at

	// of all ordinary elements: finite on both sides and in the range of the type
	beyond           int64   // how many are beyond
	different        int64   // how many are not equal
	sum, sumBeyond   float64 // squared errors of all, of those beyond
	worst            float64 // largest error over what is allowed
	nan, inf, hidden int64   // NaN or Inf for a number; a number for NaN or Inf
	clippedRange     int64   // of those, recorded as ±largest or Inf
	zeroed           int64   // NaN expected, 0 recorded
	dense            bool    // every differing element counts, not only those beyond
	wrong            bool    // there is something to explain among ordinary elements
	recordedNaN      bool    // any NaN on the recorded side
	expectedNaN      bool    // on the expected one
	within           bool    // but no error is larger than a bound or rounding explains
}

func newLook(c Case, total int64) *look {
	l := &look{Case: c, num: numberOf(c.DType), total: total, shape: c.Shape}
	if len(l.shape) == 0 {
		l.shape = []int64{total}
	}
	l.step = nd.Strides(l.shape)
	l.unit, l.tiny, l.limit, l.largest = l.num.unit(), l.num.tiny(), l.num.limit(), l.num.largest()
	l.got = c.Got
	if int64(len(c.Got)) == total {
		l.full = c.Got
	}
	if c.At != nil && len(c.Got) != len(c.At) {
		l.got = make([]float64, len(c.At))
		for i, at := range c.At {
			l.got[i] = c.Got[at]
		}
	}
	l.choose()
	l.measureNoise()
	l.count()
	return l
}

// flat is the flat index of the element at place p of Want.
func (l *look) flat(p int) int64 {
	if l.At != nil {
		return l.At[p]
	}
	return int64(p)
}

// block is the block size of an axis, 16 where the layout is not known.
func (l *look) block(axis int) int64 {
	if axis < len(l.Block) && l.Block[axis] > 1 {
		return l.Block[axis]
	}
	return 16
}

// choose fills pick: everything, or chunks from every part of the tensor. The same
// elements every time, but at no regular distance.
func (l *look) choose() {
	n := len(l.Want)
	if n <= pickMost {
		l.pick = make([]int, n)
		for i := range l.pick {
			l.pick[i] = i
		}
		return
	}
	chunks := pickMost / pickChunk
	for i := range chunks {
		from, to := n/chunks*i, n/chunks*(i+1)
		at := from + int(mix(uint64(i))%uint64(max(1, to-from-pickChunk)))
		for j := at; j < at+pickChunk; j++ {
			l.pick = append(l.pick, j)
		}
	}
}

// mix is a fixed hash of i (splitmix64).
func mix(i uint64) uint64 {
	i += 0x9E3779B97F4A7C15
	i = (i ^ i>>30) * 0xBF58476D1CE4E5B9
	i = (i ^ i>>27) * 0x94D049BB133111EB
	return i ^ i>>31
}

// measureNoise sets mid and noise from elements whose expectation is not zero: where
// zeros are many, as behind a relu, they are right on both sides and say nothing.
func (l *look) measureNoise() {
	var size, rel []float64
	stride := max(1, len(l.pick)/noiseMost)
	at := func(i int) int { return l.pick[min(len(l.pick)-1, i*stride+int(mix(uint64(i))%uint64(stride)))] }
	for i := range (len(l.pick) + stride - 1) / stride {
		if g, w := l.got[at(i)], l.Want[at(i)]; g-w-(g-w) == 0 && w != 0 && math.Abs(w) <= l.limit {
			size = append(size, math.Abs(w))
		}
	}
	l.mid = quantile(size, 0.5)
	for i := range (len(l.pick) + stride - 1) / stride {
		if g, w := l.got[at(i)], l.Want[at(i)]; g-w-(g-w) == 0 && w != 0 && math.Abs(w) <= l.limit {
			rel = append(rel, math.Abs(g-w)/(math.Abs(w)+l.mid))
		}
	}
	if l.noise = noiseTimes * quantile(rel, 0.35); l.noise > noiseMostOf {
		l.noise = 0 // most numbers are wrong: this is not what noise does
	}
}

// quantile reorders v. It is 0 for no numbers.
func quantile(v []float64, at float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[int(at*float64(len(v)))]
}

// allowed is the error of element p that rounding and noise explain.
func (l *look) allowed(p int) float64 {
	if l.Bound != nil {
		b := l.Bound[p]
		if !(b >= 0) {
			return math.Inf(1)
		}
		return max(b, math.SmallestNonzeroFloat64)
	}
	w := math.Abs(l.Want[p])
	return max(l.unit*w+l.tiny, l.noise*(w+l.mid))
}

// rounding is the error of element p that the last rounding explains, or the bound where that is more.
func (l *look) rounding(p int) float64 {
	if l.Bound != nil {
		return max(min(l.allowed(p), math.MaxFloat64), l.unit*math.Abs(l.Want[p])+l.tiny)
	}
	return l.unit*math.Abs(l.Want[p]) + l.tiny
}

// error gives got - want of an ordinary element; ok is false for others.
func (l *look) error(p int) (e float64, ok bool) {
	w := l.Want[p]
	e = l.got[p] - w
	return e, e-e == 0 && (w <= l.limit && w >= -l.limit || !l.saturates(l.got[p], w))
}

// errors are the ordinary elements among those picked, with their errors.
func (l *look) errors(pick []int) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for _, p := range pick {
			if e, ok := l.error(p); ok && !yield(p, e) {
				return
			}
		}
	}
}

// saturates reports whether g stands at the end of the type's range where w lies
// beyond it.
func (l *look) saturates(g, w float64) bool {
	return math.Abs(w) > l.limit && math.Abs(g) >= l.largest && math.Signbit(g) == math.Signbit(w)
}

// overflowsRightly reports whether element p is recorded as Inf, or as the largest number, where
// rounding may give that: known where a bound is. Against a golden run, which has a number
// there, Inf is worth telling.
func (l *look) overflowsRightly(p int) bool {
	g, w := l.got[p], l.Want[p]
	if l.Bound == nil || math.Signbit(g) != math.Signbit(w) || !(l.Bound[p] >= 0) {
		return false
	}
	if math.IsInf(g, 0) {
		return math.Abs(w)+l.Bound[p] >= l.limit
	}
	return math.Abs(g) == l.largest && math.Abs(w)-l.Bound[p] < l.limit
}

// count makes the pass over all elements.
func (l *look) count() {
	l.within = true
	for p, w := range l.Want {
		e := l.got[p] - w
		if e == 0 {
			continue
		}
		if e, ok := l.error(p); ok {
			l.different++
			e2 := e * e
			l.sum += e2
			a := math.Abs(e)
			t := l.allowed(p)
			if a > t {
				l.beyond++
				l.sumBeyond += e2
			}
			if r := a / t; r > l.worst {
				l.worst = r
			}
			if l.within && (a > t || l.Bound == nil && a > 2*(l.unit*math.Abs(w)+l.tiny)) {
				l.within = false
			}
			continue
		}
		l.countOdd(p)
	}
	if l.recordedNaN {
		l.hidden, l.zeroed = l.hidden+l.zeroed, 0 // the saturating mode leaves no NaN anywhere
	}
	l.wrong = l.different > 0
	l.dense = l.beyond == 0 || l.Bound == nil && l.sumBeyond < 0.5*l.sum
}

// countOdd counts an element that is not ordinary.
func (l *look) countOdd(p int) {
	g, w := l.got[p], l.Want[p]
	l.recordedNaN = l.recordedNaN || g != g
	l.expectedNaN = l.expectedNaN || w != w
	switch {
	case g != g && w != w, g == w, l.overflowsRightly(p):
	case l.saturates(g, w):
		l.clippedRange++
	case w != w && g == 0:
		l.zeroed++
	case g != g:
		l.nan++
	case math.IsInf(g, 0):
		l.inf++
	default:
		l.hidden++
	}
}

// eachBeyond calls f with every ordinary element that is beyond, in ascending order, with
// its coordinates, which f must not keep.
func (l *look) eachBeyond(f func(p int, e float64, at []int64)) {
	l.each(l.isBeyond, f)
}

// each calls f with the coordinates of every element that keep keeps.
func (l *look) each(keep func(p int) (float64, bool), f func(p int, e float64, at []int64)) {
	at := make([]int64, len(l.shape))
	last := len(l.shape) - 1
	if l.At != nil || l.shape[last] < 4 {
		for p := range l.Want {
			if e, ok := keep(p); ok {
				nd.PlaceIn(l.flat(p), l.shape, at)
				f(p, e, at)
			}
		}
		return
	}
	row := int(l.shape[last])
	for from := 0; from < len(l.Want); from += row {
		fresh := true
		for j := range row {
			e, ok := keep(from + j)
			if !ok {
				continue
			}
			if fresh {
				nd.PlaceIn(int64(from), l.shape, at)
				fresh = false
			}
			at[last] = int64(j)
			f(from+j, e, at)
		}
	}
}
