package oracle

import (
	"math"

	"precision/dump/dtype"
)

// judge collects what the elements of one output say.
type judge struct {
	p     precisionOf
	exact bool // recorded as computed, without a last rounding
	long  bool // integers of 64 bits, of which the largest lose digits here

	looked, judged int64
	beyond         int64 // elements beyond the bound
	rounding       int64 // within it, but no rounding to nearest of anything within B
	saturated      int64
	flushed        int64
	lost           int64 // numbers in place of NaN
	coarse         int64 // integers beyond 2^53 that look right, as float64 shows them

	ratio           float64
	worst           int64
	value, found, b float64
	largest         float64

	// sums of recorded - expected, for errors that are all to one side
	n               int64
	sum, sumSquares float64

	misses []miss

	sums, sumsBeyond int64 // rows that were summed up, and those beyond their bound
}

// miss is an element beyond its bound.
type miss struct {
	i             int64
	found, y, b   float64
	ratio, before float64 // before is B, without the last rounding
}

// maxMisses bounds how many misses are kept.
const maxMisses = 256

func newJudge(t dtype.Type, exact bool) *judge {
	return &judge{p: precisionFor(t), exact: exact, long: t.IsInteger() && t.Bits() == 64, ratio: math.NaN(), worst: -1}
}

// bound is the bound with the last rounding.
func (j *judge) bound(y, b float64) float64 {
	if j.exact || j.p.v == 0 {
		return b
	}
	return b + j.p.v*(abs(y)+b) + j.p.t
}

// element judges one element: i is its place, found what was recorded, y and b
// what it should be.
func (j *judge) element(i int64, found, y, b float64) {
	j.looked++
	if j.long && found == y && abs(y) >= 0x1p53 {
		j.coarse++ // 2^60+7 looks like 2^60
		return
	}
	if found == y {
		j.judged++
		j.explained(i, found, y, b, 0)
		if !math.IsInf(y, 0) {
			j.count(0, y)
		}
		return
	}
	if math.IsNaN(y) {
		j.expectNaN(i, found, b)
		return
	}
	bound := j.bound(y, b)
	if math.IsNaN(bound) || math.IsInf(bound, 0) && !math.IsInf(y, 0) {
		return // rounding can explain anything
	}
	j.judged++
	// What a type cannot hold becomes infinite, or stays at the largest number
	// where the device only saturates.
	over := abs(y)+bound >= j.p.limit
	must := abs(y)-bound >= j.p.limit || math.IsInf(y, 0)
	switch {
	case math.IsNaN(found) && math.IsInf(y, 0) && !j.exact:
		// A pole: what a device makes of it is not said by any of the papers, and
		// 0/0 beside x/0 is a matter of one rounding upstream.
		j.lost++
		return
	case math.IsNaN(found):
		j.miss(i, found, y, b, math.Inf(1))
		return
	case math.IsInf(found, 0):
		if over && math.Signbit(found) == math.Signbit(y) {
			j.explained(i, found, y, b, 0)
		} else {
			j.miss(i, found, y, b, math.Inf(1))
		}
		return
	case over && abs(found) == j.p.max && math.Signbit(found) == math.Signbit(y):
		if must {
			j.saturated++
		}
		j.explained(i, found, y, b, 0)
		return
	case must:
		j.miss(i, found, y, b, math.Inf(1))
		return
	}
	off := abs(found - y)
	if off > j.largest {
		j.largest = off
	}
	j.count(found-y, y)
	r := off / bound
	if bound == 0 {
		r = math.Inf(1)
	}
	switch {
	case r <= 1:
		if !j.exact && j.p.v >= 0x1p-11 && !j.nearest(found, y, b) {
			j.rounding++
		}
		j.explained(i, found, y, b, r)
	case found == 0 && abs(y) < j.p.tiny && !j.p.integer:
		j.flushed++
	default:
		j.miss(i, found, y, b, r)
	}
}

// nearest reports whether rounding something within B of y to nearest gives
// what was found.
func (j *judge) nearest(found, y, b float64) bool {
	b *= 1 + 1e-12
	return j.p.round(y-b) <= found && found <= j.p.round(y+b)
}

// expectNaN judges an element that should be NaN. With an infinite bound it may
// be anything, as the maximum of NaN may. Moving elements keeps NaN. Of
// arithmetic, devices that only saturate make 0, and any other number is odd: NaN
// here comes of Inf - Inf or of NaN among the inputs, for which no bound holds.
func (j *judge) expectNaN(i int64, found, b float64) {
	switch {
	case math.IsNaN(found):
		j.judged++
		j.explained(i, found, math.NaN(), 0, 0)
	case math.IsInf(b, 1):
	case j.p.integer:
	case j.exact:
		j.judged++
		j.miss(i, found, math.NaN(), b, math.Inf(1))
	case found == 0:
		j.judged++
		j.saturated++
	default:
		j.judged++
		j.lost++
	}
}

func (j *judge) explained(i int64, found, y, b, r float64) {
	if !(r <= j.ratio) {
		j.worse(i, found, y, b, r)
	}
}

func (j *judge) worse(i int64, found, y, b, r float64) {
	j.ratio, j.worst, j.found, j.value, j.b = r, i, found, y, j.bound(y, b)
}

func (j *judge) miss(i int64, found, y, b, r float64) {
	j.beyond++
	if !(r <= j.ratio) {
		j.worse(i, found, y, b, r)
	}
	if len(j.misses) < maxMisses {
		j.misses = append(j.misses, miss{i, found, y, j.bound(y, b), r, b})
	}
}

// count adds an error to what tells errors to one side.
func (j *judge) count(off, y float64) {
	j.n++
	j.sum += off
	j.sumSquares += y * y
}

// minOneSided is how many elements the test for errors to one side takes.
const minOneSided = 1000

// oneSided tests whether errors are all to one side: with n elements whose
// last rounding is to v, |mean error| > 8·v·rms/√n. Fault-free outputs in
// float16 reach 1.4 in place of the 8, a factor of 1.0001 at least 13. Types
// finer than float16 are left out: there the errors of functions lead, which
// may well be to one side.
func (j *judge) oneSided() (mean, limit float64, yes bool) {
	if j.exact || j.p.v < 0x1p-11 || j.n < minOneSided {
		return 0, 0, false
	}
	n := float64(j.n)
	mean = j.sum / n
	limit = 8 * j.p.v * math.Sqrt(j.sumSquares/n) / math.Sqrt(n)
	return mean, limit, abs(mean) > limit
}
